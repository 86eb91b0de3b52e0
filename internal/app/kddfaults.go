package app

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specdoc"
)

// maxRead bounds how many documents are read for faults in one store.
const maxRead = 2000

// faults returns the documents that seem meant to be specifications and are
// none, because their front matter cannot be read, and ids that several have.
func (s *specs) faults(ctx context.Context, targets []search.Target) ([]CheckFault, error) {
	type key struct {
		source int
		id     string
	}
	first := map[key]string{}
	var out []CheckFault
	for _, d := range s.graph.Docs() {
		if d.ID == "" || d.Kind == "" || d.Lifecycle == "deprecated" || d.Lifecycle == "superseded" {
			continue
		}
		k := key{d.Source, d.NodeID}
		if at, twice := first[k]; twice {
			out = append(out, CheckFault{d.Path, 1, fmt.Sprintf("its id %s is that of %s, too", d.ID, at)})
			continue
		}
		first[k] = d.Path
	}
	for i := range targets {
		paths, err := targets[i].Index.Documents(ctx, "")
		if err != nil {
			return nil, &search.TargetError{Target: i, Err: err}
		}
		read := 0
		for _, p := range paths {
			if ext := strings.ToLower(path.Ext(p)); ext != ".md" && ext != ".markdown" || read == maxRead {
				continue
			}
			read++
			d, err := targets[i].Index.Document(ctx, p)
			if err != nil {
				return nil, &search.TargetError{Target: i, Err: err}
			}
			if fault := frontFault(d.Body); fault != "" {
				out = append(out, CheckFault{p, 1, fault})
			}
		}
	}
	slices.SortFunc(out, func(a, b CheckFault) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// keyRE is a line of front matter.
var keyRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*:(\s|$)`)

// frontFault says why the front matter at the start of a text is not read;
// "" when it is, and where there is none.
func frontFault(body string) string {
	lines := strings.SplitN(strings.TrimPrefix(body, "\ufeff"), "\n", 202)
	if strings.TrimRight(lines[0], " \t\r") != "---" || len(lines) < 2 {
		return ""
	}
	n := specdoc.FrontMatter(lines)
	second := strings.TrimRight(lines[1], "\r")
	switch {
	case n == 0 && keyRE.MatchString(second):
		return "its front matter is not closed: there is no second line ---"
	case n > 2 && strings.HasPrefix(second, "- "):
		return "its front matter is a list: it must be keys with values, such as id: ADR-0001"
	}
	return ""
}
