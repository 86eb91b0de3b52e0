package rank

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Section is what a closer look at a chunk of prose shows.
type Section struct {
	Title string  // its headings, the outermost first; chunks of one section share it
	Words float64 // Query.Covers of its text and headings
	Bytes int     // length of its text
	// Lead is how near its headings and first paragraph are to the query, in
	// [0,1]: the query's words weighted by how rare they are, and without most of
	// what the sections have in common. 0 when nobody knows.
	Lead float64
	// Deprecated is set where its headings or first lines say that something else
	// is to be used now.
	Deprecated bool
}

// Closely returns which of the candidates deserve a closer look as sections:
// those of prose, the best by words and vector together, and of pages with
// older versions only the newest. Nil when the query is
// none for which that changes the order.
func Closely(q *Query, cands []Evidence, o Options) []int {
	if !o.sections(q) {
		return nil
	}
	r := &ranking{t: q.tuning}
	var out []int
	ed := newEditions(cands)
	for i := range cands {
		if e := &cands[i]; e.Flags&kb.FlagProse != 0 && e.admitted(q) && !ed.again(q, e) {
			r.topLex, r.topCos = max(r.topLex, e.Lexical), max(r.topCos, e.Cosine)
			out = append(out, i)
		}
	}
	value := func(i int) float64 { return r.lexical(&cands[i], nil) + r.vector(&cands[i], nil) }
	slices.SortFunc(out, func(a, b int) int {
		if c := cmp.Compare(value(b), value(a)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return out[:min(len(out), q.tuning.MostSections)]
}

// sections reports whether prose is ordered by its sections: for questions in
// words. Names, paths and messages are found by what they say.
func (o *Options) sections(q *Query) bool {
	return q.Class == Natural && len(q.Words) > 1 && (o.Mode == "" || o.Mode == Hybrid) &&
		(o.Intent == "" || o.Intent == Documentation)
}

// Near returns the terms that Covers knows, each with bits for the words of
// the query that it stands for: bit 2i says that word i is there, bit 2i+1
// that one is there that is used for it.
func (q *Query) Near() map[string]uint64 {
	m := map[string]uint64{}
	for n, w := range q.covered() {
		m[q.Terms[w.Whole]] |= 1 << (2 * n)
		for _, t := range related(q.Terms[w.Whole]) {
			m[t] |= 2 << (2 * n)
		}
	}
	return m
}

// covered yields the words of the query that Near and Covers look at.
func (q *Query) covered() iter.Seq2[int, *Word] {
	return func(yield func(int, *Word) bool) {
		n := 0
		for i := range q.Words {
			w := &q.Words[i]
			if w.Stop || w.Whole < 0 {
				continue
			}
			if n == mostCovered || !yield(n, w) {
				return
			}
			n++
		}
	}
}

// Telling yields the words of the query that are no stop words, as they were
// written, with how rare they are.
func (q *Query) Telling() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i := range q.Words {
			if w := &q.Words[i]; !w.Stop && !yield(w.Text, w.idf) {
				return
			}
		}
	}
}

// mostCovered is how many words of a query Near and Covers look at: each takes two bits.
const mostCovered = maxTerms / 2

// Covers is the share of the query, by weight, that a text answers whose terms
// have these bits of Near together: a word counts whole when it is there,
// Related of that when only one that is used for it is.
func (q *Query) Covers(has uint64) float64 {
	sum, got := 0.0, 0.0
	for n, w := range q.covered() {
		sum += w.idf
		switch bits := has >> (2 * n); {
		case bits&1 != 0:
			got += w.idf
		case bits&2 != 0:
			got += q.tuning.Related * w.idf
		}
	}
	if sum == 0 {
		return 0
	}
	return got / sum
}

func pageMean(_ *ranking, e *Evidence, _ *document) float64 { return e.Mean }

func bestOfPage(_ *ranking, _ *Evidence, d *document) float64 { return d.best }

func wordsOfSection(r *ranking, e *Evidence, _ *document) float64 {
	return e.Section.Words / math.Pow(1+float64(e.Section.Bytes)/float64(r.t.LongSection), r.t.LengthPower)
}

func wholeQuery(r *ranking, e *Evidence, _ *document) float64 {
	return flag(r.q.Coverage(e.Matched) > r.t.WholeShare)
}

func leadOfSection(_ *ranking, e *Evidence, _ *document) float64 { return e.Section.Lead }

// sections orders the prose of ordered anew, by its sections, in the places
// that prose has there: code stays where it is. all are the candidates.
func (r *ranking) sections(ordered, all []Scored) {
	prose := r.sectionScores(all)
	if len(prose) == 0 {
		return
	}
	type place struct {
		kb.Place
		store int
	}
	placed := make(map[place]bool, len(prose))
	for i := range prose {
		placed[place{prose[i].Place, prose[i].Store}] = true
	}
	for i := range ordered { // what nobody looked at comes after, as it was
		if s := &ordered[i]; s.Flags&kb.FlagProse != 0 && !placed[place{s.Place, s.Store}] {
			prose = append(prose, *s)
		}
	}
	for i := range ordered {
		if ordered[i].Flags&kb.FlagProse != 0 && len(prose) > 0 {
			raw := ordered[i].raw
			ordered[i], prose = prose[0], prose[1:]
			ordered[i].raw = raw
		}
	}
}

// sectionScores returns the candidates that were looked at closely, the best
// first, at most MostAgain of a page.
func (r *ranking) sectionScores(all []Scored) []Scored {
	of := r.looked(all)
	if len(of) == 0 {
		return nil
	}
	values := r.sectionValues(of)
	score := make([]float64, len(of))
	for k := range r.t.Signals {
		sg := &r.t.Signals[k]
		if sg.Section == 0 || slices.Contains(r.o.Without, sg.Name) {
			continue
		}
		for i := range of {
			v := sg.Section * values[i][k]
			score[i] += v
			if of[i].Parts != nil && v != 0 {
				of[i].Parts["section."+sg.Name] = math.Round(v*1000) / 1000
			}
		}
	}
	for i := range of {
		of[i].raw = score[i] * r.demotion(&of[i])
	}
	slices.SortFunc(of, func(a, b Scored) int { return order(&a, &b) })
	return r.t.spread(of)
}

// looked returns the candidates that were looked at closely, and sets how
// good the best sections of each page are.
func (r *ranking) looked(all []Scored) (of []Scored) {
	pages := map[*document][]float64{} // scores by words of the sections
	for i := range all {
		e := &all[i].Evidence
		if e.Flags&kb.FlagProse == 0 {
			continue
		}
		d := r.document(e)
		pages[d] = append(pages[d], e.Lexical)
		if e.Section != nil {
			of = append(of, all[i])
			if r.o.Explain {
				of[len(of)-1].Parts = map[string]float64{}
			}
		}
	}
	for d, scores := range pages {
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
		for _, x := range scores[:min(r.t.BestOfPage, len(scores))] {
			d.best += x
		}
	}
	return of
}

// sectionValues returns the value of every signal for every section, relative
// to the best of them; 0 where sections do not weigh it.
func (r *ranking) sectionValues(of []Scored) [][]float64 {
	values := make([][]float64, len(of))
	for i := range values {
		values[i] = make([]float64, len(r.t.Signals))
	}
	for k := range r.t.Signals {
		sg := &r.t.Signals[k]
		if sg.Section == 0 {
			continue
		}
		value := sg.section
		if value == nil {
			value = sg.value
		}
		top := 0.0
		for i := range of {
			e := &of[i].Evidence
			values[i][k] = max(0, value(r, e, r.document(e)))
			top = max(top, values[i][k])
		}
		if top > 0 {
			for i := range of {
				values[i][k] /= top
			}
		}
	}
	return values
}

// spread puts further chunks of a section later than they would come alone,
// and drops what is beyond MostAgain of a page.
func (t *Tuning) spread(of []Scored) []Scored {
	type part struct {
		docKey
		title string
	}
	shown, seen := map[docKey]int{}, map[part]bool{}
	out := of[:0]
	for _, s := range of {
		k := docKey{s.Store, s.Path}
		if shown[k] == t.MostAgain {
			continue
		}
		shown[k]++
		if p := (part{k, s.Section.Title}); seen[p] {
			s.raw *= t.SamePart
		} else {
			seen[p] = true
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Scored) int { return order(&a, &b) })
	return out
}

// SectionParts names the signals that weigh sections, with their weights.
func SectionParts() (names []string, weights []float64) {
	for i := range signals {
		if sg := &signals[i]; sg.Section > 0 {
			names, weights = append(names, sg.Name), append(weights, sg.Section)
		}
	}
	return names, weights
}

// EvaluateSections returns the candidates that were looked at closely, for each the
// values of SectionParts and the factor of its demotions: what weights are
// fitted on.
func EvaluateSections(q *Query, cands []Evidence, o Options) (kept []Evidence, values [][]float64, factors []float64) {
	cands = slices.DeleteFunc(slices.Clone(cands), func(e Evidence) bool { return !e.admitted(q) })
	r := newRanking(q, cands, o)
	all := make([]Scored, len(cands))
	for i := range cands {
		all[i].Evidence = cands[i]
	}
	of := r.looked(all)
	for i := range of {
		kept = append(kept, of[i].Evidence)
		factors = append(factors, r.demotion(&of[i]))
	}
	values = r.sectionValues(of)
	for i, row := range values {
		values[i] = row[:0]
		for k, x := range row {
			if r.t.Signals[k].Section > 0 {
				values[i] = append(values[i], x)
			}
		}
	}
	return kept, values, factors
}

// SectionOrder returns the numbers of sections with these scores in the order
// in which they are shown, without those that are not.
func SectionOrder(kept []Evidence, scores []float64) []int {
	of := make([]Scored, len(kept))
	for i := range of {
		of[i] = Scored{Evidence: kept[i], raw: scores[i], within: float64(i)}
	}
	slices.SortFunc(of, func(a, b Scored) int { return order(&a, &b) })
	var out []int
	for _, s := range fitted.spread(of) {
		out = append(out, int(s.within))
	}
	return out
}

// demotion is the product of the demotions of a section.
func (r *ranking) demotion(s *Scored) float64 {
	d, factor := r.document(&s.Evidence), 1.0
	for i := range r.t.Signals {
		sg := &r.t.Signals[i]
		if sg.Factor == 0 || slices.Contains(r.o.Without, sg.Name) {
			continue
		}
		name, value := sg.Name, sg.value
		if value == nil {
			name, value = "section."+name, sg.section
		}
		v := math.Pow(r.weight[i], value(r, &s.Evidence, d))
		if factor *= v; s.Parts != nil && v != 1 {
			s.Parts[name] = math.Round((v-1)*1000) / 1000
		}
	}
	return factor
}

// gone is how documents say that something else is to be used now.
var gone = lazyregexp.New(`(?i)\b(?:deprecated|obsolete|obsolet[oa]|legacy|superseded|no longer (?:supported|maintained|recommended|used))\b`)

// Deprecated reports whether a text says that something else is to be used now.
func Deprecated(text string) bool { return gone.MatchString(text) }

// deprecated is 1 for a section about what something else has replaced, unless
// the question is about that.
func (r *ranking) deprecated(e *Evidence, _ *document) float64 {
	return flag(e.Section.Deprecated && !r.past)
}

// dated is 1 when the path names release notes, a blog, proposals,
// minutes or a guide to upgrading.
func (r *ranking) dated(e *Evidence, _ *document) float64 {
	if r.past {
		return 0
	}
	for part := range strings.SplitSeq(strings.ToLower(e.Path), "/") {
		if slices.ContainsFunc(r.t.DatedNames, func(n string) bool { return strings.HasPrefix(part, n) }) {
			return 1
		}
	}
	return 0
}
