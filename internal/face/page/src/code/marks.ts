// Which parts of a line are marked: the words of the query.

const dull = new Set('a an and are as at be by for from how in into is it its of on or that the this to what when where which who why with'.split(' '));

// marker makes an expression of a query's words; null where it has none.
export function marker(query: string): RegExp | null {
  const words = new Set<string>();
  for (const w of query.match(/[\p{L}\p{N}_$]+/gu) ?? []) {
    words.add(w.toLowerCase());
    for (const part of w.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)) words.add(part.toLowerCase());
  }
  const kept = [...words].filter((w) => w.length > 1 && !dull.has(w)).sort((a, b) => b.length - a.length);
  if (!kept.length) return null;
  // A word's end may change: request, requests, requested.
  const stems = kept.map((w) => (w.length > 5 ? w.replace(/(?:ing|ed|es|s|e)$/, '') : w.length > 3 ? w.replace(/s$/, '') : w));
  return new RegExp(stems.map((w) => w.replace(/[$]/g, '\\$')).join('|'), 'giu');
}

// spans are the marked parts of a line, as [start, end).
export function spans(line: string, mark: RegExp | null): [number, number][] {
  if (!mark) return [];
  return [...line.matchAll(mark)].filter((m) => m[0]).map((m) => [m.index, m.index + m[0].length]);
}
