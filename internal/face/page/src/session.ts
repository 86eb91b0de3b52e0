// The token of the server, which every request carries. It comes in the
// fragment of the address that the server printed, which no browser sends, and
// is kept for this tab; another tab of ours hands it to a new one.

import { signal } from '@preact/signals';

const name = 'token';

export const token = signal('');

let others: BroadcastChannel | undefined;

// begin finds the token: in the address, in what the tab kept, in another tab.
export function begin() {
  if (!fromAddress()) token.value = sessionStorage.getItem(name) ?? '';
  addEventListener('hashchange', fromAddress);
  others = new BroadcastChannel('knowledge');
  others.onmessage = ({ data }) => {
    if (data?.ask && token.value && token.value !== data.not && !wanting) others?.postMessage({ token: token.value });
    if (typeof data?.token === 'string' && (!token.value || wanting) && data.token !== token.value) keep(data.token);
  };
  if (!token.value) others.postMessage({ ask: true });
}

// wanting is that the server does not know our token; another tab may have the
// one that it knows.
let wanting = false;

// lost says that the server does not know a token.
export function lost(not: string) {
  if (not !== token.value) return;
  wanting = true;
  others?.postMessage({ ask: true, not });
}

// fromAddress takes the token out of the fragment, so that it is not copied
// with the address.
function fromAddress(): boolean {
  const found = tokenIn(location.hash);
  if (!found) return false;
  const rest = location.hash.replace(/[#&]token=[^#&]*/, '').replace(/^&/, '#'); // lines that it leads to
  history.replaceState(history.state, '', location.pathname + location.search + rest);
  keep(found);
  others?.postMessage({ token: found });
  return true;
}

function tokenIn(text: string): string {
  return /[#&]token=([\w.~%+/=-]+)/.exec(text)?.[1] ?? '';
}

function keep(t: string) {
  wanting = false;
  sessionStorage.setItem(name, t);
  token.value = t;
}

// pasted is the token that a person gave last.
export let pasted = '';

// take takes what a person pasted: the address, or the token alone.
export function take(text: string) {
  const found = tokenIn(text) || text.trim();
  if (!found) return;
  pasted = found;
  keep(found);
  others?.postMessage({ token: found }); // to tabs that want one
}
