// Server-sent events of a reply to POST, which EventSource cannot ask for.

export interface Event {
  name: string;
  data: string;
}

// events yields the events of a reply as they come.
export async function* events(reply: Response): AsyncGenerator<Event> {
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    if (held.length > 4e6) throw new Error('the reply does not end');
    for (let end; (end = held.indexOf('\n\n')) >= 0; held = held.slice(end + 2)) {
      const event: Event = { name: 'message', data: '' };
      for (const line of held.slice(0, end).split('\n')) {
        if (line.startsWith('event:')) event.name = line.slice(6).trim();
        if (line.startsWith('data:')) event.data += line.slice(5).trimStart();
      }
      yield event;
    }
  }
}
