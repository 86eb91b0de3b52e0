// What a document declares.

import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Loading } from '../parts/states';
import type { OutlineSymbol } from '../types';

export interface Row {
  symbol: string;
  kind: string;
  signature: string;
  start: number;
  end: number;
  depth: number;
}

// rowsOf lays the declarations out in the order of their lines.
export function rowsOf(symbols: OutlineSymbol[], depth = 0): Row[] {
  return symbols.flatMap((s) => {
    const [start, end] = s.lines.split('-').map(Number);
    return [{ symbol: s.symbol, kind: s.kind, signature: s.signature ?? '', start, end: end || start, depth }, ...rowsOf(s.members ?? [], depth + 1)];
  });
}

// within is the innermost declaration around a line.
export function within(rows: Row[], line: number): Row | null {
  let found: Row | null = null;
  for (const r of rows) if (r.start <= line && line <= r.end) found = r;
  return found;
}

export function Outline({ rows, meant, busy }: { rows: Row[]; meant: Row | null; busy: boolean }) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const a = box.current?.querySelector<HTMLElement>('[aria-current]');
    const b = box.current;
    if (a && b && (a.offsetTop < b.scrollTop || a.offsetTop > b.scrollTop + b.clientHeight - 30)) b.scrollTop = a.offsetTop - b.clientHeight / 2;
  }, [meant]);
  if (!busy && rows.length === 0) return <div class="outline" />;
  return (
    <nav class="outline" aria-label="What it declares" ref={box} tabIndex={-1}>
      <details open={matchMedia('(min-width: 64rem)').matches}>
        <summary>Declares{rows.length > 0 && <span class="faint"> {rows.length}</span>}</summary>
        {busy && rows.length === 0 && <Loading what="Reading what it declares" rows={2} />}
        <ul>
          {rows.map((r) => (
            <li key={r.start + r.symbol} data-depth={Math.min(r.depth, 4)}>
              <Link href={`${location.pathname}#L${r.start}${r.end > r.start ? '-' + r.end : ''}`} title={r.signature || r.kind} aria-current={r === meant ? 'location' : undefined}>
                <span class="kind" title={r.kind}>{sign(r.kind)}</span><span class="name">{r.symbol}</span>
              </Link>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

// sign is one letter for a kind.
function sign(kind: string): string {
  return ({ function: 'ƒ', method: 'm', type: 'T', class: 'C', interface: 'I', const: 'c', var: 'v', field: '.', heading: '#', struct: 'S', enum: 'E' } as Record<string, string>)[kind] ?? kind.charAt(0);
}
