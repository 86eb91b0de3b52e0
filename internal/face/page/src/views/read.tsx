// One document: what it declares, its lines, and beside them what has to do
// with the declaration that is pointed at.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useCall } from '../api';
import { Document } from '../code/document';
import { languageOf } from '../code/languages';
import { moved, useKeys } from '../keys';
import { count } from '../parts/figures';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import { aroundAddress, folded, linesOf, readAddress } from '../places';
import type { Context, FileText, OutlineReply } from '../types';
import { Find, useFinding } from './find';
import { Margin } from './margin';
import { Outline, rowsOf, within } from './outline';

// useLines is what the fragment of the address points at.
function useLines(): [number, number] {
  const [at, set] = useState(() => linesOf(location.hash));
  useEffect(() => {
    const look = () => set(linesOf(location.hash));
    const events = ['hashchange', 'popstate', 'pushState', 'replaceState']; // the last two are wouter's
    for (const e of events) addEventListener(e, look);
    return () => {
      for (const e of events) removeEventListener(e, look);
    };
  }, []);
  return at;
}

export function Read(params: { store: string; '*': string }) {
  const store = decode(params.store);
  const path = useMemo(() => params['*'].split('/').map(decode).join('/'), [params['*']]);
  const at = useLines();
  const file = useCall<FileText>('read', { store, path });
  const outline = useCall<OutlineReply>('code:outline', { store, path });
  const rows = useMemo(() => rowsOf(outline.data?.symbols ?? []), [outline.data]);
  const meant = within(rows, at[0]);
  const context = useCall<Context>(at[0] && file.data ? 'get_full_context' : null, { resultId: `${store}:${path}:${at[0]}`, form: 'json' });
  const findings = useMemo(() => {
    const m = new Map<number, string>();
    for (const f of context.data?.findings ?? []) for (const l of f.lines ?? []) m.set(l, `${f.severity}: ${f.message}`);
    return m;
  }, [context.data]);
  useEffect(() => {
    document.title = `${folded(path)[1]} · ${store} · knowledge`;
  }, [path, store]);
  const finding = useFinding(file.data?.text ?? '', file.data?.start ?? 1);
  useReadKeys(rows.map((r) => r.start), at[0], outline.data ? rows.length : 0, finding.begin);
  const [folder, name] = folded(path);
  if (file.error && !file.data) {
    return <div class="read"><header class="title"><h1><span class="folder">{folder}</span>{name}</h1><p class="faint">{store}</p></header><Failed error={file.error} again={file.again} /></div>;
  }
  return (
    <div class="read">
      <header class="title">
        <h1><span class="folder">{folder}</span>{name}</h1>
        <p class="faint">
          {store}{file.data?.commit && ` at ${file.data.commit.slice(0, 7)}`}{file.data && ` · ${count(file.data.lines, 'line')}`}
          {outline.data?.language && ` · ${outline.data.language}`}
          {file.data?.url && safe(file.data.url) && <> · <a href={file.data.url} rel="noopener noreferrer" target="_blank">the page itself</a></>}
          {rows.length > 0 && <> · <Link href={aroundAddress(store, path)}>Files around it</Link></>}
          {' · '}<Copy text={() => path} title="Copy path" />
          {' '}<Copy text={() => location.href} title={at[0] ? 'Copy link to the lines' : 'Copy link'} />
          {' '}<button type="button" class="plain small" aria-expanded={finding.open} onClick={finding.open ? finding.end : finding.begin}>Find</button>
          {at[0] > 0 && <button type="button" class="plain small narrow" onClick={toMargin}>Who calls it</button>}
        </p>
        <Find of={finding} />
        <Notes notes={file.data?.note ? [file.data.note] : []} />
      </header>
      <Outline rows={rows} meant={meant} busy={outline.busy} />
      <Margin place={context} chosen={at[0] > 0} store={store} />
      {file.data
        ? file.data.text === ''
          ? <Empty title="This document is empty" />
          : <Document text={file.data.text} start={file.data.start} language={outline.data?.language || languageOf(path)} at={at} findings={findings} label={`Text of ${path}`}
            mark={finding.mark} found={finding.lines[finding.at] ?? 0} />
        : <Loading what="Reading" rows={8} />}
    </div>
  );
}

// At leads to the place that the id of a hit names, wherever it stands now.
export function At({ id }: { id: string }) {
  const [, go] = useLocation();
  const found = useCall<Context>('get_full_context', { resultId: decode(id), form: 'json' });
  useEffect(() => {
    if (found.data) go(readAddress(found.data.store, found.data.path, found.data.start, found.data.end), { replace: true });
  }, [found.data]);
  return <><h1 class="out">A place</h1>{found.error ? <Failed error={found.error} again={found.again} /> : <Loading what="Looking for the place" rows={8} />}</>;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// toMargin opens what stands above the text where there is no room beside it.
function toMargin() {
  const d = document.querySelector<HTMLDetailsElement>('.margin > details')!;
  d.open = true;
  scrollTo({ top: 0 });
  d.querySelector('summary')?.focus();
}

const safe = (url: string) => /^https?:/i.test(url);

function Copy({ text, title }: { text: () => string; title: string }) {
  const [done, set] = useState(false);
  const timer = useRef(0);
  return (
    <button type="button" class="plain small" onClick={() => {
      void navigator.clipboard?.writeText(text()).then(() => {
        set(true);
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => set(false), 1500);
      });
    }}>{done ? 'Copied' : title}</button>
  );
}

// useReadKeys steps through the declarations, and goes back.
function useReadKeys(starts: number[], at: number, count: number, find: () => void) {
  const [, go] = useLocation();
  const step = (by: number) => {
    if (!count) return;
    const i = by > 0 ? starts.findIndex((s) => s > at) : starts.findLastIndex((s) => s < at);
    if (i >= 0) go(location.pathname + `#L${starts[i]}`, { replace: true });
  };
  useKeys([
    { key: 'j', does: 'goes to the next declaration', run: () => step(1) },
    { key: 'k', does: 'goes to the one before', run: () => step(-1) },
    { key: 'f', does: 'finds in the document', run: find },
    { key: 'Escape', does: 'goes back', run: () => (moved ? history.back() : go('/')) },
  ]);
}
