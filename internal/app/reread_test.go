package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// TestIndexOfOlderRules: a store that was indexed before there were rules on
// secrets shows none, not even until it has been read again, which begins by itself.
func TestIndexOfOlderRules(t *testing.T) {
	s := producttest.NewSite(t)
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	body := "package bot\n\n// Login is how the bot logs in.\nfunc Login() { call(\"" + token + "\") }\n"
	s.Write("p/bot.go", body)
	a := s.In("p", false)
	s.Create(a, app.CreateStore{Name: "own", Source: s.Root + "/p", User: true})
	c, st, err := a.Lookup(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}

	// As a program without such rules had left it.
	text := kb.Text{Body: body, Language: "go"}
	cut, err := c.Indexer.Cutter.Split(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := c.Indexer.Embedder.Embed(t.Context(), make([]string, len(cut.Chunks)))
	if err != nil {
		t.Fatal(err)
	}
	b := index.NewBuilder(chunk.Version, c.Indexer.Embedder.Dims())
	n := b.Add(kb.HashDocument([]byte(body)), text, cut.Chunks, &cut.Facts)
	for _, v := range vectors {
		b.Vectors().Add(v)
	}
	name, _, err := b.Write(c.Pool.Dir, c.Indexer.Embedder.ID())
	if err != nil {
		t.Fatal(err)
	}
	m := kb.Manifest{Store: st.ID, Generation: st.Head.Generation + 1, Chunker: chunk.Version, Embedder: c.Indexer.Embedder.ID(),
		Documents: []kb.Located{{Path: "bot.go", Location: kb.Location{Segment: name, Number: n}}}}
	g, err := c.Pool.NewGeneration(t.Context(), m)
	if err == nil {
		_, _, err = g.Write(t.Context(), "old.gen")
	}
	if err != nil {
		t.Fatal(err)
	}
	old := *st.Head
	old.Generation, old.Manifest, old.Segments, old.Rules, old.Masked, old.Layout = m.Generation, "old.gen", []string{name}, 0, 0, ""
	if err := c.Catalog.Publish(t.Context(), st.ID, old.Generation-1, old); err != nil {
		t.Fatal(err)
	}

	idx, _, err := c.Library.Get(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	d, err := idx.Document(t.Context(), "bot.go")
	if err != nil || d.Body == body || len(d.Body) != len(body) || strings.Contains(d.Body, token) {
		t.Errorf("document %q, %v", d.Body, err)
	}
	for i := range d.Chunks {
		p, err := idx.Passages(t.Context(), []kb.Place{{Path: "bot.go", Chunk: i}})
		if err != nil || strings.Contains(p[0].Text, token) {
			t.Errorf("passage %+v, %v", p, err)
		}
	}
	idx.Release()

	r := s.Search(a, search.Request{Query: "how the bot logs in"}, app.Scope{Stores: []string{"own"}})
	for _, h := range r.Hits {
		if strings.Contains(h.Code, token) {
			t.Errorf("a hit shows it: %q", h.Code)
		}
	}
	for wait := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		head, err := c.Catalog.Head(t.Context(), st.ID)
		if err != nil {
			t.Fatal(err)
		}
		if head.Rules == secret.Version && head.Masked == 1 {
			break
		}
		if time.Now().After(wait) {
			t.Fatalf("it was not read again: %+v", head)
		}
	}
}
