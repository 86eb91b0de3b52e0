package chunk

import (
	"sort"
	"strings"

	outlines "github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// brokenShare is how much of a text may fail to parse before the window,
// which looks at each line by itself, makes more of it.
const brokenShare = 0.5

// fromTree makes units of the declarations that a grammar found:
//
//   - a unit at each declaration that is a place to cut at, comments and
//     decorators included;
//   - a nameless one where the enclosing text goes on behind it;
//   - one for each run of imports.
//
// Declarations inside others are symbols of the unit that they lie in.
func fromTree(ls *lines, o *outlines.Outline) outline {
	var out outline
	type open struct {
		end  int
		path []string
	}
	n := ls.len()
	starts := map[int]bool{}
	add := func(u unit) {
		if u.start < n && !starts[u.start] {
			starts[u.start] = true
			out.units = append(out.units, u)
		}
	}
	// resume begins the text behind a declaration that ended on line end.
	var resumes []unit
	resume := func(end int, path []string) {
		for end++; end < n && ls.blank(end); end++ {
		}
		resumes = append(resumes, unit{start: end, level: len(path), path: path, kind: "block"})
	}
	var inner []*outlines.Decl
	var around []open
	for i := range o.Decls {
		d := &o.Decls[i]
		for len(around) > 0 && around[len(around)-1].end < d.Start {
			around = around[:len(around)-1]
		}
		if d.Inner {
			inner = append(inner, d)
			continue
		}
		u := unit{start: d.Start, end: d.End, level: len(around), path: append(append([]string(nil), d.Path...), d.Name), kind: d.Kind}
		u.symbols = []symbol{symbolOf(ls, d)}
		if starts[u.start] {
			// Two declarations begin on one line: the first has it.
			inner = append(inner, d)
			continue
		}
		add(u)
		var path []string
		if k := len(around); k > 0 {
			path = around[k-1].path
		}
		resume(d.End, path)
		around = append(around, open{d.End, u.path})
	}
	for _, r := range o.Imports {
		add(unit{start: r[0], end: r[1] - 1, kind: "imports"})
		resume(r[1]-1, nil)
	}
	for _, u := range resumes {
		add(u)
	}
	sort.SliceStable(out.units, func(a, b int) bool { return out.units[a].start < out.units[b].start })
	for _, d := range inner {
		k := sort.Search(len(out.units), func(i int) bool { return out.units[i].start > d.Line }) - 1
		if k < 0 {
			add(unit{start: 0, kind: "block", symbols: []symbol{symbolOf(ls, d)}})
			sort.SliceStable(out.units, func(a, b int) bool { return out.units[a].start < out.units[b].start })
			continue
		}
		out.units[k].symbols = append(out.units[k].symbols, symbolOf(ls, d))
	}
	return out
}

// symbolOf turns a declaration into what a chunk lists.
func symbolOf(ls *lines, d *outlines.Decl) symbol {
	s := symbol{line: d.Line, Symbol: kb.Symbol{Name: d.Name, Kind: d.Kind, Path: d.Path, Start: d.Start + 1, End: d.End + 1, Line: d.Line + 1}}
	if a, b := d.Signature[0], d.Signature[1]; a < b {
		src := ls.body[a:min(b, a+4*noteBytes)]
		s.Signature = strings.TrimRight(fold(src, noteBytes), " {:=")
	}
	if a, b := d.Doc[0], d.Doc[1]; a < b {
		rest := ls.body[a:b]
		s.Doc = sentence(func() (string, bool) {
			if rest == "" {
				return "", false
			}
			line, more, _ := strings.Cut(rest, "\n")
			rest = more
			return line, true
		})
	}
	return s
}
