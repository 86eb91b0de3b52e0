// Colours code, away from the thread that draws.

import { common, createLowlight } from 'lowlight';
import { names } from './languages';

export type Token = [kind: string, text: string];

const low = createLowlight(common);

// tokens splits a text into lines of tokens.
function tokens(language: string, text: string): Token[][] {
  const lines: Token[][] = [[]];
  const add = (kind: string, value: string) => {
    value.split('\n').forEach((part, i) => {
      if (i) lines.push([]);
      if (part) lines[lines.length - 1].push([kind, part]);
    });
  };
  const walk = (nodes: any[], kind: string) => {
    for (const n of nodes) {
      if (n.type === 'text') add(kind, n.value);
      else walk(n.children, String(n.properties?.className?.[0] ?? '').replace(/^hljs-/, '') || kind);
    }
  };
  walk(low.highlight(language, text).children, '');
  return lines;
}

onmessage = ({ data: { id, language, text } }) => {
  const name = names[language] ?? language;
  let lines: Token[][] | null = null;
  try {
    if (low.registered(name)) lines = tokens(name, text);
  } catch {
    // it stays as it is
  }
  postMessage({ id, lines });
};
