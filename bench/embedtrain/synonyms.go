package main

import (
	"math/rand/v2"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

// synonyms gives for English words what is said instead: per word a list of
// alternatives, each of one or more words as embed.Split gives them, in the
// same form if they are single.
func synonyms(known func(string) bool) map[string][][]string {
	m := map[string][][]string{}
	for e := range thesaurus.English() {
		kind := string(e.Kind)
		for _, a := range e.Alternatives {
			m[e.Word] = append(m[e.Word], embed.Split(a))
			if e.Kind != 'v' && e.Kind != 'n' {
				continue
			}
			theirs := englishForms(kind, a)
			for i, form := range englishForms(kind, e.Word) {
				if i > 0 && i < len(theirs) && known(form) && known(theirs[i]) {
					m[form] = append(m[form], []string{theirs[i]})
				}
			}
		}
	}
	return m
}

// addSynonyms adds to the corpus share of its pairs once more with some words
// of the short side in place of others, and every pair of the thesaurus.
func addSynonyms(c *corpus, share float64, seed uint64) {
	if share == 0 {
		return
	}
	n := number(c)
	m := synonyms(n.known)
	r := rand.New(rand.NewPCG(seed, 98))
	keep := func() bool { return r.Float64() < 0.4 }
	for i := range c.pairs {
		p := c.pairs[i]
		switch p.kind {
		case kindString, kindFile, kindName:
			continue
		}
		if r.Float64() >= share {
			continue
		}
		q, replaced, _ := n.replace(p.q, m, r, keep)
		if replaced < 2 && replaced*3 < len(p.q) {
			continue
		}
		p.kind, p.q = kindSynonym, q
		c.pairs = append(c.pairs, p)
	}
	n.entries(kindThesaurus, m)
}
