package answer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// count counts terms in all targets; frequency is in how many chunks one is.
func count(ctx context.Context, targets []search.Target, all []string) (st kb.TermStats, frequency func(string) float64, err error) {
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range targets {
		s, err := targets[i].Index.Stats(ctx, all, nil)
		if err != nil {
			return st, nil, &search.TargetError{Target: i, Err: err}
		}
		st.Add(s)
	}
	return st, func(t string) (n float64) {
		if i, ok := slices.BinarySearch(all, t); ok && i < len(st.Frequency) {
			n = float64(st.Frequency[i])
			if st.Documents > 0 { // a name of files means what is in them
				n += float64(st.PathFrequency[i]) * float64(st.Chunks) / float64(st.Documents)
			}
		}
		return n
	}, nil
}

// foreigners gives the Spanish words that no store has and the list has no
// English for those English ones that they may be and that some store has.
func (q *question) foreigners(ctx context.Context, targets []search.Target) error {
	if !q.spanish {
		return nil
	}
	var all []string
	may := map[int][]string{}
	for i := range q.concepts {
		if c := &q.concepts[i]; c.own == 1 && len(c.means) == 0 && !isName(c.word) {
			may[i] = kin(c.word)
			all = append(all, c.terms[0])
			for _, w := range may[i] {
				all = append(all, terms.Of(w)...)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, df, err := count(ctx, targets, all)
	if err != nil {
		return err
	}
	for i, list := range may {
		c := &q.concepts[i]
		if df(c.terms[0]) > 0 {
			continue
		}
		c.terms = c.terms[:1]
		c.mean(slices.DeleteFunc(list, func(w string) bool {
			return !slices.ContainsFunc(terms.Of(w), func(t string) bool { return df(t) > 0 })
		}))
		c.relate()
	}
	return nil
}

// spell adds to the words that no store has those that they may be misspelt for.
func (q *question) spell(ctx context.Context, targets []search.Target) error {
	var all []string
	for i := range q.concepts {
		all = append(all, q.concepts[i].terms...)
	}
	_, df, err := count(ctx, targets, all)
	if err != nil {
		return err
	}
	for i := range q.concepts {
		c := &q.concepts[i]
		if c.own == 0 || c.name || len(c.terms[0]) < leastSpelt || slices.ContainsFunc(c.terms, func(t string) bool { return df(t) > 0 }) {
			continue
		}
		for t := range targets {
			found, err := targets[t].Index.Spelt(ctx, c.terms[:1])
			if err != nil {
				return &search.TargetError{Target: t, Err: err}
			}
			for _, list := range found {
				if len(list) > 0 && !slices.Contains(c.terms, list[0]) {
					c.terms = slices.Insert(c.terms, c.own, list[0])
					c.own++
					c.near++
					c.english = cmp.Or(c.english, list[0])
				}
			}
		}
	}
	return nil
}

// leastSpelt is how long a word is that may be misspelt.
const leastSpelt = 5

// weigh sets what the words weigh by the statistics of the stores.
func (q *question) weigh(ctx context.Context, targets []search.Target) error {
	var all []string
	for i := range q.concepts {
		all = append(all, q.concepts[i].terms...)
		all = append(all, q.concepts[i].parts...)
	}
	st, df, err := count(ctx, targets, all)
	if err != nil {
		return err
	}
	q.unsaid(df)
	n := float64(max(st.Chunks, 1))
	for i := range q.concepts {
		c := &q.concepts[i]
		most := 0.0
		for j, t := range c.terms {
			f := df(t)
			switch {
			case f == 0:
			case j >= c.near:
				c.akin = true
			default:
				c.known = true
				// A translation that is everywhere must not make the word a common one.
				if j < c.own || most == 0 {
					most = max(most, f)
				}
			}
		}
		most = min(most, n)
		c.weight = math.Log(1 + (n-most+0.5)/(most+0.5))
		// In a small store every word is rare: a word is worth something all the same.
		c.weight = max(c.weight, 0.5)
		switch {
		case c.faint:
			c.weight *= 0.4
		case !c.known && q.spanish && len(c.terms) == c.own && c.word == strings.ToLower(c.word):
			c.weight *= untranslatedWeight
		case !c.known && c.word != fold(c.word): // what is asked about is not here
			c.weight *= strangerWeight
		}
	}
	q.balance()
	for i := range q.concepts {
		q.sum += q.concepts[i].weight
	}
	return nil
}

// balance has the words of earlier turns weigh topicWeight, and together no
// more than what is asked now.
func (q *question) balance() {
	own, topic := 0.0, 0.0
	for i := range q.concepts {
		if c := &q.concepts[i]; c.topic {
			c.weight *= topicWeight
			topic += c.weight
		} else {
			own += c.weight
		}
	}
	if own == 0 || topic <= own {
		return
	}
	for i := range q.concepts {
		if c := &q.concepts[i]; c.topic {
			c.weight *= own / topic
		}
	}
}

// unsaid takes out what documentation has for sayings where no store has it:
// the words say it themselves then.
func (q *question) unsaid(df func(string) float64) {
	q.concepts = slices.DeleteFunc(q.concepts, func(c concept) bool {
		return c.own == 0 && !slices.ContainsFunc(c.terms, func(t string) bool { return df(t) > 0 })
	})
}

// embed sets the vector of the question: those of its words, in English, each
// by its weight.
func (q *question) embed(ctx context.Context, emb kb.Embedder) error {
	texts := make([]string, len(q.concepts))
	for i := range q.concepts {
		c := &q.concepts[i]
		texts[i] = cmp.Or(c.english, c.word)
	}
	if len(texts) == 0 || !embed.Cheap(emb) {
		return nil
	}
	vectors, err := emb.Embed(ctx, texts)
	if err != nil {
		return err
	}
	q.vector = make([]float32, len(vectors[0]))
	for i, v := range vectors {
		for k, x := range v {
			q.vector[k] += float32(q.concepts[i].weight) * x
		}
	}
	kb.Unit(q.vector)
	return nil
}

// untranslatedWeight is what a Spanish word counts that no store knows and the
// list has no English for: the list is short.
var untranslatedWeight = 0.6

// strangerWeight is what a name that no store knows counts of a word that none does.
const strangerWeight = 1.6

// topicWeight is what a word of an earlier turn counts of one that is asked now.
var topicWeight = 0.7
