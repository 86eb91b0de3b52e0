package history

import (
	"context"
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// search keeps the hits that lie in changed lines.
func (p *past) search(ctx context.Context, a *app.App, in ChangedRequest, limit int, files []File, reply *ChangedReply) error {
	byPath := map[string]*File{}
	for i := range files {
		byPath[files[i].Path] = &files[i]
	}
	found, err := find.Search(ctx, a, search.Request{Query: in.Query, Limit: mostSearched, Under: in.In}, app.Scope{Waiting: in.Waiting})
	if err != nil {
		return err
	}
	for _, h := range found.Hits {
		name, from, to, ok := search.ParseRange(h.At)
		f := byPath[name]
		if !ok || f == nil || len(reply.Hits) == limit {
			continue
		}
		var lines []int
		for _, s := range f.lines {
			for l := max(s.From, from); l <= min(s.To, to); l++ {
				lines = append(lines, l)
			}
		}
		if len(lines) == 0 {
			continue
		}
		reply.Hits = append(reply.Hits, Hit{ID: h.ID, At: h.At, Symbol: h.Symbol, Score: h.Score, Line: h.Line, Code: h.Code, Lines: ranges(lines)})
	}
	if len(reply.Hits) == 0 {
		reply.Notes = append(reply.Notes, fmt.Sprintf("nothing of the first %d hits lies in what changed; search without a time finds them", len(found.Hits)))
	}
	reply.Commits = nil
	return nil
}
