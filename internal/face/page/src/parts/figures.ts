// Numbers as people read them.

export function count(n: number, what: string, many = what + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? what : many}`;
}

export function bytes(n: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

// since is how long ago a time was, roughly.
export function since(time: string): string {
  const s = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (!Number.isFinite(s)) return '';
  if (s < 60) return 'just now';
  for (const [limit, unit, name] of [[3600, 60, 'minute'], [86400, 3600, 'hour'], [Infinity, 86400, 'day']] as const) {
    if (s < limit) return count(Math.floor(s / unit), name) + ' ago';
  }
  return '';
}

// lasting is a length of time in seconds.
export function lasting(s: number): string {
  if (s < 90) return `${Math.max(1, Math.round(s))} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86_400)} days`;
}
