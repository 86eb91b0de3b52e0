// Places in documents, and the addresses of the views that show them.

export interface Place {
  path: string;
  start: number; // 0 where it has no lines
  end: number;
}

// placeOf takes "path:L12-40", "path:L12" or "path:L12:c0-4000" apart; what has
// no lines, such as the address of a web page, is all path.
export function placeOf(at: string): Place {
  const m = /^(.*):L(\d+)(?:-(\d+))?(?::c\d+-\d+)?$/s.exec(at);
  if (!m) return { path: at, start: 0, end: 0 };
  return { path: m[1], start: Number(m[2]), end: Number(m[3] ?? m[2]) };
}

// bare is a store's name without the commit that a hit cites.
export const bare = (store: string) => store.replace(/@[0-9a-f]{7}$/, '');

// readAddress is where a document is read, at some lines.
export function readAddress(store: string, path: string, start = 0, end = 0): string {
  const at = start ? `#L${start}${end > start ? '-' + end : ''}` : '';
  return `/read/${encodeURIComponent(bare(store))}/${path.split('/').map(encodeURIComponent).join('/')}${at}`;
}

// aroundAddress is where the files around a document are drawn.
export const aroundAddress = (store: string, path: string) => readAddress(store, path).replace('/read/', '/graph/');

// linesOf reads "#L12-40".
export function linesOf(hash: string): [number, number] {
  const m = /^#L(\d+)(?:-L?(\d+))?$/.exec(hash);
  return m ? [Number(m[1]), Math.max(Number(m[1]), Number(m[2] ?? m[1]))] : [0, 0];
}

// folded is a path as folder and name, so that the name can be seen first.
export function folded(path: string): [string, string] {
  const i = path.lastIndexOf('/', path.length - 2) + 1;
  return [path.slice(0, i), path.slice(i)];
}
