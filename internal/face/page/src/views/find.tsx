// Finding in a document: of a long one only what is seen is in the page, so that
// the browser's own search finds no more than that.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../parts/figures';

export interface Finding {
  open: boolean;
  text: string;
  mark: RegExp | null;
  lines: number[]; // numbers of the lines that match
  at: number; // which of them is shown
  begin: () => void;
  type: (text: string) => void;
  step: (by: number) => void;
  end: () => void;
}

// useFinding looks for a text in the lines of a document, of which start is the
// number of the first.
export function useFinding(document: string, start: number): Finding {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => setAt(0), [document]);
  const wanted = open ? text : '';
  const mark = useMemo(() => (wanted ? new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu') : null), [wanted]);
  const lines = useMemo(() => {
    if (!mark) return [];
    const out: number[] = [];
    document.split('\n').forEach((l, i) => l.search(mark) >= 0 && out.push(start + i));
    return out;
  }, [document, start, mark]);
  return {
    open, text, mark, lines, at: Math.min(at, Math.max(0, lines.length - 1)),
    begin: () => setOpen(true),
    type: (t) => {
      setText(t);
      setAt(0);
    },
    step: (by) => lines.length && setAt((at + by + lines.length) % lines.length),
    end: () => setOpen(false),
  };
}

// Find is the field, and how many lines there are.
export function Find({ of }: { of: Finding }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (of.open) field.current?.select();
  }, [of.open]);
  if (!of.open) return null;
  return (
    <form class="find" role="search" aria-label="Find in this document" onSubmit={(e) => { e.preventDefault(); of.step(1); }}
      onKeyDown={(e) => {
        if (e.key === 'Enter' && e.shiftKey) of.step(-1);
        else if (e.key === 'Escape') of.end();
        else return;
        e.preventDefault();
      }}>
      <label class="out" for="find">Find in this document</label>
      <input id="find" ref={field} type="search" value={of.text} onInput={(e) => of.type(e.currentTarget.value)} placeholder="find in this document" autocomplete="off" spellcheck={false} />
      <span role="status" class="faint">{of.text && (of.lines.length ? `${of.at + 1} of ${count(of.lines.length, 'line')}` : 'not in it')}</span>
      <button type="button" class="plain" aria-label="The line before" title="Shift Enter" onClick={() => of.step(-1)}>↑</button>
      <button type="submit" class="plain" aria-label="The next line" title="Enter">↓</button>
      <button type="button" class="plain" aria-label="Close" title="Esc" onClick={of.end}>×</button>
    </form>
  );
}
