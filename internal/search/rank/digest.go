package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Digest is a text with more words than a query looks up, such as a whole issue.
type Digest struct {
	tuning *Tuning
	text   string
	words  []digestWord
}

// digestWord is a word of a long text.
type digestWord struct {
	text    string // as it is written, with the backquotes or parentheses around it
	term    string
	central float64 // where it is: in the title, in code
	times   int
}

// mostDigested is how many different words of a text are counted in the stores,
// the weightiest.
const mostDigested = 600

// Digest returns nil for a query that looks up all of its words.
func (q *Query) Digest() *Digest {
	if len(q.Terms) < maxTerms && len(q.Words) < maxTerms {
		return nil
	}
	text, t := q.Text, q.tuning
	d := &Digest{tuning: t, text: text}
	at := map[string]int{}
	title, fenced := true, false
	var s terms.Scanner
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		some := false
		for _, raw := range wordRE.FindAllString(line, -1) {
			inner := strings.TrimSuffix(strings.Trim(raw, "`"), "()")
			term := ""
			s.Scan(inner, func(x []byte, whole bool) {
				if whole && term == "" {
					term = string(x)
				}
			})
			if term == "" || stop[term] && inner == raw {
				continue
			}
			some = true
			i, ok := at[term]
			if !ok {
				i = len(d.words)
				at[term] = i
				d.words = append(d.words, digestWord{text: raw, term: term})
			}
			w := &d.words[i]
			w.times++
			central := 1.0
			if title {
				central += t.TitleWeight
			}
			if fenced || raw != inner || named(inner) {
				central += t.CodeWeight
			}
			w.central = max(w.central, central)
		}
		title = title && !some
	}
	slices.SortStableFunc(d.words, func(a, b digestWord) int { return cmp.Compare(b.weight(), a.weight()) })
	d.words = d.words[:min(len(d.words), mostDigested)]
	return d
}

// weight is how central a word is times 1 + ln of how often it is there.
func (w *digestWord) weight() float64 { return w.central * (1 + math.Log(float64(w.times))) }

// Terms are those of the words, to be counted.
func (d *Digest) Terms() []string {
	out := make([]string, len(d.words))
	for i := range d.words {
		out[i] = d.words[i].term
	}
	return out
}

// Query is the query for the words that are rare in the stores and central in
// the text: how rare a word is times its weight.
func (d *Digest) Query(st kb.TermStats) *Query {
	type scored struct {
		text  string
		score float64
	}
	var list []scored
	for i := range d.words {
		w := &d.words[i]
		df := float64(st.Frequency[i])
		if df == 0 {
			continue // as good as any that is not there
		}
		idf := math.Log(1 + (float64(st.Chunks)-df+0.5)/(df+0.5))
		list = append(list, scored{w.text, idf * w.weight()})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var words strings.Builder
	for _, w := range list {
		words.WriteString(w.text + " ")
	}
	q := d.tuning.Parse(words.String())
	q.Class = Natural
	q.Text = d.telling()
	for _, m := range quoted.FindAllStringSubmatch(q.Text, -1) {
		q.Quoted = append(q.Quoted, m[1])
	}
	return q
}

// tellsRE is a part of a line that may be a message.
var tellsRE = lazyregexp.New(`(?i)error|exception|panic|fatal|fail|cannot|undefined|"`)

// telling are the first lines of the text and those that tell of a failure.
func (d *Digest) telling() string {
	var b strings.Builder
	for line := range strings.Lines(d.text) {
		if b.Len() < d.tuning.LeadBytes || tellsRE.MatchString(line) && b.Len() < 2*d.tuning.LeadBytes {
			b.WriteString(kb.Clip(line, d.tuning.LeadBytes))
		}
	}
	return b.String()
}
