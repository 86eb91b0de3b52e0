package crash

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheFaultModelNamesTests reads the page that says what is promised under
// which fault: every test that it names exists, and every one of this package
// is named.
func TestTheFaultModelNamesTests(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "design", "008-faults.md"))
	must(t, err)
	declared := map[string]string{} // the folder of each test
	decl := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, below := range []string{"internal", "cmd"} {
		must(t, filepath.WalkDir(filepath.Join(root, below), func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(p, "_test.go") {
				return err
			}
			text, err := os.ReadFile(p)
			for _, m := range decl.FindAllStringSubmatch(string(text), -1) {
				declared[m[1]] = filepath.Base(filepath.Dir(p))
			}
			return err
		}))
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = true
		if declared[m[1]] == "" {
			t.Errorf("the page names %s, and there is no such test", m[1])
		}
	}
	for name, dir := range declared {
		if dir == "crash" && name != t.Name() && name != "TestMain" && !named[name] {
			t.Errorf("the page does not name %s", name)
		}
	}
}
