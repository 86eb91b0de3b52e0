// How far a job is, and the button that stops it.

import type { Job } from '../manage';
import { Did, useDo } from './do';
import { lasting } from './figures';

export const ended = (j: Job) => j.status === 'completed' || j.status === 'failed' || j.status === 'cancelled';

export function Progress({ job, again }: { job: Job; again: () => void }) {
  const act = useDo(again);
  const p = job.progress;
  const parts = [
    p.phase || (job.status === 'queued' ? 'waits for its turn' : 'begins'),
    p.total ? `${p.done.toLocaleString('en')} of ${p.total.toLocaleString('en')}` : p.done ? p.done.toLocaleString('en') : '',
    p.rate ? `${p.rate < 10 ? p.rate.toFixed(1) : Math.round(p.rate).toLocaleString('en')} a second` : '',
    p.eta ? `${lasting(p.eta)} left` : '',
  ];
  return (
    <div class="progress">
      <progress max={100} value={p.total ? p.percent ?? 0 : undefined} aria-label={`${job.type} ${job.storeName ?? ''}`} />
      <span>{job.cancelling ? 'cancelling' : parts.filter(Boolean).join(' · ')}</span>
      <button type="button" disabled={act.busy || job.cancelling} onClick={() => act.run('job:cancel', { jobId: job.id })}>Cancel</button>
      <Did act={act} />
    </div>
  );
}
