package specs

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// settling is the role of the section that says what a document of a kind is for.
var settling = map[string]string{
	"adr": "decision", "business-rule": "declaration", "business-policy": "declaration", "cross-policy": "declaration",
}

// aim returns the section that an answer at a line is shown with, and the line
// that its snippet is read from. A title with nothing below it but other
// sections is the whole document's, which is opened at what it settles.
func (s *specs) aim(ctx context.Context, targets []search.Target, d *kdd.Doc, line int) (section, at int, err error) {
	section, at = d.SectionAt(line), line
	title := slices.IndexFunc(d.Sections, func(x kb.SpecSection) bool { return x.Level > 0 })
	if section < 0 || d.Sections[section].Level == 0 { // front matter: the document itself
		section = title
	}
	if section < 0 || section != title || settling[d.Kind] == "" {
		return section, at, nil
	}
	settled := slices.IndexFunc(d.Sections, func(x kb.SpecSection) bool {
		return x.Level > d.Sections[title].Level && specdoc.Role(x.Path[len(x.Path)-1]) == settling[d.Kind]
	})
	if settled < 0 {
		return section, at, nil
	}
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return section, at, err
	}
	prose := specdoc.Prose(doc.Language, doc.Body)
	own := &d.Sections[title]
	if strings.TrimSpace(strings.Join(prose[min(own.Start, len(prose)):min(own.End, len(prose))], "")) != "" {
		return section, at, nil
	}
	return settled, d.Sections[settled].Start, nil
}
