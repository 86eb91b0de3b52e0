package specs

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// frontEnds returns how many lines at the top of a document are front matter,
// the heading that may stand above it included; 0 for none.
func frontEnds(lines []string) int {
	if n := specdoc.FrontMatter(lines); n > 0 {
		return n
	}
	for i, l := range lines {
		if strings.HasPrefix(l, "#") {
			_, to := specdoc.FrontBelow(lines, i+1)
			return to
		}
		if strings.TrimSpace(l) != "" {
			break
		}
	}
	return 0
}

// looksLikeKey reports whether a line may be one of front matter: "id: X".
func looksLikeKey(line string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && key != "" && !strings.ContainsAny(key, " \t")
}

// opening returns the first line of prose below a hit whose own line is of the
// front matter or a heading, which the reply has as the section's name; "" when
// the line is neither, or nothing stands below.
func (s *specs) opening(ctx context.Context, targets []search.Target, d *kdd.Doc, line int) (string, error) {
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return "", err
	}
	lines := strings.Split(doc.Body, "\n")
	front := frontEnds(lines)
	if line > front && (line > len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[line-1]), "#")) {
		return "", nil
	}
	for _, l := range lines[max(front, min(line, len(lines))):] {
		if strings.HasPrefix(strings.TrimSpace(l), "#") {
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
		if text := frontProblem(strings.Split(doc.Body, "\n")); text != "" {
			out = append(out, kdd.Problem{Doc: d, Line: 1, Text: text})
		}
	}
	return out, nil
}

// frontProblem says why what a document begins with is no front matter though
// it was meant to be; "" when nothing is wrong.
func frontProblem(lines []string) string {
	mark := strings.TrimSpace(lines[0])
	if mark != "---" && mark != "+++" || len(lines) < 2 {
		return ""
	}
	first := strings.TrimSpace(lines[1])
	n := specdoc.FrontMatter(lines)
	switch {
	case n == 0 && looksLikeKey(first):
		return "its front matter is never closed: write " + mark + " below the last key"
	case n > 0 && strings.HasPrefix(first, "- ") && looksLikeKey(first[2:]):
		return "its front matter is a list, of which nothing is read: write its keys without dashes"
	}
	return ""
}
