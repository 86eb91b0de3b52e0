// Questions and their answers, every sentence with its source. An answer is
// shown by the view that the widget of answers has, so that both are one.

import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { AnswerView, style } from '../../../httpapi/web/answer.js';
import { call, Failure, line, send, failureOf } from '../api';
import { useKeys } from '../keys';
import { entering } from '../parts/enter';
import { placeOf, readAddress } from '../places';

interface Answer {
  answer: string;
  sources: { title: string; store: string; at: string; url?: string; snippet?: string }[];
  confidence: number;
  session_id: string;
  notes?: string[];
}

// Turn is a question with the view of its answer.
interface Turn {
  question: string;
  view: AnswerView;
}

// The conversation outlives the view, so that a source can be read in between.
const turns = signal<Turn[]>([]);
const busy = signal<AbortController | null>(null);
let session = '';

let styled = false;

function dress() {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

async function ask(question: string) {
  question = question.trim();
  if (!question || busy.value) return;
  session ||= 'page-' + crypto.randomUUID();
  const view: AnswerView = new AnswerView({
    lang: 'en', base: location.origin,
    rate: (rating, reply) => call('feedback:add', { query: question, rating, response: reply.result, confidence: reply.confidence, session_id: session }),
    again: () => {
      turns.value = turns.value.filter((t) => t.view !== view);
      void ask(question);
    },
  });
  turns.value = [...turns.value, { question, view }];
  const abort = (busy.value = new AbortController());
  try {
    const reply = await send('/api/commands/answer%3Aask', { query: question, session_id: session }, abort.signal);
    const body = await reply.json();
    if (!reply.ok) throw failureOf(body, reply.status);
    show(view, body as Answer);
  } catch (e) {
    view.fail(abort.signal.aborted ? 'Stopped.' : e instanceof Failure ? `${e.message}. ${e.hint}` : 'The server sent no answer.');
  }
  busy.value = null;
}

function show(view: AnswerView, a: Answer) {
  view.done({
    result: a.answer, confidence: a.confidence,
    sources: a.sources.map((s) => {
      const p = placeOf(s.at);
      return { title: s.title, snippet: s.snippet, url: /^https?:/.test(s.at) ? s.at : readAddress(s.store, p.path, p.start, p.end) };
    }),
  });
}

export function Ask() {
  dress();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, set] = useState(() => new URLSearchParams(location.search).get('q') ?? '');
  useKeys([
    { key: '/', does: 'goes to the question', run: () => field.current?.focus() },
    { key: 'Escape', does: 'stops the answer', writing: true, run: () => busy.value?.abort() },
  ]);
  useEffect(() => field.current?.focus(), []);
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
          <button type="button" class="plain" onClick={() => { turns.value = []; session = ''; field.current?.focus(); }}>Begin anew</button>
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
      <p class="small"><Link href={'/search?q=' + encodeURIComponent(turn.question)}>Search for it instead</Link></p>
    </article>
  );
}
