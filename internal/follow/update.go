package follow

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// Update brings stores up to date with what they follow: one that is pinned
// to a dependency moves to the version that the project's lockfile holds now,
// all others to the head of their branch. store "" is every store of the project.
func Update(ctx context.Context, a *app.App, store string, dry bool) (Synced, error) {
	out := newSynced(dry)
	c, err := a.Open(ctx)
	if err != nil {
		return out, err
	}
	p, err := a.Where()
	if err != nil {
		return out, err
	}
	s := syncRun{a: a, c: c, p: p, r: SyncRequest{DryRun: dry}, out: &out}
	if err := s.load(ctx); err != nil {
		return out, err
	}
	var stores []kb.Store
	if store != "" {
		_, st, err := a.Lookup(ctx, store)
		if err != nil {
			return out, err
		}
		stores = append(stores, st)
	} else {
		entries, err := c.Catalog.List(ctx, p.ID)
		if err != nil {
			return out, err
		}
		for _, e := range entries {
			if e.Scope == catalog.ScopeProject || p.None {
				stores = append(stores, e.Store)
			}
		}
		if len(stores) == 0 {
			out.Note = "there are no stores here to update"
		}
	}
	for _, st := range stores {
		if err := s.update(ctx, st); err != nil {
			if ctx.Err() != nil || store != "" {
				return out, err
			}
			out.fail(st.Label(), err)
		}
	}
	return out, nil
}

func (s *syncRun) update(ctx context.Context, st kb.Store) error {
	by, known := s.by[st.Name]
	if !known || by.Store != st.ID || by.Follows == "" {
		// A tag or commit that does not move is asked for once more all the same:
		// tags move, and an earlier run may have failed.
		s.out.Updated = append(s.out.Updated, st.Label())
		if s.r.DryRun {
			return nil
		}
		return s.index(ctx, st, st.Label())
	}
	spec := st.Spec
	if err := s.locks.pin(ctx, &spec, by.Follows); err != nil {
		return err
	}
	if spec.ID() == st.ID {
		s.out.Skipped = append(s.out.Skipped, st.Name)
		if st.Head == nil && !s.r.DryRun {
			return s.index(ctx, st, st.Name)
		}
		return nil
	}
	s.out.Changes = append(s.out.Changes, st.Name+": "+difference(st.Spec, spec))
	s.out.Updated = append(s.out.Updated, st.Name)
	if s.r.DryRun {
		return nil
	}
	moved, err := move(ctx, s.c, s.p.ID, st, spec, "", nil)
	if err != nil {
		return err
	}
	by.Store = moved.ID
	if err := s.c.Catalog.SetDefined(ctx, s.p.ID, by); err != nil {
		return err
	}
	return s.index(ctx, moved, st.Name)
}

// locks knows the versions that a project's lockfiles hold, read when first needed.
type locks struct {
	root string
	read bool
	err  error
	list []deps.Dependency
}

// pin moves a spec to the version in use of the dependency that it follows.
// The new tag is spelt as the old one: "pkg@1.2.3" becomes "pkg@1.3.0".
func (l *locks) pin(ctx context.Context, spec *kb.Spec, follows string) error {
	if !l.read {
		r, err := deps.Manifests(ctx, l.root)
		l.read, l.err, l.list = true, err, r.Dependencies
	}
	if l.err != nil {
		return l.err
	}
	for _, d := range l.list {
		if d.ID() != follows {
			continue
		}
		switch {
		case d.Commit != "":
			spec.Ref = kb.Ref{Type: kb.RefCommit, Name: d.Commit}
		case d.Version == "":
			return kb.Errorf(kb.NotFound, "no lockfile says which version of %s is in use", follows).WithHint("lock the dependencies, or pin the store with tag")
		case spec.Ref.Type == kb.RefTag:
			spec.Ref.Name = respell(spec.Ref.Name, d.Version)
		case d.Tag != "":
			spec.Ref = kb.Ref{Type: kb.RefTag, Name: d.Tag}
		}
		return nil
	}
	return kb.Errorf(kb.NotFound, "the project does not depend on %s any more", follows).WithHint("remove the store, or pin it with tag")
}

// versionRE finds the version at the end of a tag: with dots, else a number.
var versionRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(?:[._]\d+)+(?:[-+.]?[0-9A-Za-z]+)*$|\d+$`)
})

// respell puts a version into the place of the one in a tag.
func respell(tag, version string) string {
	version = strings.TrimPrefix(version, "v")
	at := versionRE().FindStringIndex(tag)
	if at == nil {
		return tag
	}
	if old := tag[at[0]:]; strings.Contains(old, "_") && !strings.Contains(old, ".") {
		version = strings.ReplaceAll(version, ".", "_")
	}
	return tag[:at[0]] + version
}
