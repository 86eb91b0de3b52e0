package search

import (
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// hunkRE is what a part of a diff begins with.
var hunkRE = lazyregexp.New(`(?m)^@@ -\d`)

// report reports whether a query is a longer text in words, such as an issue.
func (q *question) report(r *Request) bool {
	return r.Only == nil && r.Mode != rank.Vector && r.Intent == "" && q.Class == rank.Natural &&
		(q.digested || len(q.Words) > r.Tuning.Rank.BriefWords) && !q.Code() && !hunkRE.MatchString(q.Text)
}

// actsFirst puts, of what a report of trouble finds in each of the best
// documents, the first chunk that has a function before those without one: what
// went wrong was done somewhere, and the head of a class with its comment, or a
// test beside the code, only has the words.
func actsFirst(ctx context.Context, targets []Target, ranked []rank.Scored, most int) error {
	at := map[docKey][]int{} // the hits of each of the best documents
	paths := make([][]string, len(targets))
	for i := range ranked {
		c := &ranked[i]
		k := docKey{c.Store, c.Path}
		if at[k] == nil && (len(at) == most || c.Flags&kb.FlagProse != 0) {
			continue
		}
		if at[k] == nil {
			paths[c.Store] = append(paths[c.Store], c.Path)
		}
		at[k] = append(at[k], i)
	}
	for t := range targets {
		outlines, err := targets[t].Index.Texts(ctx, paths[t], false)
		if err != nil {
			return of(t, err)
		}
		for i := range outlines {
			hits := at[docKey{t, outlines[i].Path}]
			if len(hits) == 0 {
				continue
			}
			first := &ranked[hits[0]]
			k := slices.IndexFunc(hits, func(h int) bool { return acts(&outlines[i], &ranked[h]) })
			if k < 1 || first.Named > 0 || first.Literal > 0 {
				continue
			}
			a := &ranked[hits[k]]
			first.Evidence, a.Evidence = a.Evidence, first.Evidence
			first.Parts, a.Parts = a.Parts, first.Parts
		}
	}
	return nil
}

// acts reports whether a hit has lines of a function that is no test.
func acts(d *kb.DocumentText, c *rank.Scored) bool {
	return slices.ContainsFunc(d.Chunks, func(k kb.Chunk) bool {
		return slices.ContainsFunc(k.Symbols, func(y kb.Symbol) bool {
			return acting(&y) && y.Start <= c.End && c.Start <= y.End
		})
	})
}
