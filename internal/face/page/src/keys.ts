// Shortcuts. A view says what its keys do while it is shown; help lists them.

import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

export interface Key {
  key: string; // as KeyboardEvent.key has it
  does: string; // in words, for help
  run: (e: KeyboardEvent) => void;
  writing?: boolean; // also while a field has the focus
  unless?: (e: KeyboardEvent) => boolean; // leaves the key to the browser
}

const layers = signal<Key[][]>([]);

// known lists what keys do now, the innermost view's first.
export function known(): Key[] {
  const seen = new Set<string>();
  return layers.value.toReversed().flat().filter((k) => !seen.has(k.key) && seen.add(k.key));
}

// useKeys makes keys work while a component is shown; those of the frame give
// way to those of a view.
export function useKeys(keys: Key[], frame = false) {
  useLayoutEffect(() => { // before what they act on is seen
    layers.value = frame ? [keys, ...layers.peek()] : [...layers.peek(), keys];
    return () => {
      layers.value = layers.peek().filter((l) => l !== keys);
    };
  });
}

// isField reports whether what is typed goes into an element.
export function isField(e: EventTarget | null): boolean {
  return e instanceof HTMLElement && (e.matches('textarea, select, [contenteditable]') || (e instanceof HTMLInputElement && !/^(checkbox|radio|button|submit|range)$/.test(e.type)));
}

// moved is that a view was shown before this one, so that there is a way back.
export let moved = false;

export function listen() {
  addEventListener('pushState', () => (moved = true)); // wouter's
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.defaultPrevented || document.querySelector('dialog[open]')) return;
    const writing = isField(e.target);
    const k = known().find((k) => k.key === e.key && (!writing || k.writing) && !k.unless?.(e));
    if (!k) return;
    e.preventDefault();
    k.run(e);
  });
}
