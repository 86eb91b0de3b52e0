package scripted

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// files is a small tree of our own: a mill whose words a question need not use.
var files = map[string]string{
	"mill/stone.go": `package mill

// Grind crushes a sack of grain between the stones until it is flour.
func Grind(sack []Grain) Flour {
	var out Flour
	for _, g := range sack {
		out += crush(g)
	}
	return out
}

// crush turns one grain over.
func crush(g Grain) Flour { return Flour(g) }
`,
	"mill/wheel.go": `package mill

// Brake stops the wheel when the river is too high.
func (w *Wheel) Brake(level int) {
	if level > w.most {
		w.stopped = true
	}
}
`,
	"mill/ledger.go": "package mill\n\n// Ledger lists which sack belongs to which farmer.\ntype Ledger map[string]int\n" +
		strings.Repeat("\n// Filler says nothing of grain.\n", 200),
}

func machine(t *testing.T) (*producttest.Site, *app.App, *window.Tree) {
	s := producttest.NewSite(t)
	for name, text := range files {
		s.Write(filepath.Join("mill", name), text)
	}
	a := s.In("mill", true)
	tree, err := window.ReadTree(filepath.Join(s.Root, "mill"))
	if err != nil {
		t.Fatal(err)
	}
	return s, a, tree
}

func placeOf(t *testing.T, tree *window.Tree, path, first, last string) []task.Place {
	t.Helper()
	p := task.Place{Path: path}
	for i, l := range tree.Lines[path] {
		if strings.HasPrefix(l, first) {
			p.From = i + 1
		}
		if p.From > 0 && p.To == 0 && l == last {
			p.To = i + 1
		}
	}
	if p.To == 0 {
		t.Fatalf("no %q in %s", first, path)
	}
	return []task.Place{p}
}

// TestPolicies runs both policies over a tree of our own with the product
// itself: each finds what is there, B in fewer tokens where the question has no
// word of the code's, and neither claims what is not there.
func TestPolicies(t *testing.T) {
	s, a, tree := machine(t)
	ask := func(query string) (string, string, error) {
		reply := s.Search(a, search.Request{Query: query, Detail: "contextual", Limit: 5}, app.Scope{})
		b, err := json.Marshal(reply)
		return "search " + query, string(b), err
	}
	brake := placeOf(t, tree, "mill/wheel.go", "// Brake", "}")
	for _, q := range []Question{
		{ID: "name", Text: "Brake", Gold: brake},
		{ID: "words", Text: "what stops the wheel when the river is high", Gold: brake},
		{ID: "grain", Text: "crushes a sack of grain", Gold: placeOf(t, tree, "mill/stone.go", "// Grind", "}")},
	} {
		outA, best := Grep(q, tree), GrepBest(q, tree)
		outB, err := Search(q, tree, ask)
		if err != nil {
			t.Fatal(err)
		}
		for name, o := range map[string]Outcome{"A": outA, "A+": best, "B": outB} {
			if !o.Found || o.Share != 1 || o.Tokens == 0 {
				t.Errorf("%s %s: %+v", q.ID, name, o)
			}
		}
		if !outB.Told {
			t.Errorf("%s: the search names no place: %+v", q.ID, outB)
		}
	}
	absent := Question{Text: "grain", Gold: []task.Place{{Path: "mill/none.go", From: 1, To: 3}}}
	if o := Grep(absent, tree); o.Found || o.Calls > mostCalls || o.Tokens > mostTokens+5000 {
		t.Errorf("what is not there: %+v", o)
	}
}

func TestOrder(t *testing.T) {
	dir := t.TempDir()
	var uses strings.Builder
	for i := range 60 {
		fmt.Fprintf(&uses, "call %d of lantern\n%s", i, strings.Repeat("\n", 99))
	}
	lamp := "\n\ndef lantern():\n    return 1\n"
	for name, text := range map[string]string{"a_uses.py": uses.String(), "b_lamp.py": lamp} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := window.ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	q := Question{Text: "where is the lantern", Gold: []task.Place{{Path: "b_lamp.py", From: 3, To: 4}}}
	if o := Grep(q, tree); o.Found {
		t.Errorf("the declaration is behind fifty uses: %+v", o)
	}
	q.Text = "lantern"
	if o := GrepBest(q, tree); o.Found {
		t.Errorf("what a grep cuts off is not seen: %+v", o)
	}
	q.Text = `File "/home/ana/site-packages/b_lamp.py", line 3, in lantern`
	if o := GrepBest(q, tree); !o.Found || o.Calls != 1 {
		t.Errorf("a place that is named is read first: %+v", o)
	}
}

func TestPlacesIn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Mill.java", "mill.rb", "mill.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1\n2\n3\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := window.ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"\tat com.example.Mill.grind(Mill.java:2)":                   "Mill.java",
		"\tfrom /usr/lib/ruby/gems/mill-7.1.0/lib/mill.rb:3:in `x'":  "mill.rb",
		"\t/home/ana/go/pkg/mod/example.com/mill@v1/mill.go:1 +0x1f": "mill.go",
		"mill.go:9":   "", // behind its end
		"other.go:1":  "",
		"version 1.2": "",
	} {
		got := ""
		for _, s := range placesIn(text, tree) {
			got += s.Path
		}
		if got != want {
			t.Errorf("%q names %q", text, got)
		}
	}
}

func TestRarest(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		text := "wheel\n"
		if i == 3 {
			text += "river bank\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".go")), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := window.ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range rarest(tree, "How does the wheel meet the River and a boat?") {
		got = append(got, c.word)
	}
	if strings.Join(got, " ") != "River wheel" {
		t.Errorf("rarest first, what the tree lacks not at all: %v", got)
	}
}

func TestReadQuestions(t *testing.T) {
	qs, err := ReadQuestions(strings.NewReader(`skipped: a repository
{"id":"n1","set":"names","dir":"/x","question":"Open","gold":[{"Path":"a.go","From":1,"Line":1,"To":3}]}
{"id":"i1","set":"issues","git":"/r","commit":"c","question":"it","gold":[{"Path":"b.go","From":0},{"Path":"b.go","From":4,"To":9}]}
{"id":"i2","set":"issues","question":"it fails","gold":[{"Path":"b.go","From":0,"To":0}]}
{"id":"p1","set":"plain","question":"it","gold":[{"Path":"b.go"}]}
`))
	if err != nil || len(qs) != 3 || len(qs[1].Gold) != 1 || qs[1].Gold[0].From != 4 {
		t.Errorf("%+v, %v", qs, err)
	}
}
