package embed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// double replays what the references of the providers say they answer, read on 2026-11-23; the
// addresses stand at providers, and beside what is not there. It counts what it was paid
// for: texts of replies that went out.
type double struct {
	*httptest.Server
	provider string
	dims     int

	mu       sync.Mutex
	paid     map[string]int                   // texts by how often they were answered
	batches  []int                            // sizes of the requests answered
	queries  int                              // requests that said that they hold a question
	answer   func(w http.ResponseWriter) bool // sends something else instead; false for the usual reply
	requests int
}

func newDouble(t testing.TB, provider string, dims int) *double {
	d := &double{provider: provider, dims: dims, paid: map[string]int{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// vectorOf is what the double makes of a text.
func (d *double) vectorOf(text string) []float64 {
	sum := sha256.Sum256([]byte(text))
	v := make([]float64, d.dims)
	for i := range v {
		v[i] = float64(sum[i%32]) - 100.5 - float64(i)
	}
	return v
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	if d.answer != nil && d.answer(w) {
		return
	}
	var q struct {
		Model     string   `json:"model"`
		Input     []string `json:"input"`
		Texts     []string `json:"texts"`
		InputType string   `json:"input_type"`
		Task      string   `json:"task"`
		Types     []string `json:"embedding_types"`
		// How many dimensions are wanted, in each one's words.
		Dimensions *int `json:"dimensions"`
		Output     *int `json:"output_dimension"`
	}
	path := map[string]string{"ollama": "/api/embed", "cohere": "/v2/embed"}[d.provider]
	if path == "" {
		path = "/embeddings"
	}
	texts := func() []string { return append(q.Input, q.Texts...) }
	if json.Unmarshal(raw, &q) != nil || r.URL.Path != path || r.Header.Get("Authorization") != "Bearer secret-key" || q.Model != "m" ||
		slices.Contains(texts(), "") || len(texts()) > providers[d.provider].most {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"not as the reference has it: %s","type":"invalid_request_error"}}`, r.URL.Path)
		return
	}
	if strings.Contains(q.InputType+q.Task, "query") {
		d.queries++
	}
	var rows [][]float64
	for _, t := range texts() {
		rows = append(rows, d.vectorOf(t))
		d.paid[t]++
	}
	d.batches = append(d.batches, len(rows))
	switch d.provider {
	case "ollama":
		if q.Dimensions == nil || *q.Dimensions < 1 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"dimensions missing"}`)
			return
		}
		write(w, map[string]any{"model": "m", "embeddings": rows, "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8})
	case "cohere":
		if q.InputType == "" || !slices.Equal(q.Types, []string{"float"}) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"message":"valid input_type must be provided with the provided model"}`)
			return
		}
		write(w, map[string]any{"id": "da6e531f-54c5-4a73-bf92-f60566d8d753", "embeddings": map[string]any{"float": rows}, "texts": q.Texts,
			"response_type": "embeddings_by_type", "meta": map[string]any{"api_version": map[string]any{"version": "2"}, "billed_units": map[string]any{"input_tokens": 2}}})
	default:
		var data []map[string]any
		for i, v := range slices.Backward(rows) { // in an order of its own: the index says which is which
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
		}
		reply := map[string]any{"object": "list", "data": data, "model": "m"}
		switch d.provider {
		case "voyage": // no prompt_tokens
			reply["usage"] = map[string]any{"total_tokens": 8}
		case "mistral": // https://docs.mistral.ai/api/endpoint/embeddings: an id, and completion_tokens
			reply["id"] = "cf79f7daaee244b1a0ae5c7b1444424a"
			reply["usage"] = map[string]any{"prompt_tokens": 8, "total_tokens": 8, "completion_tokens": 0}
		default:
			reply["usage"] = map[string]any{"prompt_tokens": 8, "total_tokens": 8}
		}
		write(w, reply)
	}
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// remote returns an embedder of the double, as a process that begins anew has it.
func (d *double) remote(t testing.TB, dir string) *Remote {
	t.Helper()
	e, err := New(Config{Backend: d.provider, Endpoint: d.URL, Model: "m", Key: "secret-key", Dims: d.dims, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := e.(*Remote)
	r.sleep = func(context.Context, time.Duration) error { return nil }
	return r
}

func (d *double) twice() (out []string) {
	for t, n := range d.paid {
		if n > 1 {
			out = append(out, t)
		}
	}
	return out
}

func each(t *testing.T, f func(t *testing.T, d *double)) {
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		t.Run(name, func(t *testing.T) { f(t, newDouble(t, name, 24)) })
	}
}

func some(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("func Number%d() int { return %d }", i, i))
	}
	return texts
}

func TestBatches(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		r := d.remote(t, t.TempDir())
		texts := append(some(600), "", " \n", "func Number1() int { return 1 }")
		vectors, err := r.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		most := providers[d.provider].most
		if len(d.batches) != (600+most-1)/most || slices.Max(d.batches) != most || len(d.twice()) > 0 {
			t.Errorf("batches of %v, twice %v", d.batches, d.twice())
		}
		for i, v := range vectors {
			want := make([]float32, d.dims)
			if clean(texts[i]) != "" {
				for k, x := range d.vectorOf(texts[i]) {
					want[k] = float32(x)
				}
				normalise(want)
			}
			if !cmp.Equal(v, want) {
				t.Fatalf("text %d has another vector", i)
			}
		}
		if _, err := r.EmbedQuery(t.Context(), "how is a number made"); err != nil {
			t.Error(err)
		}
		if told := map[string]int{"cohere": 1, "voyage": 1, "jina": 1}[d.provider]; d.queries != told {
			t.Errorf("%d questions were told from documents, want %d", d.queries, told)
		}
		// The second time a search asks for its question nothing is sent.
		before := d.requests
		if _, err := r.EmbedQuery(t.Context(), "how is a number made"); err != nil || d.requests != before {
			t.Error(err, d.requests-before)
		}
	})
}

// What is busy or ill is asked again, as late as it says; in the end nothing was paid twice.
func TestBusyAndIll(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		r := d.remote(t, t.TempDir())
		var slept []time.Duration
		r.sleep = func(_ context.Context, w time.Duration) error { slept = append(slept, w); return nil }
		plan := []func(w http.ResponseWriter){
			func(w http.ResponseWriter) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
				fmt.Fprint(w, `{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"}}`)
			},
			func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
			func(w http.ResponseWriter) {
				w.Header().Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
				w.WriteHeader(http.StatusTooManyRequests)
			},
			func(w http.ResponseWriter) { // it breaks off in the middle
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, `{"data":[`)
			},
		}
		n := 0
		d.answer = func(w http.ResponseWriter) bool {
			if n++; n <= len(plan) {
				plan[n-1](w)
				return true
			}
			return false
		}
		if _, err := r.Embed(t.Context(), some(10)); err != nil {
			t.Fatal(err)
		}
		if len(slept) != 4 || slept[0] != 7*time.Second || slept[1] != 2*time.Second || slept[2] < 80*time.Second || slept[2] > 91*time.Second {
			t.Errorf("waited %v", slept)
		}
		if len(d.twice()) > 0 || len(d.paid) != 10 {
			t.Errorf("paid %v", d.paid)
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		for _, tt := range []struct {
			status   int
			body     string
			code     kb.Code
			says     string
			requests int
		}{
			{401, `{"error":{"message":"Incorrect API key provided: secret-key"}}`, kb.Denied, "refuses the key: Incorrect API key provided: ****", 1},
			{400, `{"message":"invalid model\u001b[31m"}`, kb.Invalid, "invalid model", 1},
			{404, `{"error":"model \"m\" not found, try pulling it first"}`, kb.Invalid, "try pulling it first", 1},
			{422, `{"detail":"too long"}`, kb.Invalid, "too long", 1},
			{422, `{"detail":[{"loc":["body","input"],"msg":"Field required","type":"missing"}]}`, kb.Invalid, "Field required", 1},
			{400, `{"object":"error","message":"Too many inputs in request, split into more batches.","type":"invalid_request_error","param":null,"code":"3210"}`, kb.Invalid, "Too many inputs", 1},
			{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, kb.Away, "exceeded your current quota", 1},
			{429, `{"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300"}`, kb.Away, "Rate limit exceeded", mostTries},
			{500, `oops`, kb.Away, "status 500", mostTries},
			{302, ``, kb.Invalid, "status 302", 1},
			{200, `<html>`, kb.Away, "cannot be read", 1},
			{200, `{}`, kb.Away, "", 1},
		} {
			r := d.remote(t, t.TempDir())
			d.requests = 0
			d.answer = func(w http.ResponseWriter) bool {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
				return true
			}
			_, err := r.Embed(t.Context(), some(3))
			code := kb.CodeOf(err)
			// An answer without rows is either no row for each text, or rows of no dimension.
			if tt.body == "{}" && code == kb.Invalid {
				code = kb.Away
			}
			if err == nil || code != tt.code || !strings.Contains(err.Error(), tt.says) || kb.HintOf(err) == "" || d.requests != tt.requests ||
				strings.Contains(err.Error()+kb.HintOf(err), "secret-key") || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%d %s: %v (%s) after %d requests", tt.status, tt.body, err, kb.HintOf(err), d.requests)
			}
			if left, _ := filepath.Glob(filepath.Join(r.c.Dir, "*.rows")); len(left) > 0 {
				t.Errorf("%d %s: something of it is kept", tt.status, tt.body)
			}
		}
	})
}

// TestAsked: models of several lengths are told which, others not, and questions are told
// from documents in each one's words.
func TestAsked(t *testing.T) {
	for _, tt := range []struct{ provider, model, want, question string }{
		{"openai", "text-embedding-3-small", `"dimensions":8`, ""},
		{"openai", "text-embedding-ada-002", "", ""},
		{"ollama", "embeddinggemma", `"dimensions":8`, ""},
		{"cohere", "embed-v4.0", `"output_dimension":8`, `"input_type":"search_query"`},
		{"cohere", "embed-english-v3.0", "", `"input_type":"search_query"`},
		{"voyage", "voyage-4-large", `"output_dimension":8`, `"input_type":"query"`},
		{"voyage", "voyage-3.5-lite", `"output_dimension":8`, `"input_type":"query"`},
		{"voyage", "voyage-code-3", `"output_dimension":8`, `"input_type":"query"`},
		{"voyage", "voyage-3-lite", "", `"input_type":"query"`},
		{"mistral", "mistral-embed", "", ""},
		{"mistral", "codestral-embed", `"output_dimension":8`, ""},
		{"jina", "jina-embeddings-v3", `"dimensions":8`, `"task":"retrieval.query"`},
		{"jina", "jina-code-embeddings-1.5b", `"dimensions":8`, `"task":"nl2code.query"`},
		{"jina", "jina-embeddings-v2-base-code", "", ""},
	} {
		raw, err := json.Marshal(providers[tt.provider].body(&Config{Model: tt.model, Dims: 8}, []string{"a"}, true))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); strings.Contains(got, `dimension`) != (tt.want != "") || !strings.Contains(got, tt.want) || !strings.Contains(got, tt.question) ||
			tt.question == "" && (strings.Contains(got, "task") || strings.Contains(got, "input_type")) {
			t.Errorf("%s: %s", tt.model, got)
		}
	}
}

// TestTokens: a request stays below what its provider takes in one.
func TestTokens(t *testing.T) {
	d := newDouble(t, "mistral", 16)
	texts := make([]string, 12)
	for i := range texts {
		texts[i] = fmt.Sprint(i) + strings.Repeat(" word", 3000)
	}
	if _, err := d.remote(t, t.TempDir()).Embed(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	if len(d.batches) < 3 || slices.Max(d.batches) > 5 {
		t.Errorf("batches of %v texts of some 3,000 tokens", d.batches)
	}
}

func TestWrongDimension(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		r := d.remote(t, t.TempDir())
		d.dims = 31
		_, err := r.Embed(t.Context(), some(3))
		if kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "embedder.dimensions: 31") {
			t.Error(err, kb.HintOf(err))
		}
	})
}

// A process that dies anywhere pays for no row twice: those it has read are kept.
func TestResumed(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		dir := t.TempDir()
		texts := some(700)
		runs := 0
		for done := false; !done; runs++ {
			r := d.remote(t, dir)
			left := 2 // requests that are answered before it dies
			ctx, die := context.WithCancel(t.Context())
			d.answer = func(w http.ResponseWriter) bool {
				if left--; left < 0 {
					die() // nothing of this one was delivered, or paid for
					w.WriteHeader(http.StatusServiceUnavailable)
					return true
				}
				return false
			}
			if n, err := r.Missing(texts); err != nil || n == 0 {
				t.Error(n, err)
			}
			_, err := r.Embed(ctx, texts)
			die()
			done = err == nil
			// What a kill leaves of a row is no row.
			f, err := os.OpenFile(r.journal.path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(make([]byte, 5+runs)); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if runs < 2 || len(d.twice()) > 0 || len(d.paid) != len(texts) {
			t.Errorf("%d runs, %d rows paid for, twice: %d", runs, len(d.paid), len(d.twice()))
		}
		d.answer = nil
		r := d.remote(t, dir)
		requests := d.requests
		if n, err := r.Missing(texts); n != 0 || err != nil {
			t.Error(n, err)
		}
		if _, err := r.Embed(t.Context(), texts); err != nil || d.requests != requests {
			t.Errorf("%v, %d requests", err, d.requests-requests)
		}
	})
}

// Many at once who want the same texts pay once.
func TestAtOnce(t *testing.T) {
	d := newDouble(t, "openai", 16)
	dir := t.TempDir()
	r := d.remote(t, dir)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := r.Embed(t.Context(), some(50+10*i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(d.twice()) > 0 || len(d.paid) != 120 {
		t.Errorf("%d rows, twice %v", len(d.paid), d.twice())
	}
}

// A damaged row is asked for again, and its neighbours are not.
func TestDamagedJournal(t *testing.T) {
	d := newDouble(t, "voyage", 16)
	dir := t.TempDir()
	r := d.remote(t, dir)
	if _, err := r.Embed(t.Context(), some(5)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(r.journal.path)
	if err != nil {
		t.Fatal(err)
	}
	raw[2*r.journal.row()+40] ^= 1
	if err := os.WriteFile(r.journal.path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.remote(t, dir).Embed(t.Context(), some(5)); err != nil || len(d.twice()) != 1 {
		t.Error(err, d.twice())
	}
}

func TestRemoteConformance(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		r := d.remote(t, t.TempDir())
		if r.ID() != d.provider+"-m-1-24" {
			t.Error(r.ID())
		}
		conforms(t, r)
	})
}

func TestIDNamesVersion(t *testing.T) {
	e, err := New(Config{Backend: "openai", Model: "BAAI/bge-small:en", Dims: 384, Version: 3})
	if err != nil || e.ID() != "openai-BAAI_bge-small_en-3-384" {
		t.Error(e, err)
	}
	for _, c := range []Config{{Backend: "openai", Dims: 3}, {Backend: "openai", Model: "m"}, {Backend: "openai", Model: "m", Dims: 5000}, {Backend: "openai", Model: "m", Dims: 5, Endpoint: "x"}} {
		if _, err := New(c); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// Without a key nothing is sent.
	d := newDouble(t, "cohere", 4)
	e, err = New(Config{Backend: "cohere", Endpoint: d.URL, Model: "m", Dims: 4, KeyName: "COHERE_KEY", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), some(1)); kb.CodeOf(err) != kb.Denied || !strings.Contains(err.Error(), "COHERE_KEY") || d.requests > 0 {
		t.Error(err)
	}
}
