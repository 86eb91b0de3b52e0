package search

import (
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
func (s *survey) implemented(ranked []rank.Scored) {
	if s == nil {
		return
	}
	seen := map[*surveyed]bool{}
	for i := 0; i < len(ranked); i++ {
		c := &ranked[i]
		d := s.docs[docKey{c.Store, c.Path}]
		if d == nil || seen[d] {
			continue
		}
		seen[d] = true
		needs := d.declares()
		if slices.ContainsFunc(needs, func(n need) bool { return s.q.Names(n.by) }) {
			continue
		}
		for j := i + 1; j < len(ranked); j++ {
			o := s.docs[docKey{ranked[j].Store, ranked[j].Path}]
			if o == nil || seen[o] || o.key.target != d.key.target || !o.implements(needs) {
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
}

// need is what somebody has to look for elsewhere: the functions of an
// interface, or the base of a class that has none.
type need struct {
	by      string   // the interface, or the class that has none
	name    string   // of the interface, or of the base
	methods []string // of the interface; nil for a base
}

// declares returns what a document only declares; nil where it does something.
func (d *surveyed) declares() (out []need) {
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			switch y := &d.Chunks[i].Symbols[j]; {
			case slices.Contains(functions, y.Kind):
				if !d.bodiless(y) {
					return nil
				}
			case slices.Contains(interfaces, y.Kind):
				if m := d.methods(y); len(m) > 0 {
					out = append(out, need{y.Name, y.Name, m})
				}
			case y.Kind == "class":
				for _, r := range d.Facts.References {
					if r.Kind == kb.UseInherit && y.Start <= r.Line && r.Line <= y.End {
						out = append(out, need{by: y.Name, name: r.Name})
					}
				}
			}
		}
	}
	return out
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
	within := false
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			o := &d.Chunks[i].Symbols[j]
			within = within || slices.Contains(interfaces, o.Kind) && o.Name == y.Path[len(y.Path)-1] && o.Start <= y.Start && y.End <= o.End
		}
	}
	if !within {
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
func (d *surveyed) implements(needs []need) bool {
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
		return false
	}
	inherits := func(name string) bool {
		return slices.ContainsFunc(d.Facts.References, func(r kb.Reference) bool { return r.Kind == kb.UseInherit && r.Name == name })
	}
	return slices.ContainsFunc(needs, func(n need) bool {
		if n.methods == nil {
			return d.has(n.name)
		}
		has := func(m string) bool { return own[m] > 0 }
		return inherits(n.name) && slices.ContainsFunc(n.methods, has) ||
			(d.Language == "go" || len(n.methods) > 1) && !slices.ContainsFunc(n.methods, func(m string) bool { return !has(m) })
	})
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
