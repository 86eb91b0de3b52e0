package specs

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// looksLikeKey reports whether a line may be one of front matter: "id: X".
func looksLikeKey(line string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && key != "" && !strings.ContainsAny(key, " \t")
}

// opening returns the first line of prose below a hit whose own line is of the
// front matter or a heading, which the reply has as the section's name; "" when
// the line is neither, or nothing is below.
func (s *specs) opening(ctx context.Context, targets []search.Target, d *kdd.Doc, line int) (string, error) {
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return "", err
	}
	kinds := markdown.Kinds(doc.Body)
	front := slices.Index(kinds, markdown.Front) // with the heading that may be above it
	for front >= 0 && front < len(kinds) && kinds[front] == markdown.Front {
		front++
	}
	if line > front && (line > len(kinds) || kinds[line-1] != markdown.Heading) {
		return "", nil
	}
	from := max(front, min(line, len(kinds)))
	for i, l := range strings.Split(doc.Body, "\n")[from:] {
		if kinds[from+i] == markdown.Heading {
			continue
		}
		if p := search.Plain(l); strings.Trim(p, "`~-=*_|:·<> ") != "" {
			return app.ClipRunes(p, search.ExcerptRunes), nil
		}
	}
	return "", nil
}

// mostFronts bounds how many documents are read for their front matter.
const mostFronts = 5000

// frontProblems looks at the documents that do not say everything that front
// matter says, since theirs may be there and not be one.
func (s *specs) frontProblems(ctx context.Context, targets []search.Target) ([]kdd.Problem, error) {
	var out []kdd.Problem
	read := 0
	for _, d := range s.graph.Docs() {
		if d.Kind != "" && d.ID != "" && d.Status != "" || read == mostFronts {
			continue
		}
		read++
		doc, err := targets[d.Source].Index.Document(ctx, d.Path)
		if err != nil {
			return nil, err
		}
		if text := frontProblem(doc.Body); text != "" {
			out = append(out, kdd.Problem{Doc: d, Line: 1, Text: text})
		}
	}
	return out, nil
}

// frontProblem says why what a document begins with is no front matter though
// it was meant to be; "" when nothing is wrong.
func frontProblem(body string) string {
	lines := strings.SplitN(body, "\n", 3)
	mark := strings.TrimSpace(lines[0])
	if mark != "---" && mark != "+++" || len(lines) < 2 {
		return ""
	}
	first := strings.TrimSpace(lines[1])
	n := markdown.FrontMatter(body)
	switch {
	case n == 0 && looksLikeKey(first):
		return "its front matter is never closed: write " + mark + " below the last key"
	case n > 0 && strings.HasPrefix(first, "- ") && looksLikeKey(first[2:]):
		return "its front matter is a list, of which nothing is read: write its keys without dashes"
	}
	return ""
}
