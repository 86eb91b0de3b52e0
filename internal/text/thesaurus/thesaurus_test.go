package thesaurus

import (
	"slices"
	"strings"
	"testing"
)

// Every line is an entry, in order, and says each word once.
func TestLists(t *testing.T) {
	for name, list := range map[string]string{"en.txt": english, "es.txt": spanish} {
		before, n := "", 0
		for line := range strings.Lines(list) {
			n++
			e, ok := parse(line)
			if !ok || e.Word == "" || len(e.Alternatives) == 0 || !strings.HasSuffix(line, "\n") {
				t.Errorf("%s:%d: %q is no entry", name, n, line)
				continue
			}
			if line <= before {
				t.Errorf("%s:%d: %q comes after %q", name, n, line, before)
			}
			before = line
			for i, a := range e.Alternatives {
				if a == e.Word && name == "en.txt" || slices.Contains(e.Alternatives[:i], a) {
					t.Errorf("%s:%d: %q stands twice in %q", name, n, a, line)
				}
			}
		}
		if n < 2000 {
			t.Errorf("%s has %d lines", name, n)
		}
	}
	var got []string
	for e := range English() {
		if e.Kind == 'v' && e.Word == "delete" {
			got = e.Alternatives
		}
	}
	if !slices.Contains(got, "remove") {
		t.Errorf("delete: %q", got)
	}
}
