package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// An agent, and a file of a stranger, may have indexed what the project is made
// of: its folder and its other work trees, the working directory, and the
// folders in which package managers keep what it depends on. Beyond these a
// person has to vouch for a path: in the user's configuration, in the
// environment of the server, or on a terminal (Trust). Links are resolved on
// both sides, and folders are compared by what they are, not by how they are
// spelt, which differs where case does not count.

// trustedFolder is in the catalog in the place of a content's hash.
const trustedFolder = "folder"

// Admit refuses a source on this machine that is outside of what may be
// indexed without a person's word. The error is the same for a path that does
// not exist: it does not show what lies there.
func (a *App) Admit(ctx context.Context, c *Core, path string) error {
	real := project.RealPath(path)
	for _, root := range append(a.ownRoots(), c.vouched...) {
		if under(real, root) {
			return nil
		}
	}
	for p := real; ; p = filepath.Dir(p) {
		if ok, err := c.Catalog.Trusted(ctx, p, trustedFolder); ok || err != nil {
			return err
		}
		if filepath.Dir(p) == p {
			break
		}
	}
	return kb.Errorf(kb.Denied, "%q lies outside this project and what it depends on, and nobody has vouched for it", path).
		WithHint("ask your user: it may be named, or a folder above it, in trust.paths of the user's configuration, or in KNOWLEDGE_TRUST_PATHS where this program is started")
}

// AdmitSpec is admit for what a spec reads: a folder, or a repository in place
// with the directories that its .git leads to.
func (a *App) AdmitSpec(ctx context.Context, c *Core, spec kb.Spec) error {
	if !filepath.IsAbs(spec.Source) {
		return nil // an address
	}
	if err := a.Admit(ctx, c, spec.Source); err != nil {
		return err
	}
	if source.TraitsOf(spec.Kind).Refs {
		for _, place := range source.GitPlaces(spec.Source) {
			if err := a.Admit(ctx, c, place); err != nil {
				return err
			}
		}
	}
	return nil
}

// admitRequest is admit for what store:create is asked for by an agent. A
// store that is in scope already may be named again.
func (a *App) admitRequest(ctx context.Context, r CreateStore) error {
	path := source.LocalPath(r.Kind, r.Source, a.Config.Dir)
	if path == "" || r.Source == "" {
		return nil
	}
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	refused := a.Admit(ctx, c, path)
	spec, err := SpecOf(ctx, r, a.Config.Dir)
	if err != nil {
		return refused // what is wrong with the path is only shown where the path is allowed
	}
	if refused == nil {
		refused = a.AdmitSpec(ctx, c, spec)
	}
	if refused == nil {
		return nil
	}
	entries, err := a.Scope(ctx, c, false)
	if err == nil && slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.ID == spec.ID() }) {
		return nil
	}
	return refused
}

// ownRoots returns the folders that need no word. One that is too much to be
// a project, such as the home directory, gives nothing.
func (a *App) ownRoots() []string {
	var roots []string
	add := func(path string) {
		if path != "" && source.Dangerous(path) == "" {
			roots = append(roots, path)
		}
	}
	add(a.Config.Dir)
	if p, err := a.Where(); err == nil {
		add(p.Root)
		for _, tree := range source.WorkTrees(p.Root) {
			add(tree)
		}
	}
	for _, r := range a.Config.Rooms {
		if r.Caches == nil {
			continue
		}
		for _, cache := range r.Caches(a.Config.Env) {
			add(cache)
		}
	}
	return roots
}

// under reports whether a resolved path is root or lies below it.
func under(path, root string) bool {
	want, err := os.Stat(root)
	if err != nil {
		return false
	}
	for p := path; ; p = filepath.Dir(p) {
		if info, err := os.Stat(p); err == nil && os.SameFile(info, want) {
			return true
		}
		if filepath.Dir(p) == p {
			return false
		}
	}
}

// vouchesFor reports whether the user's configuration or environment names a file.
func (c *Core) vouchesFor(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && slices.ContainsFunc(c.vouched, func(p string) bool {
		named, err := os.Stat(p)
		return err == nil && os.SameFile(info, named)
	})
}
