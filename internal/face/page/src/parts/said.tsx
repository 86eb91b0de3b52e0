// Sentences of the server that name its commands, as those who look at a page
// can follow them: a view where there is one, else a line for a terminal.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../api';
import { readAddress } from '../places';

type Args = Record<string, unknown>;

// views are where the page does what a command does, by the command's name up
// to a colon, or all of it.
const views: Record<string, [address: string, title: string]> = {
  store: ['/stores', 'Stores'], stores: ['/stores', 'Stores'], job: ['/jobs', 'Jobs'], jobs: ['/jobs', 'Jobs'], kdd: ['/specs', 'Specifications'],
  evidence: ['/evidence', 'Evidence'], gate: ['/evidence', 'Evidence'], feedback: ['/answers', 'Answers'], doctor: ['/status', 'Machine'], usage: ['/status', 'Machine'],
  search: ['/', 'Search'], ask: ['/ask', 'Ask'], answer: ['/ask', 'Ask'],
};

const bare = /^(?:stores|jobs|doctor|usage|search|ask)$/;

// Said shows a text of the server.
export function Said({ text }: { text: string }) {
  const out: ComponentChildren[] = [];
  let done = 0;
  for (const m of text.matchAll(/\b([a-z][a-z_]*(?::[a-z-]+)*)(?= \{|$|[,;.)])/g)) {
    if (m.index < done || /knowledge(?: [^:;]*)? $/.test(text.slice(0, m.index))) continue;
    const after = text.slice(m.index + m[1].length);
    const [args, length] = argumentsOf(after);
    if (!args && !(m[1].includes(':') || bare.test(m[1]) && /: $/.test(text.slice(0, m.index)))) continue;
    out.push(text.slice(done, m.index), <Named command={m[1]} args={args ?? {}} />);
    done = m.index + m[1].length + length;
  }
  const rest = text.slice(done);
  const line = /^(.*: )((?:knowledge|chmod|sysctl) .*)$/s.exec(rest);
  out.push(...(line ? [line[1], <code class="shell">{line[2]}</code>] : [rest]));
  return <>{out}</>;
}

// argumentsOf reads the JSON that follows a command, and how long it is.
function argumentsOf(after: string): [Args | null, number] {
  if (!after.startsWith(' {')) return [null, 0];
  for (let end = after.indexOf('}'); end >= 0 && end < 2000; end = after.indexOf('}', end + 1)) {
    try {
      return [JSON.parse(after.slice(1, end + 1)) as Args, end + 1];
    } catch {
      // a brace within
    }
  }
  return [null, 0];
}

// here is the store of the document that the address shows, which is meant
// where none is named.
function here(): string | undefined {
  const m = /^\/(?:read|graph)\/([^/]+)\//.exec(location.pathname);
  return m ? decodeURIComponent(m[1]) : undefined;
}

function Named({ command, args }: { command: string; args: Args }) {
  const { path, query, pattern } = args;
  const store = args.store ?? here();
  if (command === 'read' && typeof store === 'string' && typeof path === 'string') return <Link href={readAddress(store, path)}>{path}</Link>;
  if (command === 'search' && typeof query === 'string') return <Link href={'/search?q=' + encodeURIComponent(query)}>{query}</Link>;
  if (command === 'grep' && typeof pattern === 'string') return <Link href={'/search?mode=regex&q=' + encodeURIComponent(pattern)}>{pattern}</Link>;
  if (command === 'store:index' && typeof args.store === 'string') return <Index store={args.store} />;
  const view = views[command] ?? views[command.split(':')[0]];
  if (view) return <Link href={view[0]}>{view[1]}</Link>;
  return <code class="shell">{shell(command, args)}</code>;
}

// Index brings a store up to date at once.
function Index({ store }: { store: string }) {
  const [said, set] = useState('');
  if (said) return <span role="status">{said}</span>;
  return (
    <button type="button" class="small" onClick={() => {
      set('asked for');
      call('store:index', { store }).then(() => set('under way'), (e) => set(e instanceof Error ? e.message : 'failed'));
    }}>Bring {store} up to date</button>
  );
}

// shell is a command as it is typed at a terminal.
function shell(command: string, args: Args): string {
  const flags = Object.entries(args).map(([name, v]) => {
    const flag = '--' + name.replace(/_/g, '-').replace(/[A-Z]/g, (c) => '-' + c.toLowerCase());
    return v === true ? flag : `${flag} ${quote(Array.isArray(v) ? v.join(',') : String(v))}`;
  });
  return ['knowledge', command, ...flags].join(' ');
}

// quote is a word as shells take it.
export const quote = (s: string) => (/^[\w@%+=:,./~-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);
