// Evidence and gate at a glance: what checkers found, and whether one may go on.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useCall } from '../api';
import { lasting, since } from '../parts/figures';
import { Said } from '../parts/said';
import { Empty, Failed, Loading, sentence } from '../parts/states';
import type { Evidence as Status, Finding, Gate } from '../manage';
import { readAddress } from '../places';
import type { Store } from '../types';
import { Tile } from './status';

const words = (stage: string) => stage.toLowerCase().replace('_', ' ');

const stages = ['PRE_WRITE', 'PRE_COMMIT', 'PRE_PUSH', 'CI'];

export function Evidence() {
  const [stage, setStage] = useState('PRE_COMMIT');
  const gate = useCall<Gate>('gate:check', { stage }, 10_000);
  const status = useCall<Status>('evidence:status', {}, 10_000);
  const there = status.data?.evidence.valid;
  const findings = useCall<{ findings: Finding[]; total_count: number }>(there ? 'evidence:findings' : null, { limit: 100 }, 10_000);
  const e = status.data?.evidence;
  const stores = useCall<{ stores: Store[] }>(there ? 'stores' : null);
  const own = stores.data?.stores.find((s) => s.scope === 'own');
  return (
    <div class="page">
      <header class="top">
        <h1>Evidence and gate</h1>
        <label>Stage <select value={stage} onChange={(x) => setStage(x.currentTarget.value)}>{stages.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></label>
      </header>
      <section aria-labelledby="gate">
        <h2 class="part" id="gate">May one go on?</h2>
        {gate.error && !gate.data && <Failed error={gate.error} again={gate.again} />}
        {!gate.data && !gate.error && <Loading what="Asking the gate" rows={1} />}
        {gate.data && <Answer gate={gate.data} none={e?.exists === false} />}
      </section>
      <section aria-labelledby="found">
        <h2 class="part" id="found">What checkers found</h2>
        {status.error && !e && <Failed error={status.error} again={status.again} />}
        {!e && !status.error && <Loading what="Reading the evidence" rows={1} />}
        {e && !there && (
          <Empty title={e.exists ? 'The evidence cannot be read' : 'No checker has left evidence here'}>
            {e.exists
              ? <p><Said text={sentence(e.note ?? `it is in ${e.path}`)} /></p>
              : <p>A program that checks this repository, before a commit or in CI, would write it into <code>{e.path}</code>. Search, reading and answers need none of it.</p>}
          </Empty>
        )}
        {e && there && (
          <dl class="tiles">
            <Tile name="outcome" value={e.outcome ?? '–'} state={e.outcome === 'PASS' ? 'ok' : e.outcome === 'BLOCK' ? 'wrong' : 'note'} />
            <Tile name={e.findings_count === 1 ? 'finding' : 'findings'} value={String(e.findings_count)} />
            {Object.entries(e.severity_counts ?? {}).map(([s, n]) => <Tile key={s} name={s.toLowerCase()} value={String(n)} />)}
            {e.timestamp && <Tile name="checked" value={since(e.timestamp)} />}
          </dl>
        )}
        {findings.error && <Failed error={findings.error} again={findings.again} />}
        <ul class="rows" aria-label="Findings">
          {findings.data?.findings.map((f, i) => (
            <li key={i}>
              <span class={'badge state-' + (f.severity === 'ERROR' || f.severity === 'CRITICAL' ? 'wrong' : 'note')}>{f.severity.toLowerCase()}</span>
              <span><b>{f.message}</b> <span class="faint">{f.ruleId}</span></span>
              <Place store={own?.name} finding={f} />
            </li>
          ))}
        </ul>
        {findings.data && findings.data.total_count > findings.data.findings.length && <p class="faint">The first {findings.data.findings.length} of {findings.data.total_count}.</p>}
      </section>
    </div>
  );
}

// Place is where a finding is, in the project's own folder.
function Place({ store, finding: { file, lines } }: { store?: string; finding: Finding }) {
  const at = <code>{file}{lines?.length ? ':' + lines[0] : ''}</code>;
  return store && !/^(?:\/|[A-Za-z]:|\.\.)/.test(file) ? <Link href={readAddress(store, file, lines?.[0])}>{at}</Link> : at;
}

function Answer({ gate, none }: { gate: Gate; none: boolean }) {
  const git = gate.repo_state?.git;
  return (
    <>
      <p class={'verdict' + (none ? '' : ' state-' + (gate.allowed ? 'ok' : 'wrong'))} role="status">
        {none && !gate.allowed ? `A hook or a CI job that asks at ${words(gate.stage)} is told no` : `${gate.allowed ? 'Yes' : 'No'}: ${gate.status.toLowerCase()} at ${words(gate.stage)}`}
      </p>
      {none && !gate.allowed && <p>That is since nothing has been checked yet. Where no hook and no job asks the gate, it holds up nothing.</p>}
      <ul class="rows">
        {gate.violations.map((v, i) => <li key={i}><span class={'badge state-' + (v.severity === 'ERROR' ? 'wrong' : 'note')}>{v.severity.toLowerCase()}</span><span>{v.message.replace(/\b\d{3,}(?=s\b)s/g, (s) => lasting(parseInt(s)))}</span></li>)}
      </ul>
      <p class="faint">
        {git?.branch && <>On branch <code>{git.branch}</code>: {git.staged} staged, {git.unstaged} changed, {git.untracked} new. </>}
        {gate.evidence?.age_seconds != null && <>The evidence is {lasting(gate.evidence.age_seconds)} old; it may be {lasting(gate.evidence.max_age_seconds)}.</>}
      </p>
    </>
  );
}
