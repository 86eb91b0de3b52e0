package search

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// What only declares what another document does says in words how that is
// done, and so comes first: an interface, or a class that has all from its
// base. To a question of how something works what does it comes before.

// implemented moves what does what an earlier hit only declares to its place,
// but where the query names what is declared.
func (s *survey) implemented(ctx context.Context, targets []Target, ranked []rank.Scored) error {
	if s == nil {
		return nil
	}
	seen := map[*surveyed]bool{}
	for i := 0; i < len(ranked); i++ {
		c := &ranked[i]
		d := s.docs[docKey{c.Store, c.Path}]
		if d == nil || seen[d] {
			continue
		}
		seen[d] = true
		needs, err := d.declares(ctx, targets)
		if err != nil {
			return err
		}
		if len(needs) == 0 || slices.ContainsFunc(needs, func(n need) bool { return s.q.Names(n.by) }) {
			continue
		}
		for j := i + 1; j < len(ranked); j++ {
			o := s.docs[docKey{ranked[j].Store, ranked[j].Path}]
			if o == nil || seen[o] || o.key.target != d.key.target {
				continue
			}
			if is, err := o.implements(ctx, targets, needs); err != nil {
				return err
			} else if !is {
				continue
			}
			does := ranked[j]
			does.Score = c.Score
			copy(ranked[i+1:j+1], ranked[i:j])
			ranked[i] = does
			seen[o] = true
			break
		}
	}
	return nil
}

// inherits are the names of what a document says that its declarations inherit, with the
// lines. They are read when they are first asked for: few questions need them.
func (d *surveyed) inherits(ctx context.Context, targets []Target) ([]kb.Reference, error) {
	if d.outlined {
		return d.bases, nil
	}
	list, err := targets[d.key.target].Index.Outlines(ctx, []string{d.Path})
	if err != nil {
		return nil, of(d.key.target, err)
	}
	d.outlined = true
	for _, r := range list[0].Facts.References {
		if r.Kind == kb.UseInherit {
			d.bases = append(d.bases, r)
		}
	}
	return d.bases, nil
}

// need is what somebody has to look for elsewhere: the functions of an
// interface, or the base of a class that has none.
type need struct {
	by      string   // the interface, or the class that has none
	name    string   // of the interface, or of the base
	methods []string // of the interface; nil for a base
}

// declares returns what a document only declares; nil where it does something.
func (d *surveyed) declares(ctx context.Context, targets []Target) (out []need, err error) {
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			switch y := &d.Chunks[i].Symbols[j]; {
			case slices.Contains(functions, y.Kind):
				if !d.bodiless(y) {
					return nil, nil
				}
			case slices.Contains(interfaces, y.Kind):
				if m := d.methods(y); len(m) > 0 {
					out = append(out, need{y.Name, y.Name, m})
				}
			case y.Kind == "class":
				bases, err := d.inherits(ctx, targets)
				if err != nil {
					return nil, err
				}
				for _, r := range bases {
					if y.Start <= r.Line && r.Line <= y.End {
						out = append(out, need{by: y.Name, name: r.Name})
					}
				}
			}
		}
	}
	return out, nil
}

// interfaces are the kinds of what may be an interface; in Go every type is one.
var interfaces = []string{"interface", "trait", "protocol", "type"}

// methods are the names of the functions that a type encloses.
func (d *surveyed) methods(y *kb.Symbol) (out []string) {
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			if m := &d.Chunks[i].Symbols[j]; slices.Contains(functions, m.Kind) && y.Start <= m.Start && m.End <= y.End {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// bodiless reports whether a function is one of an interface, without a body.
func (d *surveyed) bodiless(y *kb.Symbol) bool {
	if len(y.Path) == 0 {
		return false
	}
	if d.types == nil {
		d.types = map[string][]*kb.Symbol{}
		for o := range symbolsOf(d.DocumentText) {
			if slices.Contains(interfaces, o.Kind) {
				d.types[o.Name] = append(d.types[o.Name], o)
			}
		}
	}
	if !slices.ContainsFunc(d.types[y.Path[len(y.Path)-1]], func(o *kb.Symbol) bool { return o.Start <= y.Start && y.End <= o.End }) {
		return false
	}
	for line := max(y.Line, y.Start); line <= y.End; line++ {
		if strings.Contains(lineOf(d.DocumentText, line), "{") {
			return false
		}
	}
	return true
}

// implements reports whether a document does something of what others declare:
// it names the interface as its own, or has all of its functions; or it declares
// the base.
func (d *surveyed) implements(ctx context.Context, targets []Target, needs []need) (bool, error) {
	own := map[string]int{}
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			y := &d.Chunks[i].Symbols[j]
			if slices.Contains(functions, y.Kind) && !d.bodiless(y) {
				own[y.Name]++
			}
		}
	}
	if len(own) == 0 {
		return false, nil
	}
	has := func(m string) bool { return own[m] > 0 }
	for _, n := range needs {
		switch {
		case n.methods == nil:
			if d.has(n.name) {
				return true, nil
			}
			continue
		case !slices.ContainsFunc(n.methods, has):
			continue
		case (d.Language == "go" || len(n.methods) > 1) && !slices.ContainsFunc(n.methods, func(m string) bool { return !has(m) }):
			return true, nil
		}
		bases, err := d.inherits(ctx, targets)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(bases, func(r kb.Reference) bool { return r.Name == n.name }) {
			return true, nil
		}
	}
	return false, nil
}

// has reports whether a document declares a class of that name.
func (d *surveyed) has(class string) bool {
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			if y := &d.Chunks[i].Symbols[j]; y.Name == class && y.Kind == "class" {
				return true
			}
		}
	}
	return false
}
