package upgrade

import "github.com/seed-4f2d999b/knowledge/internal/source/deps"
import "github.com/seed-4f2d999b/knowledge/internal/kb"

func (u *asked) npm(d deps.Dependency) (Reply, error) {
	return Reply{}, kb.Errorf(kb.Unsupported, "versions of %s are not compared yet", d.ID()).WithHint("compare a Go module")
}
