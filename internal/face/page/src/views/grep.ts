// Lines that match a regular expression, in every store that is chosen.

import { call, Failure } from '../api';
import type { GrepReply, Lines, Store } from '../types';

const most = 10_000; // lines that are shown
const atOnce = 4; // stores that are looked through at a time

// grepAll looks through the chosen stores: none means those in scope, '*' every
// project's. One that cannot be looked through is noted, unless none can.
export async function grepAll(pattern: string, chosen: string[], abort: AbortSignal): Promise<Lines> {
  const names = chosen.length && !chosen.includes('*') ? chosen : await namesOf(chosen.includes('*'), abort);
  const replies: (GrepReply | Failure)[] = [];
  let next = 0;
  const look = async () => {
    while (next < names.length && !abort.aborted) {
      const i = next++;
      try {
        replies[i] = await call<GrepReply>('grep', { pattern, limit: most, ...(names[i] && { store: names[i] }) }, abort);
      } catch (e) {
        if (!(e instanceof Failure)) throw e;
        replies[i] = e;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, look));
  const failed = replies.filter((r) => r instanceof Failure);
  if (failed.length === replies.length && failed.length) throw failed[0];
  const out: Lines = { matches: [], total: 0, stores: new Map(), notes: [] };
  replies.forEach((r, i) => {
    if (r instanceof Failure) {
      out.notes.push(`${names[i]}: ${r.message}`);
      return;
    }
    out.stores.set(r.store, r.total);
    out.total += r.total;
    if (r.note) out.notes.push(replies.length > 1 ? `${r.store}: ${r.note}` : r.note);
    for (const m of r.matches.slice(0, most - out.matches.length)) out.matches.push({ ...m, store: r.store });
  });
  return out;
}

// namesOf lists the stores that hold something; '' alone is the folder that a
// first search indexes.
async function namesOf(all: boolean, abort: AbortSignal): Promise<string[]> {
  const { stores } = await call<{ stores: Store[] }>('stores', { all }, abort);
  const names = stores.filter((s) => s.documents > 0).map((s) => (all ? s.id : s.name));
  return names.length ? names : [''];
}
