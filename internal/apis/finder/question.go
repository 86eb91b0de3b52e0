package finder

import (
	"cmp"
	"context"
	_ "embed" // the list is a part of the program
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// value matches what in a question is a value and no word of it: what is quoted,
// addresses, paths, files, numbers, names with hyphens and in capitals.
var value = lazyregexp.New(`'[^']{1,200}'|"[^"]{1,200}"|«[^»]{1,200}»|\S*@\S*|\b[\w.-]+(?:/[\w.-]+)+|\b[\w-]+\.[a-z]{1,4}\b` +
	`|\b\w*\d\w*\b|\b[a-z]+-[a-z0-9-]+\b|\b[A-Z]+_[A-Z_]+\b`)

// apart takes the values out of a question and counts them: a/b is two.
func apart(question string) (words string, values int) {
	words = value.ReplaceAllStringFunc(question, func(v string) string {
		values++
		if strings.Contains(v, "/") {
			values++
		}
		return " "
	})
	if len(terms.Of(words)) == 0 {
		return question, values
	}
	return words, values
}

// inItsPath returns how many values the path of an operation needs.
func inItsPath(t *restapi.Tool) int {
	n := 0
	for i := range t.Params {
		if t.Params[i].In == "path" {
			n++
		}
	}
	return n
}

// vocabulary are the words that operations are described with, with their vectors.
type vocabulary struct {
	once  sync.Once
	terms []string
	vecs  [][]float32
}

func (f *Finder) vocabulary(ctx context.Context, emb kb.Embedder) (*vocabulary, error) {
	v := &f.vocab
	var failed error
	v.once.Do(func() {
		seen := map[string]bool{}
		var words []string
		for i := range f.ops {
			for _, w := range plainWords(f.ops[i].text) {
				if t := terms.Of(w); len(t) == 1 && !stops[t[0]] && !seen[t[0]] {
					seen[t[0]] = true
					v.terms, words = append(v.terms, t[0]), append(words, w)
				}
			}
		}
		v.vecs, failed = emb.Embed(ctx, words)
	})
	if failed == nil && len(v.vecs) != len(v.terms) {
		return &vocabulary{}, nil // the first question was cancelled
	}
	return v, failed
}

// plainWords returns the words of a text that have vectors worth comparing.
func plainWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return (c < 'a' || c > 'z') && c < 0x80 })
	return slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })
}

// What is near: from which cosine on, how much such a word counts, and how many.
const (
	nearFrom   = 0.4
	nearWeight = 0.7
	nearMost   = 3
)

// near adds to the terms of a question those of operations that mean nearly the same.
func (f *Finder) near(ctx context.Context, emb kb.Embedder, words string, asked map[string]float64) error {
	own := slices.DeleteFunc(plainWords(words), func(w string) bool {
		t := terms.Of(w)
		return len(t) != 1 || stops[t[0]]
	})
	if len(own) == 0 || len(f.ops) == 0 {
		return nil
	}
	v, err := f.vocabulary(ctx, emb)
	if err != nil {
		return err
	}
	vecs, err := emb.Embed(ctx, own)
	if err != nil {
		return err
	}
	type close struct {
		term string
		cos  float64
	}
	for _, q := range vecs {
		var list []close
		for k, w := range v.vecs {
			dot := 0.0
			for j, x := range w {
				dot += float64(x) * float64(q[j])
			}
			if dot > nearFrom && asked[v.terms[k]] == 0 {
				list = append(list, close{v.terms[k], dot})
			}
		}
		slices.SortFunc(list, func(a, b close) int { return cmp.Or(cmp.Compare(b.cos, a.cos), cmp.Compare(a.term, b.term)) })
		for _, c := range list[:min(len(list), nearMost)] {
			asked[c.term] = nearWeight * c.cos
		}
	}
	return nil
}

// tradeWords has a term of APIs a line, and what is said for it in English and Spanish.
//
//go:embed words.txt
var tradeWords string

// trade gives for what people say the terms that APIs have.
var trade = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(tradeWords) {
		head, said, _ := strings.Cut(line, ":")
		term := terms.Of(head)
		for _, s := range strings.Fields(said) {
			if k := terms.Of(s); len(k) == 1 && len(term) == 1 && k[0] != term[0] {
				stem := spanishStem(k[0])
				if !slices.Contains(m[stem], term[0]) {
					m[stem] = append(m[stem], term[0])
				}
			}
		}
	}
	return m
})
