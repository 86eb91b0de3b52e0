package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every promise of docs/security.md names what holds it, and that exists: a
// test of the suite as package.TestName, or a longer run as .ci/extra NAME.
func TestPromisesNameTheirTests(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	page, extra := read("docs/security.md"), read(".ci/extra")
	tests := map[string]string{} // by package, the last element of its path
	for _, dir := range []string{"internal", "cmd", "bench"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			b, err := os.ReadFile(file)
			tests[filepath.Base(filepath.Dir(file))] += string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(pkg, name string) bool {
		return strings.Contains(tests[pkg], "\nfunc "+name+"(t *testing.T)")
	}
	named := regexp.MustCompile("`([a-z]+)\\.(Test[A-Za-z0-9]+)`")
	longer := regexp.MustCompile("`\\.ci/extra ([a-z]+)`")
	promises := 0
	for line := range strings.Lines(page) {
		tested := false
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			tested = true
			if !has(m[1], m[2]) {
				t.Errorf("there is no test %s in a package %s", m[2], m[1])
			}
		}
		for _, m := range longer.FindAllStringSubmatch(line, -1) {
			tested = true
			if !regexp.MustCompile(`(?m)^\t\t` + m[1] + ` `).MatchString(extra) {
				t.Errorf(".ci/extra knows no %s", m[1])
			}
		}
		// Three columns are a promise; who may do what has words in its last one.
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == 3 && !strings.Contains(line, "---") {
			if last := strings.TrimSpace(cells[2]); strings.HasPrefix(last, "`") || tested {
				promises++
			} else if strings.Contains(page[:strings.Index(page, line)], "## What is promised") && last != "held by" {
				t.Errorf("nothing holds: %s", line)
			}
		}
	}
	if promises < 40 {
		t.Errorf("only %d promises were found: the pattern is out of date", promises)
	}
}
