package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// provider is a service that speaks as OpenAI's embeddings do.
type provider struct {
	*httptest.Server
	mu   sync.Mutex
	rows map[string]int // by text, how often it was sent
	down bool
}

func newProvider(t *testing.T) *provider {
	p := &provider{rows: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		var q struct{ Input []string }
		if p.down || json.NewDecoder(r.Body).Decode(&q) != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"the model is being replaced"}}`)
			return
		}
		var data []map[string]any
		for i, t := range q.Input {
			p.rows[t]++
			data = append(data, map[string]any{"index": i, "embedding": []float64{float64(len(t)%7 + 1), 1, 2, float64(strings.Count(t, "a"))}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(p.Close)
	return p
}

// use has an App embed with the provider.
func (p *provider) use(t *testing.T, a *app.App, more string) *app.App {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("embedder: {provider: openai, endpoint: %q, model: m, dimensions: 4, price: 2%s}\n", p.URL, more)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Config.Env = func(k string) string { return map[string]string{"KNOWLEDGE_CONFIG": file}[k] }
	return a
}

func TestEmbeddedElsewhere(t *testing.T) {
	s := producttest.NewSite(t)
	p := newProvider(t)
	s.Write("src/wait.go", "package conf\n\n// Wait waits for a length of time.\nfunc Wait() {}\n")
	s.Write("src/b.md", "# Durations\n\nA length of time is written as 90s.\n")
	a := p.use(t, s.In("p", true), "")
	if j := s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")}); j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	indexed := len(p.rows)
	vectors, err := filepath.Glob(filepath.Join(s.Data, "segments", "*.openai-m-1-4.vec"))
	if err != nil || len(vectors) != 1 || indexed == 0 {
		t.Errorf("%v %v, %d rows", vectors, err, indexed)
	}
	look := func() find.SearchReply {
		t.Helper()
		r, err := find.Search(t.Context(), a, search.Request{Query: "how long does it wait"}, app.Scope{Stores: []string{"conf"}})
		if err != nil || len(r.Hits) == 0 {
			t.Fatalf("%+v %v", r, err)
		}
		return r
	}
	if look(); p.rows["how long does it wait"] != 1 {
		t.Errorf("the question was sent %d times", p.rows["how long does it wait"])
	}
	// Indexed anew from nothing, the same text is not sent again.
	if _, err := a.DeleteStore(t.Context(), "conf", true); err != nil {
		t.Fatal(err)
	}
	s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")})
	for text, n := range p.rows {
		if n > 1 {
			t.Errorf("%q was sent %d times", text, n)
		}
	}
	// A provider that is away costs meaning and not the reply.
	p.down = true
	r, err := find.Search(t.Context(), a, search.Request{Query: "wait for a length"}, app.Scope{Stores: []string{"conf"}})
	if err != nil || len(r.Hits) == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "by words alone, without meaning: the embedder openai refuses the request with status 400: the model is being replaced") {
		t.Errorf("%+v %v", r, err)
	}
}

// Before much is sent its cost is said, and nothing is sent without a word.
func TestCostIsSaidBefore(t *testing.T) {
	s := producttest.NewSite(t)
	p := newProvider(t)
	for i := range 30 {
		s.Write(fmt.Sprintf("src/f%d.md", i), fmt.Sprintf("# Part %d\n\nSome text of part %d that takes a few tokens.\n", i, i))
	}
	a := p.use(t, s.In("p", true), ", ask: 100")
	j := s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")})
	if j.State != kb.JobFailed || !strings.Contains(j.Message, "tokens (0.00") || !strings.Contains(j.Hint, "--paid") || len(p.rows) > 0 {
		t.Fatalf("%+v\n%d rows", j, len(p.rows))
	}
	if j = s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src"), Paid: true}); j.State != kb.JobCompleted || len(p.rows) != 30 {
		t.Fatalf("%+v\n%d rows", j, len(p.rows))
	}
	// One more file is below what is asked for.
	s.Write("src/g.md", "# More\n\nA little.\n")
	started, err := a.IndexStore(t.Context(), "conf", false)
	if err == nil {
		j, err = a.WaitJob(t.Context(), started.Job)
	}
	if err != nil || j.State != kb.JobCompleted || len(p.rows) != 31 {
		t.Errorf("%+v %v\n%d rows", j, err, len(p.rows))
	}
}

// With another embedder a store keeps its text and gets other vectors.
func TestAnotherEmbedder(t *testing.T) {
	s := producttest.NewSite(t)
	p := newProvider(t)
	s.Write("src/wait.go", "package conf\n\n// Wait waits for a length of time.\nfunc Wait() {}\n")
	s.Create(s.In("p", true), app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")})
	a := p.use(t, s.In("p", true), "")
	// Searched as it is meanwhile.
	r, err := find.Search(t.Context(), a, search.Request{Query: "Wait"}, app.Scope{Stores: []string{"conf"}})
	if err != nil || len(r.Hits) == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	started, err := a.IndexStore(t.Context(), "conf", false)
	if err != nil {
		t.Fatal(err)
	}
	j, err := a.WaitJob(t.Context(), started.Job)
	if err != nil || j.State != kb.JobCompleted || fmt.Sprint(j.Details["read"]) != "0" || len(p.rows) < 1 {
		t.Errorf("%+v %v, %v", j, err, p.rows)
	}
	if info, err := a.StoreInfo(t.Context(), "conf"); err != nil || info.Embedder != "openai-m-1-4" {
		t.Errorf("%+v %v", info, err)
	}
}

// The configuration knows every embedder that there is, and no other.
func TestProviders(t *testing.T) {
	for _, name := range config.Providers {
		if embed.Backends[name] == nil {
			t.Errorf("there is no embedder %s", name)
		}
	}
	if len(config.Providers) != len(embed.Backends) {
		t.Errorf("%d of %d embedders can be configured", len(config.Providers), len(embed.Backends))
	}
}
