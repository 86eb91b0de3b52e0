// A long list of which only what is seen is made. The page scrolls, not the list.

import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll, type VirtualizerOptions } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';

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

export function List<T>(props: Props<T>) {
  const { items, row, label, fixed, handle, under = 120 } = props;
  const box = useRef<HTMLOListElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [top, setTop] = useState(0);
  const now = useRef(props);
  now.current = props;
  // With other functions at every drawing all rows would be measured anew.
  const [options] = useState(() => ({
    overscan: 6,
    getScrollElement: () => window,
    estimateSize: (i: number) => now.current.height(now.current.items[i], i),
    observeElementRect: observeWindowRect, observeElementOffset: observeWindowOffset, scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    onChange: () => redraw(0),
  }));
  const getItemKey = useMemo(() => (i: number) => now.current.name(items[i], i), [items]);
  const all: VirtualizerOptions<Window, HTMLElement> = { ...options, getItemKey, count: items.length, scrollMargin: top, scrollPaddingStart: under, scrollPaddingEnd: 40 };
  const [virtual] = useState(() => new Virtualizer<Window, HTMLElement>(all));
  virtual.setOptions(all);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => {
    virtual._willUpdate();
    const at = box.current ? Math.round(box.current.getBoundingClientRect().top + window.scrollY) : 0;
    if (at !== top) setTop(at);
  });
  handle?.((index, align = 'auto') => virtual.scrollToIndex(index, { align }));
  return (
    <ol class="list" ref={box} aria-label={label} style={{ height: virtual.getTotalSize() + 'px' }}>
      {virtual.getVirtualItems().map((v) => (
        <li key={v.key} data-index={v.index} ref={fixed ? undefined : virtual.measureElement}
          aria-setsize={items.length} aria-posinset={v.index + 1}
          style={{ transform: `translateY(${v.start - top}px)` }}>
          {row(items[v.index], v.index)}
        </li>
      ))}
    </ol>
  );
}
