package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// concept is one distinctive word of a question, with its forms in
// a text.
type concept struct {
	word    string   // as written
	terms   []string // terms that mean it, the word's own first
	own     int      // how many of terms are the word's own; the next are translations
	near    int      // where those begin that are only used for it
	parts   []string // of an identifier, which cover it partly
	name    bool     // written like a name of a program, not as the qualifier of one
	weight  float64  // how distinctive it is; rare words more
	faint   bool     // a word that most questions hold and that says little
	topic   bool     // comes from an earlier turn
	known   bool     // some store holds it
	means   []string // in English, of a Spanish word
	english string   // what it is in English, "" for word
	akin    bool     // some store holds a word that is used for it
	phrase  []string // terms of a saying itself, all of which mean it too
}

// question is what was understood of one.
type question struct {
	text     string // as it is searched for
	spanish  bool
	concepts []concept
	sum      float64 // of the weights
	cue      cue
	measure  measure // of the amount that is asked for
	defaults bool    // asks what holds when nothing is set
	vector   []float32
	before   []Cite   // places that the turn before cited
	heard    []string // sentences that the turn before was answered with
	disputed bool     // passages disagree about what answers it
	dated    bool     // asks what has changed
	said     []string // what documentation has for its sayings
	sure     float64  // of package search, that the first passage is right
}

// wordRE splits a question into words; dots and slashes join names.
var wordRE = lazyregexp.New(`[\p{L}\p{N}_]+(?:[.:/#-]+[\p{L}\p{N}_]+)*`)

func words(s string) []string {
	return wordRE.FindAllString(shortenedRE.ReplaceAllString(s, "$1 "), -1)
}

// shortenedRE are words that are written together: "won't" is no win, and "it's" is it.
var shortenedRE = lazyregexp.New(`(?i)\b(?:[a-z]{2,6}n['’]t|(\pL+)['’](?:s|re|ve|ll|d|m))\b`)

// asking are words that only ask, folded; faint ones say little.
var (
	asking = lists["asking"]
	faints = lists["faints"]
)

// understand reads a question and weighs its words by the statistics of the
// stores asked. topic holds words of earlier turns that it leans on, names those
// that name a store.
func understand(ctx context.Context, targets []search.Target, emb kb.Embedder, text string, topic, names []string) (*question, error) {
	q := &question{text: text, spanish: isSpanish(text), cue: cueOf(text), dated: datedRE.MatchString(text)}
	q.gather(text, false)
	q.sayings(text)
	if q.cue == noCue || q.cue == defines { // "what is its ceiling"
		if c := cueOf(strings.Join(q.said, " ")); c != noCue {
			q.cue = c
		}
	}
	q.measure, q.defaults = measureOf(text), q.asksDefault()
	// In a store of its own the name of a product tells nothing.
	named := func(c concept) bool { return slices.Contains(names, c.word) }
	if slices.ContainsFunc(q.concepts, func(c concept) bool { return !named(c) && !c.faint }) {
		q.concepts = slices.DeleteFunc(q.concepts, named)
	}
	if !slices.ContainsFunc(q.concepts, func(c concept) bool { return !c.faint }) {
		for i := range q.concepts { // there is nothing else to go by
			q.concepts[i].faint = false
		}
	}
	if len(topic) > 0 {
		q.gather(strings.Join(topic, " "), true)
	}
	if err := q.foreigners(ctx, targets); err != nil {
		return nil, err
	}
	if err := q.spell(ctx, targets); err != nil {
		return nil, err
	}
	if err := q.weigh(ctx, targets); err != nil {
		return nil, err
	}
	if emb != nil {
		if err := q.embed(ctx, emb); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// gather adds the concepts of a text.
func (q *question) gather(text string, topic bool) {
	for _, w := range words(text) {
		if q.spanish {
			w = bare(w)
		}
		f := fold(w)
		if asking[f] || len(f) < 2 && !isDigits(f) {
			continue
		}
		c := concept{word: w, faint: faints[f] || adverbRE.MatchString(f), topic: topic}
		var s terms.Scanner
		s.Scan(w, func(t []byte, whole bool) {
			if whole || len(t) > 2 {
				c.terms = append(c.terms, string(t))
			}
		})
		if len(c.terms) == 0 || q.has(c.terms[0]) {
			continue
		}
		if strings.ContainsAny(w, ".:/#-") || len(c.terms) > 1 {
			// Of a dotted name the last part is meant; the others say where.
			q.name(w, topic)
			continue
		}
		c.own = 1
		if q.spanish {
			c.mean(english(f))
		} else {
			c.terms = append(c.terms, alike[c.terms[0]]...)
		}
		c.relate()
		q.concepts = append(q.concepts, c)
	}
}

// mean sets what the word is in English.
func (c *concept) mean(list []string) {
	c.means = list
	c.english = strings.Join(list[:min(1, len(list))], " ")
	for _, e := range list {
		c.terms = appendNew(c.terms, terms.Of(e)...)
	}
}

// relate adds other forms of the terms there are, and then what is used for them.
func (c *concept) relate() {
	for _, t := range c.terms {
		if n := len(t); n > 3 && t[n-1] == 'y' { // copy, copied
			c.terms = append(c.terms, t[:n-1]+"i")
		} else if stem, ok := strings.CutSuffix(t, "at"); ok && len(stem) > 4 { // validate, valid
			c.terms = append(c.terms, stem)
		}
	}
	c.near = len(c.terms)
	for _, t := range c.terms[:min(c.near, 3)] {
		c.alike(rank.Related(t))
	}
}

// adverbRE is a word that says how, which is rarely what is asked about.
var adverbRE = lazyregexp.New(`^(?:[a-z]{3,}(?:[bcdfgiklmnprstvx]|al|ous|ive)ly|[a-z]{4,}mente)$`)

// mostAlike is how many words are taken that are used for another.
const mostAlike = 8

// alike adds terms that are used for the concept's.
func (c *concept) alike(list []string) {
	for _, t := range list[:min(len(list), mostAlike)] {
		if !slices.Contains(c.terms, t) {
			c.terms = append(c.terms, t)
		}
	}
}

// sayings adds what documentation has for what the question says in several
// words; these say little by themselves then.
func (q *question) sayings(text string) {
	phrases, means := said(text)
	for i, list := range means {
		for j := range q.concepts {
			if slices.Contains(phrases[i], q.concepts[j].word) {
				q.concepts[j].faint = true
			}
		}
		c := concept{word: strings.Join(phrases[i], " "), english: strings.Join(list, " ")}
		for _, w := range phrases[i] {
			if t := terms.Of(w); len(t) > 0 && !asking[fold(w)] {
				c.phrase = append(c.phrase, t[0])
			}
		}
		for _, w := range list {
			for _, t := range terms.Of(w) {
				if !slices.Contains(c.terms, t) {
					c.terms = append(c.terms, t)
				}
			}
		}
		if c.near = len(c.terms); c.near > 0 {
			q.concepts = append(q.concepts, c)
			q.said = append(q.said, list...)
		}
	}
}

// name adds the concepts of a name made of parts.
func (q *question) name(w string, topic bool) {
	pieces := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune(".:/#-", r) })
	for i, p := range pieces {
		var whole string
		var parts []string
		var s terms.Scanner
		s.Scan(p, func(t []byte, isWhole bool) {
			if isWhole {
				whole = string(t)
			} else {
				parts = append(parts, string(t))
			}
		})
		if whole == "" || q.has(whole) || asking[fold(p)] && len(pieces) > 1 {
			continue
		}
		q.concepts = append(q.concepts, concept{word: p, terms: []string{whole}, own: 1, parts: parts,
			near: 1, name: i == len(pieces)-1 && p != strings.ToLower(p), topic: topic})
	}
}

func (q *question) has(term string) bool {
	return slices.ContainsFunc(q.concepts, func(c concept) bool { return slices.Contains(c.terms[:c.own], term) })
}

// searchText is the question as the stores are asked it: with what it leans
// on, and for a Spanish one the English beside what has none.
func (q *question) searchText() string {
	if !q.spanish && !slices.ContainsFunc(q.concepts, func(c concept) bool { return c.topic }) {
		return q.text
	}
	var b strings.Builder
	if !q.spanish {
		b.WriteString(q.text)
	}
	for i := range q.concepts {
		c := &q.concepts[i]
		switch {
		case len(c.terms) == c.own || !q.spanish:
			if c.topic || q.spanish {
				b.WriteString(" " + c.word)
			}
		default:
			means := c.means
			if len(means) == 0 { // a word that programs have: synchronize
				means = []string{c.word}
			}
			for _, t := range means[:min(2, len(means))] {
				b.WriteString(" " + t)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// alike are terms that people say for each other of programs, stemmed.
var alike = pairs(`delete remove, remove delete, directory folder, folder directory, setting configuration option, configure configuration,
	option flag setting, error failure, fail error, stop end cancel, start begin, begin start, fast speed, speed fast, size bytes large,
	path place, kill dead, call invoke, wait block, sort order, disable off, enable on, version release, password credential,
	character letter, fetch download, purpose used, unlimited indefinite, unlimited without, nil null, maintained kept`)

func pairs(list string) map[string][]string {
	m := map[string][]string{}
	for _, p := range strings.Split(list, ",") {
		f := terms.Of(p)
		if len(f) > 1 {
			m[f[0]] = append(m[f[0]], f[1:]...)
		}
	}
	return m
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
