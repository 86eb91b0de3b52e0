// Package rank understands queries and orders candidates. It knows no store
// and no file: what it is given is evidence, what it returns is order.
package rank

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Class is what a query looks like.
type Class string

// The classes of queries.
const (
	Symbol  Class = "symbol"  // Foo::bar, snake_case, parseHeader
	Phrase  Class = "phrase"  // "in quotes"
	Path    Class = "path"    // net/http/server.go
	Failure Class = "error"   // panic: runtime error: index out of range
	Natural Class = "natural" // anything else
)

// maxTerms is how many terms of a query are looked up: the bits of a word.
const maxTerms = 64

// Query is a query understood.
type Query struct {
	Text    string
	Class   Class
	Phrases []string // quoted, without the quotes, of a query that is nothing else
	Quoted  []string // the same of a longer text, where they are evidence
	Words   []Word
	Terms   []string // looked up in the index; distinct
	soft    []soft   // looked for beside the words
	own     int      // terms of the words themselves
	joined  []joined // names that words of the query make together
	idf     []float64
	tuning  *Tuning
}

// Word is one word of a query: the term it stands for, the terms of its
// parts, and the term of a definition of that name. -1 and nil: none.
type Word struct {
	Text  string
	Whole int
	Parts []int
	Exact int
	Cased int    // of a definition written the same, for a word with capitals
	Meant string // the term that it was misspelt for; see Query.Correct
	// Named is set for what looks like a name: it has inner capitals,
	// underscores or digits, stood in backquotes or before parentheses, or is
	// all there is.
	Named bool
	// Stop is set for words that ask rather than tell ("how", "the"), while
	// others are there.
	Stop   bool
	idf    float64
	absent bool // no store has it
}

var (
	quoted   = lazyregexp.New("\"([^\"]{2,})\"")
	wordRE   = lazyregexp.New("`[^`]+`|[\\p{L}\\p{N}_]+(?:\\(\\))?")
	pathRE   = lazyregexp.New(`^[\w.@+-]*(?:/[\w.@+-]+)+/?$|^[\w.+-]+\.(?:go|py|js|jsx|ts|tsx|rs|c|h|cc|cpp|hpp|java|kt|rb|php|cs|swift|scala|lua|sh|md|mdx|rst|txt|json|ya?ml|toml|html|css|sql|proto|mod|zig|hs|ex|exs)$`)
	symbolRE = lazyregexp.New(`^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:::|\.|->|#)[\p{L}_$~][\p{L}\p{N}_$]*)*(?:\(\)|[!?])?$`)
	joinRE   = lazyregexp.New(`^(?:\.|::|->|#)[\p{L}_]`)
	joinedRE = lazyregexp.New(`[\p{L}\p{N}_](?:\.|::|->|#)$`)
	failRE   = lazyregexp.New(`(?i)\b(?:error|exception|panic|fatal|traceback|failed|cannot|undefined|segfault|errno)\b`)
)

// stop words ask rather than tell. In code "how" or "where" is rare, so that
// its inverse document frequency would drown the words that matter. English,
// and Spanish, which the first users write; folded and stemmed like terms.
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but of to in on at by for from with into onto over under
		is are was were be been being do does did done has have had can could should would will may might must
		how what where when which who whom whose why this that these those it its they them their there here
		i me my we us our you your not no if then else than as so such about between after before during while
		all any each every some only also just very use used uses using get gets code function implement implemented implementation
		show find give tell explain work works working way place
		el la los las un una unos unas de del al y o u en con por para sin sobre entre como que cual cuales quien
		cuando donde porque es son fue era ser estar esta este esto estos estas se su sus lo le les hay no si mas
		hace hacer puede pueden`) {
		for _, t := range terms.Of(w) {
			m[t] = true
		}
	}
	return m
}()

// Parse understands a query, with the fitted tuning.
func Parse(text string) *Query { return fitted.Parse(text) }

// Parse understands a query.
func (t *Tuning) Parse(text string) *Query {
	q := &Query{Text: text, tuning: t}
	trimmed := strings.TrimSpace(text)
	for _, m := range quoted.FindAllStringSubmatch(trimmed, -1) {
		q.Quoted = append(q.Quoted, m[1])
	}
	if !strings.ContainsFunc(quoted.ReplaceAllString(trimmed, ""), word) {
		q.Phrases, q.Quoted = q.Quoted, nil
	}
	switch {
	case len(q.Phrases) > 0:
		q.Class = Phrase
	case pathRE.MatchString(trimmed):
		q.Class = Path
	case symbolRE.MatchString(trimmed):
		q.Class = Symbol
	case len(trimmed) > t.FailureBytes && strings.ContainsAny(trimmed, ":'(") && failRE.MatchString(trimmed):
		q.Class = Failure
	default:
		q.Class = Natural
	}
	q.words(trimmed)
	q.tell()
	q.own = len(q.Terms)
	return q
}

// tell settles which words tell, and that the only one that does is a name:
// "what does Router do".
func (q *Query) tell() {
	var telling []*Word
	for i := range q.Words {
		if w := &q.Words[i]; !w.Stop {
			telling = append(telling, w)
		}
	}
	switch {
	case len(telling) == 0:
		for i := range q.Words {
			q.Words[i].Stop = false
		}
		if len(q.Words) == 1 {
			q.Words[0].Named = true
		}
	case len(telling) == 1 && q.Class == Natural && !telling[0].Named && telling[0].Exact >= 0:
		telling[0].Named = true
		if cased := terms.Cased(telling[0].Text); cased != "" {
			telling[0].Cased = q.term(cased)
		}
	}
}

// words reads the words of a text, each once.
func (q *Query) words(text string) {
	seen := map[string]bool{}
	var s terms.Scanner
	for _, at := range wordRE.FindAllStringIndex(text, -1) {
		raw := text[at[0]:at[1]]
		w := Word{Text: strings.TrimSuffix(strings.Trim(raw, "`"), "()"), Whole: -1, Exact: -1, Cased: -1}
		if seen[w.Text] {
			continue
		}
		seen[w.Text] = true
		// In sort.Slice or Foo::bar the last name is meant, and the one before it
		// says where. A pattern reads all it is given, so it gets a few bytes.
		qualifies := joinRE.MatchString(text[at[1]:min(len(text), at[1]+8)])
		qualified := joinedRE.MatchString(text[max(0, at[0]-8):at[0]])
		w.Named = !qualifies && (raw != w.Text || named(w.Text) || q.Class == Symbol || qualified && q.Class != Path)
		s.Scan(w.Text, func(term []byte, whole bool) {
			i := q.term(string(term))
			switch {
			case i < 0:
			case whole && w.Whole < 0:
				w.Whole = i
				w.Stop = !w.Named && stop[string(term)]
			default:
				w.Parts = append(w.Parts, i)
			}
		})
		if w.Whole < 0 && len(w.Parts) == 0 {
			continue
		}
		if !w.Stop && !qualifies && (w.Named || len(q.Words) < q.tuning.ExactWords) {
			w.Exact = q.term(terms.Exact(w.Text))
			if cased := terms.Cased(w.Text); cased != "" && w.Named {
				w.Cased = q.term(cased)
			}
		}
		q.Words = append(q.Words, w)
		if len(q.Words) == maxTerms {
			break
		}
	}
}

// term returns the number of a term, or -1 where there is no room for another.
func (q *Query) term(t string) int {
	i := slices.Index(q.Terms, t)
	if i < 0 && len(q.Terms) < maxTerms {
		i = len(q.Terms)
		q.Terms = append(q.Terms, t)
	}
	return i
}

// Soften makes phrases evidence instead of a condition.
func (q *Query) Soften() {
	q.Class, q.Quoted, q.Phrases = Natural, append(q.Quoted, q.Phrases...), nil
}

// named reports whether a word looks like an identifier.
func named(w string) bool {
	if strings.Contains(strings.Trim(w, "_"), "_") {
		return true
	}
	lower, inner, digit := false, false, false
	for i, r := range w {
		switch {
		case unicode.IsUpper(r) && i > 0 && lower:
			inner = true
		case unicode.IsLower(r):
			lower = true
		case unicode.IsDigit(r):
			digit = true
		}
	}
	return inner || digit && lower
}

// Weigh sets the weight of every term from statistics of all stores asked,
// and returns it in the order of Terms. The inverse document frequency is
// BM25's, ln(1 + (N - n + 0.5)/(n + 0.5)); a term of the path alone counts
// with the documents it names.
func (q *Query) Weigh(st kb.TermStats) []float64 {
	n := float64(max(st.Chunks, 1))
	idf := make([]float64, len(q.Terms))
	for i := range idf {
		df := float64(st.Frequency[i])
		if df == 0 && st.PathFrequency[i] > 0 {
			df = float64(st.PathFrequency[i]) * n / float64(max(st.Documents, 1))
		}
		idf[i] = math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	weight := make([]float64, len(idf))
	for i := range q.Words {
		w := &q.Words[i]
		w.idf = wordIDF(w, idf)
		w.absent = w.Whole >= 0 && st.Frequency[w.Whole] == 0
		if w.Stop {
			continue
		}
		if w.Whole >= 0 {
			weight[w.Whole] = idf[w.Whole]
		}
		for _, p := range w.Parts {
			weight[p] = max(weight[p], idf[p]*q.tuning.PartWeight)
		}
		if w.Exact >= 0 && st.Frequency[w.Exact] > 0 {
			weight[w.Exact] = idf[w.Exact] * q.tuning.ExactWeight
			if !w.Named {
				weight[w.Exact] *= q.tuning.ExactUnnamed
			}
		}
		if w.Cased >= 0 && st.Frequency[w.Cased] > 0 {
			weight[w.Cased] = idf[w.Cased] * q.tuning.ExactWeight
		}
	}
	q.idf = idf
	for i := range q.soft {
		if s := &q.soft[i]; !q.lacks(st, s.term) {
			weight[s.term] = q.softIDF(s) * q.tuning.SoftWeight * s.value
		}
	}
	return weight
}

// wordIDF is how much a word tells: its whole's weight where that occurs, or
// else its parts'.
func wordIDF(w *Word, idf []float64) float64 {
	v := 0.0
	if w.Whole >= 0 {
		v = idf[w.Whole]
	}
	for _, p := range w.Parts {
		v = max(v, idf[p])
	}
	return v
}

// Coverage is the share of the query, by weight, that the terms in matched
// answer: 1 when every word is there whole.
func (q *Query) Coverage(matched uint64) float64 {
	sum, got := 0.0, 0.0
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop {
			continue
		}
		sum += w.idf
		got += w.idf * w.share(matched, q.tuning.PartsShare)
	}
	if sum == 0 {
		return 0
	}
	return got / sum
}

// share is how much of a word is among the terms of a bit set; parts is what all its parts count.
func (w *Word) share(bits uint64, parts float64) float64 {
	if w.Whole >= 0 && bits&(1<<w.Whole) != 0 {
		return 1
	}
	if len(w.Parts) == 0 {
		return 0
	}
	n := 0
	for _, p := range w.Parts {
		if bits&(1<<p) != 0 {
			n++
		}
	}
	return parts * float64(n) / float64(len(w.Parts))
}

// Unwritten reports whether a word of the query is in no chunk of what was
// weighed and was not taken for another: nothing is called that.
func (q *Query) Unwritten() bool {
	return slices.ContainsFunc(q.Words, func(w Word) bool { return w.absent && w.Meant == "" && !w.Stop })
}

// Defined reports whether a name of the query is among what a chunk defines,
// letter case aside.
func (q *Query) Defined(defines uint64) bool {
	return slices.ContainsFunc(q.Words, func(w Word) bool { return w.Exact >= 0 && defines&(1<<w.Exact) != 0 })
}

// Declares reports whether the names that a chunk defines have every word of
// the query, whole or in parts.
func (q *Query) Declares(defines uint64) bool { return q.Coverage(defines) > q.tuning.PartsShare-1e-9 }

// Names reports whether what looks like a name in the query is exactly this
// one, letter case aside.
func (q *Query) Names(name string) bool {
	for i := range q.Words {
		if w := &q.Words[i]; w.Named && strings.EqualFold(w.Text, name) {
			return true
		}
	}
	return false
}

// TermIDF returns how much a term tells, for choosing lines; 0 for a term
// that the query itself does not have.
func (q *Query) TermIDF(term string) float64 {
	i := slices.Index(q.Terms, term)
	if i < 0 || i >= len(q.idf) {
		return 0
	}
	for j := range q.Words {
		w := &q.Words[j]
		if w.Stop && w.Whole == i {
			return 0
		}
	}
	if slices.ContainsFunc(q.soft, func(s soft) bool { return s.term == i }) {
		return 0
	}
	return q.idf[i]
}
