package graph

import (
	"context"
	"go/types"
	"slices"
	"strings"
)

func (t *task) run(ctx context.Context, ready []*parsed) error {
	g, u := t.g, t.u
	have := map[*goFile]*parsed{}
	for _, p := range ready {
		have[p.file] = p
		t.spans = append(t.spans, p.span)
	}
	defer func() {
		for _, p := range have {
			if p != nil {
				g.drop(p)
			}
		}
	}()
	done := map[*goFile]bool{}
	left := slices.Clone(u.files)
	aside := t.clashes(left)
	for pass := 0; len(left) > 0 && ctx.Err() == nil; pass++ {
		// What is checked with what: first the build that importers see, then
		// one that takes the first file left, then what no build takes alone.
		c, ok := u.config, true
		if pass > 0 {
			if c, ok = configFor(left[0]); pass > maxPasses {
				ok = false
			}
		}
		t.config = c
		var inner, outer []*goFile // the package with its tests; the tests beside it
		if ok && !(pass > 0 && aside[left[0]]) {
			for _, f := range u.files {
				if aside[f] || !c.takes(f) {
					continue
				}
				if f.external() {
					outer = append(outer, f)
				} else {
					inner = append(inner, f)
				}
			}
		} else {
			inner = left[:1:1]
		}
		outside := slices.ContainsFunc(outer, func(f *goFile) bool { return !done[f] })
		pkg, err := t.pass(ctx, u.path, inner, nil, have, done, outside)
		if err != nil {
			return err
		}
		if outside {
			if _, err := t.pass(ctx, u.path+"_test", outer, pkg, have, done, false); err != nil {
				return err
			}
		}
		if pass > 0 {
			done[left[0]] = true
		}
		left = slices.DeleteFunc(left, func(f *goFile) bool { return done[f] })
		// Files for one system and one processor are in no other build.
		for f, p := range have {
			if os, arch := portOf(f.path); p != nil && pass > 0 && os != "" && arch != "" {
				t.forget(p)
				delete(have, f)
			}
		}
	}
	return nil
}

// clashes returns the files that are better looked at alone, since another
// file of the same build is the same program: those of folders full of
// examples or test data, each with a main of its own.
func (t *task) clashes(files []*goFile) map[*goFile]bool {
	aside := map[*goFile]bool{}
	if t.u.name != "main" && !inside(t.u.dir, "testdata") {
		return aside
	}
	mains := map[string]bool{}
	for _, f := range files {
		for _, name := range f.tops {
			key := f.build + "\x00" + strings.Join(osArch(f.path), "_") + "\x00" + f.pkg + "\x00" + name
			if mains[key] {
				aside[f] = true
			}
		}
		if !aside[f] {
			for _, name := range f.tops {
				mains[f.build+"\x00"+strings.Join(osArch(f.path), "_")+"\x00"+f.pkg+"\x00"+name] = true
			}
		}
	}
	return aside
}

func osArch(p string) []string {
	os, arch := portOf(p)
	return []string{os, arch}
}

// pass checks files as one package and keeps the edges of those not done yet.
// Of a large package only some files have bodies at a time. With whole, the package is
// returned as others see it.
func (t *task) pass(ctx context.Context, name string, files []*goFile, own *types.Package, have map[*goFile]*parsed, done map[*goFile]bool, whole bool) (*types.Package, error) {
	g := t.g
	var pkg *types.Package
	complete := false
	for ctx.Err() == nil {
		// The files whose turn it is.
		turn := map[*goFile]bool{}
		size := int64(0)
		for _, f := range files {
			if !done[f] && (len(turn) == 0 || size+f.size <= passBytes) {
				turn[f] = true
				size += f.size
			}
		}
		if len(turn) == 0 {
			break
		}
		list, err := t.parse(ctx, files, turn, have)
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		asts := trees(list)
		if len(turn) < len(files) {
			asts = t.pruner.prune(list, func(p *parsed) bool { return turn[p.file] })
		}
		t.seen = map[types.Object]ref{}
		checked, uses := g.check(ctx, name, asts, g.importer(t.i, own), true)
		if ctx.Err() != nil {
			return nil, nil
		}
		if checked == nil {
			g.fail(t.i)
		} else {
			pkg, complete = checked, len(turn) == len(files)
		}
		for f := range turn {
			done[f] = true
			if p := have[f]; p != nil && checked != nil {
				g.edges(t, p, uses)
				p.strip()
			}
		}
		if checked == nil { // the checker may be at work still: it keeps these trees
			for _, p := range list {
				t.forget(p)
				delete(have, p.file)
			}
		}
		t.seen = nil
	}
	if whole && !complete && ctx.Err() == nil {
		list, err := t.parse(ctx, files, nil, have)
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		pkg, _ = g.check(ctx, name, trees(list), g.importer(t.i, own), false)
	}
	return pkg, nil
}

// forget drops what is known of a parsed file.
func (t *task) forget(p *parsed) {
	t.g.drop(p)
	t.spans = slices.DeleteFunc(t.spans, func(s *span) bool { return s == p.span })
	delete(t.pruner.files, p)
}

// parse returns files parsed, those whose turn it is with bodies.
func (t *task) parse(ctx context.Context, files []*goFile, turn map[*goFile]bool, have map[*goFile]*parsed) ([]*parsed, error) {
	g := t.g
	var missing []*goFile
	for _, f := range files {
		if p, ok := have[f]; !ok || p != nil && !p.full && turn[f] {
			missing = append(missing, f)
		}
	}
	for len(missing) > 0 {
		n, size := 0, int64(0)
		for n < len(missing) && (n == 0 || size+missing[n].size <= passBytes) {
			size += missing[n].size
			n++
		}
		bodies, err := g.load(ctx, missing[:n])
		if err != nil {
			return nil, err
		}
		for _, f := range missing[:n] {
			if ctx.Err() != nil {
				return nil, nil
			}
			if old := have[f]; old != nil {
				t.forget(old)
			}
			have[f] = nil
			body, ok := bodies[f]
			if !ok {
				continue
			}
			p := g.parse(t.u, f, body)
			if p == nil {
				g.failed.Add(1)
				continue
			}
			if !turn[f] {
				p.strip()
			}
			have[f] = p
			t.spans = append(t.spans, p.span)
			delete(bodies, f)
		}
		missing = missing[n:]
	}
	slices.SortFunc(t.spans, func(a, b *span) int { return int(a.from) - int(b.from) })
	var list []*parsed
	for _, f := range files {
		p := have[f]
		if p == nil {
			continue
		}
		if !turn[f] {
			p.strip()
		}
		list = append(list, p)
	}
	return list, nil
}
