package lang

import (
	"strings"
	"testing"
)

// A name, extension or program belongs to one language, and is written as it is looked up.
func TestNothingTellsTwoLanguages(t *testing.T) {
	seen := map[string]string{}
	for _, l := range Table {
		for kind, words := range map[string]string{"name": l.Name, "extension": l.Exts, "file": l.Files, "program": l.Programs} {
			for w := range strings.FieldsSeq(words) {
				key := kind + " " + w
				if old := seen[key]; old != "" || w != strings.ToLower(w) {
					t.Errorf("%s of %s: also of %q, or not in lower case", key, l.Name, old)
				}
				seen[key] = l.Name
			}
		}
	}
}
