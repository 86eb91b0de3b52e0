package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// wait sees a job to its end and returns how that was. When ctx ends first,
// the job is cancelled: who presses Ctrl-C does not want it to go on.
func wait(ctx context.Context, a *app.App, started app.Started) (app.Started, error) {
	if started.Job == "" {
		return started, nil
	}
	job, err := a.WaitJob(ctx, started.Job)
	if ctx.Err() != nil {
		after, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		kb.Report(ctx, kb.Progress{Phase: "cancelling"})
		job, err := a.CancelJob(after, started.Job)
		if err != nil && kb.CodeOf(err) != kb.NotFound {
			return started, kb.Errorf(kb.Canceled, "interrupted, and job %s could not be cancelled: %w", started.Job, err).
				WithHint("try: knowledge job:cancel %s", started.Job)
		}
		e := kb.Errorf(kb.Canceled, "interrupted: job %s is cancelled", started.Job)
		if job.State == kb.JobCancelled && job.Hint != "" {
			return started, e.WithHint("%s", job.Hint)
		}
		return started, e.WithHint("go on with: knowledge store:index %s", kb.ShellWord(started.Store))
	}
	if err != nil {
		return started, err
	}
	return outcome(started, job)
}

// outcome is the reply of a command whose job has ended, or the error that ended it.
func outcome(started app.Started, job kb.Job) (app.Started, error) {
	started.Status = string(job.State)
	if job.Message != "" {
		started.Note = job.Message
	}
	switch job.State {
	case kb.JobCompleted:
		return started, nil
	case kb.JobCancelled:
		return started, kb.Errorf(kb.Canceled, "job %s was cancelled", job.ID).
			WithHint("start again with: knowledge store:index %s", started.Store)
	}
	code := cmp.Or(job.Code, kb.Internal)
	message, hint := job.Message, job.Hint
	if message == "" {
		message = "job " + job.ID + " " + string(job.State)
	}
	if hint == "" {
		hint = "see: knowledge job:status " + job.ID
	}
	return started, kb.Errorf(code, "%s", message).WithHint("%s", hint)
}
