package repostate

import (
	"slices"
	"strings"
	"testing"
)

// FuzzEdited: whatever a configuration holds, an edit adds or removes the
// session and leaves every other key as it was, or refuses.
func FuzzEdited(f *testing.F) {
	f.Add("[core]\n\tbare = false\n")
	f.Add("[pumuki \"sdd.session\"]\n\tactive = true\n[alias]\n\tx = \"a \\\n[b]\"\n")
	f.Add("[a] # b\nc\n[PUMUKI \"sdd.session\"]")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		want := Session{Active: true, Change: "c", Updated: "u", Expires: "e", TTL: 5}
		with, err := edited(text, &want)
		if err != nil {
			return
		}
		c := decode(with)
		o := c.Section(section).Subsection(session)
		if o.Option("change") != "c" || len(o.OptionAll("active")) != 1 || !slices.Equal(others(decode(text)), others(c)) {
			t.Fatalf("%q became %q", text, with)
		}
		without, err := edited(with, nil)
		if err != nil || strings.Contains(without, `"sdd.session"]`+"\n\tactive") || !slices.Equal(others(decode(text)), others(decode(without))) {
			t.Fatalf("%q became %q, %v", with, without, err)
		}
	})
}

// FuzzParse: no output of git, and no file of attributes, is too odd to read.
func FuzzParse(f *testing.F) {
	f.Add("# branch.ab +1 -2\x001 .M N... 100644 100644 100644 a b f\x002 R. N... 1 1 1 a b R100 to\x00from\x00? x\x00u UU N... x\x00", "*.txt text eol=lf\n\"a b\" -text\n[attr]x y\n")
	f.Fuzz(func(t *testing.T, out, attrs string) {
		s := parseStatus([]byte(out))
		if s.Staged < 0 || s.Untracked > strings.Count(out, "?") {
			t.Fatalf("%+v", s)
		}
		for _, r := range parseAttrs(attrs) {
			r.glob.Match("a/b.txt")
		}
		looksBinary([]byte(out))
		spansOf([]byte(out))
	})
}
