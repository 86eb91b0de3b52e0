package graph

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// tree is a Source in memory. Loads are counted by path.
type tree struct {
	files   map[string]string
	symbols map[string][]kb.Symbol
	facts   map[string]kb.Facts
	before  func(path string) error // runs when a text is read
}

func (t *tree) Entries() []Entry {
	var out []Entry
	for p, body := range t.files {
		out = append(out, Entry{Path: p, Hash: kb.HashDocument([]byte(body)), Language: language(p), Size: int64(len(body))})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

func language(p string) string { return strings.TrimPrefix(filepath.Ext(p), ".") }

func (t *tree) Load(_ context.Context, paths []string) ([]Document, error) {
	var out []Document
	for _, p := range paths {
		body := t.files[p]
		out = append(out, Document{
			Path: p, Hash: kb.HashDocument([]byte(body)), Language: language(p), Symbols: t.symbols[p], Facts: t.facts[p],
			Body: func() (string, error) {
				if t.before != nil {
					if err := t.before(p); err != nil {
						return "", err
					}
				}
				return body, nil
			},
		})
	}
	return out, nil
}

func readTree(t testing.TB, name string) *tree {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	out := &tree{files: map[string]string{}}
	for _, f := range a.Files {
		out.files[f.Name] = string(f.Data)
	}
	return out
}

// linked links a tree and opens the view.
func linked(t testing.TB, src Source, prev *View) (*View, Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "view")
	stats, err := Link(t.Context(), src, prev, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v, stats
}

// dump lists every declaration and edge of a view.
func dump(t testing.TB, v *View) []string {
	t.Helper()
	paths, err := v.Paths()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range paths {
		ds, err := v.Symbols(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			out = append(out, fmt.Sprintf("%+v", d))
		}
		es, err := v.Out(kb.Spot{Path: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			out = append(out, fmt.Sprintf("%+v", e))
		}
		n, err := v.InDegree(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(p, " is used by ", n))
	}
	return out
}

func TestGoEdgesOfEveryLine(t *testing.T) {
	src := readTree(t, "go.txtar")
	v, stats := linked(t, src, nil)
	if stats.Failed != 0 {
		t.Errorf("%d passes failed", stats.Failed)
	}
	for p, body := range src.files {
		if !strings.HasSuffix(p, ".go") {
			continue
		}
		es, err := v.Out(kb.Spot{Path: p})
		if err != nil {
			t.Fatal(err)
		}
		got := map[int][]string{}
		for _, e := range es {
			to := e.To.Decl
			if e.To.Path != p {
				to = e.To.Path + " " + to
			}
			got[e.From.Line] = append(got[e.From.Line], e.Kind.String()+" "+to)
			if e.Confidence != 1 {
				t.Errorf("%s:%d: confidence %v", p, e.From.Line, e.Confidence)
			}
			if line := strings.Split(src.files[e.To.Path], "\n")[e.To.Line-1]; !strings.Contains(line, e.To.Decl[strings.LastIndexByte(e.To.Decl, '.')+1:]) {
				t.Errorf("%s is not on line %d of %s: %q", e.To.Decl, e.To.Line, e.To.Path, line)
			}
		}
		for i, line := range strings.Split(body, "\n") {
			var want []string
			if _, note, ok := strings.Cut(line, "//= "); ok {
				want = strings.Split(note, ", ")
			}
			g := got[i+1]
			slices.Sort(want)
			slices.Sort(g)
			if diff := cmp.Diff(want, g); diff != "" {
				t.Errorf("%s:%d: %s\n%s", p, i+1, strings.TrimSpace(line), diff)
			}
		}
	}
}
