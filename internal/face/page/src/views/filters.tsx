// What narrows the places that were found: stores ask the server, kinds and
// languages choose among what it sent.

import { bare } from '../places';
import type { Hit, Store } from '../types';

export interface Chosen {
  store: string[];
  kind: string[];
  language: string[];
}

// keptBy leaves the hits of the chosen kinds and languages.
export function keptBy(chosen: Chosen, hits: Hit[]): Hit[] {
  if (!chosen.kind.length && !chosen.language.length) return hits;
  return hits.filter((h) => fits(chosen.kind, kindOf(h)) && fits(chosen.language, h.language || 'other'));
}

const fits = (some: string[], one: string) => !some.length || some.includes(one);

const kindOf = (h: Hit) => h.kind || (h.symbol ? 'section' : 'text');

function counts(hits: Hit[], of: (h: Hit) => string): [string, number][] {
  const n = new Map<string, number>();
  for (const h of hits) n.set(of(h), (n.get(of(h)) ?? 0) + 1);
  return [...n].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

interface Props {
  hits: Hit[];
  lines?: Map<string, number>; // how many of each store match, where lines are looked for
  stores: Store[];
  chosen: Chosen;
  set: (chosen: Chosen) => void;
}

export function Filters({ hits, lines, stores, chosen, set }: Props) {
  const found = lines ?? new Map(counts(hits, (h) => bare(h.store)));
  const groups: [keyof Chosen, string, [string, number][]][] = [['store', 'Store', stores.map((s) => [s.name, found.get(s.name) ?? 0])]];
  if (!lines) {
    groups.push(['kind', 'Kind', counts(keptBy({ ...chosen, kind: [] }, hits), kindOf)]);
    groups.push(['language', 'Language', counts(keptBy({ ...chosen, language: [] }, hits), (h) => h.language || 'other')]);
  }
  const any = chosen.store.length + chosen.kind.length + chosen.language.length;
  return (
    <aside class="filters" aria-label="Filters">
      {groups.map(([name, title, values]) => {
        const all = [...values, ...chosen[name].filter((v) => v !== '*' && !values.some(([x]) => x === v)).map((v): [string, number] => [v, 0])];
        return all.length > 0 && (
          <Group key={name} title={title} values={all} chosen={chosen[name]} set={(v) => set({ ...chosen, [name]: v })} />
        );
      })}
      <label class="every"><input type="checkbox" checked={chosen.store.includes('*')} onChange={(e) => set({ ...chosen, store: e.currentTarget.checked ? ['*'] : [] })} />every project’s</label>
      {any > 0 && <button type="button" class="plain" onClick={() => set({ store: [], kind: [], language: [] })}>Clear filters</button>}
    </aside>
  );
}

interface GroupProps {
  title: string;
  values: [string, number][];
  chosen: string[];
  set: (chosen: string[]) => void;
}

function Group({ title, values, chosen, set }: GroupProps) {
  const turn = (v: string) => set(chosen.includes(v) ? chosen.filter((c) => c !== v) : [...chosen.filter((c) => c !== '*'), v]);
  return (
    <details class="group" open={matchMedia('(min-width: 56rem)').matches}>
      <summary>{title}{chosen.length > 0 && <span class="count"> {chosen.length}</span>}</summary>
      <ul>
        {values.map(([v, n]) => (
          <li key={v}>
            <label><input type="checkbox" checked={chosen.includes(v)} onChange={() => turn(v)} /><span class="name">{v}</span>{n > 0 && <span class="faint">{n}</span>}</label>
          </li>
        ))}
      </ul>
    </details>
  );
}
