package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var topRE = regexp.MustCompile("(?m)^\\| `([^`/]+)` \\| [^|]+ \\|$")

// TestTopLevel: what git keeps at the top level of the repository is what
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
	files, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skip("no git repository")
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		top, _, _ := strings.Cut(path, "/")
		there = append(there, top)
	}
	slices.Sort(there)
	if d := cmp.Diff(slices.Compact(there), listed); d != "" {
		t.Errorf("the top level and its table in docs/releasing.md (-there +listed):\n%s", d)
	}
}
