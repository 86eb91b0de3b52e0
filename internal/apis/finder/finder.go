// Package finder ranks the operations of declared APIs by what they do: the
// words of a question, and those that documentation has in their place, in names,
// descriptions, paths and parameters, and what question and operation mean.
package finder

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

// Finder ranks operations. It is safe for concurrent use.
type Finder struct {
	ops   []found
	df    map[string]int
	long  float64 // average weight of an operation
	words sync.Once
	vecs  [][]float32
	vocab vocabulary
}

// found is one operation with its terms.
type found struct {
	p     *restapi.Provider
	t     *restapi.Tool
	terms map[string]float64 // weight of each
	size  float64
	text  string // for its vector
}

// How much a term counts by where it stands.
const (
	inName  = 3.0
	inAbout = 2.0
	inPath  = 1.5
	inTags  = 1.0
	inParam = 0.7
	inMore  = 0.4 // descriptions of parameters, what a reply holds
	related = 0.45
	inTrade = 1.0
	meaning = 14.0 // of the cosine, beside the sum of terms

	unfit    = 0.7 // each value that the question lacks for the path, or has beyond it
	byMethod = 1.2 // the verb of the question has the method of the operation
)

// New makes a finder of the enabled tools of some APIs.
func New(all []*restapi.Provider) *Finder {
	f := &Finder{df: map[string]int{}}
	for _, p := range all {
		for i := range p.Tools {
			if t := &p.Tools[i]; t.Enabled && p.Enabled {
				f.add(p, t)
			}
		}
	}
	for i := range f.ops {
		f.long += f.ops[i].size / float64(len(f.ops))
	}
	return f
}

func (f *Finder) add(p *restapi.Provider, t *restapi.Tool) {
	o := found{p: p, t: t, terms: map[string]float64{}}
	put := func(text string, weight float64) {
		for _, w := range terms.Of(text) {
			if !stops[w] && o.terms[w] < inName+inAbout {
				o.terms[w] += weight
			}
		}
	}
	name := strings.TrimPrefix(t.Code, p.Code+"_")
	put(name, inName)
	put(t.Name, inAbout)
	if t.Description != t.Name {
		put(t.Description, inAbout)
	}
	put(strings.Join(t.Tags, " "), inTags)
	put(p.Code+" "+p.Name, inTags)
	put(t.Path, inPath)
	var params []string
	for i := range t.Params {
		put(t.Params[i].Name, inParam)
		params = append(params, t.Params[i].Name)
		put(t.Params[i].Description, inMore)
		put(strings.Join(t.Params[i].Enum, " "), inMore)
	}
	put(t.Returns, inMore)
	for w, x := range o.terms {
		f.df[w]++
		o.size += x
	}
	o.text = strings.NewReplacer("_", " ", "/", " ", "{", "", "}", "").Replace(name) + ". " + t.Description + ". " + strings.Join(params[:min(len(params), 6)], " ")
	f.ops = append(f.ops, o)
}

// Hit is an operation with its score.
type Hit struct {
	API   *restapi.Provider
	Tool  *restapi.Tool
	Score float64
}

// Find returns the operations that fit a question, best first. Without an
// embedder terms alone decide.
func (f *Finder) Find(ctx context.Context, emb kb.Embedder, question string) ([]Hit, error) {
	words, values := apart(question)
	asked := expand(words)
	if emb != nil {
		if err := f.near(ctx, emb, words, asked); err != nil {
			return nil, err
		}
	}
	hits := make([]Hit, len(f.ops))
	verbs := methodsOf(words)
	for i := range f.ops {
		o := &f.ops[i]
		h := Hit{API: o.p, Tool: o.t}
		for w, weight := range asked {
			tf := o.terms[w]
			if tf == 0 {
				continue
			}
			idf := math.Log(1 + (float64(len(f.ops))-float64(f.df[w])+0.5)/(float64(f.df[w])+0.5))
			h.Score += weight * idf * tf * 2.2 / (tf + 1.2*(0.4+0.6*o.size/f.long))
		}
		if h.Score > 0 && (slices.Contains(verbs, h.Tool.Method) || h.Tool.Reads() && slices.Contains(verbs, "GET")) {
			h.Score += byMethod
		}
		if h.Score > 0 && values > 0 { // one without values may mean any
			h.Score = max(h.Score/10, h.Score-unfit*math.Abs(float64(inItsPath(h.Tool)-values)))
		}
		if h.Tool.Deprecated {
			h.Score *= 0.7
		}
		hits[i] = h
	}
	if emb != nil && len(f.ops) > 0 {
		if err := f.mean(ctx, emb, words, hits); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	for i := range hits {
		if hits[i].Score <= 0 {
			return hits[:i], nil
		}
	}
	return hits, nil
}

// mean adds what the vectors of question and operations have in common.
func (f *Finder) mean(ctx context.Context, emb kb.Embedder, question string, hits []Hit) error {
	var failed error
	f.words.Do(func() {
		texts := make([]string, len(f.ops))
		for i := range f.ops {
			texts[i] = f.ops[i].text
		}
		f.vecs, failed = emb.Embed(ctx, texts)
	})
	if failed != nil || f.vecs == nil {
		return failed
	}
	q, err := emb.Embed(ctx, []string{question})
	if err != nil {
		return err
	}
	for i := range hits {
		dot := 0.0
		for k, x := range f.vecs[i] {
			dot += float64(x) * float64(q[0][k])
		}
		if dot > 0.15 {
			hits[i].Score += meaning * dot
		}
	}
	return nil
}

// expand returns the terms of a question with their weights, and those that
// documentation has in their place with less.
func expand(question string) map[string]float64 {
	out := map[string]float64{}
	var own []string
	for _, w := range terms.Of(question) {
		if !stops[w] && len(w) > 1 {
			out[w] = 1
			own = append(own, w)
		}
	}
	for _, w := range own {
		list := instead()[w]
		for i, x := range list[:min(len(list), 4)] {
			if out[x] == 0 {
				out[x] = related / math.Sqrt(float64(1+i))
			}
		}
		for _, x := range trade()[spanishStem(w)] {
			if out[x] == 0 {
				out[x] = inTrade
			}
		}
		for i, x := range inSpanish()[spanishStem(w)] {
			if out[x] == 0 {
				out[x] = 0.9 / math.Sqrt(float64(1+i))
			}
		}
	}
	return out
}

// instead gives for the term of a word that people say those that documentation
// has.
var instead = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for e := range thesaurus.English() {
		word := terms.Of(e.Word)
		for _, alt := range e.Alternatives {
			if t := terms.Of(alt); len(t) == 1 && len(word) == 1 && t[0] != word[0] && !slices.Contains(m[t[0]], word[0]) {
				m[t[0]] = append(m[t[0]], word[0])
			}
		}
	}
	for g := range thesaurus.Groups() {
		for _, a := range g {
			for _, b := range g {
				x, y := terms.Of(a), terms.Of(b)
				if a != b && len(x) == 1 && len(y) == 1 && !slices.Contains(m[x[0]], y[0]) {
					m[x[0]] = append(m[x[0]], y[0])
				}
			}
		}
	}
	return m
})

// inSpanish gives the English terms of a Spanish word.
var inSpanish = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for e := range thesaurus.Spanish() {
		word := terms.Of(e.Word)
		for _, alt := range e.Alternatives {
			if t := terms.Of(alt); len(t) == 1 && len(word) > 0 && !slices.Contains(m[spanishStem(t[0])], word[0]) {
				m[spanishStem(t[0])] = append(m[spanishStem(t[0])], word[0])
			}
		}
	}
	return m
})

// spanishStem takes the commonest endings off a folded Spanish word.
func spanishStem(w string) string {
	for _, e := range []string{"aciones", "amiento", "iendo", "acion", "ando", "adas", "ados", "idas", "idos", "ada", "ado", "ida", "ido",
		"ar", "er", "ir", "an", "en", "as", "es", "os", "a", "e", "o", "s"} {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 4 {
			return w[:len(w)-len(e)]
		}
	}
	return w
}

// methodWords are the words that name what a method does.
var methodWords = map[string]string{
	"GET":    "get list show read find search look see view fetch download check which who what how many count all whether",
	"POST":   "create add new make open start run send post submit trigger invite fork merge comment generate rerun redeliver request",
	"PUT":    "set replace put enable star follow lock add mark approve",
	"PATCH":  "update change edit rename modify patch close reopen dismiss set archive move",
	"DELETE": "delete remove drop erase disable unstar unfollow unlock cancel revoke clear throw",
}

var methodTerms = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for method, list := range methodWords {
		for _, w := range terms.Of(list) {
			m[w] = append(m[w], method)
		}
	}
	return m
})

// methodsOf returns the methods that the first verb of a question means.
func methodsOf(question string) []string {
	for _, w := range terms.Of(question) {
		if list := methodTerms()[w]; list != nil {
			return list
		}
		for _, e := range inSpanish()[spanishStem(w)] {
			if list := methodTerms()[e]; list != nil {
				return list
			}
		}
	}
	return nil
}

// stops are words that say nothing of an operation.
var stops = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range terms.Of(`a an and are as at be been by can could do does for from had has have here how i if in into is it its
		just may me might more most my no not now of on one only or our out shall she should so some that the their them then there these
		they this those to too under up us was we were what when where which who whom why will with without would you your please must
		he her him his let let's lets than very via each api rest operation endpoint call
		de la el los las un una unos unas y o que en con por para del al se lo le les su sus mi mis me te es ser no si como más muy sin
		ya este esta ese esa hay quiero`) {
		m[w] = true
	}
	return m
}()
