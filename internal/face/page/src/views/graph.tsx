// Graphs: specifications and what they name, and the files around a file.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { Link, useLocation, useSearch } from 'wouter-preact';
import { useCall } from '../api';
import { Canvas, hues, type Drawn } from '../graph/canvas';
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
  const drawn = useMemo<Drawn | undefined>(() => g && { nodes: g.nodes.map((n) => ({ label: n.name, kind: n.type, faded: n.faded })), edges: g.edges }, [g]);
  return (
    <div class="page wide">
      <header class="top">
        <h1>{entity || 'Specifications'}</h1>
        {entity && <Link href="/specs">All of them</Link>}
        {g && <p class="faint" role="status">{count(g.nodes.length, 'node')}, {count(g.edges.length, 'relation')}</p>}
      </header>
      {error && !g && <Failed error={error} again={again} />}
      {!data && !error && <Loading what="Joining the specifications" />}
      {data && (!g || !g.nodes.length) && <Empty title={data.message ?? 'There are no specifications here'}><p>Documents with ids, kinds or front matter, and what they name, are joined into a graph.</p></Empty>}
      {g && drawn && g.nodes.length > 0 && (
        <Beside graph={drawn} label={`Graph of ${count(g.nodes.length, 'specification')} and what they name`}
          row={(i, chosen) => {
            const n = g.nodes[i];
            return (
              <>
                <span class="faint">{n.about}</span>
                {chosen && (
                  <ul class="relations">
                    {g.edges.filter((e) => e.from === i || e.to === i).slice(0, 40).map((e, k) => (
                      <li key={k}>{e.from === i ? <>{e.type.toLowerCase().replaceAll('_', ' ')} → <b>{g.nodes[e.to].name}</b></> : <><b>{g.nodes[e.from].name}</b> → {e.type.toLowerCase().replaceAll('_', ' ')}</>}{e.wrong && <span class="cut"> against the layers</span>}</li>
                    ))}
                    <li><button type="button" onClick={() => go('/specs?entity=' + encodeURIComponent(n.name))}>What surrounds it</button></li>
                    {addressOf(n.url ?? '', stores.data?.stores ?? []) && <li><Link href={addressOf(n.url!, stores.data!.stores)}>Read it</Link></li>}
                  </ul>
                )}
              </>
            );
          }} />
      )}
      <Notes notes={data?.warnings} />
    </div>
  );
}

// Files draws the files around one.
export function Files({ store, ...rest }: { store: string; '*': string }) {
  store = decodeURIComponent(store);
  const path = rest['*'].split('/').map(decodeURIComponent).join('/');
  const [depth, setDepth] = useState(1);
  const { data, error, again } = useCall<Around>('code:files', { store, path, depth, limit: depth === 1 ? 300 : 1000 });
  const drawn = useMemo<Drawn | undefined>(() => data && { nodes: data.nodes.map((n) => ({ label: folded(n.path)[1], kind: 'away' + n.distance })), edges: data.edges }, [data]);
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
          row={(i, chosen) => {
            const n = data.nodes[i], [f] = folded(n.path);
            return (
              <>
                <span class="faint">{f}</span>
                {chosen && (
                  <ul class="relations">
                    {data.edges.filter((e) => e.from === i || e.to === i).slice(0, 40).map((e, k) => (
                      <li key={k}>{e.from === i ? <>uses <b>{data.nodes[e.to].path}</b></> : <>used by <b>{data.nodes[e.from].path}</b></>} <span class="faint">{uses(e)}</span></li>
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

interface BesideProps {
  graph: Drawn;
  label: string;
  first?: number;
  row: (node: number, chosen: boolean) => preact.ComponentChildren;
}

// Beside is a graph and the list of its nodes: choosing in one shows the other.
function Beside({ graph, label, first = -1, row }: BesideProps) {
  const [chosen, choose] = useState(first);
  const [filter, setFilter] = useState('');
  const colours = useMemo(() => hues(graph), [graph]);
  useEffect(() => choose(first), [graph]);
  const items = useMemo(() => {
    const f = filter.toLowerCase();
    const all = graph.nodes.map((_, i) => i).filter((i) => !f || graph.nodes[i].label.toLowerCase().includes(f));
    return chosen >= 0 && all.includes(chosen) ? [chosen, ...all.filter((i) => i !== chosen)] : all;
  }, [graph, filter, chosen]);
  return (
    <div class="beside">
      <Canvas graph={graph} label={label} chosen={chosen} choose={choose} />
      <section class="nodes" aria-label="Nodes">
        <label class="out" for="node-filter">Only nodes with</label>
        <input id="node-filter" type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} placeholder="name" autocomplete="off" spellcheck={false} />
        <List items={items} label="Nodes" height={() => 34} name={(i) => i}
          row={(i) => <div class={'node' + (i === chosen ? ' chosen' : '')}>
            <button type="button" class="plain" aria-pressed={i === chosen} onClick={() => choose(i === chosen ? -1 : i)}>
              <span class={'kind g-' + colours.get(graph.nodes[i].kind)} aria-hidden="true" />{graph.nodes[i].label}
            </button>
            {row(i, i === chosen)}
          </div>} />
      </section>
    </div>
  );
}
