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
  return new RegExp(kept.map(pattern).join('|'), 'giu');
}

// pattern finds a word whose end may change: request, requests, requested. A
// short one is found alone, not within others.
function pattern(word: string): string {
  const plain = (w: string) => w.replace(/[$]/g, '\\$&');
  if (word.length < 4) return `(?<![\\p{L}\\p{N}])${plain(word)}(?![\\p{L}\\p{N}])`;
  const stem = word.length > 5 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word.replace(/s$/, '');
  return `${plain(stem)}(?:ing|ed|es|s|e)?`;
}

// spans are the marked parts of a line, as [start, end).
export function spans(line: string, mark: RegExp | null): [number, number][] {
  if (!mark) return [];
  return [...line.matchAll(mark)].filter((m) => m[0]).map((m) => [m.index, m.index + m[0].length]);
}
