package apis

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// repliesDir holds the folders of stores that keep replies, below the data directory.
const repliesDir = "replies"

// keepWait is how long a call waits for what it saved to be indexed.
const keepWait = 3 * time.Second

// keeper is a store that keeps replies.
type keeper struct {
	core  *app.Core
	name  string
	dir   string
	store *kb.Store // nil when it is to be made
}

// keeperOf finds the store that a name means here, or where one would be made.
func keeperOf(ctx context.Context, a *app.App, name string) (keeper, error) {
	if err := catalog.CheckName(name); err != nil {
		return keeper{}, err
	}
	c, st, err := a.Lookup(ctx, name)
	if err != nil && kb.CodeOf(err) != kb.NotFound {
		return keeper{}, err
	}
	root := filepath.Join(c.Dir, repliesDir)
	// As a source is written in its store, links resolved.
	if err := atomicfile.MkdirAll(root); err != nil {
		return keeper{}, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return keeper{}, kb.Errorf(kb.Denied, "the data directory cannot be read: %w", err).WithHint("check its permissions")
	}
	if st.ID != "" {
		below, err := filepath.Rel(root, st.Spec.Source)
		if !filepath.IsAbs(st.Spec.Source) || err != nil || !filepath.IsLocal(below) {
			return keeper{}, kb.Errorf(kb.Exists, "the store %q keeps something else", name).WithHint("give save another name: a store is made for it")
		}
		return keeper{c, name, st.Spec.Source, &st}, nil
	}
	p, err := a.Where()
	if err != nil {
		return keeper{}, err
	}
	owner := "user"
	if p.ID != "" {
		owner = p.ID
	}
	return keeper{c, name, filepath.Join(root, owner, name), nil}, nil
}

// keep writes a document into a store that keeps replies and has it indexed.
func keep(ctx context.Context, a *app.App, k keeper, file, text string) (*SavedReply, error) {
	if k.store == nil { // what a deleted store of that name has left is not its own
		if err := os.RemoveAll(k.dir); err != nil {
			return nil, kb.Errorf(kb.Denied, "%q cannot be cleared: %w", k.dir, err).WithHint("check its permissions")
		}
	}
	if err := atomicfile.MkdirAll(k.dir); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(k.dir, file), []byte(text)); err != nil {
		return nil, err
	}
	if k.store == nil {
		p, err := a.Where()
		if err != nil {
			return nil, err
		}
		spec, err := app.SpecOf(ctx, app.CreateStore{Kind: kb.KindFolder, Source: k.dir}, k.dir)
		if err != nil {
			return nil, err
		}
		if p.ID != "" {
			if err := k.core.Catalog.NoteProject(ctx, p.ID, p.Root); err != nil {
				return nil, err
			}
		}
		st, _, err := k.core.Catalog.Add(ctx, p.ID, k.name, spec, "replies of declared APIs, kept by api:call", []string{"api"})
		if err != nil {
			return nil, err
		}
		k.store = &st
	}
	s, err := k.core.Start(ctx, *k.store, k.name, false)
	if err != nil {
		return nil, err
	}
	out := &SavedReply{Store: k.name, Path: file, Job: s.Job, Status: s.Status}
	waiting, cancel := context.WithTimeout(ctx, keepWait)
	defer cancel()
	switch j, err := k.core.Jobs.Wait(waiting, s.Job, nil); {
	case err == nil:
		out.Status = string(j.State)
		if j.State == kb.JobFailed {
			out.Note = j.Message
		}
	case ctx.Err() != nil:
		return out, ctx.Err()
	default:
		out.Note = "search finds it when that job has ended: job:status tells"
	}
	return out, nil
}

// unneededReplies returns the folders of kept replies of stores that are no more.
func unneededReplies(ctx context.Context, c *app.Core) (what string, paths []string, err error) {
	what = "kept replies of a store that is no more"
	root, err := filepath.EvalSymlinks(filepath.Join(c.Dir, repliesDir)) // as sources are written
	if err != nil {
		return what, nil, nil // there are none
	}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return what, nil, err
	}
	need := map[string]bool{}
	for _, e := range all {
		need[e.Spec.Source] = true
	}
	list, _ := filepath.Glob(filepath.Join(root, "*", "*")) // fails only for a bad pattern
	for _, dir := range list {
		// A young one may be about to become a store.
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !need[dir] && time.Since(info.ModTime()) > app.TempAge {
			paths = append(paths, filepath.Join(c.Dir, repliesDir, filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))
		}
	}
	return what, paths, nil
}
