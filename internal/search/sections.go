package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/rank"
	"github.com/seed-4f2d999b/knowledge/internal/terms"
)

// leadBytes is how much of a section's first paragraph is looked at.
const leadBytes = 600

// closely reads the sections of prose among the candidates that may answer a
// question in words: what their headings and first paragraphs say tells them
// apart better than their whole text.
func closely(ctx context.Context, targets []Target, emb kb.Embedder, q *rank.Query, found []rank.Evidence, o rank.Options) error {
	at := rank.Closely(q, found, o)
	if len(at) == 0 {
		return nil
	}
	var query []float32
	if embed.Cheap(emb) {
		v, err := emb.Embed(ctx, []string{q.Text})
		if err != nil {
			return err
		}
		query = v[0]
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
	parts := [][]int{at[:half], at[half:]}
	var failed [2]error
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { failed[i] = look(ctx, targets, emb, q, query, words, found, parts[i]) })
	}
	wg.Wait()
	return cmp.Or(failed[0], failed[1])
}

// look reads the sections of some candidates, those of one store after
// another.
func look(ctx context.Context, targets []Target, emb kb.Embedder, q *rank.Query, query []float32, words map[string]uint64, found []rank.Evidence, at []int) error {
	var texts []string
	var sections []*rank.Section
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
			s := &rank.Section{Title: strings.Join(p.Chunk.Decl, "\x00")}
			scan.Scan(heading, note)
			s.Names = q.Covers(has)
			scan.Scan(p.Text, note)
			s.Text = q.Covers(has)
			found[at[j]].Section = s
			if query != nil {
				texts = append(texts, heading+" "+lead(p.Text))
				sections = append(sections, s)
			}
		}
		at = at[n:]
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := emb.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, s := range sections {
		s.Lead = dot(vectors[i], query)
	}
	return nil
}

// lead returns the first paragraph of a section in Markdown.
func lead(text string) string {
	for text != "" {
		p, rest, _ := strings.Cut(text, "\n\n")
		text = strings.TrimLeft(rest, "\n")
		p = strings.TrimSpace(p)
		if len(p) < 4 || p[0] == '#' || strings.HasPrefix(p, "```") {
			continue
		}
		if len(p) > leadBytes {
			p = strings.ToValidUTF8(p[:leadBytes], "")
		}
		return p
	}
	return ""
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
