package search

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// asked are the intents that ask about a name, which the resolved references
// know more of than words do.
var asked = []string{rank.Usage, rank.Definition}

// resolve marks the candidates in which a name of the query is used, or
// declared, for certain.
func resolve(targets []Target, q *rank.Query, r *Request, found []rank.Evidence) error {
	if !slices.Contains(asked, r.Intent) {
		return nil
	}
	for i := range targets {
		view := targets[i].View
		if view == nil {
			continue
		}
		decls, err := named(view, q, r.Tuning.MostNamed)
		if err != nil {
			return of(i, err)
		}
		uses, at := map[string][]int{}, map[string][]int{}
		for _, d := range decls {
			edges, err := view.Into(d.Spot())
			if err != nil {
				return of(i, err)
			}
			for _, e := range edges {
				uses[e.From.Path] = append(uses[e.From.Path], e.From.Line)
			}
			at[d.Path] = append(at[d.Path], d.Line)
		}
		for k := range found {
			e := &found[k]
			if e.Store != i {
				continue
			}
			within := func(line int) bool { return e.Start <= line && line <= e.End }
			e.Refers = slices.ContainsFunc(uses[e.Path], within)
			e.Declares = slices.ContainsFunc(at[e.Path], within)
		}
	}
	return nil
}

// named returns the declarations that the query names, those of a name with
// more than most left out: by its words that look
// like names or, without any, by each word that is the name of something.
func named(view *graph.View, q *rank.Query, most int) ([]graph.Decl, error) {
	var full, names, words []string
	for _, w := range strings.Fields(q.Text) {
		w = strings.Trim(w, "`'\"?,;:()¿.")
		if strings.ContainsAny(w, ".#") || strings.Contains(w, "::") {
			full = append(full, w) // with what encloses it
		}
	}
	for i := range q.Words {
		switch w := &q.Words[i]; {
		case w.Stop:
		case w.Named:
			names = append(names, strings.Trim(w.Text, "`()"))
		default:
			words = append(words, w.Text)
		}
	}
	// What is said most exactly is meant.
	for _, list := range [][]string{full, names, words} {
		var out []graph.Decl
		for _, w := range list {
			decls, err := view.Find(w)
			if err != nil {
				return nil, err
			}
			if len(decls) <= most {
				out = append(out, decls...)
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}
