package reach

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	mostRead   = 4000 // documents whose unresolved uses are read
	guessDepth = 2    // from how far a change its uses are guessed
)

// guess follows a declaration to uses of its name that were not resolved: in
// languages whose types are not checked a call of a method is known by its name
// alone. Go is left out, where nothing is.
func (w *walk) guess(n *Node, resolved map[kb.Spot]bool) error {
	if strings.HasSuffix(n.Path, ".go") || n.Depth > guessDepth || n.Kind == "field" || len(n.Name) < 3 {
		return nil
	}
	if err := w.readNames(); err != nil {
		return err
	}
	uses := w.named[n.Name]
	if len(uses) == 0 || len(uses) > mostGuesses {
		return nil
	}
	all, err := w.View.Find(n.Name)
	if err != nil || len(all) > mostNamed {
		return err
	}
	weight := byGuess / math.Sqrt(float64(max(len(all), 1)))
	for _, at := range uses {
		if resolved[kb.Spot{Path: at.Path, Line: at.Line}] {
			continue
		}
		d, test, err := w.owner(at.Path, at.Line)
		if err != nil {
			return err
		}
		if d.Path != "" {
			w.step(n, d, test, at.Line, weight, weight, true)
		}
	}
	return nil
}

// readNames reads which names documents use, but for those of Go.
func (w *walk) readNames() error {
	if w.named != nil {
		return nil
	}
	w.named = map[string][]kb.Spot{}
	list, err := w.Index.Identities(w.ctx, nil)
	if err != nil {
		return err
	}
	var paths []string
	for _, d := range list {
		switch {
		case d.Language == "go":
		case len(paths) < mostRead:
			paths = append(paths, d.Path)
		default:
			w.unread = true
		}
	}
	const batch = 200
	for len(paths) > 0 {
		k := min(batch, len(paths))
		outlines, err := w.Index.Outlines(w.ctx, paths[:k])
		if err != nil {
			return err
		}
		paths = paths[k:]
		for i := range outlines {
			o := &outlines[i]
			for _, r := range o.Facts.References {
				w.named[r.Name] = append(w.named[r.Name], kb.Spot{Path: o.Path, Line: r.Line})
			}
		}
	}
	return nil
}

// fixture follows a function of Python's tests to the tests that name it as a
// parameter: pytest hands them what it returns. A test sees those of its own file, and
// those of conftest.py in its folder and above.
func (w *walk) fixture(n *Node) error {
	if !strings.HasSuffix(n.Path, ".py") || !IsTest(n.Path) || n.Test || strings.Contains(n.Qualified, ".") {
		return nil
	}
	paths := []string{n.Path}
	if path.Base(n.Path) == "conftest.py" {
		under := path.Dir(n.Path)
		if under == "." {
			under = ""
		}
		all, err := w.Index.Documents(w.ctx, under)
		if err != nil {
			return err
		}
		paths = slices.DeleteFunc(all, func(p string) bool { return !strings.HasSuffix(p, ".py") || !IsTest(p) })
	}
	for _, p := range paths[:min(len(paths), mostTestFiles)] {
		tests, err := w.testsOf(p)
		if err != nil {
			return err
		}
		for _, t := range tests {
			if slices.Contains(parameters(t.Body), n.Name) {
				d := Decl{Path: p, Name: t.Name, Qualified: t.Symbol, Kind: "function", Line: t.Line, Start: t.Start, End: t.End}
				w.step(n, d, true, t.Line, byCall, byCall, false)
			}
		}
	}
	return nil
}

// parameters returns the names of the parameters of a function of Python, without
// defaults and annotations.
func parameters(body string) []string {
	at := strings.Index(body, "def ")
	if at < 0 {
		return nil
	}
	_, list, ok := strings.Cut(body[at:], "(")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, ")")
	var out []string
	for p := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(p, "=")
		name, _, _ = strings.Cut(name, ":")
		out = append(out, strings.TrimSpace(name))
	}
	return out
}
