// One place that was found.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Excerpt, Line } from '../code/code';
import { languageOf } from '../code/languages';
import { useColours } from '../code/colour';
import { folded, placeOf, readAddress } from '../places';
import type { GrepReply, Hit } from '../types';
import { Why } from './why';

export function HitRow({ hit, mark }: { hit: Hit; mark: RegExp | null }) {
  const p = placeOf(hit.at);
  const [folder, name] = folded(p.path);
  const [why, setWhy] = useState(false);
  return (
    <article class="hit">
      <h2>
        <Link href={readAddress(hit.store, p.path, p.start, p.end)}>
          <span class="folder">{folder}</span><span class="name">{name}</span>{p.start > 0 && <span class="lines">:{p.start}</span>}
        </Link>
        {hit.symbol && <span class="symbol">{hit.symbol}</span>}
        <span class="facts">
          {hit.kind && <span>{hit.kind}</span>}<span>{hit.store}</span>
          <button type="button" class="plain small score" aria-expanded={why} aria-label={`Score ${hit.score.toFixed(2)}: why this rank`} title="Score, from 0 to 1. Why this rank (e)"
            onClick={() => setWhy(!why)}>{hit.score.toFixed(2)}</button>
        </span>
      </h2>
      {why && <Why hit={hit} />}
      {hit.note && <p class="note">{hit.note}</p>}
      {hit.code && <Excerpt text={hit.code} start={hit.line ?? p.start} language={hit.language ?? ''} mark={mark} />}
    </article>
  );
}

// LineRow is one line; store is shown where lines are of several.
export function LineRow({ store, in: within, match, mark }: { store: string; in: string; match: GrepReply['matches'][number]; mark: RegExp | null }) {
  const [, name] = folded(match.path);
  const tokens = useColours(languageOf(match.path), match.text)[0] ?? [];
  return (
    <div class="line">
      <Link href={readAddress(within, match.path, match.line)} title={store ? `${store} ${match.path}` : match.path}>{store && <span class="folder">{store} </span>}{name}<span class="lines">:{match.line}</span></Link>
      <code><Line tokens={tokens} mark={mark} /></code>
    </div>
  );
}
