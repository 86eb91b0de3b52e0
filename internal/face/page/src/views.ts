// The table of views: where each is, and what loads it. page.go has the first
// parts of the paths, too.

import type { ComponentType } from 'preact';
import { Search } from './views/search';

export interface View {
  path: string | RegExp; // a pattern of wouter
  title: string;
  menu?: string; // the address that the menu leads to; views without one are reached from others
  load: () => Promise<ComponentType<any>> | ComponentType<any>;
}

export const views: View[] = [
  // One view, since the address changes between the two as one types.
  { path: /^\/(?:search)?$/, title: 'Search', menu: '/', load: () => Search },
  { path: '/read/:store/*', title: 'Read', load: () => import('./views/read').then((m) => m.Read) },
  { path: '/at/:id', title: 'A place', load: () => import('./views/read').then((m) => m.At) },
  { path: '/ask', title: 'Ask', menu: '/ask', load: () => import('./views/ask').then((m) => m.Ask) },
  { path: '/specs', title: 'Specifications', menu: '/specs', load: () => import('./views/graph').then((m) => m.Specs) },
  { path: '/graph/:store/*', title: 'Files around', load: () => import('./views/graph').then((m) => m.Files) },
  { path: '/stores', title: 'Stores', menu: '/stores', load: () => import('./views/stores').then((m) => m.Stores) },
  { path: '/jobs', title: 'Jobs', menu: '/jobs', load: () => import('./views/jobs').then((m) => m.Jobs) },
  { path: '/evidence', title: 'Evidence', menu: '/evidence', load: () => import('./views/evidence').then((m) => m.Evidence) },
  { path: '/answers', title: 'Answers', menu: '/answers', load: () => import('./views/answers').then((m) => m.Answers) },
  { path: '/status', title: 'Machine', menu: '/status', load: () => import('./views/status').then((m) => m.Status) },
];
