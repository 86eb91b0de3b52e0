package rank

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// asking are the ways of asking, in English and Spanish, that say an intent.
var asking = []struct {
	intent string
	form   lazyregexp.Regexp
}{
	{Usage, lazyregexp.New(`(?i)\b(?:who|what) (?:calls|uses|invokes)\b|\bwhere (?:is|are) .+ (?:used|called|invoked)\b|` +
		`\b(?:usages?|callers|call sites) of\b|^¿?(?:quién (?:llama|usa)|dónde se (?:llama|usa))\b`)},
	{Definition, lazyregexp.New(`(?i)\bwhere (?:is|are) .+ (?:defined|declared)\b|^(?:the )?(?:definition|declaration) of\b|` +
		`^¿?dónde (?:se (?:define|declara)|está (?:definid|declarad)[oa])\b`)},
	{Documentation, lazyregexp.New(`(?i)^(?:how (?:do|can|should) (?:i|we|you)|how to)\b|\b(?:documentation|docs) (?:for|of|on|about)\b|` +
		`^¿?cómo (?:puedo|podemos|se (?:instala|configura))\b|\bdocumentación (?:de|sobre)\b`)},
	{working, lazyregexp.New(`(?i)^(?:how|where|in (?:what|which) order)\b|^¿?(?:cómo funciona|dónde)\b`)},
}

// working is the way of asking how something works, which code answers: no
// weights of its own belong to it.
const working = "how-it-works"

// Recognize returns the intent that a query says by the way it asks, "" when it
// says none.
func (q *Query) Recognize() string {
	if in := q.asks(); in != working {
		return in
	}
	return ""
}

func (q *Query) asks() string {
	if q.Class != Natural || q.own == maxTerms {
		return ""
	}
	for i := range asking {
		if asking[i].form.MatchString(q.Text) {
			return asking[i].intent
		}
	}
	return ""
}

// Wanted are what the likelihood that documentation is wanted is made of: the
// logit is their weighted sum.
type Wanted struct {
	Base float64
	// Share is of how much of what was found is prose, Said of how much nearer by
	// words the best of it is than the best of the code.
	Share, Said float64
	// Coded is of the share of the query that one chunk of code has.
	Coded float64
	// Small is of the share of the words that ask rather than say, First of a
	// question of somebody about himself, Working of one how something works,
	// Marks of signs that only code has.
	Small, First, Working, Marks float64
}

// Prose is how likely a query in words that says no intent is answered by
// documentation rather than by code, by the way it asks and by what was found
// of both.
func (q *Query) Prose(found []Evidence) float64 {
	t := q.tuning
	if q.Class != Natural || len(q.Quoted) > 0 || len(q.Words) < 2 || len(q.Words) > t.BriefWords {
		return 0
	}
	var said [2][]float64 // of code and of prose
	coded := 0.0
	r := &ranking{q: q, t: t}
	for i := range found {
		e := &found[i]
		k := 0
		switch {
		case !e.admitted(q):
			continue
		case e.Flags&kb.FlagProse != 0:
			k = 1
		case r.beside(e) || t.isTest(e.Path):
			continue
		default:
			coded = max(coded, q.Coverage(e.Matched))
		}
		said[k] = append(said[k], e.Lexical-e.Beside)
	}
	if len(said[1]) == 0 {
		return 0
	}
	w := &t.Wanted
	share := float64(len(said[1])) / float64(len(said[0])+len(said[1]))
	code, prose := t.bestOf(said[0]), t.bestOf(said[1])
	z := w.Base + w.Share*share + w.Coded*coded
	if top := max(code, prose); top > 0 {
		z += w.Said * (prose - code) / top
	}
	small, first := 0.0, 0.0
	for i := range q.Words {
		small += flag(q.Words[i].Stop) / float64(len(q.Words))
		if slices.Contains(t.AsksFirst, strings.ToLower(q.Words[i].Text)) {
			first = 1
		}
	}
	z += w.Small*small + w.First*first + w.Working*flag(q.asks() == working)
	z += w.Marks * flag(codeMarks.MatchString(q.Text))
	return 1 / (1 + math.Exp(-z))
}

// codeMarks are what names and calls are written with.
var codeMarks = lazyregexp.New("[_(){}\\[\\]`#:]|\\w\\.\\w")

// bestOf is the mean of the best few values, what lacks counting 0.
func (t *Tuning) bestOf(x []float64) float64 {
	slices.Sort(x)
	sum := 0.0
	for _, v := range x[max(0, len(x)-t.Few):] {
		sum += v
	}
	return sum / float64(t.Few)
}

// how are the ways of asking how something works, in English and Spanish.
var how = lazyregexp.New(`(?i)^¿?(?:(?:in|by|on|under|from|to|with|at) )?(?:how|why|when|where|what|which|who)\b|` +
	`^¿?(?:(?:en|por|a|con|de|bajo|desde) )?(?:cómo|como|cuándo|dónde|qué|cuál(?:es)?|quién)\s`)

// leastHow is how many words such a question has, mostHow is longer than one in bytes.
const (
	leastHow = 4
	mostHow  = 300
)

// AsksHow reports whether a query asks how something works, where it is
// decided, what happens: a question that several places answer together.
func AsksHow(query string) bool {
	query = strings.TrimSpace(query)
	return how.MatchString(query) && len(query) < mostHow && len(strings.Fields(query)) >= leastHow &&
		!strings.Contains(query, "\n")
}
