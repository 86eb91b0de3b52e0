// What has to do with a declaration: who calls it, what it calls, what
// specifications say of it, and what checkers found.

import { Link } from 'wouter-preact';
import { useCall, type Asked } from '../api';
import { Failed, Loading } from '../parts/states';
import { folded, placeOf, readAddress } from '../places';
import type { Context, Pointer, Store } from '../types';

export function Margin({ place, chosen, store }: { place: Asked<Context>; chosen: boolean; store: string }) {
  const c = place.data;
  return (
    <aside class="margin" aria-label="What has to do with it" aria-busy={place.busy}>
      <details open={matchMedia('(min-width: 80rem)').matches}>
        <summary>Callers and more{c?.symbol && <span class="faint"> of {c.symbol}</span>}</summary>
        {!chosen && <p class="faint">Choose a declaration or a line to see who calls it, what it calls, and what is said of it.</p>}
        {chosen && place.error && <Failed error={place.error} again={place.again} />}
        {chosen && !c && place.busy && <Loading what="Looking for callers" rows={3} />}
        {c && (
          <>
            <h2 class="what">{c.symbol || c.at}{c.kind && <span class="faint"> {c.kind}</span>}</h2>
            {c.signature && <p class="signature"><code>{c.signature}</code></p>}
            {c.note && <p class="note">{c.note}</p>}
            <Findings c={c} />
            <Specs c={c} />
            <Links title="Called by" links={c.callers} more={c.moreCallers} store={store} />
            <Links title="Calls" links={c.callees} more={c.moreCallees} store={store} />
            <Links title="Types" links={c.types} store={store} />
            <Links title="Tests" links={c.tests} store={store} />
            <Links title="Code that names it" links={c.mentionedBy} store={store} />
            <Links title="Tests that name it" links={c.provenBy} store={store} />
            <Links title="Nearby" links={c.related} store={store} />
          </>
        )}
      </details>
    </aside>
  );
}

function Links({ title, links, more, store }: { title: string; links?: Pointer[]; more?: number; store: string }) {
  if (!links?.length) return null;
  return (
    <section>
      <h3>{title} <span class="faint">{links.length + (more ?? 0)}</span></h3>
      <ul>
        {links.map((l) => {
          const p = placeOf(l.at);
          return (
            <li key={l.at + l.symbol}>
              <Link href={readAddress(l.store ?? store, p.path, p.start, p.end)} title={l.at}>{l.symbol || folded(p.path)[1]}</Link>
              <span class="faint where">{folded(p.path)[1]}{p.start > 0 && ':' + p.start}</span>
              {l.code && <code class="peek">{l.code.trim()}</code>}
            </li>
          );
        })}
      </ul>
      {more ? <p class="faint">and {more} more</p> : null}
    </section>
  );
}

function Specs({ c }: { c: Context }) {
  const stores = useCall<{ stores: Store[] }>(c.specs?.length ? 'stores' : null);
  if (!c.specs?.length) return null;
  return (
    <section>
      <h3>Specifications <span class="faint">{c.specs.length}</span></h3>
      <ul>
        {c.specs.map((s) => {
          const to = addressOf(s.url, stores.data?.stores ?? []);
          return (
            <li key={s.url}>
              {to ? <Link href={to}>{s.title}</Link> : s.title}
              {s.section && <span class="faint"> › {s.section}</span>}
              <span class="peek">{s.why}{s.kdd_status && ` · ${s.kdd_status}`}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

// addressOf is where the page shows a document of a store that is cited by
// file://SOURCE/PATH#L12 or doc://STORE/PATH; "" where it does not.
export function addressOf(url: string, stores: Store[]): string {
  const m = /^(file|doc):\/\/(.*?)(?:#L(\d+).*|#.*)?$/s.exec(url);
  if (!m) return '';
  let path = m[2];
  try {
    path = decodeURIComponent(path);
  } catch {
    // as it is
  }
  if (m[1] === 'doc') {
    const i = path.indexOf('/');
    return readAddress(path.slice(0, i), path.slice(i + 1), Number(m[3] ?? 0));
  }
  const s = stores.filter((s) => path.startsWith(s.source + '/')).sort((a, b) => b.source.length - a.source.length)[0];
  return s ? readAddress(s.name, path.slice(s.source.length + 1), Number(m[3] ?? 0)) : '';
}

function Findings({ c }: { c: Context }) {
  if (!c.findings?.length) return null;
  return (
    <section>
      <h3>Findings in the file <span class="faint">{c.findings.length + (c.moreFindings ?? 0)}</span></h3>
      <ul>
        {c.findings.map((f, i) => (
          <li key={i}>
            <span class={'severity ' + (/^(critical|error|high)$/i.test(f.severity) ? 'high' : '')}>{f.severity}</span> {f.message}
            {f.lines?.[0] && <Link href={readAddress(c.store, c.path, f.lines[0])}> line {f.lines[0]}</Link>}
            <span class="faint where">{f.ruleId}{f.source && ` · ${f.source}`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
