// Graphs: specifications and what they name, and the files around a file.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link, useLocation, useSearch } from 'wouter-preact';
import { useCall } from '../api';
import { Canvas, hues, type Drawn } from '../graph/canvas';
import { useKeys } from '../keys';
import { count } from '../parts/figures';
import { List } from '../parts/list';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import { aroundAddress, folded, readAddress } from '../places';
import type { Around, SpecGraph } from '../manage';
import type { Store } from '../types';
import { addressOf } from './margin';

// Specs draws the specifications that are indexed, or what surrounds one.
export function Specs() {
  const params = new URLSearchParams(useSearch());
  const entity = params.get('entity') ?? '';
  const [, go] = useLocation();
  const { data, error, again } = useCall<SpecGraph>('kdd:graph', { format: 'json', ...(entity ? { entity, depth: 2, limit: 200 } : { limit: 2000 }), include_statuses: ['all'] });
  const stores = useCall<{ stores: Store[] }>('stores');
  const g = data?.graph;
  const drawn = useMemo<Drawn | undefined>(() => g && { nodes: g.nodes.map((n) => ({ label: n.name, kind: n.type.toLowerCase().replaceAll('_', ' '), faded: n.faded })), edges: g.edges }, [g]);
  const none = data?.warnings?.find((w) => w.startsWith('there is no specification'));
  return (
    <div class="page wide">
      <header class="top">
        <h1>{entity || 'Specifications'}</h1>
        {entity && <Link href="/specs">All of them</Link>}
        {g && <p class="faint" role="status">{none ? `no specification; ${count(g.nodes.length, 'document or name', 'documents and names')}` : count(g.nodes.length, 'node')}, {count(g.edges.length, 'relation')}</p>}
      </header>
      {error && !g && <Failed error={error} again={again} />}
      {!data && !error && <Loading what="Joining the specifications" />}
      {data && (!g || !g.nodes.length) && <Empty title={data.message ?? 'There are no specifications here'}><p>Documents with ids, kinds or front matter, and what they name, are joined into a graph.</p></Empty>}
      {g && drawn && g.nodes.length > 0 && (
        <Beside graph={drawn} label={`Graph of ${count(g.nodes.length, 'node')}: specifications, other documents and what they name`}
          row={(i, chosen, choose) => {
            const n = g.nodes[i];
            return (
              <>
                <span class="faint">{n.about}</span>
                {chosen && (
                  <ul class="relations">
                    {g.edges.filter((e) => e.from === i || e.to === i).slice(0, 40).map((e, k) => (
                      <li key={k}>{e.from === i
                        ? <>{e.type.toLowerCase().replaceAll('_', ' ')} → <Node name={g.nodes[e.to].name} choose={() => choose(e.to)} /></>
                        : <><Node name={g.nodes[e.from].name} choose={() => choose(e.from)} /> → {e.type.toLowerCase().replaceAll('_', ' ')}</>}{e.wrong && <span class="cut"> against the layers</span>}</li>
                    ))}
                    <li><button type="button" onClick={() => go('/specs?entity=' + encodeURIComponent(n.name))}>What surrounds it</button></li>
                    {addressOf(n.url ?? '', stores.data?.stores ?? []) && <li><Link href={addressOf(n.url!, stores.data!.stores)}>Read it</Link></li>}
                  </ul>
                )}
              </>
            );
          }} />
      )}
      <Notes notes={data?.warnings?.map((w) => (w === none && g?.nodes.length ? 'what is drawn are documents that name one another; ' + w : w))} />
    </div>
  );
}

// Files draws the files around one.
export function Files({ store, ...rest }: { store: string; '*': string }) {
  store = decodeURIComponent(store);
  const path = rest['*'].split('/').map(decodeURIComponent).join('/');
  const [depth, setDepth] = useState(1);
  const { data, error, again } = useCall<Around>('code:files', { store, path, depth, limit: depth === 1 ? 300 : 1000 });
  const drawn = useMemo<Drawn | undefined>(() => data && { nodes: data.nodes.map((n) => ({ label: folded(n.path)[1], kind: n.distance ? count(n.distance, 'use') + ' away' : 'this file' })), edges: data.edges }, [data]);
  const [folder, name] = folded(path);
  return (
    <div class="page wide">
      <header class="top">
        <h1><span class="faint">{folder}</span>{name}</h1>
        <Link href={readAddress(store, path)}>Read it</Link>
        <label>Uses away <select value={depth} onChange={(e) => setDepth(Number(e.currentTarget.value))}>{[1, 2, 3].map((n) => <option key={n} value={n}>{n}</option>)}</select></label>
        {data && <p class="faint" role="status">{count(data.nodes.length - 1, 'file')} around it{data.more ? `, ${data.more} more` : ''}</p>}
      </header>
      {error && !data && <Failed error={error} again={again} />}
      {!data && !error && <Loading what="Looking who uses whom" />}
      {data?.nodes.length === 1 && <Empty title="No file that is known uses this one, and it uses none"><p>Calls, types and base types count; text that only names a file does not.</p></Empty>}
      {data && drawn && data.nodes.length > 1 && (
        <Beside graph={drawn} label={`${name} and the files around it`} first={0}
          row={(i, chosen, choose) => {
            const n = data.nodes[i], [f] = folded(n.path);
            return (
              <>
                <span class="faint">{f}</span>
                {chosen && (
                  <ul class="relations">
                    {data.edges.filter((e) => e.from === i || e.to === i).slice(0, 40).map((e, k) => (
                      <li key={k}>{e.from === i ? 'uses' : 'used by'} <Node name={data.nodes[e.from === i ? e.to : e.from].path} choose={() => choose(e.from === i ? e.to : e.from)} /> <span class="faint">{uses(e)}</span></li>
                    ))}
                    <li><Link href={readAddress(store, n.path)}>Read it</Link> · <Link href={aroundAddress(store, n.path)}>What surrounds it</Link></li>
                  </ul>
                )}
              </>
            );
          }} />
      )}
      <Notes notes={data?.notes} />
    </div>
  );
}

function uses(e: Around['edges'][number]): string {
  return [e.calls && count(e.calls, 'call'), e.types && count(e.types, 'type'), e.inherits && `${e.inherits} as base`, e.others && `${e.others} otherwise`].filter(Boolean).join(', ');
}

// Node is a neighbour, which can be chosen.
function Node({ name, choose }: { name: string; choose: () => void }) {
  return <button type="button" class="plain link" onClick={choose}>{name}</button>;
}

interface BesideProps {
  graph: Drawn;
  label: string;
  first?: number;
  row: (node: number, chosen: boolean, choose: (node: number) => void) => preact.ComponentChildren;
}

// Legend says which colour is what, the most frequent first.
function Legend({ graph, colours }: { graph: Drawn; colours: Map<string, string> }) {
  const kinds = useMemo(() => {
    const n = new Map<string, number>();
    for (const x of graph.nodes) n.set(x.kind, (n.get(x.kind) ?? 0) + 1);
    return [...n].sort((a, b) => b[1] - a[1]);
  }, [graph]);
  return (
    <ul class="legend" aria-label="Colours">
      {kinds.map(([kind, n]) => <li key={kind}><span class={'kind g-' + colours.get(kind)} aria-hidden="true" />{kind} <span class="faint">{n}</span></li>)}
      {graph.nodes.some((n) => n.faded) && <li class="faint">pale: not approved</li>}
      {graph.edges.some((e) => e.wrong) && <li class="cut">against the layers</li>}
    </ul>
  );
}

// Beside is a graph and the list of its nodes: choosing in one shows the other.
function Beside({ graph, label, first = -1, row }: BesideProps) {
  const [chosen, choose] = useState(first);
  const [filter, setFilter] = useState('');
  const colours = useMemo(() => hues(graph), [graph]);
  useEffect(() => choose(first), [graph]);
  const all = useMemo(() => {
    const f = filter.toLowerCase();
    return graph.nodes.map((_, i) => i).filter((i) => !f || graph.nodes[i].label.toLowerCase().includes(f));
  }, [graph, filter]);
  // The chosen one stands first, also one that the filter leaves out.
  const items = useMemo(() => (chosen >= 0 ? [chosen, ...all.filter((i) => i !== chosen)] : all), [all, chosen]);
  const press = useRef<(key: string) => boolean>(() => false);
  const show = (node: number) => {
    choose(node);
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.node.chosen > button')?.focus({ preventScroll: true }));
  };
  const step = (by: number) => {
    const at = all.indexOf(chosen) + by;
    if (chosen < 0 || at >= 0 && at < all.length) show(all[chosen < 0 ? (by > 0 ? 0 : all.length - 1) : at]);
  };
  const key = (key: string, does: string) => ({ key, does, run: () => void press.current(key) });
  const away = () => !document.activeElement?.matches('canvas'); // elsewhere they scroll
  useKeys([
    { key: 'j', does: 'chooses the next node', run: () => step(1) },
    { key: 'k', does: 'chooses the one before', run: () => step(-1) },
    key('+', 'zooms in'), key('-', 'zooms out'), key('0', 'shows all of it'),
    ...['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].map((k) => ({ ...key(k, 'move the picture, while it has the focus'), unless: away })),
    { key: 'Escape', does: 'chooses none', run: () => choose(-1) },
  ]);
  return (
    <div class="beside">
      <div class="picture">
        <Canvas graph={graph} label={label} chosen={chosen} choose={choose} handle={(f) => (press.current = f)} />
        <Legend graph={graph} colours={colours} />
      </div>
      <section class="nodes" aria-label="Nodes">
        <label class="out" for="node-filter">Only nodes with</label>
        <input id="node-filter" type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} placeholder="filter by name" autocomplete="off" spellcheck={false} />
        <List items={items} label="Nodes" height={() => 34} name={(i) => i}
          row={(i) => <div class={'node' + (i === chosen ? ' chosen' : '')}>
            <button type="button" class="plain" aria-pressed={i === chosen} onClick={() => choose(i === chosen ? -1 : i)}>
              <span class={'kind g-' + colours.get(graph.nodes[i].kind)} aria-hidden="true" />{graph.nodes[i].label}
            </button>
            {row(i, i === chosen, show)}
          </div>} />
      </section>
    </div>
  );
}
