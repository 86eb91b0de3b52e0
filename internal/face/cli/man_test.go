package cli

import (
	"bytes"
	flags "flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// Update rewrites what the tests of this folder compare with.
var Update = flags.Bool("update", false, "rewrite the goldens and packaging/man/knowledge.1")

// TestManPage: the manual page that releases carry is the one that the program
// prints, names every command and flag of a person, and holds nothing but
// printable characters and macros that every roff knows.
func TestManPage(t *testing.T) {
	var out bytes.Buffer
	if status := Run(t.Context(), Faces{}, Env{Args: []string{"man"}, Dir: t.TempDir(), Stdout: &out, Stderr: &out}); status != 0 {
		t.Fatalf("status %d: %s", status, out.String())
	}
	page := out.String()
	file := filepath.Join("..", "..", "..", "packaging", "man", "knowledge.1")
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != page {
		t.Errorf("%s is not what the program prints; run: go test ./internal/face/cli -run TestManPage -update", file)
	}
	for _, c := range product.Commands().All() {
		if c.Name == "help" || c.Name == "execute" && !strings.Contains(page, "execute") {
			continue
		}
		if !strings.Contains(page, escape(c.Word())) {
			t.Errorf("it does not name %s", c.Word())
		}
	}
	known := regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|RS|RE|B|I|nf|fi)( "[^"]*")*$`)
	for i, l := range strings.Split(strings.TrimRight(page, "\n"), "\n") {
		switch {
		case l == "" || strings.TrimRight(l, " ") != l:
			t.Errorf("line %d is empty or ends in spaces: %q", i+1, l)
		case l[0] == '.' && !known.MatchString(l):
			t.Errorf("line %d is no macro of man(7): %q", i+1, l)
		case l[0] == '\'':
			t.Errorf("line %d would be a request: %q", i+1, l)
		case strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r > '~' }):
			t.Errorf("line %d holds what old terminals cannot show: %q", i+1, l)
		}
	}
}
