// Light or dark: as the system has it, or as the switch was set.

import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const kept = localStorage.getItem('theme');

export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'auto');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  if (theme.value === 'auto') localStorage.removeItem('theme');
  else localStorage.setItem('theme', theme.value);
});

// turn goes from what is seen to the other, and back to the system's.
export function turn() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const order: Theme[] = dark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  theme.value = order[(order.indexOf(theme.value) + 1) % 3];
}
