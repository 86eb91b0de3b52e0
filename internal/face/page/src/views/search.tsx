// Search as one types: by meaning and words, or lines by regular expression.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call, epoch, Failure, useCall } from '../api';
import { languageOf } from '../code/languages';
import { marker } from '../code/marks';
import { isField, useKeys } from '../keys';
import { entering } from '../parts/enter';
import { count } from '../parts/figures';
import { List } from '../parts/list';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import { bare, placeOf } from '../places';
import { grepAll } from './grep';
import type { Hit, Lines, SearchReply, Store } from '../types';
import { Filters, keptBy, type Chosen } from './filters';
import { HitRow, LineRow } from './hit';
import { kept } from '../parts/kept';

type Mode = 'hybrid' | 'fts' | 'regex';

interface Query {
  q: string;
  mode: Mode;
  chosen: Chosen;
  many?: boolean; // as many places as a search gives
}

interface Found {
  query: string; // the key of what was asked
  q: string;
  hits?: Hit[];
  lines?: Lines;
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
  const long = /^#q=(.*)$/s.exec(location.hash);
  return { q: long ? unescaped(long[1]) : p.get('q') ?? '', mode: mode === 'fts' || mode === 'regex' ? mode : 'hybrid', chosen: { store: list('store'), kind: list('kind'), language: list('language') } };
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

function toAddress({ q, mode, chosen }: Query) {
  const p = new URLSearchParams();
  const long = q.length > longest; // a pasted log, which no server should be sent as an address
  if (q && !long) p.set('q', q);
  if (mode !== 'hybrid') p.set('mode', mode);
  for (const [name, values] of Object.entries(chosen)) for (const v of values as string[]) p.append(name, v);
  const s = p.toString();
  history.replaceState(history.state, '', (s || long ? '/search' : '/') + (s && '?' + s) + (long ? '#q=' + encodeURIComponent(q) : ''));
}

// longest is the longest query that is a part of the address; a longer one is
// behind its #.
const longest = 2000;

// How many places are asked for while one types, which costs a third of as many
// as there may be: those come when nothing was typed for rest ms.
const few = 12;
const many = 100;
const rest = 400;

// slow is after how many ms a question gives way to a newer one.
const slow = 300;

// last is what was found last, and how far it was scrolled, so that going back
// shows it at once as it was.
let last: Found | null = null;
let scrolled = 0;

// keyOf tells questions to the server apart.
const keyOf = ({ q, mode, chosen, many }: Query) => q.trim() && JSON.stringify([q, mode, chosen.store, many, epoch.value]);

// begun is the query of the address, as far as it was answered already.
function begun(): Query {
  const q = fromAddress();
  return last?.query === keyOf({ ...q, many: true }) ? { ...q, many: true } : q;
}

export function Search() {
  const [query, setQuery] = useState(begun);
  const field = useRef<HTMLTextAreaElement>(null);
  const unasked = useRef(false); // the field has the focus, and nobody put it there
  const shown = useRef<(index: number) => void>(() => {});
  const { found, busy } = useFound(query);
  useEffect(() => {
    const back = () => setQuery(begun());
    addEventListener('popstate', back);
    if (!query.q) {
      field.current?.focus();
      unasked.current = true;
    }
    if (scrolled && last?.query === keyOf(query)) scrollTo({ top: scrolled });
    const scroll = () => (scrolled = window.scrollY);
    const leave = () => removeEventListener('scroll', scroll);
    addEventListener('scroll', scroll, { passive: true });
    return () => {
      leave();
      removeEventListener('popstate', back);
    };
  }, []);
  useEffect(() => {
    document.title = (query.q.trim().slice(0, 60) || 'Search') + ' · knowledge';
    const t = setTimeout(() => toAddress(query), 250); // browsers count changes of the address
    return () => clearTimeout(t);
  }, [query]);
  useEffect(() => {
    if (busy || query.many || found?.hits?.length !== few) return;
    const t = setTimeout(() => setQuery((q) => ({ ...q, many: true })), rest);
    return () => clearTimeout(t);
  }, [found, busy, query]);
  const stores = useCall<{ stores: Store[] }>('stores');
  useEffect(() => { // the first search of a folder makes its store
    const known = new Set(stores.data?.stores.map((s) => s.name));
    if (stores.data && found && [...(found.hits ?? []), ...(found.lines?.matches ?? [])].some((h) => !known.has(bare(h.store)))) stores.again();
  }, [found]);
  const items = useMemo(() => keptBy(query.chosen, found?.hits ?? []), [found, query.chosen]);
  // What is shown is marked by what it answers, not by what is typed meanwhile.
  const mark = useMemo(() => (found?.lines ? regex(found.q) : marker(found?.q ?? '')), [found]);
  useHitKeys(field, unasked, query.mode === 'regex' ? found?.lines?.matches.length ?? 0 : items.length, shown);
  const toFirst = useFocus(found, busy, shown);
  const change = (part: Partial<Query>) => setQuery((q) => ({ ...q, ...part }));
  const type = (q: string) => {
    unasked.current = false;
    if (window.scrollY) scrollTo({ top: 0 });
    change({ q, many: false });
  };
  return (
    <div class="search">
      <h1 class="out">Search</h1>
      <form role="search" class="bar" onSubmit={(e) => { e.preventDefault(); toAddress(query); toFirst(); }}>
        <label class="out" for="q">Search</label>
        <textarea id="q" ref={field} rows={1} value={query.q} onInput={(e) => type(e.currentTarget.value)} autocomplete="off" spellcheck={false} autocapitalize="off"
          enterkeyhint="search" maxLength={60_000} placeholder={query.mode === 'regex' ? 'func \\(s \\*Server\\)' : 'what code does, a name, a path, an error'}
          {...entering(() => field.current?.form?.requestSubmit())} />
        <fieldset class="modes">
          <legend class="out">How to look</legend>
          {modes.map(([m, name, title]) => (
            <label key={m} title={title}><input type="radio" name="mode" class="out" checked={query.mode === m} onChange={() => change({ mode: m })} /><span>{name}</span></label>
          ))}
        </fieldset>
      </form>
      <Filters hits={found?.hits ?? none} lines={found?.lines?.stores} stores={stores.data?.stores ?? none} chosen={query.chosen} set={(chosen) => change({ chosen })} />
      <section class="results" aria-busy={busy} onClickCapture={() => toAddress(query)}>
        <Results query={query} found={found} items={items} mark={mark} stores={stores.data?.stores} show={(f) => (shown.current = f)} />
      </section>
    </div>
  );
}

const none: never[] = [];

interface ResultsProps {
  query: Query;
  found: Found | null;
  items: Hit[];
  mark: RegExp | null;
  stores?: Store[];
  show: (f: (index: number) => void) => void;
}

function Results({ query, found, items, mark, stores, show }: ResultsProps) {
  const row = useMemo(() => kept((h: Hit) => <HitRow hit={h} mark={mark} />), [mark]);
  if (!query.q.trim()) return <Start stores={stores} />;
  if (!found) return <Loading what="Searching" rows={6} />;
  if (found.error) return <Failed error={found.error} />;
  if (found.lines) {
    const { matches, total, notes, stores } = found.lines;
    const where = stores.size === 1 ? [...stores.keys()][0] : `${[...stores.values()].filter(Boolean).length} of ${stores.size} stores`;
    if (!matches.length) return <Empty title={`No line of ${stores.size === 1 ? where : count(stores.size, 'store')} matches`}><Notes notes={notes} /></Empty>;
    return (
      <>
        <p class="summary" role="status">{total === matches.length ? '' : `${matches.length.toLocaleString('en')} of `}{count(total, 'line')} in {where}</p>
        <Notes notes={notes} />
        <List items={matches} label="Lines" fixed height={() => 28} name={(m, i) => m.path + m.line + ':' + i} handle={show}
          row={(m) => <LineRow store={stores.size > 1 ? m.store : ''} in={m.store} match={m} mark={mark} />} />
      </>
    );
  }
  const reply = found.reply!;
  return (
    <>
      <p class="summary" role="status">
        {items.length === 0 ? 'Nothing found' : count(items.length, 'place')}
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
            row={row} />}
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
      <p>{stores ? `${count(documents!, 'document')} in ${count(stores.length, 'store')}. ` : ''}Type what the code does, a name, a path, or an error.</p>
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

// Work is the question under way, and the one to ask then.
interface Work {
  under: { since: number; many?: boolean; abort: AbortController } | null;
  next: { many?: boolean; ask: (abort: AbortSignal) => Promise<void> } | null;
}

// useFound asks as the query changes: one question is under way at a time, and
// the newest is asked next, so that fast typing neither waits nor piles up.
function useFound(query: Query): { found: Found | null; busy: boolean } {
  const key = keyOf(query);
  const [found, set] = useState(() => (last?.query === key ? last : null));
  const state = useRef<Work>({ under: null, next: null });
  useEffect(() => {
    if (!key || last?.query === key) {
      set(key ? last : null);
      state.current.next = null;
      state.current.under?.abort.abort();
      return;
    }
    const s = state.current;
    s.next = {
      many: query.many,
      ask: async (abort) => {
        const reply = await ask(query, key, abort);
        if (!abort.aborted) set((last = reply));
      },
    };
    const turn = async () => {
      while (s.next) {
        const now = s.next;
        s.next = null;
        s.under = { since: performance.now(), many: now.many, abort: new AbortController() };
        await now.ask(s.under.abort.signal);
        s.under = null;
      }
    };
    if (!s.under) void turn();
    else if (s.under.many || performance.now() - s.under.since > slow) s.under.abort.abort();
  }, [key]);
  return { found: key ? found : null, busy: Boolean(key) && found?.query !== key };
}

async function ask({ q, mode, chosen, many: all }: Query, key: string, abort: AbortSignal): Promise<Found> {
  try {
    if (mode === 'regex') {
      return { query: key, q, lines: await grepAll(q, chosen.store, abort) };
    }
    const reply = await call<SearchReply>('search', { query: q, mode, limit: all ? many : few, lines: 6, explain: true, ...(chosen.store.length && { stores: chosen.store }) }, abort);
    for (const h of reply.hits) h.language ||= languageOf(placeOf(h.at).path);
    return { query: key, q, reply, hits: reply.hits };
  } catch (e) {
    return { query: key, q, error: e instanceof Failure ? e : new Failure('internal', String(e)) };
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

// useFocus returns what goes to the first hit, when what was asked last is
// found. A hit that has the focus may go when others are found: the one in its
// place gets it.
function useFocus(found: Found | null, busy: boolean, shown: { current: (index: number) => void }): () => void {
  const at = useRef(-1); // the hit that has the focus
  const wanted = useRef(false);
  useEffect(() => {
    const look = (e: FocusEvent) => {
      at.current = Number((e.target as Element).closest?.<HTMLElement>('.list > li')?.dataset.index ?? -1);
    };
    const typed = () => (wanted.current = false);
    addEventListener('focusin', look);
    addEventListener('input', typed);
    return () => {
      removeEventListener('focusin', look);
      removeEventListener('input', typed);
    };
  }, []);
  useEffect(() => {
    if (busy || !found) return;
    if (wanted.current) focusHit(0, shown.current);
    else if (at.current >= 0 && document.activeElement === document.body) focusHit(at.current, shown.current);
    wanted.current = false;
  }, [found, busy]);
  return () => {
    if (busy) wanted.current = true;
    else focusHit(0, shown.current);
  };
}

function useHitKeys(field: { current: HTMLTextAreaElement | null }, unasked: { current: boolean }, count: number, shown: { current: (index: number) => void }) {
  const at = () => Number(document.activeElement?.closest<HTMLElement>('.list > li')?.dataset.index ?? -1);
  const go = (by: number) => {
    const to = at() + by;
    if (to < 0) field.current?.focus();
    else if (to < count) focusHit(to, shown.current);
  };
  const inText = () => document.activeElement === field.current && field.current!.value.includes('\n');
  useKeys([
    { key: '/', does: 'goes to the search field', writing: true, unless: (e) => isField(e.target) && !(unasked.current && e.target === field.current), run: () => {
      unasked.current = false;
      field.current?.select();
    } },
    { key: 'j', does: 'goes to the next place', run: () => go(1) },
    { key: 'k', does: 'goes to the one before', run: () => go(-1) },
    { key: 'ArrowDown', does: 'goes to the next place', writing: true, unless: inText, run: () => go(1) },
    { key: 'ArrowUp', does: 'goes to the one before', writing: true, unless: inText, run: () => go(-1) },
    { key: 'e', does: 'explains the rank of a place', run: () => document.activeElement?.closest('.list > li')?.querySelector<HTMLElement>('.score')?.click() },
    { key: 'Escape', does: 'goes to the search field, or leaves it', writing: true, run: () => {
      if (document.activeElement === field.current) field.current!.blur();
      else field.current?.select();
    } },
  ]);
}
