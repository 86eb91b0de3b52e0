// The conversation: questions, the views of their answers, and what is kept of
// them in this tab, so that it is there after a reload.

import { signal } from '@preact/signals';
import { AnswerView } from '../../../httpapi/web/answer.js';
import { call, Failure, failureOf, send } from '../api';
import { events } from '../events';
import { placeOf, readAddress } from '../places';
import type { Hit, SearchReply, Store } from '../types';

export interface Answer {
  answer: string;
  sources: { title: string; store: string; at: string; url?: string; snippet?: string }[];
  confidence: number;
  session_id: string;
  notes?: string[];
}

// Turn is a question with the view of its answer.
export interface Turn {
  question: string;
  view: AnswerView;
  answer?: Answer;
  near?: Near; // where nothing answered
}

// Near is what was looked through in vain, and what comes nearest.
export interface Near {
  documents: number;
  stores: string[];
  hits: Pick<Hit, 'store' | 'at' | 'symbol'>[];
}

export const turns = signal<Turn[]>([]);
export const busy = signal<AbortController | null>(null);
let session = '';

const key = 'asked';
const most = 40; // turns that are kept
const unsure = 0.5; // confidence below which it is said what was looked through

interface Kept {
  session: string;
  turns: { question: string; answer: Answer; near?: Near }[];
}

function keep() {
  const kept: Kept = { session, turns: turns.value.filter((t) => t.answer).slice(-most).map(({ question, answer, near }) => ({ question, answer: answer!, near })) };
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    sessionStorage.removeItem(key); // it is too long to be kept
  }
}

// recall shows what was kept.
export function recall() {
  if (turns.value.length || busy.value) return;
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null;
    if (!kept?.turns.length) return;
    session = kept.session;
    turns.value = kept.turns.map(({ question, answer, near }) => {
      const view = viewOf(question);
      show(view, answer);
      return { question, view, answer, near };
    });
  } catch {
    sessionStorage.removeItem(key);
  }
}

// anew forgets the conversation.
export function anew() {
  turns.value = [];
  session = '';
  sessionStorage.removeItem(key);
}

function viewOf(question: string): AnswerView {
  const view: AnswerView = new AnswerView({
    lang: 'en', base: location.origin,
    rate: (rating, reply) => call('feedback:add', { query: question, rating, response: reply.result, confidence: reply.confidence, session_id: session }),
    again: () => {
      turns.value = turns.value.filter((t) => t.view !== view);
      void ask(question);
    },
  });
  return view;
}

// ask asks, and shows each sentence of a model as it comes.
export async function ask(question: string) {
  question = question.trim();
  if (!question || busy.value) return;
  session ||= 'page-' + crypto.randomUUID();
  const view = viewOf(question);
  turns.value = [...turns.value, { question, view }];
  const abort = (busy.value = new AbortController());
  try {
    const answer = await hear(question, view, abort.signal);
    show(view, answer);
    set(view, { answer });
    if (!answer.sources.length || answer.confidence < unsure) set(view, { near: await nearest(answer.sources.length ? null : question, abort.signal) });
    keep();
  } catch (e) {
    if (turns.value.find((t) => t.view === view)?.answer) keep();
    else view.fail(abort.signal.aborted ? 'Stopped.' : e instanceof Failure ? `${e.message}. ${e.hint}` : 'The server sent no answer.');
  }
  busy.value = null;
}

const set = (view: AnswerView, more: Partial<Turn>) => {
  turns.value = turns.value.map((t) => (t.view === view ? { ...t, ...more } : t));
};

async function hear(query: string, view: AnswerView, abort: AbortSignal): Promise<Answer> {
  const reply = await send('/api/commands/answer%3Aask', { query, session_id: session }, abort, 'text/event-stream, application/json');
  if (!reply.headers.get('Content-Type')?.startsWith('text/event-stream')) {
    const body = await reply.json();
    if (!reply.ok) throw failureOf(body, reply.status);
    return body as Answer;
  }
  for await (const event of events(reply)) {
    const data = JSON.parse(event.data || 'null');
    if (event.name === 'sentence') view.add(String(data.delta));
    if (event.name === 'error') throw failureOf(data, 500);
    if (event.name === 'done') return data as Answer;
  }
  throw new Failure('away', 'the answer ended early', 'ask again');
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

// prose are the languages of documents that a person reads for an answer.
const prose = new Set(['markdown', 'text', 'restructuredtext', 'asciidoc', 'html', '']);

// nearest says what was looked through, and looks for what comes near a question
// that nothing answers: sections of documents before code. An answer that has
// sources quotes what comes near itself, so that nothing is asked then.
async function nearest(query: string | null, abort: AbortSignal): Promise<Near> {
  const [found, { stores }] = await Promise.all([
    query ? call<SearchReply>('search', { query, limit: 20, lines: 1 }, abort) : { hits: [] }, call<{ stores: Store[] }>('stores', {}, abort),
  ]);
  const is = (h: Hit) => Number(prose.has(h.language ?? ''));
  const hits = [...found.hits].sort((a, b) => is(b) - is(a)).slice(0, 4).map(({ store, at, symbol }) => ({ store, at, symbol }));
  return { documents: stores.reduce((n, s) => n + s.documents, 0), stores: stores.map((s) => s.name), hits };
}
