package search

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

const (
	maxTypes = 8 // that a declaration uses, and get_full_context names
	maxTests = 6 // that reach it
	// testDepth is over how many calls a test may reach it.
	testDepth = 3
	// linkBytes is how much of the line of a call, or of a declaration, is shown.
	linkBytes = 120
)

// need adds to what a declaration is called by and calls what has to be known
// to change it: the lines that call it, the types that it uses, and the tests
// that reach it.
func (u *usage) need(ctx context.Context, t *Target, d *kb.DocumentText) error {
	p := &placer{t: t, docs: map[string]*kb.DocumentText{d.Path: d}}
	for i := range u.callers {
		if u.callers[i].Store != "" {
			continue // quoted where it was found
		}
		if err := p.quote(ctx, &u.callers[i]); err != nil {
			return err
		}
	}
	out, err := t.View.Out(u.decl.Spot())
	if err != nil {
		return err
	}
	for _, e := range out {
		if e.Kind != kb.UseType || e.To.Decl == u.decl.Qualified ||
			slices.ContainsFunc(u.types, func(l Link) bool { return l.Symbol == e.To.Decl }) || len(u.types) == maxTypes {
			continue
		}
		l, err := p.link(ctx, e.To, e)
		if err == nil {
			err = p.quote(ctx, &l)
		}
		if err != nil {
			return err
		}
		u.types = append(u.types, l)
	}
	calls, err := t.View.Callers(u.decl.Spot(), testDepth, maxUses)
	if err != nil {
		return err
	}
	for _, c := range calls {
		at := c.Edge.From
		if !rank.IsTest(at.Path) || at.Decl == "" || len(u.tests) == maxTests ||
			slices.ContainsFunc(u.tests, func(l Link) bool { return l.Symbol == at.Decl }) {
			continue
		}
		l, err := p.link(ctx, at, c.Edge)
		if err != nil {
			return err
		}
		u.tests = append(u.tests, l)
	}
	return nil
}

// quote adds to a link the line that it leads to.
func (p *placer) quote(ctx context.Context, l *Link) error {
	path, line, ok := ParsePlace(l.At)
	if !ok {
		return nil
	}
	d, err := p.doc(ctx, path)
	if err != nil || d == nil {
		return err
	}
	l.Code = kb.Clip(strings.TrimSpace(lineOf(d, line)), linkBytes)
	return nil
}
