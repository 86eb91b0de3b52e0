// What a view shows when it has nothing to show: not yet, nothing, a failure.

import type { ComponentChildren } from 'preact';
import { Failure } from '../api';

// Loading keeps the room of what comes; it is seen only when that takes a while.
export function Loading({ what, rows = 3 }: { what: string; rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="out">{what}</span>
      {Array.from({ length: rows }, (_, i) => <span class="bone" key={i} aria-hidden="true" />)}
    </div>
  );
}

// Empty says that there is nothing, and what would fill it.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="state">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

// Failed says what went wrong and what to do. Hints hold commands for a
// terminal after a colon; these are set as code.
export function Failed({ error, again }: { error: Failure; again?: () => void }) {
  return (
    <section class="state failed" role="alert">
      <h2>{sentence(error.message)}</h2>
      {error.hint && <Hint text={error.hint} />}
      {again && error.code !== 'invalid' && <p><button type="button" onClick={again}>Try again</button></p>}
    </section>
  );
}

// Hint sets the command at the end of a hint as code.
export function Hint({ text }: { text: string }) {
  const m = /^(.*?: )(knowledge .*|[a-z]+:[a-z]+.*)$/s.exec(text);
  return <p>{m ? <>{sentence(m[1])}<code class="shell">{m[2]}</code></> : sentence(text)}</p>;
}

export const sentence = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

// Notes are what the server adds to a result.
export function Notes({ notes }: { notes?: string[] }) {
  if (!notes?.length) return null;
  return <ul class="notes">{notes.map((n) => <li key={n}>{sentence(n)}</li>)}</ul>;
}
