package search

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Candidates returns what would be ranked for a request, and the query as it
// is understood: what weights are fitted on.
func Candidates(ctx context.Context, targets []Target, emb kb.Embedder, r Request) (*rank.Query, []rank.Evidence, error) {
	if err := r.Complete(); err != nil {
		return nil, nil, err
	}
	q, err := understand(ctx, targets, &r)
	if err != nil {
		return nil, nil, err
	}
	found, err := retrieve(ctx, targets, emb, q, &r)
	if err != nil {
		return nil, nil, err
	}
	return q.Query, found, literally(ctx, targets, q.Query, found, &r)
}

// Sections is Candidates with the closer look at those of prose.
func Sections(ctx context.Context, targets []Target, emb kb.Embedder, r Request) (*rank.Query, []rank.Evidence, error) {
	if err := r.Complete(); err != nil {
		return nil, nil, err
	}
	q, found, err := Candidates(ctx, targets, emb, r)
	if err != nil {
		return nil, nil, err
	}
	return q, found, closely(ctx, targets, emb, q, found, rank.Options{Mode: r.Mode, Intent: r.Intent}, r.Tuning)
}
