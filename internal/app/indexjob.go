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
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// IndexArgs are the arguments of an index job.
type IndexArgs struct {
	Force bool `json:"force,omitempty"`
	// Repair leaves the store as it is when the source has nothing in it.
	Repair bool `json:"repair,omitempty"`
	// Vectors has vectors that are missing made anew from the text that is
	// indexed; the source is not looked at.
	Vectors bool `json:"vectors,omitempty"`
	// Shared puts the store on the cluster once it is indexed.
	Shared bool `json:"shared,omitempty"`
	// Paid has vectors made whatever the provider of embeddings wants for them.
	Paid bool `json:"paid,omitempty"`
	// Settle has the job look at a folder again after each pass, until nothing has
	// changed during one: what was changed until the job ends is in the index then.
	Settle bool `json:"settle,omitempty"`
	// Waited says that somebody waits for what was edited; see ingest.Options.
	Waited bool `json:"waited,omitempty"`
	// Made is what store:create made, for the first job of a store.
	Made *Making `json:"made,omitempty"`
}

// Submit starts bringing a store up to date.
func (c *Core) Submit(ctx context.Context, st kb.Store, args IndexArgs) (kb.Job, error) {
	class := job.Local
	if source.TraitsOf(st.Spec.Kind).Network {
		class = job.Network
	}
	args.Settle = true
	needs := c.Opener.Needs(st.Spec)
	if key := c.Settings.Embedder.KeyEnv; key != "" {
		needs = append(needs, key)
	}
	for _, r := range c.rooms {
		if r.Needs != nil {
			needs = append(needs, r.Needs(c, st.Spec)...)
		}
	}
	return c.Jobs.Submit(ctx, job.Request{Type: "index", Store: st.ID, Class: class, Args: args, Needs: needs})
}

// cancelledRest is how long after a person has cancelled a store's index job
// nothing but store:index begins another.
const cancelledRest = 15 * time.Minute

// SubmitEdits starts bringing a folder up to date after edits, before other
// jobs; many wait their turn; waited says that somebody waits for them. The job makes one pass: who edits on, or looks again,
// asks again. What was cancelled just now does not begin again
// by itself: kb.Canceled says until when.
func (c *Core) SubmitEdits(ctx context.Context, id kb.StoreID, many, waited bool) (kb.Job, error) {
	last, ok, err := c.Jobs.Newest(ctx, "index", id)
	if err != nil {
		return kb.Job{}, err
	}
	now, until := time.Now(), last.Updated.Add(cancelledRest)
	if ok && last.State == kb.JobCancelled && now.Before(until) && !now.Before(last.Updated) {
		return kb.Job{}, kb.Errorf(kb.Canceled, "it was cancelled, and begins by itself at %s", until.UTC().Format(time.RFC3339)).
			WithHint("bring it up to date at once with: store:index %s", Args{"store": string(id)})
	}
	class := job.Watched
	if many {
		class = job.Local
	}
	return c.Jobs.Submit(ctx, job.Request{Type: "index", Store: id, Class: class, Args: IndexArgs{Waited: waited}})
}

// runIndex is the handler of index jobs.
func (c *Core) runIndex(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	var args IndexArgs
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
		}
	}
	if args.Vectors {
		return c.mendVectors(ctx, j.Store, args.Paid)
	}
	msg, details, err := c.indexShared(ctx, j, args)
	if job.Interrupted(ctx) {
		return msg, details, err // its segments wait for the run that resumes it
	}
	// Whatever became of the run, also when it was cancelled, what it held is
	// free again, and what no store needs any more goes.
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
		if e := c.Catalog.SetError(after, j.Store, err.Error()); e != nil && kb.CodeOf(e) != kb.NotFound {
			return msg, details, e
		}
	}
	return msg, details, err
}

// mendVectors makes the vectors of a store anew where they are missing.
func (c *Core) mendVectors(ctx context.Context, id kb.StoreID, paid bool) (string, map[string]any, error) {
	st, err := c.Catalog.Get(ctx, id)
	if err != nil || st.Head == nil {
		return "", nil, err
	}
	idx, _, err := c.Library.Get(ctx, st)
	if err != nil || idx == nil {
		return "", nil, err
	}
	defer idx.Release()
	info, err := idx.Info(ctx)
	if err != nil {
		return "", nil, err
	}
	missing := info.Bare
	if spend := c.spend(st.Label(), paid); spend != nil {
		var tokens int64
		for _, name := range missing {
			n, err := c.Indexer.Price(ctx, c.Indexes, name)
			if err != nil {
				return "", nil, err
			}
			tokens += n
		}
		if err := spend(tokens); err != nil {
			return "", nil, err
		}
	}
	for i, name := range missing {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		kb.Report(ctx, kb.Progress{Phase: "vectors", Done: int64(i), Total: int64(len(missing))})
		if err := c.Indexer.RebuildVectors(ctx, c.Indexes, name); err != nil {
			return "", nil, err
		}
	}
	return fmt.Sprintf("the vectors of %d segments were made anew", len(missing)), nil, nil
}

// made is the name that store:create gave a store.
func made(args IndexArgs) string {
	if args.Made == nil {
		return ""
	}
	return args.Made.Name
}

// maxPasses bounds how often a job follows a folder that keeps changing.
const maxPasses = 5

func (c *Core) indexStore(ctx context.Context, j kb.Job, args IndexArgs) (string, map[string]any, error) {
	st, err := c.Catalog.Get(ctx, j.Store)
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
		if st, err = c.Catalog.Get(ctx, j.Store); err != nil {
			return "", nil, err
		}
		if res.Damaged && n == 0 {
			continue // a copy is fetched anew
		}
		if !args.Settle || source.TraitsOf(st.Spec.Kind).Network {
			break // a commit does not change, and pages are not asked for twice
		}
		changed, err := c.Indexer.Changed(ctx, st, c.Opener)
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
	// The index is live by now: what fails there takes nothing from it.
	for _, r := range c.rooms {
		if r.Indexed != nil {
			r.Indexed(ctx, c, j, st, res.Indexed+res.Shared+res.Removed, details)
		}
	}
	if res.Head.Documents == 0 {
		st.Head = &res.Head
		return Barren(st), details, nil
	}
	return res.String(), details, nil
}

// pass makes one generation. After the death of a worker it is careful with
// what that worker was at: such documents come last, and those at which
// job.MaxDeaths workers died are skipped.
// What gathering reports goes into details.
func (c *Core) pass(ctx context.Context, j kb.Job, st kb.Store, args IndexArgs, died bool, details map[string]any) (ingest.Result, error) {
	trail, left, err := c.Jobs.Trail(j.ID)
	if err != nil {
		return ingest.Result{}, err
	}
	defer trail.Close()
	var notes []string
	if source.TraitsOf(st.Spec.Kind).Gathered {
		for _, r := range c.rooms {
			if r.Gather == nil {
				continue
			}
			if notes, err = r.Gather(ctx, c, j, st, args, died && len(left) == 0, details); err != nil {
				return ingest.Result{}, err
			}
		}
		died = died && len(left) > 0
		if st, err = c.Catalog.Get(ctx, st.ID); err != nil { // parts of it may have been published
			return ingest.Result{}, err
		}
	}
	snap, err := c.Opener.Open(ctx, st.Spec)
	if err != nil {
		return ingest.Result{}, err
	}
	defer snap.Close()
	snap = annotated{snap, notes}
	o := ingest.Options{Force: args.Force, Waited: args.Waited, Repair: args.Repair, At: trail.At, Spend: c.spend(cmp.Or(made(args), st.Label()), args.Paid)}
	if err := c.careful(ctx, j, st, snap, died, left, &o); err != nil {
		return ingest.Result{}, err
	}
	res, err := c.Indexer.Run(ctx, j.ID, st, snap, o)
	if err == nil {
		err = c.Jobs.Forgive(ctx, st.ID, args.Force)
	}
	return res, err
}

// careful fills in what earlier deaths ask for. died says that the worker
// before died, left what it was at.
func (c *Core) careful(ctx context.Context, j kb.Job, st kb.Store, snap kb.Snapshot, died bool, left []string, o *ingest.Options) error {
	used, err := c.Catalog.Used(ctx, j.ID)
	if err != nil {
		return err
	}
	// A document's count starts anew when it changes, the job's own when it
	// has made another segment durable.
	stamps := map[string]uint64{"": uint64(used) + uint64(c.PagesBytes(st.Spec))}
	known, err := c.Jobs.Blamed(ctx, st.ID, nil)
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
		if err := c.Jobs.Blame(ctx, st.ID, left, mark); err != nil {
			return err
		}
	}
	deaths, err := c.Jobs.Blamed(ctx, st.ID, mark)
	if err != nil {
		return err
	}
	if err := c.TooManyDeaths(ctx, st, deaths[""]); err != nil {
		return err
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

// TooManyDeaths says that a job will not get further, n workers having died of
// it; nil as long as one more may try.
func (c *Core) TooManyDeaths(ctx context.Context, st kb.Store, n int) error {
	if n < job.MaxDeaths {
		return nil
	}
	return errors.Join(
		kb.Errorf(kb.Internal, "%d worker processes died without getting further", n).
			WithHint("see what they said in %s; free memory or disk space, then run store:index", filepath.Join(c.Dir, "worker.log")),
		c.Jobs.Forgive(ctx, st.ID, false))
}

// annotated is a snapshot of which more is to be said.
type annotated struct {
	kb.Snapshot
	notes []string
}

// Notes implements kb.Snapshot.
func (a annotated) Notes() []string { return append(slices.Clone(a.notes), a.Snapshot.Notes()...) }
