// The table of views: where each is, and what loads it. page.go has the first
// parts of the paths, too.

import type { ComponentType } from 'preact';
import { Search } from './views/search';

export interface View {
  path: string; // a pattern of wouter
  title: string;
  menu?: string; // the address that the menu leads to; views without one are reached from others
  load: () => Promise<ComponentType<any>> | ComponentType<any>;
}

export const views: View[] = [
  { path: '/', title: 'Search', menu: '/', load: () => Search },
  { path: '/search', title: 'Search', load: () => Search },
  { path: '/read/:store/*', title: 'Read', load: () => import('./views/read').then((m) => m.Read) },
];
