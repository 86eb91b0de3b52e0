package specs

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// opening returns the first line of prose below a hit whose own line is of the
// front matter or a heading, which the reply has as the section's name; "" when
// the line is neither, or nothing is below.
func (s *specs) opening(ctx context.Context, targets []search.Target, d *kdd.Doc, line int) (string, error) {
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return "", err
	}
	for _, l := range specdoc.Below(doc.Language, doc.Body, line) {
		if p := search.Plain(l); strings.Trim(p, "`~-=*_|:·<> ") != "" {
			return app.ClipRunes(p, search.ExcerptRunes), nil
		}
	}
	return "", nil
}
