package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("a.go", "package a\n\n// Open opens.\nfunc Open() {\n}\n")
	const head = `{"name":"a","commit":"0123456789012345678901234567890123456789","hide":["*.md"],"tasks":[`
	good := head + `{"id":"where-01","kind":"where","question":"q","rubric":"r","least":1,
		"gold":[{"path":"a.go","from":3,"to":5,"name":"Open"}]}]}`
	s, err := Load(write("good.json", good))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckTree(dir, nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"to":5`, `"to":6`, "has 5 lines"},
		{`"name":"Open"`, `"name":"Close"`, `no "Close"`},
		{`"a.go"`, `"b.md"`, "hidden"},
	} {
		s, err := Load(write("tree.json", strings.Replace(good, c.from, c.to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CheckTree(dir, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{`"kind":"where"`, `"kind":"why"`, "no kind"},
		{`"least":1`, `"least":2`, "least"},
		{`"rubric":"r"`, `"rubric":""`, "rubric"},
		{`"rubric":"r"`, `"rubrik":"r"`, "unknown field"},
		{`"from":3`, `"from":6`, "no place"},
		{`"name":"Open"`, `"name":"Open","store":"go:a.example/b@v1"`, "none of the set's stores"},
		{`"tasks"`, `"stores":["https://a.example/b"],"tasks"`, "is no go:MODULE@VERSION"},
	} {
		_, err := Load(write("bad.json", strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// TestStores: a place in a store is looked for there, and hidden files of the
// tree are not hidden in it.
func TestStores(t *testing.T) {
	tree, store := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(store, "guide.md"), []byte("# Mills\nStones grind.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const mill = "go:a.example/mill@v1.0.0"
	s := &Set{Hide: []string{"*.md"}, Stores: []string{mill},
		Tasks: []Task{{ID: "where-01", Gold: []Place{{Path: "guide.md", From: 1, To: 2, Name: "grind", Store: mill}}}}}
	if err := s.CheckTree(tree, map[string]string{mill: store}); err != nil {
		t.Error(err)
	}
	if err := s.CheckTree(tree, nil); err == nil {
		t.Error("a place was found in a store that is not there")
	}
}

func TestBatches(t *testing.T) {
	s := &Set{}
	for i := range 30 {
		s.Tasks = append(s.Tasks, Task{Kind: Kinds[i*len(Kinds)/30]})
	}
	for _, b := range s.Batches(14) {
		kinds := map[string]bool{}
		for _, t := range b {
			kinds[t.Kind] = true
		}
		if len(b) != 10 || len(kinds) != len(Kinds) {
			t.Errorf("a batch of %d with %d kinds", len(b), len(kinds))
		}
	}
}

// TestJudged holds the sets that are committed to the format.
func TestJudged(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if _, err := Load(f); err != nil {
			t.Error(err)
		}
	}
}
