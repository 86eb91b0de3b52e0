package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// indexArgs are the arguments of an index job.
type indexArgs struct {
	Force bool `json:"force,omitempty"`
	// Repair leaves the store as it is when the source has nothing in it.
	Repair bool `json:"repair,omitempty"`
	// Vectors has vectors that are missing made anew from the text that is
	// indexed; the source is not looked at.
	Vectors bool `json:"vectors,omitempty"`
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
	if args.Vectors {
		return c.mendVectors(ctx, j.Store)
	}
	msg, details, err := c.indexStore(ctx, j, args)
	if job.Interrupted(ctx) {
		return msg, details, err // its segments wait for the run that resumes it
	}
	// Whatever became of the run, also when it was cancelled, what it held is
	// free again, and what nobody needs any more goes.
	after := context.WithoutCancel(ctx)
	if err != nil && args.Made != nil {
		if details == nil {
			details = map[string]any{}
		}
		details["made"], details["project"] = args.Made.Name, args.Made.Project
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

// mendVectors makes the vectors of a store anew where they are missing.
func (c *core) mendVectors(ctx context.Context, id kb.StoreID) (string, map[string]any, error) {
	st, err := c.catalog.Get(ctx, id)
	if err != nil || st.Head == nil {
		return "", nil, err
	}
	idx, _, err := c.library.get(ctx, st)
	if err != nil || idx == nil {
		return "", nil, err
	}
	defer idx.Release()
	info, err := idx.Info(ctx)
	if err != nil {
		return "", nil, err
	}
	missing := info.Bare
	for i, name := range missing {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		kb.Report(ctx, kb.Progress{Phase: "vectors", Done: int64(i), Total: int64(len(missing))})
		if err := c.indexer.RebuildVectors(ctx, c.indexes, name); err != nil {
			return "", nil, err
		}
	}
	return fmt.Sprintf("the vectors of %d segments were made anew", len(missing)), nil, nil
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
	o := ingest.Options{Force: args.Force, Repair: args.Repair, At: trail.At}
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
				stamps[e.Path] = kb.StampHash(e.Stamp)
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
	if err := c.releaseEnded(ctx, done); err != nil {
		return err
	}
	return errors.Join(c.indexer.Sweep(ctx), c.sweepViews(ctx), c.sweepPages(ctx))
}

// releaseEnded gives up what jobs and transfers that have ended used. done is a
// job that is ending.
func (c *core) releaseEnded(ctx context.Context, done string) error {
	users, err := c.catalog.Users(ctx)
	if err != nil {
		return err
	}
	for _, id := range users {
		if transfer.Alive(c.dir, id) {
			continue
		}
		j, err := c.jobs.Get(ctx, id)
		if id == done || kb.CodeOf(err) == kb.NotFound && err != nil || err == nil && j.State.Ended() {
			err = c.catalog.ReleaseUses(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// JobFilter says which jobs are listed.
type JobFilter struct {
	State  kb.JobState // "" is any
	Active bool        // only those not ended
	All    bool        // of every project, not of this one and the user alone
}

// Jobs lists jobs, newest first, with the names of their stores.
func (a *App) Jobs(ctx context.Context, f JobFilter) (JobList, error) {
	c, err := a.open(ctx)
	if err != nil {
		return JobList{}, err
	}
	if _, err := c.jobs.Resume(ctx); err != nil {
		return JobList{}, err
	}
	jobs, err := c.jobs.List(ctx, f.State, f.Active)
	if err != nil {
		return JobList{}, err
	}
	n, err := a.jobNames(ctx, c)
	if err != nil {
		return JobList{}, err
	}
	list := JobList{Jobs: []kb.Job{}}
	elsewhere := 0
	for _, j := range jobs {
		n.name(&j)
		if !f.All && !n.here(&j) {
			elsewhere++
			continue
		}
		list.Jobs = append(list.Jobs, j)
	}
	if elsewhere > 0 && len(list.Jobs) == 0 {
		list.Note = fmt.Sprintf("no jobs here, %d of other projects; list them with: jobs {\"all\":true}", elsewhere)
	}
	return list, nil
}

// jobNames tells what the stores of jobs are called, and whose they are.
type jobNames struct {
	project string
	scope   map[kb.StoreID]string // of this project and the user
	others  map[kb.StoreID]string
}

func (a *App) jobNames(ctx context.Context, c *core) (jobNames, error) {
	n := jobNames{scope: map[kb.StoreID]string{}, others: map[kb.StoreID]string{}}
	p, err := a.where()
	if err != nil {
		return n, err
	}
	n.project = p.ID
	here, err := a.scope(ctx, c, false)
	if err != nil {
		return n, err
	}
	for _, e := range here {
		if n.scope[e.ID] == "" {
			n.scope[e.ID] = e.Label()
		}
	}
	all, err := c.catalog.All(ctx)
	for _, e := range all {
		if n.scope[e.ID] == "" {
			n.others[e.ID] = e.Label()
		}
	}
	return n, err
}

func storeOf(j *kb.Job) kb.StoreID { return kb.StoreID(strings.TrimSuffix(string(j.Store), linkStore)) }

func (n jobNames) name(j *kb.Job) {
	id := storeOf(j)
	j.Name = cmp.Or(n.scope[id], n.others[id])
	if made, ok := j.Details["made"].(string); ok && j.Name == "" {
		j.Name = made
	}
}

// here reports whether a job is this project's or the user's: its store is, or
// was when its first job took it back. What is under way for a store that
// nobody holds is everybody's.
func (n jobNames) here(j *kb.Job) bool {
	id := storeOf(j)
	if n.scope[id] != "" || j.Store == "" {
		return true
	}
	if n.others[id] != "" {
		return false
	}
	project, known := j.Details["project"].(string)
	return known && (project == n.project || project == "") || !known && !j.State.Ended()
}

// Job returns one job.
func (a *App) Job(ctx context.Context, id string) (kb.Job, error) { return a.JobWithin(ctx, id, 0) }

// JobWithin returns a job when it has ended, or wait has passed.
func (a *App) JobWithin(ctx context.Context, id string, wait time.Duration) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	if _, err := c.jobs.Resume(ctx); err != nil {
		return kb.Job{}, err
	}
	j, err := c.jobs.Get(ctx, id)
	if err == nil && wait > 0 && !j.State.Ended() {
		j, err = c.waitJob(ctx, id, wait)
	}
	return a.namedJob(ctx, c, id, j, err)
}

// waitJob waits for a job to end, as long as wait says, and returns it as it stands then.
func (c *core) waitJob(ctx context.Context, id string, wait time.Duration) (kb.Job, error) {
	wctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	j, err := c.jobs.Wait(wctx, id, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	if wctx.Err() != nil && ctx.Err() == nil {
		return c.jobs.Get(ctx, id)
	}
	return j, err
}

// namedJob adds the name of a job's store, or the nearest ids to a failure to find it.
func (a *App) namedJob(ctx context.Context, c *core, id string, j kb.Job, err error) (kb.Job, error) {
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		all, e := c.jobs.List(ctx, "", false)
		var ids []string
		for _, j := range all {
			ids = append(ids, j.ID)
		}
		if near := kb.DidYouMean(id, ids); e == nil && near != "" {
			return j, kb.Errorf(kb.NotFound, "%w", err).WithHint("%slist them with: jobs", near)
		}
	}
	if err != nil {
		return j, err
	}
	n, err := a.jobNames(ctx, c)
	n.name(&j)
	return j, err
}

// cancelWait is how long CancelJob waits for a running job to notice.
const cancelWait = 2 * time.Second

// CancelJob stops a job; what it wrote stays out of the store's live
// generation. One that has not noticed yet is returned as it is, and says so.
func (a *App) CancelJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	j, err := c.jobs.Cancel(ctx, id)
	if err == nil && !j.State.Ended() {
		if j, err = c.waitJob(ctx, id, cancelWait); err == nil && !j.State.Ended() {
			j.Message = "it was asked to stop and will, with what it is at"
			j.Hint = fmt.Sprintf("see that it has with: job:status {\"jobId\":%q}", id)
		}
	}
	if err == nil && j.State == kb.JobCancelled {
		err = a.takenBack(ctx, c, &j)
	}
	return a.namedJob(ctx, c, id, j, err)
}

// takenBack sees that what store:create made goes with its cancelled job, also
// with one that had not begun, and says so.
func (a *App) takenBack(ctx context.Context, c *core, j *kb.Job) error {
	raw, err := c.jobs.Args(ctx, j.ID)
	var args indexArgs
	if err != nil || j.Type != "index" || json.Unmarshal(raw, &args) != nil || args.Made == nil {
		return err
	}
	if err := c.undo(ctx, j.Store, *args.Made); err != nil {
		return err
	}
	if _, _, err := a.lookup(ctx, args.Made.Name); err != nil && kb.CodeOf(err) == kb.NotFound {
		j.Hint = fmt.Sprintf("nothing was kept; make it again with: store:create %s", args.Made.Again)
	}
	return nil
}

// WaitJob returns when the job has ended, telling progress on the way through kb.Report.
func (a *App) WaitJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	return c.jobs.Wait(ctx, id, func(j kb.Job) { kb.Report(ctx, j.Progress) })
}
