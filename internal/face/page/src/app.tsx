// The frame around every view: menu, theme, keys, how the server stands.

import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useMemo, useState } from 'preact/hooks';
import { Link, Route, Router, Switch, useLocation } from 'wouter-preact';
import { Failure } from './api';
import { isField, useKeys } from './keys';
import { Gate } from './parts/gate';
import { Help, helping } from './parts/help';
import { Empty, Failed, Loading } from './parts/states';
import { theme, turn } from './theme';
import { views, type View } from './views';

export function App() {
  return (
    <Router>
      <Head />
      <Gate />
      <main id="main">
        <Switch>
          {views.map((v) => <Route key={String(v.path)} path={v.path}>{(params: any) => <Shown view={v} params={params} />}</Route>)}
          <Route><Empty title="There is no such page" whole><p><Link href="/">Search</Link> what is indexed instead.</p></Empty></Route>
        </Switch>
      </main>
      <Help />
    </Router>
  );
}

// Shown loads a view when it is first shown.
function Shown({ view, params }: { view: View; params: Record<string, string> }) {
  const made = useMemo(() => view.load(), [view]);
  const [loaded, set] = useState<{ view: View; as?: ComponentType<any>; error?: Failure }>(() => ({ view, as: made instanceof Promise ? undefined : made }));
  useEffect(() => {
    document.title = view.title + ' · knowledge';
    if (!(made instanceof Promise)) return set({ view, as: made });
    let here = true;
    made.then(
      (as) => here && set({ view, as }),
      () => here && set({ view, error: new Failure('stale', 'this part of the page could not be loaded', 'the server is away, or another version of it was started') }),
    );
    return () => {
      here = false;
    };
  }, [view]);
  if (loaded.view !== view) return <Loading what="Loading the view" />;
  if (loaded.error) return <Failed error={loaded.error} again={() => location.reload()} title="Load the page anew" />;
  if (!loaded.as) return <Loading what="Loading the view" />;
  return <Kept as={loaded.as} params={params} />;
}

// Kept shows a view, and where it breaks what can be done about that.
function Kept({ as: As, params }: { as: ComponentType<any>; params: Record<string, string> }) {
  const [broken, again] = useErrorBoundary();
  if (broken) return <Failed error={new Failure('broken', 'this view met a defect of its own', String(broken))} again={again} title="Show it again" />;
  return <As {...params} />;
}

const themes = { auto: 'as the system', light: 'light', dark: 'dark' };

function Head() {
  const [at, go] = useLocation();
  const [open, setOpen] = useState(false);
  const shown = views.find((v) => v.menu && isAt(v, at));
  useEffect(() => setOpen(false), [at]);
  useEffect(() => {
    if (!open) return;
    const close = (e: Event) => {
      if (e instanceof KeyboardEvent ? e.key === 'Escape' : !(e.target as Element).closest('.head')) setOpen(false);
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
    };
  }, [open]);
  useKeys([
    { key: '/', does: 'goes to the search', run: () => go('/') },
    { key: '?', does: 'shows the keys', writing: true, unless: (e) => isField(e.target) && (e.target as HTMLInputElement).value !== '', run: () => (helping.value = !helping.value) },
    { key: 't', does: 'changes between light and dark', run: turn },
  ], true);
  return (
    <header class="head">
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>('#main :is(a, button, input, [tabindex="0"])')?.focus(); }}>Skip the menu</a>
      <Link class="brand" href="/">knowledge</Link>
      <button type="button" class="plain narrow" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
        {shown?.title ?? 'Menu'} <span aria-hidden="true">▾</span>
      </button>
      <nav id="menu" aria-label="Views" class={open ? 'open' : ''} onClick={() => setOpen(false)}>
        {views.filter((v) => v.menu).map((v) => (
          <Link key={v.menu} href={v.menu!} aria-current={v === shown ? 'page' : undefined}>{v.title}</Link>
        ))}
      </nav>
      <span class="gap" />
      <button type="button" class="plain" title={`Colours: ${themes[theme.value]}`} aria-label={`Colours: ${themes[theme.value]}`} onClick={turn}>
        <span aria-hidden="true" class={'dot ' + theme.value} />
      </button>
      <button type="button" class="plain" title="Keys (?)" aria-label="Keys" onClick={() => (helping.value = true)}>?</button>
    </header>
  );
}

function isAt(v: View, at: string): boolean {
  return v.menu === '/' ? at === '/' || at === '/search' : at === v.menu || at.startsWith(v.menu + '/');
}
