package main

import (
	_ "embed" // the glossary is a part of the program
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

//go:embed glossary.txt
var glossaryText string

// glossary gives the Spanish for English words: per word a list of
// alternatives, each of one or more words as embed.Split gives them.
type glossary map[string][][]string

// readGlossary reads lines "KIND english: spanish spanish…", KIND one of
//
//	v verb: regular forms of both languages
//	n noun, a adjective: gender and number
//	w as it stands
//
// An alternative of several words has "_" between them and is not inflected.
func readGlossary(text string) (glossary, error) {
	g := glossary{}
	for i, l := range strings.Split(text, "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		left, right, ok := strings.Cut(l, ": ")
		kind, en, ok2 := strings.Cut(left, " ")
		if !ok || !ok2 || len(kind) != 1 || !strings.Contains("vnaw", kind) {
			return nil, fmt.Errorf("glossary, line %d: %q", i+1, l)
		}
		var forms [][]string
		for _, es := range strings.Fields(right) {
			for _, f := range spanishForms(kind, es) {
				forms = append(forms, embed.Split(strings.ReplaceAll(f, "_", " ")))
			}
		}
		for _, e := range englishForms(kind, en) {
			g[e] = append(g[e], forms...)
		}
	}
	return g, nil
}

func englishForms(kind, w string) []string {
	out := []string{w}
	if kind == "w" || kind == "a" {
		return out
	}
	stem := strings.TrimSuffix(w, "e")
	y := strings.HasSuffix(w, "y") && !strings.HasSuffix(w, "ay") && !strings.HasSuffix(w, "ey") && !strings.HasSuffix(w, "oy")
	switch {
	case y:
		out = append(out, w[:len(w)-1]+"ies")
	case strings.HasSuffix(w, "s"), strings.HasSuffix(w, "sh"), strings.HasSuffix(w, "ch"), strings.HasSuffix(w, "x"):
		out = append(out, w+"es")
	default:
		out = append(out, w+"s")
	}
	if kind == "v" {
		out = append(out, stem+"ing")
		if y {
			out = append(out, w[:len(w)-1]+"ied")
		} else {
			out = append(out, stem+"ed")
		}
		if n := len(w); n > 2 && strings.ContainsRune("aeiou", rune(w[n-2])) && !strings.ContainsRune("aeiouwxy", rune(w[n-1])) {
			out = append(out, w+w[n-1:]+"ing", w+w[n-1:]+"ed")
		}
	}
	return out
}

func spanishForms(kind, w string) []string {
	if strings.Contains(w, "_") || kind == "w" {
		return []string{w}
	}
	plain := strings.Join(embed.Split(w), "") // without accents
	n := len(plain)
	if kind == "v" {
		stem := plain[:max(0, n-2)]
		switch {
		case strings.HasSuffix(plain, "ar"):
			// The c, g and z of the stem change before e.
			soft := stem
			switch {
			case strings.HasSuffix(stem, "c"):
				soft = stem[:len(stem)-1] + "qu"
			case strings.HasSuffix(stem, "g"):
				soft = stem + "u"
			case strings.HasSuffix(stem, "z"):
				soft = stem[:len(stem)-1] + "c"
			}
			return []string{plain, plain, stem + "a", stem + "a", stem + "an", stem + "o", stem + "as", stem + "ando", stem + "ado", stem + "ada", stem + "ados", stem + "amos", soft + "e", soft + "en", plain + "lo", plain + "se"}
		case strings.HasSuffix(plain, "er"), strings.HasSuffix(plain, "ir"):
			return []string{plain, plain, stem + "e", stem + "e", stem + "en", stem + "o", stem + "es", stem + "iendo", stem + "ido", stem + "ida", stem + "idos", stem + plain[n-2:n-1] + "mos", stem + "a", stem + "an", plain + "lo", plain + "se"}
		}
		return []string{plain}
	}
	plural := plain + "es"
	switch {
	case strings.HasSuffix(plain, "s"):
		plural = plain
	case strings.HasSuffix(plain, "z"):
		plural = plain[:n-1] + "ces"
	case strings.ContainsRune("aeiou", rune(plain[n-1])):
		plural = plain + "s"
	}
	if kind == "a" && strings.HasSuffix(plain, "o") {
		return []string{plain, plain[:n-1] + "a", plural, plain[:n-1] + "as"}
	}
	return []string{plain, plain, plural}
}

// addSpanish adds to the corpus share of its pairs once more with the short
// side word by word in Spanish, every fourth of them with half of the words
// of the long side too, and every pair of terms of the glossary. A model of
// sums of words does not see their order, so that this is as good as a
// translation whose words are right.
func addSpanish(c *corpus, share float64, seed uint64) error {
	g, err := readGlossary(glossaryText)
	if err != nil || share == 0 {
		return err
	}
	numbers := make(map[string]uint32, len(c.words))
	for i, w := range c.words {
		numbers[w] = uint32(i)
	}
	number := func(w string) uint32 {
		n, ok := numbers[w]
		if !ok {
			n = uint32(len(c.words))
			numbers[w] = n
			c.words = append(c.words, w)
		}
		return n
	}
	r := rand.New(rand.NewPCG(seed, 99))
	translate := func(os []occurrence, part float64) ([]occurrence, float64) {
		var ids []uint32
		right, all := 0, 0
		for _, o := range os {
			for range o.n {
				all++
				alternatives := g[c.words[o.word]]
				if len(alternatives) == 0 || part < 1 && r.Float64() >= part {
					ids = append(ids, o.word)
					continue
				}
				right++
				for _, w := range alternatives[r.IntN(len(alternatives))] {
					ids = append(ids, number(w))
				}
			}
		}
		slices.Sort(ids)
		return count(ids), float64(right) / float64(max(1, all))
	}
	for i := range c.pairs {
		p := c.pairs[i]
		if p.kind == kindString || p.kind == kindFile || r.Float64() >= share {
			continue
		}
		q, right := translate(p.q, 1)
		if right < 0.6 {
			continue
		}
		p.kind, p.q = kindSpanish, q
		if r.IntN(4) == 0 {
			p.d, _ = translate(p.d, 0.5)
		}
		c.pairs = append(c.pairs, p)
	}
	words := make([]string, 0, len(g))
	for en := range g {
		if numbers[en] != 0 { // inflected by rule and written by somebody
			words = append(words, en)
		}
	}
	slices.Sort(words)
	for _, en := range words {
		for _, es := range g[en] {
			var ids []uint32
			for _, w := range es {
				ids = append(ids, number(w))
			}
			slices.Sort(ids)
			c.pairs = append(c.pairs, example{kind: kindGloss, repo: uint16(len(c.sources)), place: 0, q: count(ids), d: []occurrence{{numbers[en], 1}}})
		}
	}
	return nil
}

// count turns ascending numbers into occurrences.
func count(ids []uint32) []occurrence {
	var out []occurrence
	for _, id := range ids {
		if k := len(out) - 1; k >= 0 && out[k].word == id {
			out[k].n++
		} else {
			out = append(out, occurrence{id, 1})
		}
	}
	return slices.Clip(out)
}
