package code

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// maxManifests is how many manifests of one store are read, those near its root first.
const maxManifests = 200

// manifests are the packages that a store has, and those that it needs.
type manifests struct {
	of       string // what they were read of: the generation and the lockfiles
	packages []deps.Package
	requires []deps.Requirement // of each package one: that of the manifest nearest to the root
}

// has reports whether the store has a package itself.
func (t *manifests) has(p deps.Package) bool {
	return slices.ContainsFunc(t.packages, func(q deps.Package) bool { return q.Ecosystem == p.Ecosystem && q.Name == p.Name })
}

// tables keeps the manifests of stores as long as the process lives.
type tables struct {
	mu   sync.Mutex
	kept map[kb.StoreID]manifests
}

func manifestsIn(c *app.Core) *tables { return app.State(c, func() *tables { return &tables{} }) }

// of returns the manifests of a store as they are in its index, with the versions that
// lockfiles beside them hold.
func (t *tables) of(ctx context.Context, c *app.Core, st kb.Store) (manifests, error) {
	stamp := st.Head.Manifest + locksOf(st)
	t.mu.Lock()
	have, ok := t.kept[st.ID]
	t.mu.Unlock()
	if ok && have.of == stamp {
		return have, nil
	}
	idx, _, err := c.Library.Get(ctx, st)
	if err != nil || idx == nil {
		return manifests{}, err
	}
	defer idx.Release()
	out, err := readManifests(ctx, idx)
	if err != nil {
		return out, err
	}
	pin(ctx, &out, st)
	out.of = stamp
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = map[kb.StoreID]manifests{}
	}
	t.kept[st.ID] = out
	return out, nil
}

// readManifests reads the manifests among the documents of an index.
func readManifests(ctx context.Context, idx kb.Index) (out manifests, err error) {
	list, err := idx.Identities(ctx, nil)
	if err != nil {
		return out, err
	}
	var paths []string
	for _, d := range list {
		if deps.IsManifest(d.Path) {
			paths = append(paths, d.Path)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	seen := map[string]bool{}
	for _, p := range paths[:min(len(paths), maxManifests)] {
		d, err := idx.Document(ctx, p)
		if err != nil {
			if kb.CodeOf(err) == kb.NotFound {
				continue
			}
			return out, err
		}
		m := deps.ReadManifest(p, []byte(d.Body))
		out.packages = append(out.packages, m.Packages...)
		for _, r := range m.Requirements {
			if name := r.Ecosystem + ":" + r.Name; !seen[name] {
				seen[name] = true
				out.requires = append(out.requires, r)
			}
		}
	}
	return out, nil
}

// lockNames are the lockfiles that hold versions which manifests leave open.
var lockNames = []string{"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"}

// locksOf is what the lockfiles at the root of a folder are told by; "" of other stores.
func locksOf(st kb.Store) (stamp string) {
	if !source.Watchable(st.Spec.Kind) {
		return ""
	}
	for _, name := range lockNames {
		if info, err := os.Stat(filepath.Join(st.Spec.Source, name)); err == nil {
			stamp += " " + name + info.ModTime().UTC().Format("20060102150405.000000000")
		}
	}
	return stamp
}

// pin fills in the versions that the lockfiles of a folder hold. They are read
// from the folder, since indexes leave them out.
func pin(ctx context.Context, t *manifests, st kb.Store) {
	open := func(r deps.Requirement) bool { return r.Version == "" && !r.Local }
	if !source.Watchable(st.Spec.Kind) || !slices.ContainsFunc(t.requires, open) {
		return
	}
	rep, err := deps.Manifests(ctx, st.Spec.Source)
	if err != nil {
		return // it is not on this machine: the manifests alone speak
	}
	version := map[string]string{}
	for _, d := range rep.Dependencies {
		version[d.ID()] = d.Version
	}
	for i := range t.requires {
		if r := &t.requires[i]; open(*r) {
			name := r.Name
			if r.From != "" {
				name = r.From
			}
			r.Version = version[r.Ecosystem+":"+name]
		}
	}
}
