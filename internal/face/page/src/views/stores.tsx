// Stores: what is indexed, how far a job is, and what can be done with each.

import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useCall } from '../api';
import { useKeys } from '../keys';
import { Did, useDo } from '../parts/do';
import { bytes, count, since } from '../parts/figures';
import { Progress } from '../parts/progress';
import { quote, Said } from '../parts/said';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import type { Job, Started, StoreInfo } from '../manage';
import type { Store } from '../types';

export function Stores() {
  const [all, setAll] = useState(false);
  const stores = useCall<{ stores: Store[]; note?: string }>('stores', { all }, 3000);
  const jobs = useCall<{ jobs: Job[] }>('jobs', { all, activeOnly: true }, 1000);
  const [adding, setAdding] = useState(false);
  useKeys([{ key: 'a', does: 'adds a store', run: () => setAdding(true) }]);
  const [said, setSaid] = useState('');
  const again = () => {
    stores.again();
    jobs.again();
  };
  const list = stores.data?.stores;
  // added says what became of a source that may have been here already.
  const added = (s: Started) => {
    setAdding(false);
    const had = list?.find((x) => x.id === s.id);
    setSaid(!had ? `${s.store} is added, and being indexed.` : `This source is here already${had.name === s.store ? '' : `, as ${had.name}`}: ${s.store} is brought up to date.`);
    again();
  };
  // A store that is gone takes the focus with it: the next one gets it.
  const cards = useRef<HTMLUListElement>(null);
  const deleted = (id: string) => {
    const i = list?.findIndex((s) => s.id === id) ?? 0;
    setSaid(`${list?.[i]?.name ?? 'It'} is deleted.`);
    stores.again();
    const next = cards.current?.children[i + 1] ?? cards.current?.children[i - 1];
    (next?.querySelector<HTMLElement>('.acts :is(a, button)') ?? document.querySelector<HTMLElement>('.top button'))?.focus();
  };
  return (
    <div class="page">
      <header class="top">
        <h1>Stores</h1>
        <label class="check"><input type="checkbox" checked={all} onChange={(e) => setAll(e.currentTarget.checked)} /> of every project</label>
        <button type="button" aria-expanded={adding} onClick={() => setAdding(!adding)}>Add a store</button>
      </header>
      <p class="said" role="status">{said}</p>
      {adding && <Add done={added} stop={() => setAdding(false)} />}
      {stores.error && !list && <Failed error={stores.error} again={stores.again} />}
      {!list && !stores.error && <Loading what="Loading the stores" />}
      {list?.length === 0 && <Empty title="Nothing is indexed here yet"><p>Add a folder, a repository, the site of a library or a package: what it holds can then be searched, read and asked.</p></Empty>}
      <ul class="cards" aria-label="Stores" ref={cards}>
        {list?.map((s) => <Card key={s.id + s.name} store={s} job={jobs.data?.jobs.find((j) => j.store === s.id)} again={again} deleted={() => deleted(s.id)} />)}
      </ul>
      <Notes notes={stores.data?.note ? [stores.data.note] : []} />
    </div>
  );
}

const scopes: Record<string, string> = { own: 'this project’s folder', project: 'of this project', user: 'yours, in every project' };

function Card({ store, job, again, deleted }: { store: Store; job?: Job; again: () => void; deleted: () => void }) {
  const act = useDo(again);
  const gone = useDo(deleted);
  const sureBox = useRef<HTMLButtonElement>(null);
  const [sure, setSure] = useState(false);
  const [open, setOpen] = useState(false);
  const own = store.scope === 'own';
  return (
    <li class="card" data-store={store.name}>
      <h2>{store.name}</h2>
      <p class="facts">
        <span>{store.kind}</span><span class={'state-' + store.status}>{store.status}</span>
        <span>{count(store.documents, 'document')}</span><span>{count(store.chunks, 'chunk')}</span>
        {store.indexed && <span title={store.indexed}>indexed {since(store.indexed)}</span>}
        <span>{scopes[store.scope] ?? store.scope}</span>
      </p>
      <p class="source"><code>{store.source}</code></p>
      {job && <Progress job={job} again={again} />}
      <div class="acts">
        {store.documents > 0 && <Link class="button" href={'/search?store=' + encodeURIComponent(store.name)}>Search in it</Link>}
        <button type="button" disabled={act.busy || !!job} onClick={() => act.run('store:index', { store: store.id })}>Bring up to date</button>
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>Details</button>
        {!own && <button type="button" ref={sureBox} aria-expanded={sure} onClick={() => setSure(!sure)}>Delete…</button>}
        {sure && (
          <span class="sure" role="group" aria-label={'Delete ' + store.name}>
            Delete {store.name} and its index?{' '}
            <button type="button" class="danger" disabled={gone.busy} onClick={() => gone.run('store:delete', { store: store.id })}>Delete it</button>{' '}
            <button type="button" onClick={() => { setSure(false); sureBox.current?.focus(); }}>Keep it</button>
          </span>
        )}
      </div>
      <Did act={act} />
      <Did act={gone} />
      {open && <Details id={store.id} />}
    </li>
  );
}

function Details({ id }: { id: string }) {
  const { data, error } = useCall<StoreInfo>('store:info', { store: id });
  if (error) return <Failed error={error} />;
  if (!data) return <Loading what="Loading the details" rows={1} />;
  const languages = Object.entries(data.languages ?? {}).sort((a, b) => b[1] - a[1]);
  const rows: [string, string | undefined][] = [
    ['Text', bytes(data.textBytes)], ['On disk', bytes(data.diskBytes)], ['Generation', String(data.generation)],
    ['Languages', languages.slice(0, 8).map(([l, n]) => `${l || 'other'} ${n}`).join(', ')],
    ['Left out', Object.entries(data.skipped ?? {}).map(([why, n]) => `${why} ${n}`).join(', ')],
    ['Secrets', data.masked ? `masked in ${count(data.masked, 'document')}` : undefined],
    ['Commit', data.commit], ['Vectors', data.embedder], ['Follows', data.follows], ['Last failure', data.lastError],
  ];
  return (
    <dl class="facts-list">
      {rows.filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}
      {data.notes?.length ? <div><dt>Notes</dt><dd>{data.notes.map((n, i) => <>{i > 0 && '; '}<Said text={n} /></>)}</dd></div> : null}
    </dl>
  );
}

const kinds: [string, string][] = [['', 'as the source says'], ['folder', 'folder'], ['repo', 'repository'], ['web', 'site, or package'], ['zip', 'archive']];

function Add({ done, stop }: { done: (s: Started) => void; stop: () => void }) {
  const act = useDo(done);
  const [source, setSource] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement);
    const given = (name: string) => String(f.get(name) ?? '').trim();
    setSource(given('source'));
    act.run('store:create', { source: given('source'), ...(given('name') && { name: given('name') }), ...(given('kind') && { type: given('kind') }) });
  };
  return (
    <form class="add" aria-label="Add a store" onSubmit={submit} onKeyDown={(e) => e.key === 'Escape' && stop()}>
      <label>Source<input name="source" required autofocus autocomplete="off" spellcheck={false} placeholder="/home/me/notes, a repository’s or site’s address, npm:zod" /></label>
      <label>Name<input name="name" autocomplete="off" spellcheck={false} placeholder="follows from the source" /></label>
      <label>Kind<select name="kind">{kinds.map(([v, t]) => <option key={v} value={v}>{t}</option>)}</select></label>
      <div class="acts"><button type="submit" disabled={act.busy}>Add and index</button><button type="button" onClick={stop}>Cancel</button></div>
      <Did act={act} cure={act.error?.code === 'denied' && local(source) ? <Vouch path={source} /> : undefined} />
    </form>
  );
}

const local = (source: string) => /^(?:\/|~|\.{0,2}[\\/]|[A-Za-z]:[\\/])/.test(source);

// Vouch says how a person lets a folder outside of the project be indexed. The
// server says that to nobody, since programs would read it.
function Vouch({ path }: { path: string }) {
  return <p>If what lies there may be read by the agents that ask this server, vouch for it at a terminal, and add it again: <code class="shell">knowledge trust {quote(path)}</code></p>;
}
