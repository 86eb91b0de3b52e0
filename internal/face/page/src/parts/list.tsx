// A long list of which only what is seen is made. The page scrolls, not the list.

import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll, type VirtualizerOptions } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

interface Props<T> {
  items: T[];
  row: (item: T, index: number) => ComponentChildren;
  name: (item: T, index: number) => string | number;
  height: (item: T, index: number) => number; // as guessed before it is seen
  label: string;
  fixed?: boolean; // every row has the height that is guessed
  // handle gets what shows a row that is not seen.
  handle?: (show: (index: number, align?: 'start' | 'auto') => void) => void;
  under?: number; // px at the top that are covered
}

export function List<T>({ items, row, name, height, label, fixed, handle, under = 120 }: Props<T>) {
  const box = useRef<HTMLOListElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [top, setTop] = useState(0);
  const options: VirtualizerOptions<Window, HTMLElement> = {
    count: items.length, overscan: 6, scrollMargin: top, scrollPaddingStart: under, scrollPaddingEnd: 40,
    getScrollElement: () => window,
    estimateSize: (i) => height(items[i], i),
    getItemKey: (i) => name(items[i], i),
    observeElementRect: observeWindowRect, observeElementOffset: observeWindowOffset, scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    onChange: () => redraw(0),
  };
  const [virtual] = useState(() => new Virtualizer<Window, HTMLElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => {
    virtual._willUpdate();
    const now = box.current ? Math.round(box.current.getBoundingClientRect().top + window.scrollY) : 0;
    if (now !== top) setTop(now);
  });
  handle?.((index, align = 'auto') => virtual.scrollToIndex(index, { align }));
  return (
    <ol class="list" ref={box} aria-label={label} style={{ height: virtual.getTotalSize() + 'px' }}>
      {virtual.getVirtualItems().map((v) => (
        <li key={v.key} data-index={v.index} ref={fixed ? undefined : (e) => virtual.measureElement(e)}
          aria-setsize={items.length} aria-posinset={v.index + 1}
          style={{ transform: `translateY(${v.start - top}px)` }}>
          {row(items[v.index], v.index)}
        </li>
      ))}
    </ol>
  );
}
