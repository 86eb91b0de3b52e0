package search

import (
	"context"
	"strings"

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
	words := q.Near()
	var texts []string
	var sections []*rank.Section
	var scan terms.Scanner
	for ti := range targets {
		var places []kb.Place
		var chosen []int
		for _, i := range at {
			if found[i].Store == ti {
				places, chosen = append(places, found[i].Place), append(chosen, i)
			}
		}
		if len(places) == 0 {
			continue
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
			found[chosen[j]].Section = s
			if query != nil {
				texts = append(texts, heading+" "+lead(p.Text))
				sections = append(sections, s)
			}
		}
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
