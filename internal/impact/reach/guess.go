package reach

import (
	"math"

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
	if n.Depth > guessDepth || n.Kind == "field" || len(n.Name) < 3 {
		return nil
	}
	if err := w.readNames(); err != nil {
		return err
	}
	if w.typed[n.Path] {
		return nil
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
	w.named, w.typed = map[string][]kb.Spot{}, map[string]bool{}
	list, err := w.Index.Identities(w.ctx, nil)
	if err != nil {
		return err
	}
	var paths []string
	for _, d := range list {
		if d.Language == "go" {
			w.typed[d.Path] = true
		} else if len(paths) < mostRead {
			paths = append(paths, d.Path)
		} else {
			w.web.Cut = true
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
