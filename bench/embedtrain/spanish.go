package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

// glossary gives the Spanish for English words: per word a list of
// alternatives, each of one or more words as embed.Split gives them.
type glossary map[string][][]string

// readGlossary inflects the entries of the thesaurus: verbs by their regular
// forms, nouns and adjectives by gender and number. Alternatives of several
// words stay as they are.
func readGlossary() glossary {
	g := glossary{}
	for e := range thesaurus.Spanish() {
		kind := string(e.Kind)
		var forms [][]string
		for _, es := range e.Alternatives {
			for _, f := range spanishForms(kind, es) {
				forms = append(forms, embed.Split(f))
			}
		}
		for _, en := range englishForms(kind, e.Word) {
			g[en] = append(g[en], forms...)
		}
	}
	return g
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
	if strings.Contains(w, " ") || kind == "w" {
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
func addSpanish(c *corpus, share float64, seed uint64) {
	if share == 0 {
		return
	}
	g := readGlossary()
	n := number(c)
	r := rand.New(rand.NewPCG(seed, 99))
	for i := range c.pairs {
		p := c.pairs[i]
		if p.kind == kindString || p.kind == kindFile || r.Float64() >= share {
			continue
		}
		q, right, all := n.replace(p.q, g, r, func() bool { return false })
		if float64(right)/float64(max(1, all)) < 0.6 {
			continue
		}
		p.kind, p.q = kindSpanish, q
		if r.IntN(4) == 0 {
			p.d, _, _ = n.replace(p.d, g, r, func() bool { return r.Float64() >= 0.5 })
		}
		c.pairs = append(c.pairs, p)
	}
	n.entries(kindGloss, g)
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
