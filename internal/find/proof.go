package find

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// mostCovered is how many stores are described of those that were searched, and
// mostLanguages how many languages of each.
const (
	mostCovered   = 3
	mostLanguages = 4
)

// proofOf says of a query that nothing answers what was searched, so that
// nobody searches there again, and what else may hold the answer.
func proofOf(ctx context.Context, a *app.App, c *app.Core, s *app.Shelves, req *search.Request, r *SearchReply, behind bool) ([]string, error) {
	var out []string
	if r.Absent && len(s.Targets) > 0 {
		out = append(out, "searched: "+covered(s.Targets, req.Under, behind))
	}
	more, err := a.Elsewhere(ctx, c, app.Unanswered{Query: req.Query, Absent: r.Absent, Sure: r.Sure, Words: r.Words, Targets: s.Targets, Near: r.Hits})
	return append(out, more...), err
}

// covered says what was searched: of each store how much there is of which
// language, what is left out and why, and as of when; behind is that notes say
// what is not as it is now.
func covered(targets []search.Target, under string, behind bool) string {
	list := slices.Clone(targets)
	slices.SortStableFunc(list, func(a, b search.Target) int {
		if a.Own != b.Own {
			return cmp.Compare(flag(b.Own), flag(a.Own))
		}
		return cmp.Compare(b.Store.Head.Documents, a.Store.Head.Documents)
	})
	var parts []string
	rest := 0
	for i := range list {
		if i >= mostCovered {
			rest += list[i].Store.Head.Documents
			continue
		}
		parts = append(parts, coveredOf(&list[i], under, behind))
	}
	if n := len(list) - mostCovered; n > 0 {
		parts = append(parts, fmt.Sprintf("%s with %s", kb.Count(n, "more store"), kb.Count(rest, "document")))
	}
	return strings.Join(parts, "; ")
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func coveredOf(t *search.Target, under string, behind bool) string {
	h := t.Store.Head
	name := "store " + visible.Name(t.Label)
	if t.Own {
		name = "this folder"
	}
	if under != "" {
		name = visible.Name(kb.Clip(under, 80)) + " of " + name
	}
	var said []string
	names := slices.SortedFunc(maps.Keys(h.Languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.Languages[b], h.Languages[a]), strings.Compare(a, b))
	})
	for i, l := range names {
		if i == mostLanguages {
			said = append(said, "…")
			break
		}
		said = append(said, fmt.Sprintf("%d %s", h.Languages[l], l))
	}
	text := fmt.Sprintf("%s (%s", name, kb.Count(h.Documents, "document"))
	if len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	if why := source.Reasons(h.Skipped, nil); why != "" {
		text += "; left out " + kb.Clip(why, 120)
	}
	switch {
	case h.Partial:
		text += "; not indexed to its end"
	case t.Own && behind:
		text += "; how it stands to its files is noted above"
	case t.Own:
		text += "; as its files are now"
	default:
		text += "; as of " + h.Indexed.UTC().Format("2006-01-02")
	}
	return text + ")"
}
