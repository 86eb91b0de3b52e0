package traces

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// mostDated is how many suspects are looked up in the history.
const mostDated = 40

// lately raises the suspects among the first whose lines changed a short while
// ago, and says which commits did it. Where there is no history nothing is raised.
func (e *explainer) lately(suspects []*suspect) error {
	first := suspects[:min(len(suspects), mostDated)]
	var paths []string
	for _, s := range first {
		if e.targets[s.at.target].Own && !s.at.test && !slices.Contains(paths, s.at.path) {
			paths = append(paths, s.at.path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	changed, err := e.app.Lately(e.ctx, paths, e.waiting)
	if err != nil && kb.CodeOf(err) != kb.Denied { // what nobody has vouched for is not read
		return err
	}
	for _, s := range first {
		x, ok := changed[s.at.path]
		if !ok || !e.targets[s.at.target].Own || s.at.name == "" {
			continue
		}
		in := func(lines [][2]int) bool {
			return slices.ContainsFunc(lines, func(l [2]int) bool { return l[0] <= s.at.end && l[1] >= s.at.start })
		}
		switch {
		case in(x.Uncommitted):
			s.score *= 1 + e.t.Uncommitted
			s.why = append(s.why, "has changes that no commit has")
		case in(x.Recent):
			s.score *= 1 + e.t.Recent
		default:
			continue
		}
		for _, c := range x.Commits[:min(1, len(x.Commits))] {
			s.why = append(s.why, "its file changed in "+c)
		}
	}
	order(suspects)
	return nil
}
