package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// leftOut is what the rules of .gitignore files take from the top of a folder.
// Packagers ignore everything ("/*" in Debian's sources of the kernel), and a
// search there must say why nothing is found.
type leftOut struct {
	entries int // that lie directly in the folder
	rules   []ruleCount
}

// ruleCount is a rule, and what it leaves out.
type ruleCount struct {
	gitignore.Rule
	n    int
	of   int
	dirs []string // the first of them
}

// ignored counts one entry that a rule leaves out.
func (l *leftOut) ignored(r gitignore.Rule, p string, isDir bool) {
	i := slices.IndexFunc(l.rules, func(c ruleCount) bool { return c.Rule == r })
	if i < 0 {
		i = len(l.rules)
		l.rules = append(l.rules, ruleCount{Rule: r})
	}
	l.rules[i].n++
	if isDir && !strings.HasPrefix(p, ".") && len(l.rules[i].dirs) < 4 {
		l.rules[i].dirs = append(l.rules[i].dirs, p)
	}
}

// most returns the rule that leaves out most, if that is more than half of
// what lies in the folder.
func (l *leftOut) most() (ruleCount, bool) {
	var most ruleCount
	for _, r := range l.rules {
		if r.n > most.n {
			most = r
		}
	}
	most.of = l.entries
	return most, 2*most.n > l.entries
}

// says returns what a rule does to a folder of which n documents are left.
func (r ruleCount) says(n int) string {
	what := fmt.Sprintf("%d of the %d files and folders in it", r.n, r.of)
	if r.n == r.of || n == 0 {
		what = fmt.Sprintf("what is in it, %d of %d files and folders", r.n, r.of)
	}
	return fmt.Sprintf("the rule %q in %s, line %d, leaves out %s", r.Pattern, r.File, r.Line, what)
}
