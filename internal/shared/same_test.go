package shared_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// sources are files of our own, by their path in a store.
func sources(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"index", "index/vector", "code/graph"} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[dir+"/"+filepath.Base(f)] = string(b)
		}
	}
	return out
}

// alike takes scores for equal that no order and no reply tells apart: an engine of
// vectors sums in an order of its own.
var alike = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })

// TestSameAnswers: a machine that has only tables answers as the one that indexed does,
// hit by hit and in the text that agents read, from its first search on.
func TestSameAnswers(t *testing.T) {
	cluster := weaviatetest.New(t)
	s1, one := machine(t, cluster)
	for path, body := range sources(t) {
		s1.Write("src/"+path, body)
	}
	if j := s1.Create(one, app.CreateStore{Name: "team", Source: s1.Root + "/src", Shared: true}); j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	s2, two := machine(t, cluster)
	if got, err := two.CreateStore(t.Context(), app.CreateStore{Source: "shared:team"}); err != nil || strings.Contains(got.Note, ";") {
		t.Fatalf("%+v, %v", got, err)
	}
	scope := app.Scope{Stores: []string{"team"}}
	for _, r := range []search.Request{
		{Query: "how are postings encoded", Packed: true},
		{Query: "how are postings encoded"},
		{Query: "how is a patch of a generation written", Packed: true},
		{Query: "how does a view find who calls a declaration", Packed: true},
		{Query: "how is a vector quantised and compared", Packed: true},
		{Query: "how are tombstones of documents kept"},
		{Query: "appendPosting", Packed: true},
		{Query: "appendPosting", Intent: "find-usage"},
		{Query: "who reads skips", Detail: "contextual"},
		{Query: "segment name hash of documents", Mode: "fts"},
		{Query: "nearest neighbours of a query", Mode: "vector"},
	} {
		want, got := s1.Search(one, r, scope), s2.Search(two, r, scope)
		want.Ms, got.Ms = 0, 0
		// Of what comes later the cluster, which orders otherwise, may name other places.
		want.Hits, got.Hits = want.Hits[:min(len(want.Hits), 10)], got.Hits[:min(len(got.Hits), 10)]
		if d := cmp.Diff(want, got, alike); d != "" {
			t.Errorf("%q: -indexed here +tables alone\n%s", r.Query, d)
		}
		if len(want.Hits) == 0 {
			t.Errorf("%q: no hits", r.Query)
		}
	}
}
