// What a view shows when it has nothing to show: not yet, nothing, a failure.

import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { line, type Failure } from '../api';
import { readAddress } from '../places';

// Loading keeps the room of what comes; it is seen only when that takes a while.
export function Loading({ what, rows = 3 }: { what: string; rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="out">{what}</span>
      {Array.from({ length: rows }, (_, i) => <span class="bone" key={i} aria-hidden="true" />)}
    </div>
  );
}

// Empty says that there is nothing, and what would fill it; whole where it is
// all of a view.
export function Empty({ title, whole, children }: { title: string; whole?: boolean; children?: ComponentChildren }) {
  return (
    <section class="state">
      {whole ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </section>
  );
}

// Failed says what went wrong and what to do. What stands between the page and
// the server is said above it, once.
export function Failed({ error, again }: { error: Failure; again?: () => void }) {
  if (error.status === 401 || error.code === 'away' && line.value !== 'up') return <p class="state" role="status">Waiting for the server.</p>;
  return (
    <section class="state failed" role="alert">
      <h2>{sentence(error.message)}</h2>
      {error.hint && <Hint text={error.hint} />}
      {again && error.code !== 'invalid' && <p><button type="button" onClick={again}>Try again</button></p>}
    </section>
  );
}

// Hint shows what to do next. Behind its last colon may be a call: one that the
// page has a view for is a link, others are code.
export function Hint({ text }: { text: string }) {
  const m = /^(.*): ((?:knowledge )?[a-z_]+(?::[a-z-]+)*)( .*)?$/s.exec(text);
  if (!m) return <p>{sentence(text)}</p>;
  const to = m[2] === 'read' ? readingOf(m[3] ?? '') : '';
  return <p>{sentence(m[1])}: {to ? <Link href={to}>{decodeURIComponent(to.split('/').slice(3).join('/'))}</Link> : <code class="shell">{m[2]}{m[3]}</code>}</p>;
}

// readingOf is the address of what read's arguments, as JSON, name.
function readingOf(args: string): string {
  try {
    const { store, path } = JSON.parse(args);
    return typeof store === 'string' && typeof path === 'string' ? readAddress(store, path) : '';
  } catch {
    return '';
  }
}

export const sentence = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

// Notes are what the server adds to a result.
export function Notes({ notes }: { notes?: string[] }) {
  if (!notes?.length) return null;
  return <ul class="notes">{notes.map((n) => <li key={n}>{sentence(n)}</li>)}</ul>;
}
