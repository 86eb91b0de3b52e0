// Jobs: what runs, what waits, how the last ones ended.

import { useState } from 'preact/hooks';
import { useCall } from '../api';
import { lasting, since } from '../parts/figures';
import { ended, Progress } from '../parts/progress';
import { Empty, Failed, Hint, Loading, Notes, sentence } from '../parts/states';
import type { Job } from '../manage';

export function Jobs() {
  const [all, setAll] = useState(false);
  const { data, error, again } = useCall<{ jobs: Job[]; note?: string }>('jobs', { all, limit: 100 }, 1000);
  const jobs = data?.jobs;
  const running = jobs?.filter((j) => !ended(j)) ?? [];
  const over = jobs?.filter(ended) ?? [];
  return (
    <div class="page">
      <header class="top">
        <h1>Jobs</h1>
        <label class="check"><input type="checkbox" checked={all} onChange={(e) => setAll(e.currentTarget.checked)} /> of every project</label>
        <p class="faint" role="status">{jobs && (running.length ? `${running.length} under way` : 'nothing is under way')}</p>
      </header>
      {error && !jobs && <Failed error={error} again={again} />}
      {!jobs && !error && <Loading what="Loading the jobs" />}
      {jobs?.length === 0 && <Empty title="No job has run yet"><p>Adding a store, or bringing one up to date, starts one.</p></Empty>}
      <ul class="cards" aria-label="Jobs under way">
        {running.map((j) => (
          <li class="card" key={j.id} data-job={j.id}>
            <h2>{j.type} {j.storeName}</h2>
            <Progress job={j} again={again} />
          </li>
        ))}
      </ul>
      {over.length > 0 && <h2 class="part">Ended</h2>}
      <ul class="rows" aria-label="Jobs that ended">{over.map((j) => <Over key={j.id} job={j} />)}</ul>
      <Notes notes={data?.note ? [data.note] : []} />
    </div>
  );
}

function Over({ job }: { job: Job }) {
  const took = (Date.parse(job.updatedAt) - Date.parse(job.createdAt)) / 1000;
  return (
    <li data-job={job.id}>
      <span class={'badge state-' + job.status}>{job.status}</span>
      <b>{job.type} {job.storeName}</b>
      <span>{job.message && sentence(job.message)}</span>
      <span class="faint" title={job.updatedAt}>{since(job.updatedAt)}, took {lasting(took)}</span>
      {job.status === 'failed' && job.hint && <Hint text={job.hint} />}
    </li>
  );
}
