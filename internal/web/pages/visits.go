package pages

import (
	"os"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Visits returns what became of every URL in the last crawl that ended or,
// before that, in the first one so far (partial), in ascending byte order of
// the keys. It disturbs no writer. NotFound when nothing is kept.
func Visits(dir string) (list []Visit, partial bool, err error) {
	s, err := load(dir, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer s.f.Close()
	from := s.before
	if s.finished.IsZero() {
		from, partial = s.now, true
	}
	for _, r := range from {
		if v, ok := s.visit(r); ok {
			list = append(list, v)
		}
	}
	kb.SortFunc(list, func(a, b Visit) int { return strings.Compare(a.Key, b.Key) })
	return list, partial, nil
}
