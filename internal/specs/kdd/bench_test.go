package kdd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// many returns a source of n specifications, each with a dozen relations, some
// of them to documents that many point at.
func many(n int) Source {
	kinds := []string{"entity", "event", "business-rule", "command", "query", "use-case", "requirement", "adr"}
	prefix := []string{"", "EVT", "BR", "CMD", "QRY", "UC", "REQ", "ADR"}
	id := func(i int) string {
		if prefix[i%8] == "" {
			return fmt.Sprintf("Thing%d", i)
		}
		return fmt.Sprintf("%s-%05d", prefix[i%8], i)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	list := make([]kb.SpecEntry, n)
	for i := range list {
		d := &kb.SpecDoc{Kind: kinds[i%8], ID: id(i), Title: "Título " + id(i), Domain: fmt.Sprint("d", i%20), Status: "active"}
		for k := range 8 {
			d.Sections = append(d.Sections, kb.SpecSection{Path: []string{d.Title, fmt.Sprint("Sección ", k)}, Level: 2, Anchor: fmt.Sprint("seccion-", k), Type: "DEFAULT", Start: 10*k + 1, End: 10*k + 10})
		}
		d.Nodes = []kb.SpecNode{{Type: "concept", Name: d.Domain, Confidence: 1}, {Type: "actor", Name: "Customer", Line: 3, Confidence: 0.85}}
		d.Edges = []kb.SpecEdge{
			{Target: d.Domain, Type: "RELATED_TO", Method: "frontmatter", Line: 2, Confidence: 1},
			{From: "Customer", Type: "PERFORMS", Method: "table", Line: 3, Confidence: 0.85},
		}
		for k := range 12 {
			to := rnd.IntN(n)
			if k < 2 {
				to = rnd.IntN(n/100 + 1)
			}
			typ := [...]string{"MENTIONS", "INVOKES", "DEPENDS_ON", "REFERENCES"}[k%4]
			target := id(to)
			if k%3 == 0 {
				target += "-WithAName"
			}
			d.Edges = append(d.Edges, kb.SpecEdge{Target: target, Type: typ, Method: "wiki_link", Line: 10 + 5*k, Confidence: 0.9})
		}
		d.Mentions = []kb.SpecMention{{Text: fmt.Sprintf("internal/thing%d.go", i%500), Line: 9}}
		list[i] = kb.SpecEntry{Path: fmt.Sprintf("specs/d%02d/%s-x%05d.md", i%20, id(i), i), Chunks: 5, Spec: d}
	}
	return source("many", list...)
}

func source(name string, list ...kb.SpecEntry) Source {
	return Source{Store: kb.Store{ID: kb.StoreID(name)}, Label: name, Docs: func(_ context.Context, yield func(kb.SpecEntry) error) error {
		for _, e := range list {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}}
}

func BenchmarkJoin10k(b *testing.B) {
	src := many(10_000)
	for b.Loop() {
		if _, err := Join(b.Context(), []Source{src}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRelated10k(b *testing.B) {
	g, err := Join(b.Context(), []Source{many(10_000)})
	if err != nil {
		b.Fatal(err)
	}
	for depth := 1; depth <= MaxDepth; depth++ {
		b.Run(fmt.Sprint("depth", depth), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if r := g.Related(Query{Entity: g.docs[i*37%len(g.docs)].ID, Depth: depth}); r.Total == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
	b.Run("impact", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			g.Impact(Query{Entity: g.docs[i*37%len(g.docs)].ID})
		}
	})
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			g.Related(Query{Entity: "CMD-0l003x"})
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			g.Check(Filter{})
		}
	})
}
