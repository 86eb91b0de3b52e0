package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Literal finds the words of a query in a text as they follow each other:
// a message that a program printed in the line that prints it, a quoted part
// of a question where it is.
type Literal struct {
	q      *Query
	at     map[string][]int // places of a word in words
	words  []string
	weight []float64 // of each word
	tells  []bool    // of each word: it is none that asks
	quoted []bool    // of each word: it is in a quoted part
	terms  []uint64  // of each word: the bits of Matched without which no text has it; 0 when unknown
	sum    float64
	// strings is set for a query in words, of which only what stands in the
	// strings of a program is evidence: a comment may ask the same in passing.
	strings bool
}

// word reports whether a character is part of a word, as wordRE has them.
func word(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// token reports whether the query is words that signs join, none of which is a
// name's: --dry-run, text-align, /v1/jobs. It is looked for as if it were quoted.
func (q *Query) token() bool {
	return len(q.Words) > 1 && (q.Class == Natural || q.Class == Path) && len(q.Quoted) == 0 && !strings.ContainsFunc(strings.TrimSpace(q.Text), unicode.IsSpace)
}

// Literal returns nil for a query that is too short to have such runs.
func (q *Query) Literal() *Literal {
	token := q.token()
	if q.Class != Natural && q.Class != Failure && !token {
		return nil
	}
	l := &Literal{q: q, at: map[string][]int{}, strings: q.Class == Natural && len(q.Quoted) == 0 && !token && !q.Code()}
	known := map[string]*Word{}
	for i := range q.Words {
		known[strings.ToLower(q.Words[i].Text)] = &q.Words[i]
	}
	for i, part := range strings.Split(q.Text, `"`) {
		for _, w := range strings.FieldsFunc(strings.ToLower(part), func(c rune) bool { return !word(c) }) {
			k := known[w]
			v, tells := 0.0, false
			if k != nil && !k.absent && strings.Trim(w, "0123456789") != "" { // a number is a value
				v, tells = k.idf, !k.Stop
			}
			if len(l.at[w]) < maxTerms { // a word that is repeated on and on makes no more runs
				l.at[w] = append(l.at[w], len(l.words))
			}
			l.words = append(l.words, w)
			l.weight = append(l.weight, v)
			bits := uint64(0)
			if k != nil && k.Whole >= 0 && k.Meant == "" {
				bits = 1 << k.Whole
			}
			l.terms = append(l.terms, bits)
			l.tells = append(l.tells, tells)
			l.quoted = append(l.quoted, i%2 == 1 && len(q.Quoted) > 0 || token)
			l.sum += v
		}
	}
	if l.sum == 0 || len(l.words) < q.tuning.LeastRun && len(q.Quoted) == 0 && !token {
		return nil
	}
	return l
}

// signsOfCode are what code has many of, and sentences few.
const signsOfCode = "(){}[];=<>"

// Code reports whether the query is a piece of code: it has more signs of code
// than CodeSigns times its words.
func (q *Query) Code() bool {
	n := 0
	for i := range len(q.Text) {
		if strings.IndexByte(signsOfCode, q.Text[i]) >= 0 {
			n++
		}
	}
	return float64(n) > q.tuning.CodeSigns*float64(len(wordRE.FindAllStringIndex(q.Text, 400)))
}

// May reports whether a candidate can have any of the query word for word, so
// that it is worth reading.
func (l *Literal) May(e *Evidence) bool {
	if !l.strings {
		return true
	}
	most := 0.0
	for i, w := range l.weight {
		if l.terms[i] == 0 || e.Matched&l.terms[i] != 0 {
			most += w
		}
	}
	return e.Flags&kb.FlagProse == 0 && most/l.sum >= l.q.tuning.LeastShare
}

// In is the share of the query, by weight, that the text has in runs: of
// LeastRun words of which two tell, or of two words of a quoted part; and of
// strings what is said by a template. The values that a template has places for
// are no part of the query. Prose has no strings of a program: what it quotes
// may be an example of asking.
func (l *Literal) In(text string, prose bool) float64 {
	if l.strings && prose {
		return 0
	}
	has := make([]said, len(l.words))
	if !l.strings {
		l.runs(text, has)
	}
	if !prose {
		l.templates(programStrings(text), has)
	}
	got, values := 0.0, 0.0
	for i, h := range has {
		switch h {
		case itself:
			got += l.weight[i]
		case value:
			values += l.weight[i]
		}
	}
	if got == 0 {
		return 0
	}
	if share := got / (l.sum - values); !l.strings || share >= l.q.tuning.LeastShare {
		return share
	}
	return 0
}

// said is what a text has of a word of the query.
type said byte

const (
	nothing said = iota
	value        // it stands where a template has a place for one
	itself
)

// runs marks the words that the text has one after the other.
func (l *Literal) runs(text string, has []said) {
	longest := make([]int, len(l.words)) // of the runs that end at a word
	run, next := map[int]int{}, map[int]int{}
	l.eachWord(text, func(at []int) {
		if len(at)+len(run) == 0 { // as after most words
			return
		}
		clear(next)
		for _, i := range at {
			next[i] = run[i-1] + 1
			longest[i] = max(longest[i], next[i])
		}
		run, next = next, run
	})
	for i := len(longest) - 1; i >= 0; {
		n := longest[i]
		if n == 0 {
			i--
			continue
		}
		telling, quoted := 0, true
		for j := i - n + 1; j <= i; j++ {
			quoted = quoted && l.quoted[j]
			if l.tells[j] {
				telling++
			}
		}
		if n >= l.q.tuning.LeastRun && telling > 1 || quoted && (n > 1 || n == l.quotedWords(i)) {
			for j := i - n + 1; j <= i; j++ {
				has[j] = itself
			}
			i -= n
		} else {
			i--
		}
	}
}

// eachWord calls f for every word of a text, with its places in the query.
func (l *Literal) eachWord(text string, f func(at []int)) {
	var lower []byte
	for i := 0; i < len(text); {
		from, plain := i, true
		lower = lower[:0]
		for i < len(text) {
			if c := text[i]; c >= utf8.RuneSelf {
				r, n := utf8.DecodeRuneInString(text[i:])
				if !word(r) {
					break
				}
				plain = false
				i += n
				continue
			} else if !wordByte(c) {
				break
			} else if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
				lower = append(lower, c)
			} else {
				lower = append(lower, c)
			}
			i++
		}
		switch {
		case i == from:
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
		case plain:
			f(l.at[string(lower)])
		default:
			f(l.at[strings.ToLower(text[from:i])])
		}
	}
}

// quotedWords is how many words the quoted part around a word has.
func (l *Literal) quotedWords(i int) int {
	from, to := i, i+1
	for from > 0 && l.quoted[from-1] {
		from--
	}
	for to < len(l.words) && l.quoted[to] {
		to++
	}
	return to - from
}
