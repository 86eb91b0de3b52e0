package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

const (
	// furtherTokens is set aside for the names of further functions of the
	// documents found, of a short reply less, furtherNames how many have no row to lose, furtherOfOne how many
	// of them are of one document.
	furtherTokens = 100
	furtherNames  = 12
	furtherOfOne  = 6
)

// aside is a function that is named below a place of its document.
type aside struct {
	below  *packed
	symbol *kb.Symbol
}

// also names further functions of the documents that are named, below the first
// place of each: those that would have had a row of their own, and the likeliest
// of the others. Most of what is read after a search lies in such a document.
func (p *pack) also() {
	v := p.s.beside
	if p.flow {
		v = p.s.survey
	}
	if v == nil {
		return
	}
	first := map[docKey]*packed{}
	var kept []*packed
	named := min(p.named, len(p.places))
	for _, x := range p.places[:named] {
		f := first[docKey{x.target, x.path}]
		if f != nil && x.symbol != nil && x.body.shown == nil && !x.given {
			p.further = append(p.further, aside{f, x.symbol})
			continue
		}
		if f == nil {
			first[docKey{x.target, x.path}] = x
		}
		kept = append(kept, x)
	}
	most := len(p.further) + furtherNames
	for i := range v.sites {
		x := &v.sites[i]
		f := first[x.doc.key]
		if x.symbol == nil || f == nil || len(p.further) >= most || rank.IsTest(x.doc.Path) || p.count(f) >= furtherOfOne {
			continue
		}
		y := cmp.Or(enclosing(x.doc.DocumentText, x.symbol), x.symbol)
		if !slices.ContainsFunc(kept, func(o *packed) bool { return o.has(x.doc.key, y) }) &&
			!slices.ContainsFunc(p.further, func(o aside) bool { return o.below == f && o.symbol.Start <= y.End && y.Start <= o.symbol.End }) {
			p.further = append(p.further, aside{f, y})
		}
	}
	rest := slices.DeleteFunc(slices.Clone(p.places[named:]), func(x *packed) bool {
		return slices.Contains(p.further, aside{first[docKey{x.target, x.path}], x.symbol})
	})
	p.named = len(kept)
	p.places = slices.Concat(kept, rest)
	for i, x := range p.places {
		x.rank = i
	}
	for n, x := range p.sites { // those that have become names
		if !slices.Contains(p.places, x) {
			delete(p.sites, n)
		}
	}
}

// count returns how many functions are named below a place.
func (p *pack) count(x *packed) (n int) {
	for _, f := range p.further {
		if f.below == x {
			n++
		}
	}
	return n
}

// has reports whether a place has some of the lines of a declaration.
func (x *packed) has(k docKey, y *kb.Symbol) bool {
	return k == docKey{x.target, x.path} && y.Start < x.body.first+len(x.body.text) && x.body.first <= y.End
}

// alsoIn is the line that names further functions of a place's document.
func (p *pack) alsoIn(x *packed) string {
	var all []*kb.Symbol
	for _, f := range p.further {
		if f.below == x {
			all = append(all, f.symbol)
		}
	}
	slices.SortFunc(all, func(a, b *kb.Symbol) int { return a.Start - b.Start })
	var names []string
	for _, y := range all {
		names = append(names, visible.Name(place("", y.Start, y.End)+" "+y.Qualified()))
	}
	if names == nil {
		return ""
	}
	return "also " + strings.Join(names, ", ") + "\n"
}
