// Questions and their answers, every sentence with its source. An answer is
// shown by the view that the widget of answers has, so that both are one.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { style } from '../../../httpapi/web/answer.js';
import { line } from '../api';
import { useKeys } from '../keys';
import { entering } from '../parts/enter';
import { count } from '../parts/figures';
import { Notes } from '../parts/states';
import { folded, placeOf, readAddress } from '../places';
import { anew, ask, busy, recall, turns, type Near, type Turn } from './asked';

let styled = false;

function dress() {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

export function Ask() {
  dress();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, set] = useState(() => new URLSearchParams(location.search).get('q') ?? '');
  useKeys([
    { key: '/', does: 'goes to the question', run: () => field.current?.focus() },
    { key: 'Escape', does: 'stops the answer, or leaves the question', writing: true, run: () => (busy.value ? busy.value.abort() : field.current?.blur()) },
  ]);
  useEffect(() => {
    recall();
    field.current?.focus();
  }, []);
  const submit = () => {
    if (busy.value) return busy.value.abort();
    void ask(text);
    set('');
  };
  return (
    <div class="ask">
      <h1>Ask what is indexed</h1>
      {turns.value.length === 0 && (
        <p class="faint">An answer is made of sentences that stand in your stores, each with its source. Questions after the first may lean on it: “and how is that configured?”</p>
      )}
      <div class="log" role="log" aria-label="Questions and answers" tabIndex={-1}>
        {turns.value.map((t, i) => <Shown key={i + t.question} turn={t} last={i === turns.value.length - 1} />)}
      </div>
      <p class="faint" role="status">{busy.value ? 'Looking for sentences that answer…' : ''}</p>
      <form onSubmit={(e) => { e.preventDefault(); submit(); }}>
        <label class="out" for="question">Your question</label>
        <textarea id="question" ref={field} rows={2} maxLength={2000} value={text} placeholder={turns.value.length ? 'Ask on…' : 'How is an interrupted job resumed?'}
          onInput={(e) => set(e.currentTarget.value)}
          {...entering(() => busy.value || submit())} />
        <button type="submit" disabled={line.value !== 'up'}>{busy.value ? 'Stop' : 'Ask'}</button>
        {turns.value.length > 0 && !busy.value && (
          <button type="button" class="plain" onClick={() => { anew(); field.current?.focus(); }}>Begin anew</button>
        )}
      </form>
    </div>
  );
}

// Shown puts the element of an answer below its question.
function Shown({ turn, last }: { turn: Turn; last: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.replaceChildren(turn.view.element);
    if (last) box.current?.scrollIntoView({ block: 'nearest' });
  }, [turn.view]);
  return (
    <article class="turn">
      <h2><span class="out">You asked: </span>{turn.question}</h2>
      <div ref={box} />
      <Notes notes={turn.answer?.notes} />
      {turn.near && <Nearest near={turn.near} />}
      <p class="small"><Link href={'/search?q=' + encodeURIComponent(turn.question)}>Search for it instead</Link></p>
    </article>
  );
}

// Nearest says what was looked through, and leads to what comes nearest.
function Nearest({ near }: { near: Near }) {
  const { documents, stores, hits } = near;
  return (
    <section class="near" aria-label="What comes nearest">
      <p>{count(documents, 'document')} of {stores.length > 4 ? count(stores.length, 'store') : stores.join(', ') || 'no store'} {documents === 1 ? 'was' : 'were'} looked through.{hits.length > 0 && ' Nearest to the question:'}</p>
      <ul>
        {hits.map((h) => {
          const p = placeOf(h.at);
          return <li key={h.store + h.at}><Link href={readAddress(h.store, p.path, p.start, p.end)}>{h.symbol || folded(p.path)[1]}</Link> <span class="faint">{p.path}{p.start > 0 && ':' + p.start}</span></li>;
        })}
      </ul>
    </section>
  );
}
