package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// parts asks for each part of a search by itself, thirty times, and says what it takes of
// the wall and of the nodes' processors.
func (b *bench) parts(ctx context.Context) error {
	chunks, documents := b.x.Classes(1)
	r := rand.New(rand.NewPCG(7, 7))
	z := rand.NewZipf(r, 1.2, 4, 1<<18)
	only := weaviate.Any("seg", b.names)
	byWords := func(where *weaviate.Where, n int) weaviate.Query {
		return weaviate.Query{Class: chunks, Return: []string{"doc", "n"}, Where: where, Words: strings.TrimSpace(words(r, z, 5)), In: []string{"body^1", "symbols^2", "headings^1"}, Limit: n}
	}
	byVector := func(where *weaviate.Where) weaviate.Query {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return weaviate.Query{Class: chunks, Return: []string{"doc", "n"}, Where: where, Vector: v, Limit: 60}
	}
	load := func(n int) weaviate.Query {
		var docs []string
		for range n {
			d := b.docs[r.IntN(len(b.docs))]
			docs = append(docs, d.Segment+"/"+strconv.Itoa(d.Number))
		}
		where := weaviate.Any("doc", docs)
		return weaviate.Query{Class: documents, Return: []string{"doc", "card", "rows"}, Where: &where, Limit: n}
	}
	for _, part := range []struct {
		what string
		make func() []weaviate.Query
	}{
		{"150 by words, of the store's segments", func() []weaviate.Query { return []weaviate.Query{byWords(&only, 150)} }},
		{"150 by words, of all", func() []weaviate.Query { return []weaviate.Query{byWords(nil, 150)} }},
		{"30 by words, of all", func() []weaviate.Query { return []weaviate.Query{byWords(nil, 30)} }},
		{"60 by vector, of the store's segments", func() []weaviate.Query { return []weaviate.Query{byVector(&only)} }},
		{"60 by vector, of all", func() []weaviate.Query { return []weaviate.Query{byVector(nil)} }},
		{"both, of the store's segments", func() []weaviate.Query { return []weaviate.Query{byWords(&only, 150), byVector(&only)} }},
		{"both, of all", func() []weaviate.Query { return []weaviate.Query{byWords(nil, 150), byVector(nil)} }},
		{"64 documents", func() []weaviate.Query { return []weaviate.Query{load(64)} }},
	} {
		began, before, rows := time.Now(), b.used(), 0
		for range 30 {
			q := part.make()
			out := make([]any, len(q))
			lists := make([][]struct{ Doc string }, len(q))
			for i := range q {
				out[i] = &lists[i]
			}
			if err := b.x.Client.Get(ctx, q, out); err != nil {
				return err
			}
			for i := range lists {
				rows += len(lists[i])
			}
		}
		b.say("| one request: %s | %.0f ms, %.0f ms of the nodes' processor time, %d rows |", part.what, float64(time.Since(began).Milliseconds())/30,
			float64((b.used()-before).Milliseconds())/30, rows/30)
	}
	return nil
}
