package impact

import (
	"strings"
	"testing"
)

func TestParseDiff(t *testing.T) {
	const text = "--- a/x.go\t2020-01-01\n+++ b/x.go\n@@ -3,2 +3,3 @@ func f\n a\n-b\n+c\n+d\n\\ No newline at end of file\n--- /dev/null\n+++ \"b/n\\303\\251.go\"\n@@ -0,0 +1 @@\n+-- x\n"
	got := parseDiff(text)
	if len(got) != 2 || got[0].old != "x.go" || got[0].now != "x.go" || got[1].old != "" || got[1].now != "né.go" {
		t.Fatalf("%+v", got)
	}
	if h := got[0].hunks; len(h) != 1 || strings.Join(h[0].lines, "|") != " a|-b|+c|+d" {
		t.Errorf("%+v", h)
	}
	applied, before := got[0].change("x.go", true), got[0].change("x.go", false)
	if len(applied.lines) != 3 || applied.lines[0] != (line{3, 4, "b"}) || applied.lines[2] != (line{5, 0, "d"}) || before.lines[0] != (line{4, 4, "b"}) || before.lines[1] != (line{4, 0, "c"}) {
		t.Errorf("%+v, %+v", applied.lines, before.lines)
	}
	if n, of := got[0].fits([]string{"", "", "a", "c", "d"}, '-'); n != 3 || of != 3 {
		t.Errorf("%d of %d", n, of)
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n")
	f.Add("@@ -1,999999999 +1 @@\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parseDiff(text) {
			p.fits(strings.Split(text, "\n"), '-')
			for _, l := range append(p.change("x", true).lines, p.change("x", false).lines...) {
				if l.at < 0 || l.old < 0 {
					t.Errorf("%+v", l)
				}
			}
		}
	})
}

func TestRevisions(t *testing.T) {
	for s, want := range map[string]bool{"v1..v2": true, "HEAD~1..": true, "a/b...c": true, "../x.patch": false, "x.patch": false, "a.go:1-2": false, "a.. b": false} {
		if revisions(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}
