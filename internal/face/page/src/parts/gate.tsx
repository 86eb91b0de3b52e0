// What stands between a person and the server: no token, another token, no
// server. It is shown above the view, which keeps what it has.

import { useState } from 'preact/hooks';
import { line, why } from '../api';
import { take } from '../session';

export function Gate() {
  if (line.value === 'away') {
    return (
      <div class="gate" role="status">
        <p><b>The server is away.</b> What you see may be old; this page goes on when it is back.
          If it was stopped, start it again: <code class="shell">knowledge serve</code></p>
      </div>
    );
  }
  if (line.value === 'locked') return <Locked />;
  return null;
}

// said is what is known of the token, and what to do.
const said = {
  none: ['This page needs the server’s token', ''],
  restarted: ['The server has another token now', 'It was started again, and each start makes a new token. '],
  pasted: ['That is not this server’s token', 'Perhaps it is not whole, or that of an earlier start. '],
  unknown: ['The server does not know this page’s token', 'Each start of the server makes a new one. '],
};

function Locked() {
  const [title, cause] = said[why.value];
  const [text, set] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    take(text);
    set('');
  };
  return (
    <section class="gate" aria-labelledby="gate-title">
      <h2 id="gate-title">{title}</h2>
      <p>
        {cause}Open the address that <code class="shell">knowledge serve</code> printed, or paste it here.
      </p>
      <form onSubmit={submit}>
        <label class="out" for="gate-field">Address or token</label>
        <input id="gate-field" value={text} onInput={(e) => set(e.currentTarget.value)} placeholder="http://127.0.0.1:7390/#token=…"
          autocomplete="off" spellcheck={false} type="text" />
        <button type="submit">Go on</button>
      </form>
      <p class="faint">One token for all starts: <code class="shell">knowledge serve --token-file ~/.knowledge-token</code></p>
    </section>
  );
}
