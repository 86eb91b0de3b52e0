// A whole document: its lines, of which only those that are seen are made.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { List } from '../parts/list';
import { useColours } from './colour';
import { Line } from './code';

const height = 20; // px of a line, as style.css has it
const widest = 400; // columns that the page is made wide for

// prose are the languages whose lines go on below where the window ends.
const prose = new Set(['markdown', 'text', 'restructuredtext', 'asciidoc', 'html', '']);

interface Props {
  text: string;
  start: number; // number of the first line
  language: string;
  at: [number, number]; // the lines that are pointed at
  findings: Map<number, string>; // what is wrong, by line
  label: string;
  mark: RegExp | null; // what is looked for
  found: number; // the line where it was found, 0 for none
}

export function Document({ text, start, language, at, findings, label, mark, found }: Props) {
  const lines = useColours(language, text);
  const columns = useMemo(() => {
    let most = 0;
    for (const l of text.split('\n')) most = Math.max(most, l.length + 3 * (l.match(/\t/g)?.length ?? 0));
    return Math.min(most, widest) + 8;
  }, [text]);
  const wrap = prose.has(language);
  const show = useRef<(index: number, align?: 'start' | 'auto') => void>(() => {});
  useEffect(() => {
    if (at[0]) show.current(at[0] - start, 'start');
    else scrollTo({ top: 0 });
  }, [at[0], text]);
  useEffect(() => {
    if (found) show.current(found - start, 'auto');
  }, [found]);
  return (
    <div class={wrap ? 'document wrapped' : 'document'} role="region" aria-label={label} tabIndex={0}>
      <div class="sheet" style={{ minWidth: wrap ? '0' : columns + 'ch' }}>
        <List items={lines} label="Lines" fixed={!wrap} under={200} height={() => height} name={(_, i) => i} handle={(f) => (show.current = f)}
          row={(tokens, i) => {
            const n = start + i;
            const wrong = findings.get(n);
            return (
              <div class={'row' + (n >= at[0] && n <= at[1] ? ' at' : '') + (n === found ? ' found' : '') + (wrong ? ' wrong' : '')} title={wrong}>
                <a class="no" id={'L' + n} href={'#L' + n} data-no={n} aria-label={`Line ${n}`} tabIndex={-1} onClick={(e) => extend(e, n, at)} />
                <code class="text"><Line tokens={tokens} mark={mark} /></code>
              </div>
            );
          }} />
      </div>
    </div>
  );
}

// extend points at all lines from those that are pointed at to the one that is
// clicked with the shift key.
function extend(e: MouseEvent, n: number, at: [number, number]) {
  if (!e.shiftKey || !at[0]) return;
  e.preventDefault();
  location.hash = `#L${Math.min(n, at[0])}-${Math.max(n, at[0])}`;
}
