package revisions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const (
	jobType = "revision"
	// mostBeside is how many other commits of the repository are looked into for files
	// that are the same, before files are read.
	mostBeside = 4
)

// mostText bounds the text of a commit that is in no index yet, in bytes: more is
// worth a store of its own, which a person sees.
var mostText int64 = 64 << 20 // tests have less

var commitRE = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// run is the handler of the jobs that make what a record stands for.
func run(ctx context.Context, c *app.Core, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil || r.Store.ID != r.Store.Spec.ID() {
		return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
	}
	short := kb.ShortCommit(r.Store.Spec.Ref.Name)
	if j.Deaths >= job.MaxDeaths {
		return "", nil, kb.Errorf(kb.Internal, "%d worker processes died while they read the files of %s", j.Deaths, short).
			WithHint("see what they said in %s; free memory, then ask again", filepath.Join(c.Dir, "worker.log"))
	}
	if idx, ok, err := open(ctx, c, &r); ok || err != nil {
		if ok {
			idx.Release() // another job has made it meanwhile
		}
		return "it was there already", nil, err
	}
	res, err := index(ctx, c, j, &r)
	if job.Interrupted(ctx) {
		return "", nil, err // its segments wait for the run that resumes it
	}
	after := context.WithoutCancel(ctx)
	if err == nil {
		err = follow(ctx, c, r.Store)
	}
	if e := errors.Join(bound(after, c), c.ReleaseEnded(after, j.ID), c.Indexer.Sweep(after)); err == nil {
		err = e
	}
	if kb.CodeOf(err) == kb.TooLarge && err != nil {
		err = kb.Errorf(kb.TooLarge, "%s is too different to be searched at once: %w", short, err).
			WithHint("make a store of it and search that: store:create %s", r.asStore())
	}
	return res.String(), map[string]any{
		"made": r.Store.Label() + "@" + short, "documents": res.Head.Documents, "read": res.Read, "indexed": res.Indexed, "shared": res.Shared, "bytesWritten": res.Written, "commit": res.Head.Commit,
	}, err
}

// asStore is what makes a store of the same.
func (r *record) asStore() app.Args {
	spec := r.Store.Spec
	args := app.Args{"name": app.NameFrom(r.Store.Label() + "-" + kb.ShortCommit(spec.Ref.Name)), "source": spec.Source, "type": "repo", "commit": spec.Ref.Name}
	if len(spec.Selection.Paths) > 0 {
		args["paths"] = spec.Selection.Paths
	}
	return args
}

// index makes the generation of a record, and keeps it.
func index(ctx context.Context, c *app.Core, j kb.Job, r *record) (res ingest.Result, err error) {
	snap, err := c.Opener.OpenAt(ctx, r.Store.Spec)
	if err != nil {
		return res, err
	}
	defer snap.Close()
	label := fmt.Sprintf("%s at %s", r.Store.Label(), kb.ShortCommit(r.Store.Spec.Ref.Name))
	was, _ := read(recordPath(c, r.Store.ID))
	o := ingest.Options{Most: mostText, Force: was.Damaged}
	if spend := c.Spend(label); spend != nil {
		o.Spend = func(tokens int64) error {
			if err := spend(tokens); err != nil {
				return kb.Errorf(kb.CodeOf(err), "%w", err).WithHint("make a store of it, of which that is asked: store:create %s", r.asStore())
			}
			return nil
		}
	}
	for _, other := range records(c) {
		if other.Common == r.Common && len(o.Beside) < mostBeside {
			o.Beside = append(o.Beside, other.Store.Head)
		}
	}
	o.Apart = func(ctx context.Context, head kb.Head) error {
		r.Store.Head = &head
		return keep(ctx, c, r)
	}
	st := r.Store
	st.Head = nil // a generation before would be continued
	if res, err = c.Indexer.Run(ctx, j.ID, st, snap, o); err != nil || len(res.LeftOut) == 0 {
		return res, err
	}
	r.Lacks = res.LeftOut
	return res, r.write(c)
}

// keep notes what was made. The job still uses the files: when it gives them up they are
// used under the record's own name, which is true as long as the record is there.
func keep(ctx context.Context, c *app.Core, r *record) error {
	if err := r.write(c); err != nil {
		return err
	}
	user := userPrefix + string(r.Store.ID)
	if err := c.Catalog.ReleaseUses(ctx, user); err != nil {
		return err
	}
	return c.Catalog.UseSegments(ctx, user, catalog.Files(*r.Store.Head)...)
}

// follow lets the rooms make what they keep of a generation.
func follow(ctx context.Context, c *app.Core, st kb.Store) error {
	idx, err := c.Library.Apart(ctx, st)
	if err != nil {
		return err
	}
	defer idx.Release()
	for _, r := range c.Rooms() {
		if r.Apart == nil {
			continue
		}
		if err := r.Apart(ctx, c, st, idx); err != nil {
			return err
		}
	}
	return nil
}
