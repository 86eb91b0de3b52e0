// Lines of code: numbers, colours, marked words.

import type { Token } from './worker';
import { useColours } from './colour';
import { spans } from './marks';

// A longer line is cut here: it is data, or generated.
const widest = 1000;

// Line draws the tokens of one line, with its marks.
export function Line({ tokens, mark }: { tokens: Token[]; mark: RegExp | null }) {
  const text = tokens.map((t) => t[1]).join('');
  const marked = text.length > widest ? [] : spans(text, mark);
  const out = [];
  let at = 0;
  let m = 0;
  for (const [kind, value] of tokens) {
    const end = Math.min(at + value.length, widest);
    for (let from = at; from < end; ) {
      while (m < marked.length && marked[m][1] <= from) m++;
      const inside = m < marked.length && marked[m][0] <= from;
      const to = Math.min(end, m < marked.length ? (inside ? marked[m][1] : marked[m][0]) : end);
      const part = text.slice(from, to);
      const name = kind ? 't-' + kind : undefined;
      out.push(inside ? <mark class={name}>{part}</mark> : name ? <span class={name}>{part}</span> : part);
      from = to;
    }
    at = end;
    if (at >= widest) {
      out.push(<span class="cut" title={`${text.length} characters`}>…</span>);
      break;
    }
  }
  return <>{out}</>;
}

// Excerpt shows a few lines; start is the number of the first.
export function Excerpt({ text, start, language, mark }: { text: string; start: number; language: string; mark: RegExp | null }) {
  const lines = useColours(language, text);
  return (
    <div class="excerpt">
      <code>
        {lines.map((tokens, i) => (
          <span class="row" key={i}>
            <span class="no" data-no={start ? start + i : ''} />
            <span class="text"><Line tokens={tokens} mark={mark} /></span>
          </span>
        ))}
      </code>
    </div>
  );
}
