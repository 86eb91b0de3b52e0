// What a view shows when it has nothing to show: not yet, nothing, a failure.

import type { ComponentChildren } from 'preact';
import { line, type Failure } from '../api';
import { Said } from './said';

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
export function Failed({ error, again, title = 'Try again' }: { error: Failure; again?: () => void; title?: string }) {
  if (error.status === 401 || error.code === 'away' && line.value !== 'up') return <p class="state" role="status">Waiting for the server.</p>;
  return (
    <section class="state failed" role="alert">
      <h2>{sentence(error.message)}</h2>
      {error.hint && <Hint text={error.hint} />}
      {again && error.code !== 'invalid' && <p><button type="button" onClick={again}>{title}</button></p>}
    </section>
  );
}

// Hint shows what to do next.
export const Hint = ({ text }: { text: string }) => <p><Said text={sentence(text)} /></p>;

export const sentence = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

// Notes are what the server adds to a result.
export function Notes({ notes }: { notes?: string[] }) {
  if (!notes?.length) return null;
  return <ul class="notes">{notes.map((n) => <li key={n}><Said text={sentence(n)} /></li>)}</ul>;
}
