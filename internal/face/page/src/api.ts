// The server's commands: POST /api/commands/NAME with arguments as JSON.

import { signal } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { lost, pasted, token } from './session';

// Failure is what the server says when it has no result.
export class Failure extends Error {
  constructor(readonly code: string, message: string, readonly hint = '', readonly status = 0) {
    super(message);
  }
}

// line is how the server stands to us: it answers, it cannot be reached, or it
// wants a token that we do not have.
export const line = signal<'up' | 'away' | 'locked'>('up');

// worked is the last token that the server knew.
let worked = '';

// why is what is known of a token that the server does not know: it knew it
// once, a person has just given it, or neither.
export const why = signal<'none' | 'restarted' | 'pasted' | 'unknown'>('none');

// epoch grows when what was asked should be asked again: the server is back, or
// there is a new token.
export const epoch = signal(0);

token.subscribe((t) => {
  if (t && line.peek() === 'locked') {
    line.value = 'up';
    epoch.value++;
  }
});

// call runs a command of the server.
export async function call<T>(command: string, args: object = {}, abort?: AbortSignal): Promise<T> {
  const reply = await send('/api/commands/' + encodeURIComponent(command), args, abort);
  const body = await reply.json().catch(() => {
    throw new Failure('internal', 'the server sent something that is no JSON', 'reload the page', reply.status);
  });
  if (!reply.ok) throw failureOf(body, reply.status);
  return body as T;
}

// send posts JSON with the token, and knows from the reply how the server stands.
export async function send(path: string, args: object, abort?: AbortSignal, accept = 'application/json'): Promise<Response> {
  const carried = token.value;
  let reply: Response;
  try {
    reply = await fetch(path, {
      method: 'POST', signal: abort, credentials: 'omit', cache: 'no-store',
      headers: { 'Content-Type': 'application/json', Accept: accept, ...(carried && { Authorization: 'Bearer ' + carried }) },
      body: JSON.stringify(args),
    });
  } catch (e) {
    if (abort?.aborted) throw e;
    away();
    throw new Failure('away', 'the server cannot be reached', 'start it again with: knowledge serve');
  }
  if (reply.status === 401) {
    if (carried === token.value) {
      why.value = !carried ? 'none' : carried === worked ? 'restarted' : carried === pasted ? 'pasted' : 'unknown';
      line.value = 'locked';
      lost(carried);
    }
  } else {
    worked = carried;
    if (line.value !== 'up') line.value = 'up';
  }
  return reply;
}

export function failureOf(body: any, status: number): Failure {
  const e = body?.error;
  if (e && typeof e.message === 'string') return new Failure(String(e.code), e.message, String(e.hint ?? ''), status);
  return new Failure('internal', `the server answered with the status ${status}`, 'try again', status);
}

let waiting = 0;

// away asks for the server until it is back.
function away() {
  line.value = 'away';
  if (waiting) return;
  let pause = 500;
  const look = async () => {
    try {
      if ((await fetch('/health', { cache: 'no-store', credentials: 'omit' })).ok) {
        waiting = 0;
        line.value = 'up';
        epoch.value++;
        return;
      }
    } catch {
      // not yet
    }
    pause = Math.min(pause * 1.5, 10_000);
    waiting = window.setTimeout(look, pause);
  };
  waiting = window.setTimeout(look, pause);
}

export interface Asked<T> {
  data?: T;
  error?: Failure;
  busy: boolean;
  again: () => void;
}

// useCall runs a command when its name or arguments change, and when the server
// is back; a null name runs nothing. every, in ms, repeats it while the page is
// looked at. What was shown stays until there is something new.
export function useCall<T>(command: string | null, args: object = {}, every = 0): Asked<T> {
  const key = command && command + JSON.stringify(args);
  const [state, set] = useState<{ key: string | null; data?: T; error?: Failure; busy: boolean }>({ key, busy: key !== null });
  const [turn, setTurn] = useState(0);
  const given = useRef(args);
  given.current = args;
  const now = epoch.value;
  useEffect(() => {
    if (!command) return;
    const abort = new AbortController();
    set((s) => (s.key === key ? { ...s, busy: true } : { key, busy: true }));
    call<T>(command, given.current, abort.signal).then(
      (data) => set({ key, data, busy: false }),
      (error) => {
        if (abort.signal.aborted) return;
        set((s) => ({ key, data: s.key === key ? s.data : undefined, error: error instanceof Failure ? error : new Failure('internal', String(error)), busy: false }));
      },
    );
    return () => abort.abort();
  }, [key, turn, now]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  useEffect(() => {
    if (!every || !command) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && line.value === 'up') again();
    }, every);
    return () => clearInterval(timer);
  }, [every, command]);
  if (state.key !== key) return { busy: key !== null, again };
  return { data: state.data, error: state.error, busy: state.busy, again };
}
