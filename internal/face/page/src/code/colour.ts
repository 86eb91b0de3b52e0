// Asks the worker for the colours of a text.

import { useEffect, useState } from 'preact/hooks';
import type { Token } from './worker';

declare const WORKER: string;
declare const trustedTypes: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } } | undefined;

let worker: Worker | null = null;
let last = 0;
const asked = new Map<number, (lines: Token[][] | null) => void>();

// kept holds the newest answers by language and text.
const kept = new Map<string, Token[][] | null>();
const most = 400;

function start(): Worker {
  let address = WORKER;
  if (typeof trustedTypes !== 'undefined') {
    address = trustedTypes.createPolicy('worker', { createScriptURL: (u: string) => (u === WORKER ? u : '') }).createScriptURL(WORKER);
  }
  const w = new Worker(address);
  w.onmessage = ({ data }) => {
    asked.get(data.id)?.(data.lines);
    asked.delete(data.id);
  };
  return w;
}

function colours(language: string, text: string): Promise<Token[][] | null> {
  worker ??= start();
  return new Promise((done) => {
    asked.set(++last, done);
    worker!.postMessage({ id: last, language, text });
  });
}

// useColours returns the lines of a text in tokens; plain ones until there are
// colours.
export function useColours(language: string, text: string): Token[][] {
  const key = language + '\0' + text;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!language || kept.has(key)) return;
    let shown = true;
    colours(language, text).then((lines) => {
      kept.set(key, lines);
      if (kept.size > most) kept.delete(kept.keys().next().value!);
      if (shown) redraw((n) => n + 1);
    });
    return () => {
      shown = false;
    };
  }, [key]);
  return kept.get(key) ?? text.split('\n').map((l): Token[] => (l ? [['', l]] : []));
}
