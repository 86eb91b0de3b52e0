package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/data/verify"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Collected is the reply of gc.
type Collected struct {
	Files  []verify.Leftover `json:"files"`
	Bytes  int64             `json:"bytes"`
	DryRun bool              `json:"dryRun,omitempty"`
	Notes  []string          `json:"notes,omitempty"`
}

// Text lists what went, the largest first.
func (g Collected) Text() string {
	if len(g.Files) == 0 {
		return strings.Join(append([]string{"nothing is left over"}, g.notes()...), "\n")
	}
	var b strings.Builder
	for _, f := range g.Files {
		fmt.Fprintf(&b, "%9s  %s  (%s)\n", app.BytesOf(f.Bytes), f.Path, f.What)
	}
	verb := "deleted"
	if g.DryRun {
		verb = "to be deleted by: knowledge gc"
	}
	fmt.Fprintf(&b, "%d files and folders, %s, %s", len(g.Files), app.BytesOf(g.Bytes), verb)
	return strings.Join(append([]string{b.String()}, g.notes()...), "\n")
}

func (g Collected) notes() (out []string) {
	for _, n := range g.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// Collect deletes what nothing refers to any more; dry lists it alone. It is
// safe beside jobs and readers.
func Collect(ctx context.Context, a *app.App, dry bool) (Collected, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Collected{}, err
	}
	if _, err := c.Jobs.Resume(ctx); err != nil { // what a dead worker's job needs stays
		return Collected{}, err
	}
	files, err := leftovers(ctx, c, dry)
	far, notes := afar(ctx, c, dry)
	files = append(files, far...)
	kb.SortStableFunc(files, func(a, b verify.Leftover) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	out := Collected{Files: files, DryRun: dry, Notes: notes}
	if files == nil {
		out.Files = []verify.Leftover{}
	}
	for _, f := range files {
		out.Bytes += f.Bytes
	}
	return out, err
}

// afar is leftovers of what this machine and others have put on a cluster. That it is
// away keeps nothing here from going.
func afar(ctx context.Context, c *app.Core, dry bool) (out []verify.Leftover, notes []string) {
	s, err := c.Shares()
	if err != nil {
		return nil, nil // none is set
	}
	files, note, err := s.Collect(ctx, c, dry)
	for _, f := range files {
		out = append(out, verify.Leftover{Path: "cluster/" + f.Path, What: "no generation that is live on the cluster needs it", Bytes: f.Bytes})
	}
	if err != nil {
		notes = append(notes, "on the cluster: "+err.Error())
	}
	if note != "" {
		notes = append(notes, note)
	}
	return out, notes
}

// leftovers lists what nothing refers to, and deletes it unless dry.
func leftovers(ctx context.Context, c *app.Core, dry bool) ([]verify.Leftover, error) {
	if err := c.ReleaseEnded(ctx, ""); err != nil {
		return nil, err
	}
	g := &collector{Core: c, dry: dry}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return nil, err
	}
	var specs []kb.Spec
	for _, e := range all {
		specs = append(specs, e.Spec)
	}
	if lost, err := c.Catalog.Damaged(ctx); err != nil || len(lost) > 0 {
		return nil, cmp.Or(err, error(kb.Errorf(kb.Corrupt, "what the catalog says of %s is damaged, so nobody can tell what it needs", strings.Join(lost, ", ")).
			WithHint("delete it, or create it again from the same source: knowledge stores --all")))
	}
	err = c.Indexer.EachUnneeded(ctx, func(name string) error {
		// What cannot be deleted now goes another time.
		gone, _ := c.Indexes.Delete(ctx, name, dry)
		for _, d := range gone {
			g.note(d.Path, "no store and no job needs it", d.Bytes)
		}
		return nil
	})
	for _, r := range g.Rooms() {
		if r.Leftovers != nil {
			what, paths, e := r.Leftovers(ctx, c)
			err = errors.Join(err, e, g.take(what)(paths))
		}
	}
	err = errors.Join(err, c.Opener.EachUnneeded(specs, g.take("a copy of a repository that no store is made from")))
	err = errors.Join(err, g.take("what an export or import that was killed left")(transfer.Leftovers(c.Dir)))
	err = errors.Join(err, g.temporary(), g.ofJobs(ctx))
	return g.files, err
}

type collector struct {
	*app.Core
	dry   bool
	files []verify.Leftover
}

// take returns a function that lists paths, as far as something of ours is
// there, and deletes that unless the run is dry. What cannot be deleted now
// goes another time.
func (g *collector) take(what string) func(paths []string) error {
	return func(paths []string) error {
		for _, p := range paths {
			files, folders, foreign := project.OursBelow(g.Dir, p)
			if len(files) == 0 && (len(folders) == 0 || foreign) {
				continue
			}
			n := project.Weigh(files)
			if !g.dry {
				if err := project.Remove(g.Dir, p); err != nil {
					continue
				}
			}
			g.note(p, what, n)
		}
		return nil
	}
}

// note lists a file.
func (g *collector) note(path, what string, bytes int64) {
	if rel, err := filepath.Rel(g.Dir, path); err == nil {
		path = rel
	}
	g.files = append(g.files, verify.Leftover{Path: filepath.ToSlash(path), What: what, Bytes: bytes})
}

// temporary takes files that writers left unfinished, an hour after the last write.
func (g *collector) temporary() error {
	folders := []string{g.Dir, g.Pool.Dir, g.Pool.Generations, filepath.Join(g.Dir, "views"), filepath.Join(g.Dir, "jobs"), filepath.Join(g.Dir, "grammars"), filepath.Join(g.Dir, "history"), filepath.Join(g.Dir, "revisions"), filepath.Join(g.Dir, "looks")}
	for _, kept := range []string{g.Opener.WebDir, filepath.Join(g.Dir, "replies")} {
		list, _ := filepath.Glob(filepath.Join(kept, "*")) // fails only for a bad pattern
		folders = append(append(folders, kept), list...)
	}
	var paths []string
	for _, dir := range folders {
		entries, _ := os.ReadDir(dir) // one that is not there has none
		for _, e := range entries {
			ours := strings.HasPrefix(e.Name(), atomicfile.TempPrefix) || strings.HasPrefix(e.Name(), ".doctor-") || strings.HasSuffix(e.Name(), ".tmp") && dir != g.Dir
			info, err := e.Info()
			if ours && err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > app.TempAge {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return g.take("a file that was never completed")(paths)
}

// ofJobs takes what jobs that have ended left in the folder of locks.
func (g *collector) ofJobs(ctx context.Context) error {
	entries, _ := os.ReadDir(filepath.Join(g.Dir, "jobs"))
	var paths []string
	for _, e := range entries {
		id, trail := strings.CutSuffix(e.Name(), ".at")
		store, noted := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".json"), "watch-")
		gone := false
		switch {
		case trail:
			j, err := g.Jobs.Get(ctx, id)
			gone = kb.CodeOf(err) == kb.NotFound && err != nil || err == nil && j.State.Ended()
		case noted && strings.HasSuffix(e.Name(), ".json"):
			_, err := g.Catalog.Get(ctx, kb.StoreID(store))
			gone = err != nil && kb.CodeOf(err) == kb.NotFound
		}
		if gone {
			paths = append(paths, filepath.Join(g.Dir, "jobs", e.Name()))
		}
	}
	return g.take("what a job that has ended left")(paths)
}
