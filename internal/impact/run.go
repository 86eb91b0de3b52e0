package impact

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// plainRE is what may stand in a line for a shell without quotes: names and
// paths of a repository are somebody else's text.
var plainRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// runs returns lines that run tests, one for each folder of Go and one for Python.
// Tests whose names or paths are odd are left out.
func runs(tests []Test) []string {
	byDir := map[string][]string{}
	var dirs, nodes []string
	for _, t := range tests {
		p, _, _ := strings.Cut(t.At, ":L")
		if t.Symbol == "" || !plainRE.MatchString(p) || !plainRE.MatchString(t.Symbol) || slices.Contains(strings.Split(p, "/"), "..") {
			continue
		}
		switch path.Ext(p) {
		case ".go":
			d := path.Dir(p)
			if byDir[d] == nil {
				dirs = append(dirs, d)
			}
			byDir[d] = append(byDir[d], t.Symbol)
		case ".py":
			nodes = append(nodes, p+"::"+strings.ReplaceAll(t.Symbol, ".", "::"))
		}
	}
	var out []string
	for _, d := range dirs {
		at := "./" + d
		if d == "." {
			at = "."
		}
		out = append(out, "go test "+at+" -run '^("+strings.Join(byDir[d], "|")+")$'")
	}
	if len(nodes) > 0 {
		out = append(out, "python -m pytest "+strings.Join(nodes, " "))
	}
	return out
}
