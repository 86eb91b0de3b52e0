package main

import (
	"cmp"
	_ "embed" // the concepts are a part of the program
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

// conceptsText holds one concept a line: words that documentation uses for it,
// and how people describe it who do not know them, separated by " | ".
// Written by hand, like the thesaurus.
//
//go:embed concepts.txt
var conceptsText string

const (
	conceptSections = 6   // sections that a concept is looked up in, at most
	conceptCover    = 0.6 // of the weight of a concept's words that they hold, at least
)

// addConcepts adds to the corpus every description of a concept with the
// concept's own words, and with sections of documentation that are about it:
// those that hold most of its words, by how rare these are.
func addConcepts(c *corpus, text string, seed uint64) {
	n := number(c)
	// Where words stand in sections, headings included.
	posts := map[uint32][]int32{}
	sections := 0
	for i := range c.pairs {
		p := &c.pairs[i]
		if p.kind != kindHeading {
			continue
		}
		sections++
		for _, o := range p.d {
			posts[o.word] = append(posts[o.word], int32(i))
		}
		for _, o := range p.q {
			if l := posts[o.word]; len(l) == 0 || l[len(l)-1] != int32(i) {
				posts[o.word] = append(l, int32(i))
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 97))
	repo := uint16(len(c.sources))
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) < 2 {
			continue
		}
		words := n.side(embed.Split(fields[0]))
		found := map[int32]float64{}
		sum := 0.0
		for _, o := range words {
			idf := math.Log(float64(sections+1) / float64(len(posts[o.word])+1))
			sum += idf
			for _, i := range posts[o.word] {
				found[i] += idf
			}
		}
		var best []int32
		for i, x := range found {
			if x >= conceptCover*sum {
				best = append(best, i)
			}
		}
		slices.SortFunc(best, func(a, b int32) int {
			return cmp.Or(cmp.Compare(found[b]/math.Sqrt(float64(20+len(c.pairs[b].d))), found[a]/math.Sqrt(float64(20+len(c.pairs[a].d)))), cmp.Compare(a, b))
		})
		best = best[:min(len(best), conceptSections)]
		for _, d := range fields[1:] {
			q := n.side(embed.Split(d))
			c.pairs = append(c.pairs, example{kind: kindConcept, repo: repo, q: q, d: words})
			for _, i := range best {
				if r.IntN(2) == 0 {
					continue
				}
				p := c.pairs[i]
				p.kind, p.q = kindConcept, q
				c.pairs = append(c.pairs, p)
			}
		}
	}
}
