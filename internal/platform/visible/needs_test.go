package visible

import (
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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
		for _, s := range sentences(plain) {
			texts = append(texts, plain[s.from:s.to])
		}
	}
	matched := 0
	for i := range rule().signs {
		s := &rule().signs[i]
		has := make(words, len(rule().finder.numbers)/64+1)
		for _, b := range s.branches {
			if b.need.free() {
				t.Errorf("%s: %s needs nothing, so it is tried on every text", wordings[i].name, b.re())
			}
		}
		for _, text := range texts {
			clear(has)
			has.add(rule().finder.in(text, nil), span{0, len(text)})
			for _, b := range s.branches {
				if b.re().MatchString(text) {
					if matched++; !b.need.met(has) || !s.need.of[1].met(has) {
						t.Errorf("%s: %s matches %q, whose words do not meet its need", wordings[i].name, b.re(), text)
					}
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
				clear(has)
				has.add(f.in(s, nil), span{0, len(s)})
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

// What is marked is what the wordings match in two neighbouring sentences, as
// they are written: no branch, no need and no order in which signs are tried
// changes it.
func TestOddsAreThoseOfTheWordings(t *testing.T) {
	lines := strings.NewReplacer("\n", "", "\t", "")
	var exprs []*regexp.Regexp
	for _, w := range wordings {
		expr := strings.NewReplacer("\n", "", "\t", "", "WHO", lines.Replace(who), "READS", lines.Replace(reads)).Replace(w.re)
		exprs = append(exprs, regexp.MustCompile(expr))
	}
	none := weights[len(weights)-1]
	plainly := func(text string) float64 {
		plain, hides := uncover(text)
		best := none
		for _, s := range sentences(plain) {
			window, odds := plain[s.from:s.to], none
			for i, re := range exprs {
				near := strings.Split(wordings[i].near, "|")
				says := slices.ContainsFunc(near, func(w string) bool { return strings.Contains(window, w) }) && re.MatchString(window)
				if says || i == hiding && hides {
					odds += weights[i]
				}
			}
			best = max(best, odds)
		}
		return best
	}
	files, err := filepath.Glob("testdata/injections/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	marked := 0
	for _, f := range append(files, "../../../docs/security.md", "../../../docs/agents.md") {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split(string(raw), "\n") {
			want := plainly(text)
			if want > 0 {
				marked++
			}
			if got := Odds(text); (got > 0) != (want > 0) || want > 0 && got != want {
				t.Errorf("%s, line %d: odds %.2f, of the wordings %.2f", f, i+1, got, want)
			}
		}
	}
	if marked < 20 {
		t.Errorf("%d are marked, too few to show anything", marked)
	}
}
