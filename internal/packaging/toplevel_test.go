package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/gitignore"
)

var topRE = regexp.MustCompile("(?m)^\\| `([^`/]+)` \\| [^|]+ \\|$")

// TestTopLevel: what lies at the top level of the repository is what
// docs/releasing.md lists with its reason, in the order of names.
func TestTopLevel(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "releasing.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, there []string
	for _, m := range topRE.FindAllSubmatch(text, -1) {
		listed = append(listed, string(m[1]))
	}
	rules, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	ignored := gitignore.Parse(nil, "", string(rules))
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" && !ignored.Ignored(e.Name(), e.IsDir()) {
			there = append(there, e.Name())
		}
	}
	if d := cmp.Diff(there, listed); d != "" {
		t.Errorf("the top level and its table in docs/releasing.md (-there +listed):\n%s", d)
	}
}
