// Rows that are drawn again as they were: of one and the same node Preact
// compares nothing.

import type { VNode } from 'preact';

// kept makes the row of an item once.
export function kept<T extends object>(row: (item: T) => VNode): (item: T) => VNode {
  const made = new WeakMap<T, VNode>();
  return (item) => {
    let node = made.get(item);
    if (!node) made.set(item, (node = row(item)));
    return node;
  };
}
