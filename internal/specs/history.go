package specs

import (
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
)

// changes returns when the files of the project's own folder last changed; nil
// where that is not asked, or is no repository.
func (s *specs) changes(ctx context.Context, a *app.App) (*lint.Changes, error) {
	own := slices.IndexFunc(s.Targets, func(t search.Target) bool { return t.Own })
	p, err := a.Where()
	if err != nil || own < 0 || !p.Git {
		return nil, err
	}
	return lint.ReadChanges(ctx, own, p.Root, a.Config.Env)
}
