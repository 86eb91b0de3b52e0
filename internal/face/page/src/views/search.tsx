// Search as one types: by meaning and words, or lines by regular expression.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call, epoch, Failure, useCall } from '../api';
import { languageOf } from '../code/languages';
import { marker } from '../code/marks';
import { useKeys } from '../keys';
import { List } from '../parts/list';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import { placeOf } from '../places';
import type { GrepReply, Hit, SearchReply, Store } from '../types';
import { Filters, keptBy, type Chosen } from './filters';
import { HitRow, LineRow } from './hit';

type Mode = 'hybrid' | 'fts' | 'regex';

interface Query {
  q: string;
  mode: Mode;
  chosen: Chosen;
  many?: boolean; // as many places as a search gives
}

interface Found {
  query: string; // the key of what was asked
  hits?: Hit[];
  lines?: GrepReply;
  reply?: SearchReply;
  error?: Failure;
}

const modes: [Mode, string, string][] = [
  ['hybrid', 'Meaning', 'by meaning and by words'], ['fts', 'Words', 'by words alone'], ['regex', 'Regex', 'lines that match a regular expression'],
];

function fromAddress(): Query {
  const p = new URLSearchParams(location.search);
  const list = (name: string) => p.getAll(name).filter(Boolean);
  const mode = p.get('mode');
  return { q: p.get('q') ?? '', mode: mode === 'fts' || mode === 'regex' ? mode : 'hybrid', chosen: { store: list('store'), kind: list('kind'), language: list('language') } };
}

function toAddress({ q, mode, chosen }: Query) {
  const p = new URLSearchParams();
  if (q) p.set('q', q);
  if (mode !== 'hybrid') p.set('mode', mode);
  for (const [name, values] of Object.entries(chosen)) for (const v of values as string[]) p.append(name, v);
  const s = p.toString();
  history.replaceState(history.state, '', s ? '/search?' + s : '/');
}

// How many places are asked for at first, and at most.
const few = 50;
const many = 100;

// slow is after how many ms a question gives way to a newer one.
const slow = 300;

// last is what was found last, so that going back shows it at once.
let last: Found | null = null;

export function Search() {
  const [query, setQuery] = useState(fromAddress);
  const field = useRef<HTMLInputElement>(null);
  const shown = useRef<(index: number) => void>(() => {});
  const { found, busy } = useFound(query);
  useEffect(() => {
    const back = () => setQuery(fromAddress());
    addEventListener('popstate', back);
    if (!query.q) field.current?.focus();
    return () => removeEventListener('popstate', back);
  }, []);
  useEffect(() => {
    const t = setTimeout(() => toAddress(query), 250); // browsers count changes of the address
    return () => clearTimeout(t);
  }, [query]);
  const stores = useCall<{ stores: Store[] }>('stores');
  const items = useMemo(() => keptBy(query.chosen, found?.hits ?? []), [found, query.chosen]);
  const mark = useMemo(() => (query.mode === 'regex' ? regex(query.q) : marker(query.q)), [query.q, query.mode]);
  useHitKeys(field, query.mode === 'regex' ? found?.lines?.matches.length ?? 0 : items.length, shown);
  const change = (part: Partial<Query>) => setQuery((q) => ({ ...q, ...part }));
  return (
    <div class="search">
      <h1 class="out">Search</h1>
      <form role="search" class="bar" onSubmit={(e) => { e.preventDefault(); toAddress(query); focusHit(0, shown.current); }}>
        <label class="out" for="q">Search</label>
        <input id="q" ref={field} type="search" value={query.q} onInput={(e) => change({ q: e.currentTarget.value, many: false })} autocomplete="off" spellcheck={false}
          autocapitalize="off" enterkeyhint="search" maxLength={8000} placeholder={query.mode === 'regex' ? 'func \\(s \\*Server\\)' : 'what code does, a name, a path, an error'} />
        <fieldset class="modes">
          <legend class="out">How to look</legend>
          {modes.map(([m, name, title]) => (
            <label key={m} title={title}><input type="radio" name="mode" class="out" checked={query.mode === m} onChange={() => change({ mode: m })} /><span>{name}</span></label>
          ))}
        </fieldset>
      </form>
      <Filters hits={found?.hits ?? []} stores={stores.data?.stores ?? []} chosen={query.chosen} mode={query.mode} set={(chosen) => change({ chosen })} />
      <section class="results" aria-busy={busy} onClickCapture={() => toAddress(query)}>
        <Results query={query} more={() => change({ many: true })} found={found} items={items} mark={mark} stores={stores.data?.stores} show={(f) => (shown.current = f)} />
      </section>
    </div>
  );
}

interface ResultsProps {
  query: Query;
  more: () => void;
  found: Found | null;
  items: Hit[];
  mark: RegExp | null;
  stores?: Store[];
  show: (f: (index: number) => void) => void;
}

function Results({ query, more, found, items, mark, stores, show }: ResultsProps) {
  if (!query.q.trim()) return <Start stores={stores} />;
  if (!found) return <Loading what="Searching" rows={6} />;
  if (found.error) return <Failed error={found.error} />;
  if (found.lines) {
    const { matches, total, note, store } = found.lines;
    if (!matches.length) return <Empty title="No line matches"><Notes notes={note ? [note] : []} /></Empty>;
    return (
      <>
        <p class="summary" role="status">{total === matches.length ? total : `${matches.length} of ${total}`} lines in {store}</p>
        <List items={matches} label="Lines" fixed height={() => 28} name={(m, i) => m.path + m.line + ':' + i} handle={show}
          row={(m) => <LineRow store={store} match={m} mark={mark} />} />
      </>
    );
  }
  const reply = found.reply!;
  return (
    <>
      <p class="summary" role="status">
        {items.length === 0 ? 'Nothing found' : `${items.length} ${items.length === 1 ? 'place' : 'places'}`}
        {items.length < reply.hits.length && ` of ${reply.hits.length}`}
        <span class="faint"> · {reply.ms < 10 ? reply.ms.toFixed(1) : Math.round(reply.ms)} ms{reply.confidence !== 'none' && ` · ${reply.confidence} confidence`}</span>
      </p>
      {items.length > 0 && <Notes notes={reply.notes} />}
      {items.length === 0
        ? <Empty title={reply.hits.length ? 'The filters leave none of what was found' : 'Nothing that is indexed answers this'}>
            <p>{reply.hits.length ? 'Take a filter away, or search on.' : 'Say what the code does in other words, or look for a name.'}</p>
            <Notes notes={reply.notes} />
          </Empty>
        : <List items={items} label="Places" height={(h) => 62 + 19 * (h.code?.split('\n').length ?? 0)} name={(h) => h.store + h.id + h.at} handle={show}
            row={(h) => <HitRow hit={h} mark={mark} />} />}
      {reply.hits.length === few && !query.many && <p class="more"><button type="button" onClick={more}>Look further</button></p>}
    </>
  );
}

// Start is what is shown before there is a question.
function Start({ stores }: { stores?: Store[] }) {
  if (stores?.length === 0) {
    return (
      <Empty title="Nothing is indexed yet">
        <p>Ask for something: the first search indexes this project’s folder. Other folders, repositories and sites are <Link href="/stores">stores</Link> that you add.</p>
      </Empty>
    );
  }
  const documents = stores?.reduce((n, s) => n + s.documents, 0);
  return (
    <section class="state start">
      <p>{stores ? `${documents!.toLocaleString('en')} documents in ${stores.length} ${stores.length === 1 ? 'store' : 'stores'}. ` : ''}Type what the code does, a name, a path, or an error.</p>
      <ul class="keys">
        <li><kbd>/</kbd> search</li><li><kbd>j</kbd> <kbd>k</kbd> next and previous</li><li><kbd>Enter</kbd> open</li><li><kbd>?</kbd> all keys</li>
      </ul>
    </section>
  );
}

function regex(text: string): RegExp | null {
  try {
    return text ? new RegExp(text, 'gu') : null;
  } catch {
    return null; // the server's are another dialect
  }
}

// useFound asks as the query changes: one question is under way at a time, and
// the newest is asked next, so that fast typing neither waits nor piles up.
function useFound(query: Query): { found: Found | null; busy: boolean } {
  const key = query.q.trim() && JSON.stringify([query.q, query.mode, query.chosen.store, query.many, epoch.value]);
  const [found, set] = useState(() => (last?.query === key ? last : null));
  const state = useRef<{ under: { since: number; abort: AbortController } | null; next: ((abort: AbortSignal) => Promise<void>) | null }>({ under: null, next: null });
  useEffect(() => {
    if (!key || last?.query === key) {
      set(key ? last : null);
      state.current.next = null;
      return;
    }
    const s = state.current;
    s.next = async (abort) => {
      const reply = await ask(query, key, abort);
      if (!abort.aborted) set((last = reply));
    };
    const turn = async () => {
      while (s.next) {
        const now = s.next;
        s.next = null;
        s.under = { since: performance.now(), abort: new AbortController() };
        await now(s.under.abort.signal);
        s.under = null;
      }
    };
    if (!s.under) void turn();
    else if (performance.now() - s.under.since > slow) s.under.abort.abort();
  }, [key]);
  return { found: key ? found : null, busy: Boolean(key) && found?.query !== key };
}

async function ask({ q, mode, chosen, many: all }: Query, key: string, abort: AbortSignal): Promise<Found> {
  try {
    if (mode === 'regex') {
      const lines = await call<GrepReply>('grep', { pattern: q, limit: 10_000, ...(chosen.store[0] && chosen.store[0] !== '*' && { store: chosen.store[0] }) }, abort);
      return { query: key, lines };
    }
    const reply = await call<SearchReply>('search', { query: q, mode, limit: all ? many : few, lines: 6, explain: true, ...(chosen.store.length && { stores: chosen.store }) }, abort);
    for (const h of reply.hits) h.language ||= languageOf(placeOf(h.at).path);
    return { query: key, reply, hits: reply.hits };
  } catch (e) {
    return { query: key, error: e instanceof Failure ? e : new Failure('internal', String(e)) };
  }
}

// focusHit moves the focus to a hit, which may have to be made first.
function focusHit(index: number, show: (index: number) => void) {
  show(index);
  let tries = 10;
  const look = () => {
    const a = document.querySelector<HTMLElement>(`.list > li[data-index="${index}"] a`);
    if (a) a.focus({ preventScroll: true });
    else if (tries--) requestAnimationFrame(look);
  };
  look();
}

function useHitKeys(field: { current: HTMLInputElement | null }, count: number, shown: { current: (index: number) => void }) {
  const at = () => Number(document.activeElement?.closest<HTMLElement>('.list > li')?.dataset.index ?? -1);
  const go = (by: number) => {
    const to = at() + by;
    if (to < 0) field.current?.focus();
    else if (to < count) focusHit(to, shown.current);
  };
  useKeys([
    { key: '/', does: 'goes to the search field', run: () => field.current?.select() },
    { key: 'j', does: 'goes to the next place', run: () => go(1) },
    { key: 'k', does: 'goes to the one before', run: () => go(-1) },
    { key: 'ArrowDown', does: 'goes to the next place', writing: true, run: () => go(1) },
    { key: 'ArrowUp', does: 'goes to the one before', writing: true, run: () => go(-1) },
    { key: 'e', does: 'explains the rank of a place', run: () => document.activeElement?.closest('.list > li')?.querySelector<HTMLElement>('.score')?.click() },
    { key: 'Escape', does: 'goes to the search field; there, empties it', writing: true, run: () => {
      const f = field.current!;
      if (document.activeElement === f && f.value) {
        f.value = '';
        f.dispatchEvent(new Event('input', { bubbles: true }));
      } else f.select();
    } },
  ]);
}
