package rank

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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
}

// mostSections is how many chunks of prose are looked at closely: each costs about 30 µs, and
// 80 or 120 find no more of what bench/sections asks for.
const mostSections = 40

// Closely returns which of the candidates deserve a closer look as sections:
// those of prose, the best by words and vector together, and of pages with
// older versions only the newest. Nil when the query is
// none for which that changes the order.
func Closely(q *Query, cands []Evidence, o Options) []int {
	if !o.sections(q) {
		return nil
	}
	r := &ranking{}
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
	return out[:min(len(out), mostSections)]
}

// sections reports whether prose is ordered by its sections: for questions in
// words. Names, paths and messages are found by what they say.
func (o *Options) sections(q *Query) bool {
	return q.Class == Natural && len(q.Words) > 1 && (o.Mode == "" || o.Mode == Hybrid) &&
		(o.Intent == "" || o.Intent == "find-documentation")
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

// mostCovered is how many words of a query Near and Covers look at.
const mostCovered = 32

// Covers is the share of the query, by weight, that a text answers whose terms
// have these bits of Near together: a word counts whole when it is there,
// relatedWeight of that when only one that is used for it is.
func (q *Query) Covers(has uint64) float64 {
	sum, got := 0.0, 0.0
	for n, w := range q.covered() {
		sum += w.idf
		switch bits := has >> (2 * n); {
		case bits&1 != 0:
			got += w.idf
		case bits&2 != 0:
			got += relatedWeight * w.idf
		}
	}
	if sum == 0 {
		return 0
	}
	return got / sum
}

const relatedWeight = 0.5

// sectionSignals are what orders the sections of prose among themselves, each
// relative to the best, with weights that sum to 1. They were fitted to the
// questions of bench/sections, where leaving out a project at a time gives the
// same, and rounded, but for "whole": commands and messages need it, which
// nobody asks there.
var sectionSignals = []struct {
	name   string
	weight float64
	value  func(*ranking, *Evidence, *page) float64
}{
	{"lexical", 0.11, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Lexical }},
	{"vector", 0.25, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Cosine }},
	// What the page is about on the whole, and how good its best sections are.
	{"mean", 0.07, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Mean }},
	{"page", 0.05, func(_ *ranking, _ *Evidence, p *page) float64 { return p.best }},
	// Words of the query, or such as are used for them; a long text holds some of anything.
	{"words", 0.22, func(_ *ranking, e *Evidence, _ *page) float64 {
		return e.Section.Words / math.Pow(1+float64(e.Section.Bytes)/longSection, 0.1)
	}},
	// A section with every word of the query, which meaning does not outweigh.
	{"whole", 0.14, func(r *ranking, e *Evidence, _ *page) float64 { return flag(r.q.Coverage(e.Matched) > 0.99) }},
	// The vector of a short text is clean.
	{"lead", 0.16, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Section.Lead }},
}

const (
	// longSection is the length in bytes from which a section is long.
	longSection = 400
	// samePart is what a further chunk of the same section counts: it is cited
	// by the same anchor.
	samePart = 0.7
	// bestOfPage is how many sections speak for their page.
	bestOfPage = 3
)

// page is what the sections of a document have in common.
type page struct {
	lexical []float64
	best    float64 // sum of the scores by words of its best sections
}

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
// first, at most mostAgain of a page.
func (r *ranking) sectionScores(all []Scored) []Scored {
	of, pages := r.looked(all)
	if len(of) == 0 {
		return nil
	}
	values := r.sectionValues(of, pages)
	score := make([]float64, len(of))
	for k := range sectionSignals {
		sg := &sectionSignals[k]
		if slices.Contains(r.o.Without, sg.name) {
			continue
		}
		for i := range of {
			v := sg.weight * values[i][k]
			score[i] += v
			if of[i].Parts != nil && v != 0 {
				of[i].Parts["section."+sg.name] = math.Round(v*1000) / 1000
			}
		}
	}
	for i := range of {
		of[i].raw = score[i] * r.sectionDemotion(&of[i])
	}
	slices.SortFunc(of, func(a, b Scored) int { return order(&a, &b) })
	return spread(of)
}

// looked returns the candidates that were looked at closely and the pages of all.
func (r *ranking) looked(all []Scored) (of []Scored, pages map[docKey]*page) {
	pages = map[docKey]*page{}
	for i := range all {
		e := &all[i].Evidence
		if e.Flags&kb.FlagProse == 0 {
			continue
		}
		k := docKey{e.Store, e.Path}
		if pages[k] == nil {
			pages[k] = &page{}
		}
		pages[k].lexical = append(pages[k].lexical, e.Lexical)
		if e.Section != nil {
			of = append(of, all[i])
			if r.o.Explain {
				of[len(of)-1].Parts = map[string]float64{}
			}
		}
	}
	return of, pages
}

// sectionValues returns the value of every signal for every section, relative
// to the best of them.
func (r *ranking) sectionValues(of []Scored, pages map[docKey]*page) [][]float64 {
	for _, p := range pages {
		slices.SortFunc(p.lexical, func(a, b float64) int { return cmp.Compare(b, a) })
		p.best = 0
		for _, x := range p.lexical[:min(bestOfPage, len(p.lexical))] {
			p.best += x
		}
	}
	values := make([][]float64, len(of))
	for i := range values {
		values[i] = make([]float64, len(sectionSignals))
	}
	for k := range sectionSignals {
		top := 0.0
		for i := range of {
			e := &of[i].Evidence
			values[i][k] = max(0, sectionSignals[k].value(r, e, pages[docKey{e.Store, e.Path}]))
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
// and drops what is beyond mostAgain of a page.
func spread(of []Scored) []Scored {
	type part struct {
		docKey
		title string
	}
	shown, seen := map[docKey]int{}, map[part]bool{}
	out := of[:0]
	for _, s := range of {
		k := docKey{s.Store, s.Path}
		if shown[k] == mostAgain {
			continue
		}
		shown[k]++
		if t := (part{k, s.Section.Title}); seen[t] {
			s.raw *= samePart
		} else {
			seen[t] = true
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Scored) int { return order(&a, &b) })
	return out
}

// SectionParts names the signals of sections, with their weights as they stand.
func SectionParts() (names []string, weights []float64) {
	for i := range sectionSignals {
		names, weights = append(names, sectionSignals[i].name), append(weights, sectionSignals[i].weight)
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
	of, pages := r.looked(all)
	for i := range of {
		kept = append(kept, of[i].Evidence)
		factors = append(factors, r.sectionDemotion(&of[i]))
	}
	return kept, r.sectionValues(of, pages), factors
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
	for _, s := range spread(of) {
		out = append(out, int(s.within))
	}
	return out
}

// demotion is the product of the demotions of a candidate.
func (r *ranking) demotion(s *Scored) float64 {
	d, factor := r.document(&s.Evidence), 1.0
	for i := range signals {
		sg := &signals[i]
		if !sg.demote || r.off[i] {
			continue
		}
		v := math.Pow(r.weight[i], sg.value(r, &s.Evidence, d))
		if factor *= v; s.Parts != nil && v != 1 {
			s.Parts[sg.name] = math.Round((v-1)*1000) / 1000
		}
	}
	return factor
}

// sectionDemotion is the product of the demotions of a section.
func (r *ranking) sectionDemotion(s *Scored) float64 {
	f := r.demotion(s)
	if r.dated(&s.Evidence) {
		f *= datedFactor
		if s.Parts != nil {
			s.Parts["section.dated"] = datedFactor - 1
		}
	}
	return f
}

// datedFactor is what a page counts that tells what changed, was planned or
// was said once, rather than what is, unless the question is about that.
const datedFactor = 0.8

// dated reports whether the path names release notes, a blog, proposals,
// minutes or a guide to upgrading.
func (r *ranking) dated(e *Evidence) bool {
	if r.past {
		return false
	}
	for part := range strings.SplitSeq(strings.ToLower(e.Path), "/") {
		if slices.ContainsFunc(datedNames, func(n string) bool { return strings.HasPrefix(part, n) }) {
			return true
		}
	}
	return false
}

// datedNames are what the names of files and folders of such pages begin with.
var datedNames = strings.Fields(`news changelog changes history release whats-new whatsnew what-s-new blog announce
	upgrad migrating migrate- migration-guide proposal rfc hips keps meeting minutes roadmap`)

// pastWords are words of questions about what changed or is to change.
var pastWords = strings.Fields(`release releases changelog changed changes upgrade upgrading migrate migrating version
	versions new blog proposal proposals roadmap news breaking meeting nuevo nueva cambios versión versiones migrar actualizar`)
