package weaviate_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

var record = flag.Bool("record", false, "write what the cluster at KNOWLEDGE_WEAVIATE_URL answers")

const recorded = "testdata/recorded.json"

// calls asks everything that the client can ask, and returns what came of it.
func calls(t *testing.T, c *weaviate.Client) (out []string) {
	ctx := t.Context()
	say := func(what string, v any, err error) {
		raw, e := json.Marshal(v)
		if e != nil {
			t.Fatal(e)
		}
		code := ""
		if err != nil {
			code = string(kb.CodeOf(err))
		}
		out = append(out, what+": "+string(raw)+" "+code)
	}
	const class = "KnowledgeRecorded"
	yes, no := true, false
	def := weaviate.Class{Name: class, Properties: []weaviate.Property{
		{Name: "kind", DataType: []string{"text"}, Tokenization: "field", Filterable: &yes, Searchable: &no},
		{Name: "body", DataType: []string{"text"}, Tokenization: "whitespace", Filterable: &no, Searchable: &yes},
		{Name: "n", DataType: []string{"int"}, Filterable: &yes}, {Name: "long", DataType: []string{"number"}, Filterable: &no},
		{Name: "data", DataType: []string{"blob"}},
	}, Config: map[string]any{"replicationConfig": map[string]any{"factor": 3}}}
	say("drop what is not there", nil, c.Drop(ctx, class))
	say("define", nil, c.Define(ctx, def))
	say("define again", nil, c.Define(ctx, def))
	object := func(name, kind, body string, n int, v ...float32) weaviate.Object {
		return weaviate.Object{Class: class, ID: weaviate.ID(name), Vector: v, Properties: map[string]any{
			"kind": kind, "body": body, "n": n, "long": 1e12 + float64(n), "data": []byte(name)}}
	}
	say("put", nil, c.Put(ctx, []weaviate.Object{object("a", "x/1", "=Foo the the parser", 1, 1, 0), object("b", "x/2", "parser header", 2, 0, 1),
		object("c", "y", "nothing", 3)}))
	say("put again", nil, c.PutOne(ctx, object("b", "x/2", "parser header body", 2, 0, 1)))
	var one map[string]any
	ok, err := c.Object(ctx, class, weaviate.ID("b"), &one)
	say("object", []any{ok, one}, err)
	ok, err = c.Object(ctx, class, weaviate.ID("z"), &one)
	say("no object", ok, err)
	ok, err = c.Object(ctx, "KnowledgeNever", weaviate.ID("z"), &one)
	say("no class", ok, err)
	get := func(what string, q weaviate.Query) {
		q.Class, q.Return = class, []string{"kind", "n", "long", "data"}
		var rows []map[string]any
		err := c.Get(ctx, []weaviate.Query{q}, []any{&rows})
		if q.Words == "" && q.Vector == nil { // the order is not defined
			slices.SortFunc(rows, func(a, b map[string]any) int { return int(a["n"].(float64) - b["n"].(float64)) })
		}
		say(what, rows, err)
	}
	two := int64(2)
	in, one1 := []string{"body^2"}, weaviate.Where{Path: []string{"n"}, Operator: "Equal", Int: &two}
	kinds, ids := weaviate.Any("kind", []string{"x/1", "y"}), weaviate.Any("id", []string{weaviate.ID("a"), weaviate.ID("c"), weaviate.ID("z")})
	get("all", weaviate.Query{Limit: 10})
	get("a word as it is written", weaviate.Query{Limit: 10, Words: "=Foo", In: in})
	get("a word of another case", weaviate.Query{Limit: 10, Words: "=foo", In: in})
	get("a stop word", weaviate.Query{Limit: 10, Words: "the", In: in})
	get("a vector", weaviate.Query{Limit: 1, Vector: []float32{0.9, 0.1}})
	get("a vector, filtered", weaviate.Query{Limit: 10, Vector: []float32{0.9, 0.1}, Where: &one1})
	get("by a field", weaviate.Query{Limit: 10, Where: &kinds})
	get("by id", weaviate.Query{Limit: 10, Where: &ids})
	n, err := c.Count(ctx, class, nil)
	say("count", n, err)
	n, err = c.Count(ctx, class, &kinds)
	say("count of some", n, err)
	say("delete", nil, c.Delete(ctx, class, kinds))
	n, err = c.Count(ctx, class, nil)
	say("count after", n, err)
	all, healthy, err := c.Nodes(ctx)
	say("nodes", []int{all, healthy}, err)
	say("ready", nil, c.Ready(ctx))
	say("drop", nil, c.Drop(ctx, class))
	return out
}

// TestRecorded: the double answers as a real cluster of three nodes has answered.
func TestRecorded(t *testing.T) {
	address := weaviatetest.New(t).URL
	if *record {
		address = os.Getenv("KNOWLEDGE_WEAVIATE_URL")
	}
	c, err := weaviate.New(address, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := calls(t, c)
	if *record {
		raw, err := json.MarshalIndent(got, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(recorded, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-the cluster +the double\n%s", d)
	}
}

// TestAway: what does not answer is away, within the patience, and says what to do.
func TestAway(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":[{"message":"leader not found"}]}`, http.StatusInternalServerError)
	}))
	defer broken.Close()
	c, err := weaviate.New(broken.URL, "key")
	if err != nil {
		t.Fatal(err)
	}
	c.Read, c.Write = 300*time.Millisecond, 300*time.Millisecond
	_, count := c.Count(t.Context(), "A", nil)
	for what, err := range map[string]error{"read": count, "write": c.PutOne(t.Context(), weaviate.Object{Class: "A", ID: weaviate.ID("a")})} {
		if err == nil || kb.CodeOf(err) != kb.Away || !strings.Contains(kb.HintOf(err), "curl -f "+broken.URL) {
			t.Errorf("%s: %v (%s)", what, err, kb.HintOf(err))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Ready(ctx); kb.CodeOf(err) != kb.Canceled || err == nil {
		t.Errorf("a cancelled call: %v", err)
	}
}

// TestNext: where one address does not answer, the next one does, and the key goes
// with every request.
func TestNext(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	alive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer alive.Close()
	for key, want := range map[string]kb.Code{"key": "", "other": kb.Denied} {
		c, err := weaviate.New(dead.URL+", "+alive.URL, key)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ready(t.Context()); err != nil && kb.CodeOf(err) != want || err == nil && want != "" {
			t.Errorf("with %q: %v", key, err)
		}
	}
	for _, bad := range []string{"", "node1:8080", "ftp://a", "http://user:secret@a"} {
		if _, err := weaviate.New(bad, ""); kb.CodeOf(err) != kb.Invalid || err == nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestHung: an address that takes requests and answers none costs one request a
// fraction of its deadline, and the next ones nothing.
func TestHung(t *testing.T) {
	var asked atomic.Int32
	released := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-r.Context().Done():
		case <-released:
		}
	}))
	defer hung.Close()
	defer close(released)
	c, err := weaviate.New(hung.URL+","+weaviatetest.New(t).URL, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Read = 1900 * time.Millisecond // less than the deadline of the first attempt
	for range 5 {
		if all, _, err := c.Nodes(t.Context()); err != nil || all != 3 {
			t.Errorf("%d nodes, %v", all, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the address that hangs was asked %d times", n)
	}

	// Nobody answers: the caller's own time ends it, and the cluster is away.
	if c, err = weaviate.New(hung.URL, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Ready(ctx); err == nil || kb.CodeOf(err) != kb.Away {
		t.Errorf("a caller who waits no longer: %v", err)
	}
}

// TestPatient: a read that a write begins with waits until a majority is found
// again, one of a search does not.
func TestPatient(t *testing.T) {
	began := time.Now()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if time.Since(began) < 700*time.Millisecond {
			w.WriteHeader(http.StatusInternalServerError) // as while replicas are looked for
			return
		}
		_, _ = w.Write([]byte(`{"properties":{"name":"a"}}`))
	}))
	defer back.Close()
	c, err := weaviate.New(back.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Read = 200 * time.Millisecond
	var o struct{ Name string }
	if _, err := c.Object(t.Context(), "File", weaviate.ID("a"), &o); err == nil || kb.CodeOf(err) != kb.Away {
		t.Errorf("a search: %v", err)
	}
	if ok, err := c.Object(weaviate.Patient(t.Context()), "File", weaviate.ID("a"), &o); err != nil || !ok || o.Name != "a" {
		t.Errorf("a write: %v, %v, %q", ok, err, o.Name)
	}
}
