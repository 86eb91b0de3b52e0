package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// closely reads the sections of prose among the candidates that may answer a
// question in words: what their headings and first paragraphs say tells them
// apart better than their whole text.
func closely(ctx context.Context, targets []Target, emb kb.Embedder, q *rank.Query, found []rank.Evidence, o rank.Options, t *Tuning) error {
	at := rank.Closely(q, found, o)
	if len(at) == 0 {
		return nil
	}
	var query []float32
	if embed.Cheap(emb) {
		var err error
		if query, err = weighted(ctx, emb, q); err != nil {
			return err
		}
	}
	// Half of them on another processor, each document on one.
	slices.SortFunc(at, func(a, b int) int {
		x, y := &found[a], &found[b]
		return cmp.Or(cmp.Compare(x.Store, y.Store), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Chunk, y.Chunk))
	})
	half := len(at) / 2
	for half > 0 && half < len(at) && found[at[half]].Path == found[at[half-1]].Path {
		half++
	}
	words := q.Near()
	leads := make([][]float32, len(at))
	var failed [2]error
	var wg sync.WaitGroup
	for i, part := range [2][2]int{{0, half}, {half, len(at)}} {
		wg.Go(func() {
			failed[i] = look(ctx, targets, q, words, found, at[part[0]:part[1]], t.LeadBytes, func(texts []string) error {
				if query == nil {
					return nil
				}
				vectors, err := emb.Embed(ctx, texts)
				copy(leads[part[0]:], vectors)
				return err
			})
		})
	}
	wg.Wait()
	if err := cmp.Or(failed[0], failed[1]); err != nil || query == nil {
		return err
	}
	for i, x := range apart(query, leads, t.Common) {
		found[at[i]].Section.Lead = x
	}
	return nil
}

// weighted returns the vector of a query whose words count by how rare they
// are in the stores that are asked: the model knows only how rare they are in
// general. Nil when it knows none of them.
func weighted(ctx context.Context, emb kb.Embedder, q *rank.Query) ([]float32, error) {
	var words []string
	var weights []float64
	for w, idf := range q.Telling() {
		words, weights = append(words, w), append(weights, idf)
	}
	vectors, err := emb.Embed(ctx, words)
	if err != nil {
		return nil, err
	}
	sum := make([]float32, emb.Dims())
	for i, v := range vectors {
		for k, x := range v {
			sum[k] += float32(weights[i]) * x
		}
	}
	if kb.Dot(sum, sum) == 0 {
		return nil, nil
	}
	kb.Unit(sum)
	return sum, nil
}

// apart returns how near the query is to each text, in [0,1]: ½ plus half of what
// kb.Apart returns.
func apart(query []float32, texts [][]float32, common float64) []float64 {
	near := kb.Apart(query, texts, common)
	for i := range near {
		near[i] = 0.5 + 0.5*near[i]
	}
	return near
}

// look reads the sections of some candidates, those of one store after
// another, and gives headings and first paragraphs of all to leads.
func look(ctx context.Context, targets []Target, q *rank.Query, words map[string]uint64, found []rank.Evidence, at []int, leadBytes int, leads func([]string) error) error {
	var texts []string
	var scan terms.Scanner
	for len(at) > 0 {
		ti, n := found[at[0]].Store, 0
		var places []kb.Place
		for n < len(at) && found[at[n]].Store == ti {
			places = append(places, found[at[n]].Place)
			n++
		}
		passages, err := targets[ti].Index.Passages(ctx, places)
		if err != nil {
			return of(ti, err)
		}
		for j := range passages {
			p := &passages[j]
			heading := strings.Join(p.Chunk.Decl, " ")
			var has uint64
			note := func(term []byte, _ bool) { has |= words[string(term)] }
			scan.Scan(heading, note)
			scan.Scan(p.Text, note)
			first := heading + " " + lead(p.Text, leadBytes)
			found[at[j]].Section = &rank.Section{Title: strings.Join(p.Chunk.Decl, "\x00"), Words: q.Covers(has),
				Bytes: len(p.Text), Deprecated: rank.Deprecated(first)}
			texts = append(texts, first)
		}
		at = at[n:]
	}
	return leads(texts)
}

// lead returns the first paragraph of a section in Markdown, at most so many bytes of it.
func lead(text string, most int) string {
	for text != "" {
		p, rest, _ := strings.Cut(text, "\n\n")
		text = strings.TrimLeft(rest, "\n")
		p = strings.TrimSpace(p)
		if len(p) < 4 || p[0] == '#' || strings.HasPrefix(p, "```") {
			continue
		}
		if len(p) > most {
			p = strings.ToValidUTF8(p[:most], "")
		}
		return p
	}
	return ""
}
