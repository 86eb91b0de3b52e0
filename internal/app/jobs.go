package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// indexArgs are the arguments of an index job.
type indexArgs struct {
	Force bool `json:"force,omitempty"`
	// Made is what store:create made, for the first job of a store.
	Made *making `json:"made,omitempty"`
}

// submit starts bringing a store up to date.
func (c *core) submit(ctx context.Context, st kb.Store, args indexArgs) (kb.Job, error) {
	class := job.Local
	if source.TraitsOf(st.Spec.Kind).Network {
		class = job.Network
	}
	return c.jobs.Submit(ctx, job.Request{Type: "index", Store: st.ID, Class: class, Args: args, Needs: append(c.opener.Needs(st.Spec), c.siteNeeds(st.Spec)...)})
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
	if err != nil && ctx.Err() == nil && args.Made != nil {
		err = c.unmade(after, j, *args.Made, err)
	}
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

// maxPasses bounds how often a job follows a folder that keeps changing.
const maxPasses = 5

// pass makes one generation. After the death of a worker it is careful with
// what that worker was at: such documents come last, and those at which
// job.MaxDeaths workers died are skipped.
// What is told of gathering goes into details.
func (c *core) pass(ctx context.Context, j kb.Job, st kb.Store, args indexArgs, died bool, details map[string]any) (ingest.Result, error) {
	trail, left, err := c.jobs.Trail(j.ID)
	if err != nil {
		return ingest.Result{}, err
	}
	defer trail.Close()
	var notes []string
	if source.TraitsOf(st.Spec.Kind).Gathered {
		if notes, err = c.gather(ctx, j, st, args, died && len(left) == 0, details); err != nil {
			return ingest.Result{}, err
		}
		died = died && len(left) > 0
		if st, err = c.catalog.Get(ctx, st.ID); err != nil { // parts of it may have been published
			return ingest.Result{}, err
		}
	}
	snap, err := c.opener.Open(ctx, st.Spec)
	if err != nil {
		return ingest.Result{}, err
	}
	defer snap.Close()
	snap = annotated{snap, notes}
	o := ingest.Options{Force: args.Force, At: trail.At}
	if err := c.careful(ctx, j, st, snap, died, left, &o); err != nil {
		return ingest.Result{}, err
	}
	res, err := c.indexer.Run(ctx, j.ID, st, snap, o)
	if err == nil {
		err = c.jobs.Forgive(ctx, st.ID, args.Force)
	}
	return res, err
}

// careful fills in what earlier deaths ask for. died says that the worker
// before died, left what it was at.
func (c *core) careful(ctx context.Context, j kb.Job, st kb.Store, snap kb.Snapshot, died bool, left []string, o *ingest.Options) error {
	used, err := c.catalog.Used(ctx, j.ID)
	if err != nil {
		return err
	}
	// A document's count starts anew when it changes, the job's own when it
	// has made another segment durable.
	stamps := map[string]uint64{"": uint64(used) + uint64(c.pagesBytes(st.Spec))}
	known, err := c.jobs.Blamed(ctx, st.ID, nil)
	if err != nil {
		return err
	}
	if len(left) > 0 || len(known) > 0 {
		err := snap.Walk(ctx, func(e kb.Entry) error {
			if _, ok := known[e.Path]; ok || slices.Contains(left, e.Path) {
				stamps[e.Path] = index.StampHash(e.Stamp)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	mark := func(p string) uint64 { return stamps[p] }
	if died {
		if err := c.jobs.Blame(ctx, st.ID, left, mark); err != nil {
			return err
		}
	}
	deaths, err := c.jobs.Blamed(ctx, st.ID, mark)
	if err != nil {
		return err
	}
	if deaths[""] >= job.MaxDeaths {
		return c.tooManyDeaths(ctx, st, deaths[""])
	}
	for p, n := range deaths {
		switch {
		case p == "":
		case n >= job.MaxDeaths:
			if o.Skip == nil {
				o.Skip = map[string]string{}
			}
			o.Skip[p] = fmt.Sprintf("%d workers died at it; it is tried again when it changes or the store is indexed with force", n)
		default:
			o.Last = append(o.Last, p)
		}
	}
	if o.Force {
		o.Skip = nil
	}
	return nil
}

// tooManyDeaths says that a job will not get further.
func (c *core) tooManyDeaths(ctx context.Context, st kb.Store, n int) error {
	return errors.Join(
		kb.Errorf(kb.Internal, "%d worker processes died without getting further", n).
			WithHint("see what they said in %s; free memory or disk space, then run store:index", filepath.Join(c.dir, "worker.log")),
		c.jobs.Forgive(ctx, st.ID, false))
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
	return errors.Join(c.indexer.Sweep(ctx), c.sweepViews(ctx), c.sweepPages(ctx))
}

func (c *core) indexStore(ctx context.Context, j kb.Job, args indexArgs) (string, map[string]any, error) {
	st, err := c.catalog.Get(ctx, j.Store)
	if err != nil {
		return "", nil, err
	}
	var res ingest.Result
	details := map[string]any{}
	for n := range maxPasses {
		res, err = c.pass(ctx, j, st, args, n == 0 && job.Died(ctx), details)
		if err != nil && kb.CodeOf(err) == kb.Corrupt && n == 0 && ctx.Err() == nil {
			args.Force = true // without what was indexed before, and from a fresh copy
			continue
		}
		if err != nil {
			return "", details, err
		}
		args.Force = false
		if st, err = c.catalog.Get(ctx, j.Store); err != nil {
			return "", nil, err
		}
		if res.Damaged && n == 0 {
			continue // a copy is fetched anew
		}
		if source.TraitsOf(st.Spec.Kind).Network {
			break // a commit does not change, and pages are not asked for twice
		}
		// What was changed during the pass is in the index when the job ends.
		changed, err := c.indexer.Changed(ctx, st, c.opener)
		if ctx.Err() != nil && !job.Interrupted(ctx) {
			break // cancelled too late: this pass is published
		}
		if err != nil {
			return "", nil, err
		}
		if !changed {
			break
		}
	}
	maps.Copy(details, map[string]any{
		"documents": res.Head.Documents, "chunks": res.Head.Chunks, "read": res.Read, "indexed": res.Indexed,
		"shared": res.Shared, "removed": res.Removed, "bytesWritten": res.Written, "generation": res.Head.Generation,
		"commit": res.Head.Commit,
	})
	if len(res.LeftOut) > 0 {
		details["leftOut"] = res.LeftOut
	}
	// The index is live by now: a link that fails, or is cancelled, takes nothing from it.
	if linked, err := c.links(ctx, j, st, res.Indexed+res.Shared+res.Removed); err != nil && ctx.Err() == nil {
		details["links"] = err.Error()
	} else if linked.Edges > 0 {
		details["links"] = linked.Edges
	}
	if res.Head.Documents == 0 {
		st.Head = &res.Head
		return barren(st), details, nil
	}
	return res.String(), details, nil
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
