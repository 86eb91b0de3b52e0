package eval

import (
	"context"
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// filter is a snapshot of the documents that patterns select.
type filter struct {
	kb.Snapshot
	include, exclude *regexp.Regexp // nil: no such patterns
}

// filtered narrows a snapshot to the paths that match one of include, when
// there are any, and none of exclude. In a pattern "*" and "?" stand for what
// holds no "/", "**/" for any number of directories, and a final "**" for all below.
func filtered(s kb.Snapshot, include, exclude []string) (kb.Snapshot, error) {
	if len(include)+len(exclude) == 0 {
		return s, nil
	}
	f := &filter{Snapshot: s}
	var err error
	if f.include, err = patterns(include); err == nil {
		f.exclude, err = patterns(exclude)
	}
	return f, err
}

func patterns(globs []string) (*regexp.Regexp, error) {
	if len(globs) == 0 {
		return nil, nil
	}
	alternatives := make([]string, len(globs))
	for i, g := range globs {
		var b strings.Builder
		for g != "" {
			switch {
			case strings.HasPrefix(g, "**/"):
				b.WriteString("(?:.*/)?")
				g = g[3:]
			case g == "**":
				b.WriteString(".*")
				g = ""
			case g[0] == '*':
				b.WriteString("[^/]*")
				g = g[1:]
			case g[0] == '?':
				b.WriteString("[^/]")
				g = g[1:]
			default:
				n := max(1, strings.IndexAny(g, "*?"))
				if !strings.ContainsAny(g, "*?") {
					n = len(g)
				}
				b.WriteString(regexp.QuoteMeta(g[:n]))
				g = g[n:]
			}
		}
		alternatives[i] = b.String()
	}
	re, err := regexp.Compile("^(?:" + strings.Join(alternatives, "|") + ")$")
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "a pattern of paths does not parse: %w", err).WithHint("use *, ? and **")
	}
	return re, nil
}

// Walk passes on what the patterns select.
func (f *filter) Walk(ctx context.Context, each func(kb.Entry) error) error {
	return f.Snapshot.Walk(ctx, func(e kb.Entry) error {
		if f.include != nil && !f.include.MatchString(e.Path) || f.exclude != nil && f.exclude.MatchString(e.Path) {
			return nil
		}
		return each(e)
	})
}
