package eval

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		ranks                    []int
		ndcg, recall, reciprocal float64
	}{
		{[]int{1}, 1, 1, 1},
		{[]int{2}, 1 / math.Log2(3), 1, 0.5},
		{[]int{0}, 0, 0, 0},
		{[]int{11}, 0, 0, 1.0 / 11},
		{[]int{2, 1}, 1, 1, 1},
		{[]int{1, 0}, 1 / (1 + 1/math.Log2(3)), 0.5, 1},
		{[]int{1, 1}, 1, 1, 1}, // one hit shows both: no more than all
		{nil, 0, 0, 0},
	} {
		got := []float64{ndcg(c.ranks), recall(c.ranks), reciprocal(c.ranks)}
		want := []float64{c.ndcg, c.recall, c.reciprocal}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%v: %v, want %v", c.ranks, got, want)
				break
			}
		}
	}
	xs := []float64{0, 0, 1, 1, 1, 1, 0.5, 0.5, 1, 0}
	if iv := interval(xs); iv != interval(xs) || iv[0] >= mean(xs) || iv[1] <= mean(xs) {
		t.Errorf("the interval of mean %v is %v", mean(xs), iv)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		root, at, symbol, relevant string
		want                       bool
	}{
		{"", "a/b.go:L3-9", "", `"b.go"`, true},
		{"", "a/b.go:L3-9", "", `"xb.go"`, false},
		{"", "b.go:L3", "", `"a/b.go"`, true},
		{"src/x", "b.go:L3", "", `"src/x/b.go"`, true},
		{"", "b.go:L3-9", "", `{"path":"b.go","start":9,"end":12}`, true},
		{"", "b.go:L3-9", "", `{"path":"b.go","start":10,"end":12}`, false},
		{"", "b.go:L7:c0-4000", "", `{"path":"b.go","start":7,"end":7}`, true},
		{"", "b.md:L7-9", "Top › Sub", `{"path":"b.md","heading":"sub"}`, true},
		{"", "b.md:L7-9", "Top › Sub", `{"path":"b.md","heading":"other"}`, false},
	} {
		var r Relevant
		if err := json.Unmarshal([]byte(c.relevant), &r); err != nil {
			t.Fatal(err)
		}
		p := placeOf(&search.Hit{At: c.at, Symbol: c.symbol}, c.root)
		if got := r.matches(&p); got != c.want {
			t.Errorf("%s in %q against %s: %v", c.at, c.root, c.relevant, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	re, err := patterns([]string{"*.md", "doc/**", "src/**/README*", "a.b?"})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{
		"x.md": true, "y/x.md": false, "doc/a/b": true, "src/README": true, "src/a/b/README.md": true, "a.bc": true, "aXbc": false, "src/a/xREADME": false,
	} {
		if re.MatchString(p) != want {
			t.Errorf("%q: %v", p, !want)
		}
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"zoo/src/feeding.go": "package zoo\n\n// FeedLions gives meat to the lions.\nfunc FeedLions() {\n\tmeat()\n}\n",
		"zoo/src/gates.go":   "package zoo\n\n// OpenGates lets the visitors in.\nfunc OpenGates() {\n\tunlock()\n}\n",
		"zoo/other/lions.go": "package other\n\nfunc Lions() {}\n",
		"set.json": `{"repos": [{"name": "zoo", "language": "go", "root": "src"}], "tasks": [
			{"repo": "zoo", "query": "feed the lions", "category": "semantic", "relevant": [{"path": "feeding.go", "start": 4, "end": 4}]},
			{"repo": "zoo", "query": "OpenGates", "category": "symbol", "relevant": ["src/gates.go"]},
			{"repo": "zoo", "query": "quarterly tax declaration deadline", "relevant": []}]}`,
	})
	set, err := Load(filepath.Join(dir, "set.json"))
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	var before Report
	for range 2 { // anew, and from what the first run kept
		b, err := NewBench(t.Context(), data, embed.Default(), "")
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Repos: dir, Budgets: true}
		rows, err := b.Run(t.Context(), &set, o)
		if err != nil {
			t.Fatal(err)
		}
		r := b.Summarize(rows, 1)
		if r.NDCG != 1 || r.Macro != 1 || r.Recall != 1 || r.MRR != 1 || r.Tasks != 2 || r.Nothing != 1 || *r.Overconfident != 0 || *r.Visible != 1 || r.RecallAt["500"] != 1 {
			t.Errorf("%s\n%+v", r.Text(), rows)
		}
		if r.IndexMs <= 0 || r.P50 <= 0 || r.Tokens <= 0 {
			t.Errorf("not measured: %+v", r)
		}
		ablated, err := b.Ablate(t.Context(), &set, o)
		if err != nil || len(ablated) != len(Parts()) {
			t.Error(len(ablated), err)
		}
		r.P50, r.P95, r.Worst = 0, 0, nil
		if before.Tasks > 0 {
			if d := cmp.Diff(before, r); d != "" {
				t.Error(d)
			}
		}
		before = r
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFaults(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":    `{`,
		"no tasks":   `{"repos":[{"name":"a"}],"tasks":[]}`,
		"no query":   `{"repos":[{"name":"a"}],"tasks":[{"repo":"a","query":" ","relevant":["x"]}]}`,
		"no repo":    `{"repos":[{"name":"a"}],"tasks":[{"repo":"b","query":"q","relevant":["x"]}]}`,
		"no path":    `{"repos":[{"name":"a"}],"tasks":[{"repo":"a","query":"q","relevant":[{"start":1,"end":2}]}]}`,
		"back lines": `{"repos":[{"name":"a"}],"tasks":[{"repo":"a","query":"q","relevant":[{"path":"x","start":3,"end":2}]}]}`,
	} {
		var s Set
		if err := s.parse([]byte(text), "x"); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, err := NewBench(context.Background(), "", embed.Default(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	set := Set{Repos: []Repo{{Name: "absent"}}, Tasks: []Task{{Repo: "absent", Query: "q", Relevant: []Relevant{{Path: "x"}}}}}
	if _, err := b.Run(t.Context(), &set, Options{Repos: t.TempDir()}); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "--repos") {
		t.Error(err, kb.HintOf(err))
	}
}
