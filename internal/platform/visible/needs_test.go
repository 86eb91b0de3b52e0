package visible

import (
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"testing"
)

// What an expression matches meets its need: words that are read off wrongly
// would hide a match.
func TestNeedsHideNothing(t *testing.T) {
	var texts []string
	files, err := filepath.Glob("testdata/injections/*.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := uncover(string(raw))
		texts = append(texts, sentences(plain)...)
	}
	matched := 0
	for i := range rule().signs {
		s := &rule().signs[i]
		own, has := s.need.of[1], make(words, len(rule().finder.numbers)/64+1)
		if own.free() {
			t.Errorf("%s: needs nothing, so it is tried on every text", wordings[i].name)
		}
		for _, text := range texts {
			rule().finder.in(text, has)
			if s.re().MatchString(text) {
				if matched++; !own.met(has) {
					t.Errorf("%s: matches %q, whose words do not meet its need", wordings[i].name, text)
				}
			}
		}
	}
	if matched < 300 {
		t.Errorf("%d matches, too few to show anything", matched)
	}
}

// The parts of an expression that can be missing or anything need nothing; the
// others all do.
func TestNeedFor(t *testing.T) {
	for _, c := range []struct {
		expr string
		with []string // meet the need
		not  []string // do not
	}{
		{`ab(?:cd|ef)`, []string{"abcd", "xabef"}, []string{"ab", "cd", ""}},
		{`ab[^.]*cd`, []string{"ab cd", "cd ab"}, []string{"ab", "cd"}},
		{`(?:ab)?cd`, []string{"cd"}, []string{"ab"}},
		{`(?:ab|[a-z]+x)cd`, []string{"abcd", "cd"}, []string{"ab"}},
		{`(?:ab|c[a-z]*de)fg`, []string{"abfg", "de fg"}, []string{"ab fg", "de"}},
		{`ab|c*`, []string{"", "x"}, nil},
		{`(?:abc){2,3}`, []string{"abc"}, []string{"ab"}},
		{`\w+`, []string{"", "x"}, nil},
	} {
		tree, err := syntax.Parse(c.expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		f, n := finder{numbers: map[string]int{}}, needFor(tree)
		f.number(&n)
		f.build()
		has := make(words, len(f.numbers)/64+1)
		for want, texts := range map[bool][]string{true: c.with, false: c.not} {
			for _, s := range texts {
				f.in(s, has)
				if n.met(has) != want {
					t.Errorf("%s: %q meets the need: %v, want %v", c.expr, s, !want, want)
				}
				if !want && regexp.MustCompile(c.expr).MatchString(s) {
					t.Errorf("%s matches %q", c.expr, s)
				}
			}
		}
	}
}
