// Disk, memory, and what keeps things from working.

import { useCall } from '../api';
import { bytes, count } from '../parts/figures';
import { Empty, Failed, Hint, Loading } from '../parts/states';
import type { Diagnosis, Usage } from '../manage';

export function Status() {
  const usage = useCall<Usage>('usage', {}, 10_000);
  const doctor = useCall<Diagnosis>('doctor');
  return (
    <div class="page">
      <header class="top"><h1>This machine</h1></header>
      <section aria-labelledby="disk">
        <h2 class="part" id="disk">Disk</h2>
        {usage.error && !usage.data && <Failed error={usage.error} again={usage.again} />}
        {!usage.data && !usage.error && <Loading what="Measuring" />}
        {usage.data && <Disk usage={usage.data} />}
      </section>
      {usage.data && (
        <section aria-labelledby="memory">
          <h2 class="part" id="memory">Memory of the server</h2>
          <dl class="tiles">
            {usage.data.memory.resident ? <Tile name="in memory now" value={bytes(usage.data.memory.resident)} /> : null}
            <Tile name="in use" value={bytes(usage.data.memory.heap)} />
            <Tile name="reserved" value={bytes(usage.data.memory.reserved)} />
          </dl>
        </section>
      )}
      <section aria-labelledby="doctor">
        <h2 class="part" id="doctor">Does everything work?</h2>
        {doctor.error && !doctor.data && <Failed error={doctor.error} again={doctor.again} />}
        {!doctor.data && !doctor.error && <Loading what="Looking" />}
        <ul class="rows">
          {doctor.data?.findings.map((f, i) => (
            <li key={i}>
              <span class={'badge state-' + f.status}>{f.status}</span><b>{f.what}</b><span>{f.text}</span>
              {f.hint && <Hint text={f.hint} />}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Disk({ usage }: { usage: Usage }) {
  if (!usage.parts.length) return <Empty title="Nothing is kept yet" />;
  return (
    <>
      <p>{bytes(usage.bytes)} in <code>{usage.dir}</code>{usage.diskSize ? `; ${bytes(usage.diskFree ?? 0)} of ${bytes(usage.diskSize)} are free on its disk` : ''}.</p>
      <table class="bars">
        <thead class="out"><tr><th scope="col">What</th><th scope="col">Files</th><th scope="col">Size</th><th scope="col">Share</th></tr></thead>
        <tbody>
          {usage.parts.map((p) => (
            <tr key={p.path}>
              <th scope="row">{p.what}</th><td>{count(p.files, 'file')}</td><td>{bytes(p.bytes)}</td>
              <td><span class="share"><span class="bar-of" style={{ width: (p.bytes / (usage.bytes || 1)) * 100 + '%' }} /></span><span class="out">{Math.round((p.bytes / (usage.bytes || 1)) * 100)} %</span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function Tile({ name, value, state }: { name: string; value: string; state?: string }) {
  return <div class={'tile' + (state ? ' state-' + state : '')}><dt>{name}</dt><dd>{value}</dd></div>;
}
