package lint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// Changes are the last commits of the files of one source, by path.
type Changes struct {
	source  int
	history repostate.History
}

// ReadChanges reads the history of the work tree at root, which a source lies
// in. A history that cannot be read is none.
func ReadChanges(ctx context.Context, source int, root string, env func(string) string) (*Changes, error) {
	h, err := repostate.Of(root, env).History(ctx)
	if err != nil {
		return nil, ctx.Err()
	}
	return &Changes{source, h}, nil
}

// Later returns the last commit of a file, and whether it came after that of
// another one; false where a commit is not known.
func (c *Changes) Later(source int, path, than string) (at repostate.Change, later bool) {
	if c == nil || source != c.source {
		return at, false
	}
	at, known := c.history.Last[path]
	other, also := c.history.Last[than]
	return at, known && also && at.Order < other.Order
}

// suspects are the documents that rest on one that changed after they were
// last looked at: by a commit, or on the day that their front matter says.
func (l *Linter) suspects(ctx context.Context) (out []kdd.Problem, err error) {
	if l.Changes == nil {
		return nil, nil
	}
	for _, r := range l.Graph.Resting() {
		at, later := l.Changes.Later(r.Doc.Source, r.On.Path, r.Doc.Path)
		if !later || !l.looked(r.Doc) {
			continue
		}
		body, err := l.body(ctx, r.Doc)
		if err != nil {
			return nil, err
		}
		if day := reviewed(body); !day.IsZero() && !at.When.After(day.AddDate(0, 0, 1)) {
			continue
		}
		when := at.When.UTC().Format(time.DateOnly)
		out = append(out, kdd.Problem{Rule: kdd.SuspectLink, Doc: r.Doc, Line: r.Line,
			Text: fmt.Sprintf("%s %s, which changed after it, on %s (%.7s)", r.Phrase(), l.Graph.NameOf(r.On), when, at.Commit),
			Mend: "read both, then change this one or write reviewed: and the day into its front matter"})
	}
	return out, nil
}

// reviewed returns the day on which a document was last looked at, as a key of
// its front matter has it; zero for none.
func reviewed(body string) time.Time {
	n := 0
	for l := range strings.Lines(body) {
		if n++; n > 60 {
			break
		}
		name, value, ok := strings.Cut(l, ":")
		name = strings.ToLower(strings.Trim(name, " \t-*\"'"))
		if !ok || name != "reviewed" && name != "last_reviewed" && name != "revisado" {
			continue
		}
		value = strings.Trim(value, " \t\r\n\"'*")
		if day, err := time.Parse(time.DateOnly, value[:min(len(value), len(time.DateOnly))]); err == nil {
			return day
		}
	}
	return time.Time{}
}
