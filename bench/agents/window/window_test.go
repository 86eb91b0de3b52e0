package window

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
)

func tree(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestRead(t *testing.T) {
	tr := tree(t, map[string]string{
		"a/jar.go":   "package a\n\n// Open opens the jar.\nfunc Open() {\n\ttwist()\n}\n",
		"a/twist.go": "package a\n\nfunc twist() {}\n",
		".git/x":     "not a file of the tree",
	})
	for _, c := range []struct {
		name, reply string
		shown, told []Span
	}{
		{"the JSON of search",
			`{"hits":[{"at":"a/jar.go:L3-6","line":4,"code":"func Open() {\n\ttwist()",
			"calls":["twist a/twist.go:L3","and 4 more"],
			"related":[{"at":"a/jar.go:L1-2","why":"before it"}]}],"count":1}`,
			[]Span{{"a/jar.go", 4, 4}, {"a/jar.go", 5, 5}},
			[]Span{{"a/jar.go", 3, 6}, {"a/twist.go", 3, 3}, {"a/jar.go", 1, 2}}},
		{"numbered lines below a place",
			"a/jar.go:3-6 Open\n4\tfunc Open() {\n  5: \ttwist()\n6| not this text\ncalls twist a/twist.go:3\n",
			[]Span{{"a/jar.go", 4, 4}, {"a/jar.go", 5, 5}},
			[]Span{{"a/jar.go", 3, 6}, {"a/twist.go", 3, 3}}},
		{"grep", "a/twist.go:3:func twist() {}\nb/other.go:3:func twist() {}\n", []Span{{"a/twist.go", 3, 3}}, nil},
		{"rows of a pipe", "x4a\ta/jar.go:L3-6\t1.000\tOpen\n", nil, []Span{{"a/jar.go", 3, 6}}},
	} {
		shown, told := Read(tr, c.reply)
		if d := cmp.Diff(c.shown, shown); d != "" {
			t.Errorf("%s shows: %s", c.name, d)
		}
		if d := cmp.Diff(c.told, told); d != "" {
			t.Errorf("%s tells: %s", c.name, d)
		}
	}
}

func TestIsLine(t *testing.T) {
	const line = "\tfunc grind(sack *Sack) Flour {"
	for text, want := range map[string]bool{
		"func grind(sack *Sack) Flour {": true, "func grind(sack *S…": true, "func…": false, "func grind": false, "func mill(sack *Sack…": false,
	} {
		if isLine(text, line) != want {
			t.Errorf("%q: not %t", text, want)
		}
	}
}

func TestWindow(t *testing.T) {
	tr := tree(t, map[string]string{
		"jar.go": "package a\n\nfunc Open() {\n\n\ttwist()\n}\n",
		"big.go": strings.Repeat("x\n", 100),
	})
	w := New(tr)
	gold := []task.Place{{Path: "jar.go", From: 3, To: 6}}
	w.Add("read", tr.Numbered(Span{"jar.go", 1, 3}))
	if in, all := w.Found(gold); in != 1 || all != 3 { // the blank line is not needed
		t.Errorf("%d of %d lines", in, all)
	}
	if w.Complete(gold) {
		t.Error("complete too early")
	}
	w.Add("read", tr.Numbered(Span{"jar.go", 5, 9}))
	if !w.Complete(gold) || w.Calls != 2 || w.Tokens == 0 {
		t.Errorf("%+v", w)
	}
	if w.Complete([]task.Place{{Path: "big.go"}}) || !w.Complete([]task.Place{{Path: "big.go"}, {Path: "jar.go"}}) {
		t.Error("of whole files any does")
	}
	if _, lines := Needed(tr, task.Place{Path: "big.go", From: 1, To: 100}); len(lines) != Most {
		t.Errorf("%d lines of a long place", len(lines))
	}
}
