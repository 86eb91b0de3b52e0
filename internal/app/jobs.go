package app

import (
	"context"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// indexArgs are the arguments of an index job.
type indexArgs struct {
	Force bool `json:"force,omitempty"`
}

// submit starts bringing a store up to date.
func (c *core) submit(ctx context.Context, st kb.Store, force bool) (kb.Job, error) {
	class := job.Local
	if st.Spec.Kind == kb.KindRepo {
		class = job.Network
	}
	return c.jobs.Submit(ctx, job.Request{Type: "index", Store: st.ID, Class: class, Args: indexArgs{force}})
}

// runIndex is the handler of index jobs.
func (c *core) runIndex(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	var args indexArgs
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
		}
	}
	msg, details, err := c.indexStore(ctx, j, args)
	if job.Interrupted(ctx) {
		return msg, details, err // its segments wait for the run that resumes it
	}
	// Whatever became of the run, also when it was cancelled, what it held is
	// free again, and what nobody needs any more goes.
	after := context.WithoutCancel(ctx)
	if e := c.sweep(after, j.ID); err == nil {
		err = e
	}
	if err != nil && ctx.Err() == nil {
		if e := c.catalog.SetError(after, j.Store, err.Error()); e != nil && kb.CodeOf(e) != kb.NotFound {
			return msg, details, e
		}
	}
	return msg, details, err
}

// sweep deletes what no store and no job that may still run needs. done is a
// job that is ending.
func (c *core) sweep(ctx context.Context, done string) error {
	users, err := c.catalog.Users(ctx)
	if err != nil {
		return err
	}
	for _, id := range users {
		j, err := c.jobs.Get(ctx, id)
		if id == done || kb.CodeOf(err) == kb.NotFound && err != nil || err == nil && j.State.Ended() {
			err = c.catalog.ReleaseUses(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return c.indexer.Sweep(ctx)
}

func (c *core) indexStore(ctx context.Context, j kb.Job, args indexArgs) (string, map[string]any, error) {
	st, err := c.catalog.Get(ctx, j.Store)
	if err != nil {
		return "", nil, err
	}
	snap, err := c.opener.Open(ctx, st.Spec)
	if err != nil {
		return "", nil, err
	}
	defer snap.Close()
	res, err := c.indexer.Run(ctx, j.ID, st, snap, args.Force)
	if err != nil {
		return "", nil, err
	}
	return res.String(), map[string]any{
		"documents": res.Head.Documents, "chunks": res.Head.Chunks, "read": res.Read, "indexed": res.Indexed,
		"shared": res.Shared, "removed": res.Removed, "bytesWritten": res.Written, "generation": res.Head.Generation,
		"commit": res.Head.Commit,
	}, nil
}

// Work runs a job in this process, and then those that nobody runs.
func (a *App) Work(ctx context.Context, id string) error {
	c, err := a.open(ctx)
	if err != nil {
		return err
	}
	return c.jobs.Drain(ctx, id)
}

// Jobs lists jobs, newest first: of one state when state is not empty, only those not ended when active.
func (a *App) Jobs(ctx context.Context, state kb.JobState, active bool) (JobList, error) {
	c, err := a.open(ctx)
	if err != nil {
		return JobList{}, err
	}
	if _, err := c.jobs.Resume(ctx); err != nil {
		return JobList{}, err
	}
	list, err := c.jobs.List(ctx, state, active)
	if list == nil {
		list = []kb.Job{}
	}
	return JobList{Jobs: list}, err
}

// Job returns one job.
func (a *App) Job(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	if _, err := c.jobs.Resume(ctx); err != nil {
		return kb.Job{}, err
	}
	return c.jobs.Get(ctx, id)
}

// CancelJob stops a job; what it wrote stays out of the store's live generation.
func (a *App) CancelJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	return c.jobs.Cancel(ctx, id)
}

// WaitJob returns when the job has ended, telling progress on the way through kb.Report.
func (a *App) WaitJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	return c.jobs.Wait(ctx, id, func(j kb.Job) { kb.Report(ctx, j.Progress) })
}
