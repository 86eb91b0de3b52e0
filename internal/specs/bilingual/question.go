package bilingual

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Question is a question read as what it asks for, whatever the words. It is
// not safe for concurrent use.
type Question struct {
	Language Language
	words    []asked
	met      map[string][]float64 // what each word of the texts seen so far says of each of the question
}

// asked is one word of a question with what says the same.
type asked struct {
	text  string
	other []meaning // in the other language
	keys  map[key]float64
	terms []int // indexes into Question.Terms
	// weight is how much the word tells among those of the question.
	weight float64
}

// key is a form under which words meet: the stem in a language or a skeleton.
type key struct {
	of   byte // 'e', 's' or 'k'; 'r' for stems in the dictionary
	form string
}

// mostWords bounds the words of a question that are read.
const mostWords = 40

// Ask reads a question. What is in neither language is read as English.
func Ask(text string) *Question {
	q := &Question{Language: LanguageOf(text), met: map[string][]float64{}}
	d := words()
	if q.Language == Unknown {
		q.Language = d.languageOf(text)
	}
	seen := map[string]bool{}
	for raw := range eachWord(text) {
		w := fold(raw)
		if len(w) < 2 || seen[w] || onlySpanish[w] && q.Language != English || onlyEnglish[w] && q.Language != Spanish || len(q.words) == mostWords {
			continue
		}
		seen[w] = true
		a := asked{text: raw, keys: map[key]float64{}, weight: 1}
		if q.Language == Spanish {
			a.other = of(d.spanish, key{'s', w}, key{'r', spanishStem(w)})
			a.keys[key{'s', spanishStem(w)}] = 1
			a.keys[key{'e', englishStem(w)}] = 1 // names and loan words
		} else {
			a.other = of(d.english, key{'e', w}, key{'r', englishStem(w)})
			a.keys[key{'e', englishStem(w)}] = 1
		}
		for _, m := range a.other {
			k := key{'s', spanishStem(fold(m.word))}
			if q.Language == Spanish {
				k = key{'e', englishStem(fold(m.word))}
			}
			a.keys[k] = max(a.keys[k], m.value)
		}
		if k := skeleton(w); k != "" {
			a.keys[key{'k', k}] = kinValue
		}
		q.words = append(q.words, a)
	}
	return q
}

// Translated returns the question in words of the other language, those
// without any as they are, and "" where none has one.
func (q *Question) Translated() string {
	const most = 3 // meanings of one word
	var out []string
	any := false
	for i := range q.words {
		a := &q.words[i]
		if len(a.other) == 0 {
			out = append(out, a.text)
			continue
		}
		any = true
		for _, m := range a.other[:min(most, len(a.other))] {
			if !slices.Contains(out, m.word) {
				out = append(out, m.word)
			}
		}
	}
	if !any {
		return ""
	}
	return strings.Join(out, " ")
}

// Count is which words of a question a text has: by word of the question, how
// often, each time counting what the word that was met says of it.
type Count struct {
	Length int
	Times  []float64
}

// Count counts in a text, whatever its language.
func (q *Question) Count(text string) Count {
	c := Count{Times: make([]float64, len(q.words))}
	for raw := range eachWord(text) {
		c.Length++
		says, ok := q.met[raw]
		if !ok {
			says = q.meets(fold(raw))
			q.met[strings.Clone(raw)] = says
		}
		for i, v := range says {
			c.Times[i] += v
		}
	}
	return c
}

// meets returns how much a folded word says of each word of the question; nil
// for nothing.
func (q *Question) meets(w string) (says []float64) {
	forms := [3]key{{'e', englishStem(w)}, {'s', spanishStem(w)}, {'k', skeleton(w)}}
	for i := range q.words {
		best := 0.0
		for _, f := range forms {
			if f.form != "" {
				best = max(best, q.words[i].keys[f])
			}
		}
		if best > 0 {
			if says == nil {
				says = make([]float64, len(q.words))
			}
			says[i] = best
		}
	}
	return says
}

// Terms returns the terms of package terms that each word of the question is
// looked for under.
func (q *Question) Terms() []string {
	var out []string
	for i := range q.words {
		q.words[i].terms = q.words[i].terms[:0]
		for _, w := range q.words[i].said() {
			for _, t := range terms.Of(w) {
				at := slices.Index(out, t)
				if at < 0 && len(out) == mostTerms {
					continue
				}
				if at < 0 {
					at = len(out)
					out = append(out, t)
				}
				q.words[i].terms = append(q.words[i].terms, at)
			}
		}
	}
	return out
}

// said are a word and the first of its meanings.
func (a *asked) said() []string {
	out := []string{a.text}
	for _, m := range a.other[:min(3, len(a.other))] {
		out = append(out, m.word)
	}
	return out
}

// mostTerms is how many terms an index is asked about at a time.
const mostTerms = 64

// Weigh settles how much each word tells, from how many of n chunks have each
// of Terms: the fewer the more.
func (q *Question) Weigh(frequency []int64, n int64) {
	for i := range q.words {
		df := 0.0
		for _, t := range q.words[i].terms {
			df = max(df, float64(frequency[t]))
		}
		q.words[i].weight = math.Log(1 + (float64(n)-df+0.5)/(df+0.5))
	}
}

// Field is a part of a document with how much a word there says.
type Field struct {
	Count
	Weight, Average float64 // of a word, and of the lengths of such fields
}

// Add sums the counts of another text into c.
func (c *Count) Add(other Count) {
	if c.Times == nil {
		c.Times = make([]float64, len(other.Times))
	}
	c.Length += other.Length
	for i, v := range other.Times {
		c.Times[i] += v
	}
}

// Score is BM25F over the words of the question, times the share of it that
// is met at all.
func (q *Question) Score(fields ...Field) float64 {
	const k1, b = 1.2, 0.6
	sum, met, all := 0.0, 0.0, 0.0
	for i := range q.words {
		tf := 0.0
		for _, f := range fields {
			if f.Times[i] > 0 {
				tf += f.Weight * f.Times[i] / (1 - b + b*float64(f.Length)/max(f.Average, 1))
			}
		}
		w := q.words[i].weight
		all += w
		if tf > 0 {
			sum += w * tf * (k1 + 1) / (tf + k1)
			met += w
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all * (0.5 + 0.5*met/all)
}

// Share is how much of the question a text has, by the weights of its words.
func (q *Question) Share(c Count) float64 {
	met, all := 0.0, 0.0
	for i := range q.words {
		all += q.words[i].weight
		met += q.words[i].weight * min(c.Times[i], 1)
	}
	if all == 0 {
		return 0
	}
	return met / all
}
