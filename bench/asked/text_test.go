package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	for _, c := range []struct{ lang, in, want string }{
		{"go", "no %q in %d%%", `no "weekly" in 212%`},
		{"python", "{name!r} is {{odd}}", "'user_id' is {odd}"},
		{"typescript", "no ${xs.map((x) => { return x })} here", "no weekly here"},
		{"ruby", "bad #{a[:b]}, %s", "bad weekly, 42"},
		{"php", "no {$this->a[1]} and $b", "no weekly and 42"},
		{"lua", "no %s, %d", "no weekly, 640"},
		{"java", "{1} is not {}", "weekly is not 42"},
	} {
		got := fill(c.in, c.lang, rand.New(rand.NewPCG(1, 22)))
		// Which value it is depends on the seed; that none is left counts.
		if strings.ContainsAny(got, "%$#") && c.lang != "go" || len(strings.Fields(got)) < len(strings.Fields(c.want))-1 || got == c.in {
			t.Errorf("%s %q: %q", c.lang, c.in, got)
		}
		if again := fill(c.in, c.lang, rand.New(rand.NewPCG(1, 22))); again != got {
			t.Errorf("%q, then %q", got, again)
		}
	}
}

func TestLiteral(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nvar e = \"no room for \" + x + \" in the boat\\n\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &source{dir: dir}
	got := s.literal("a.go", "go", []span{{3, 9, 21}, nil, {3, 30, 44}}, true, rand.New(rand.NewPCG(1, 22)))
	if !strings.HasPrefix(got, "no room for ") || !strings.HasSuffix(got, " in the boat") || len(strings.Fields(got)) != 7 {
		t.Errorf("%q", got)
	}
}

func TestNames(t *testing.T) {
	p := place{Path: "src/a.go", From: 10, To: 20}
	for _, c := range []struct {
		lines
		want bool
	}{
		{lines{"a.go", 1, 14}, false},
		{lines{"a.go", 1, 15}, true},
		{lines{"a.go", 12, 13}, true},
		{lines{"b.go", 12, 13}, false},
		{lines{"a.go", 20, 90}, false},
	} {
		if c.names(p) != c.want {
			t.Errorf("%+v", c.lines)
		}
	}
}

func TestRead(t *testing.T) {
	r, err := read(`{"hits":[{"store":"s","at":"a/b.go:L3-9","symbol":"T.M +2","line":4,"more":["L20-30"],"calls":["x c.go:L1"]}],"confidence":"medium","tokens":100,"ms":1.5}`)
	if err != nil {
		t.Fatal(err)
	}
	h := r.hits[0]
	if h.lines != (lines{"a/b.go", 3, 9}) || h.symbol != "M" || len(h.more) != 1 || h.more[0] != (lines{"a/b.go", 20, 30}) || len(h.linked) != 1 || h.linked[0] != (lines{"c.go", 1, 1}) || r.confidence != 0.6 || h.tokens <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestMeasures(t *testing.T) {
	if got := area([]float64{0.9, 0.5}, []float64{0.5, 0.1}); got != 0.875 {
		t.Errorf("area %v", got)
	}
	var xs []said
	for i := range 100 {
		xs = append(xs, said{0.8, i%5 != 0})
	}
	if got := calibration(xs); got > 1e-9 {
		t.Errorf("calibration %v", got)
	}
}

// TestSets holds the counts that the sets were asked for with, and the rule
// by which a third is aside.
func TestSets(t *testing.T) {
	for set, least := range map[string]int{"names": 200, "messages": 200, "traces": 200, "issues": 150, "how": 80, "stores": 324 + 60, "absent": 100, "docs": 80, "plain": 80} {
		near, err := load("testdata", set, false)
		if err != nil {
			t.Fatal(err)
		}
		all, err := load("testdata", set, true)
		if err != nil {
			t.Fatal(err)
		}
		if aside := len(all) - len(near); len(all) < least || 3*aside < len(all)-4 || 3*aside > len(all)+4 {
			t.Errorf("%s: %d, of which %d aside", set, len(all), aside)
		}
		seen := map[string]bool{}
		for _, it := range all {
			if seen[it.ID] || it.Repo == "" {
				t.Errorf("%s: %q twice or of no repository", set, it.ID)
			}
			seen[it.ID] = true
			for _, f := range it.Frames {
				if strings.HasPrefix(f.path, "/") {
					t.Errorf("%s: a path of a machine: %s", it.ID, f.path)
				}
			}
		}
	}
}

func TestPiece(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("func a() {\n\tfor ship := range ships {\n\t\tmoor(ship,quay)\n\t}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &source{dir: dir}
	for form, want := range map[string]string{
		"spaced":  "   for ship := range ships {\n      moor( ship, quay)\n   }",
		"joined":  "for ship := range ships { moor(ship,quay) }",
		"renamed": "for elem := range ships",
		"asked":   "```go\n\tfor ship",
	} {
		it := &item{Form: form, Seed: 7, Gold: []place{{Path: "a.go", From: 2, To: 4}}}
		got := s.piece(it, "go")
		if form == "renamed" && (strings.Contains(got, "ship ") || !strings.Contains(got, "ships")) || form != "renamed" && !strings.Contains(got, want) {
			t.Errorf("%s: %q", form, got)
		}
	}
	diff := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@ f\n x\n+y\n@@ -9 +10 @@\n-z\n"
	if got, err := firstHunk(diff, false); err != nil || got != "@@ -1,2 +1,3 @@ f\n x\n+y" {
		t.Errorf("%q %v", got, err)
	}
}
