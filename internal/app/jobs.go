package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Work runs a job in this process, and then those that no process runs.
func (a *App) Work(ctx context.Context, id string) error {
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go boundMemory(ctx, cmp.Or(c.Settings.IndexMemory, defaultMemory)<<20)
	}
	return c.Jobs.Drain(ctx, id)
}

// defaultMemory is how many MiB a process that runs jobs keeps to.
const defaultMemory = 512

// boundMemory has the collector keep this process to so many bytes until ctx
// ends. What is in use above four fifths of that gets a quarter more: collecting
// all the time would free nothing.
func boundMemory(ctx context.Context, limit int64) {
	debug.SetMemoryLimit(limit)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		metrics.Read(live)
		if n := int64(live[0].Value.Uint64()); n > limit/5*4 {
			limit = n / 4 * 5
			debug.SetMemoryLimit(limit)
		}
	}
}

// JobFilter says which jobs are listed.
type JobFilter struct {
	State  kb.JobState // "" is any
	Active bool        // only those not ended
	All    bool        // of every project, not of this one and the user alone
}

// Jobs lists jobs, newest first, with the names of their stores.
func (a *App) Jobs(ctx context.Context, f JobFilter) (JobList, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return JobList{}, err
	}
	if _, err := c.Jobs.Resume(ctx); err != nil {
		return JobList{}, err
	}
	jobs, err := c.Jobs.List(ctx, f.State, f.Active)
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
		if !a.seesJob(ctx, c, &j) {
			continue
		}
		n.name(&j)
		a.concealWork(&j)
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

// jobNames knows what the stores of jobs are called, and whose they are.
type jobNames struct {
	project string
	scope   map[kb.StoreID]string // of this project and the user
	others  map[kb.StoreID]string
}

func (a *App) jobNames(ctx context.Context, c *Core) (jobNames, error) {
	n := jobNames{scope: map[kb.StoreID]string{}, others: map[kb.StoreID]string{}}
	p, err := a.Where()
	if err != nil {
		return n, err
	}
	n.project = p.ID
	here, err := a.Scope(ctx, c, false)
	if err != nil {
		return n, err
	}
	for _, e := range here {
		if n.scope[e.ID] == "" {
			n.scope[e.ID] = e.Label()
		}
	}
	all, err := c.Catalog.All(ctx)
	for _, e := range all {
		if n.scope[e.ID] == "" {
			n.others[e.ID] = e.Label()
		}
	}
	return n, err
}

// Beside ends what a job calls its store that writes something of it elsewhere:
// it must not wait for who writes the store.
const Beside = "-links"

func storeOf(j *kb.Job) kb.StoreID { return kb.StoreID(strings.TrimSuffix(string(j.Store), Beside)) }

func (n jobNames) name(j *kb.Job) {
	id := storeOf(j)
	j.Name = cmp.Or(n.scope[id], n.others[id])
	if made, ok := j.Details["made"].(string); ok && j.Name == "" {
		j.Name = made
	}
}

// here reports whether a job is this project's or the user's: its store is, or
// was when its first job took it back. What is under way for a store that
// has no name is shown everywhere.
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
	c, err := a.Open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	if _, err := c.Jobs.Resume(ctx); err != nil {
		return kb.Job{}, err
	}
	j, err := a.job(ctx, c, id)
	if err == nil && wait > 0 && !j.State.Ended() {
		if j, err = c.waitJob(ctx, id, wait); err == nil {
			j, err = a.job(ctx, c, id)
		}
	}
	return a.namedJob(ctx, c, id, j, err)
}

// waitJob waits for a job to end, as long as wait says, and returns it as it is then.
func (c *Core) waitJob(ctx context.Context, id string, wait time.Duration) (kb.Job, error) {
	wctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	j, err := c.Jobs.Wait(wctx, id, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	if wctx.Err() != nil && ctx.Err() == nil {
		return c.Jobs.Get(ctx, id)
	}
	return j, err
}

// namedJob adds the name of a job's store, or the nearest ids to a failure to find it.
func (a *App) namedJob(ctx context.Context, c *Core, id string, j kb.Job, err error) (kb.Job, error) {
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		all, e := c.Jobs.List(ctx, "", false)
		var ids []string
		for _, j := range all {
			if a.seesJob(ctx, c, &j) {
				ids = append(ids, j.ID)
			}
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
	a.concealWork(&j)
	return j, err
}

// cancelWait is how long CancelJob waits for a running job to notice.
const cancelWait = 2 * time.Second

// CancelJob stops a job; what it wrote stays out of the store's live
// generation. One that has not noticed yet is returned as it is, and says so.
func (a *App) CancelJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	j, err := a.job(ctx, c, id)
	if err == nil {
		err = a.mayCancel(ctx, c, &j)
	}
	if err == nil {
		j, err = c.Jobs.Cancel(ctx, id)
	}
	if err == nil && !j.State.Ended() {
		if j, err = c.waitJob(ctx, id, cancelWait); err == nil && !j.State.Ended() {
			j.Message = "it was asked to stop and will, with what it is at"
			j.Hint = fmt.Sprintf("see that it has with: job:status {\"jobId\":%q}", id)
		}
	}
	if err == nil && j.State == kb.JobCancelled {
		err = a.TakenBack(ctx, c, &j)
	}
	return a.namedJob(ctx, c, id, j, err)
}

// TakenBack sees that what store:create made goes with its cancelled job, also
// with one that had not begun, and says so.
func (a *App) TakenBack(ctx context.Context, c *Core, j *kb.Job) error {
	raw, err := c.Jobs.Args(ctx, j.ID)
	var args IndexArgs
	if err != nil || j.Type != "index" || json.Unmarshal(raw, &args) != nil || args.Made == nil {
		return err
	}
	if err := c.Undo(ctx, j.Store, *args.Made); err != nil {
		return err
	}
	if _, _, err := a.Lookup(ctx, args.Made.Name); err != nil && kb.CodeOf(err) == kb.NotFound {
		j.Hint = fmt.Sprintf("nothing was kept; make it again with: store:create %s", args.Made.Again)
	}
	return nil
}

// WaitJob returns when the job has ended, telling progress on the way through kb.Report.
func (a *App) WaitJob(ctx context.Context, id string) (kb.Job, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return kb.Job{}, err
	}
	return c.Jobs.Wait(ctx, id, func(j kb.Job) { kb.Report(ctx, j.Progress) })
}
