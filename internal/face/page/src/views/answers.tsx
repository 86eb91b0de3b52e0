// Questions that got bad answers, those that got none, and ratings to look at.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useCall } from '../api';
import { Did, useDo } from '../parts/do';
import { count, since } from '../parts/figures';
import { Empty, Failed, Loading, Notes } from '../parts/states';
import type { Rating, Review, ReviewEntry } from '../manage';

export function Answers() {
  const review = useCall<Review>('feedback:review', { limit: 50 });
  const pending = useCall<{ entries: Rating[] }>('feedback:list', { reviewed: false, limit: 50 });
  const again = () => {
    review.again();
    pending.again();
  };
  const r = review.data;
  const nothing = r && !r.badly_rated.length && !r.unanswered.length && !r.most_asked.length && !r.drifted.length && pending.data?.entries.length === 0;
  return (
    <div class="page">
      <header class="top"><h1>Questions and answers</h1><button type="button" onClick={again}>Look again</button></header>
      {review.error && !r && <Failed error={review.error} again={review.again} />}
      {!r && !review.error && <Loading what="Loading the questions" />}
      {nothing && <Empty title="Nothing was rated yet"><p>When people <Link href="/ask">ask</Link> and rate answers, what went badly is listed here.</p></Empty>}
      {r && <Part title="Badly rated" list={r.badly_rated} />}
      {r && <Part title="Without an answer" list={r.unanswered} />}
      {r && <Part title="Answered otherwise since their stores changed" list={r.drifted} />}
      {r && <Part title="Asked most" list={r.most_asked} />}
      {pending.data && pending.data.entries.length > 0 && (
        <section aria-labelledby="pending">
          <h2 class="part" id="pending">Ratings to look at</h2>
          <ul class="cards">{pending.data.entries.map((e) => <Rated key={e.feedback_id} entry={e} again={again} />)}</ul>
        </section>
      )}
      {pending.error && <Failed error={pending.error} again={pending.again} />}
      <Notes notes={r?.notes} />
    </div>
  );
}

function Part({ title, list }: { title: string; list: ReviewEntry[] }) {
  if (!list.length) return null;
  return (
    <section>
      <h2 class="part">{title}</h2>
      <ul class="rows">
        {list.map((q) => (
          <li key={q.question}>
            <b>{q.question}</b>
            <span class="faint">
              {[q.times && count(q.times, 'time'), q.negative && `${q.negative} bad`, q.positive && `${q.positive} good`, q.confidence != null && `confidence ${q.confidence.toFixed(2)}`, q.change]
                .filter(Boolean).join(' · ')}
            </span>
            {q.comments?.map((c) => <blockquote key={c}>{c}</blockquote>)}
            {q.sources?.length ? <span class="faint">cited {q.sources.slice(0, 3).join(', ')}</span> : null}
            <Link href={'/ask?q=' + encodeURIComponent(q.question)}>Ask it again</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Rated({ entry, again }: { entry: Rating; again: () => void }) {
  const act = useDo(again);
  const [open, setOpen] = useState(false);
  return (
    <li class="card" data-rating={entry.feedback_id}>
      <h3>{entry.query}</h3>
      <p class="facts">
        <span class={'badge state-' + (entry.rating === 'positive' ? 'ok' : 'wrong')}>{entry.rating}</span>
        <span>{since(entry.created_at)}</span>{entry.pending && <span>counts when it is accepted</span>}
      </p>
      {entry.comment && <blockquote>{entry.comment}</blockquote>}
      {open && entry.response && <p class="response">{entry.response}</p>}
      <div class="acts">
        {entry.response && <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>The answer</button>}
        <button type="button" disabled={act.busy} onClick={() => act.run('feedback:review', { feedback_id: entry.feedback_id, action_taken: 'accepted' })}>Accept</button>
        <button type="button" disabled={act.busy} onClick={() => act.run('feedback:review', { feedback_id: entry.feedback_id, action_taken: 'dismissed' })}>Dismiss</button>
      </div>
      <Did act={act} />
    </li>
  );
}
