package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Section is what a closer look at a chunk of prose shows.
type Section struct {
	Title string  // its headings, the outermost first; chunks of one section share it
	Lead  float64 // cosine of its headings and first paragraph with the query, 0 when nobody knows
	Text  float64 // Query.Covers of its text and headings
	Names float64 // Query.Covers of its headings
}

// mostSections is how many chunks of prose are looked at closely: each costs about 30 µs, and
// those of bench/web and of the prose of internal/eval rank the same with 60.
const mostSections = 40

// Closely returns which of the candidates deserve a closer look as sections:
// those of prose, the best by words and vector together. Nil when the query is
// none for which that changes the order.
func Closely(q *Query, cands []Evidence, o Options) []int {
	if !o.sections(q) {
		return nil
	}
	r := &ranking{}
	var out []int
	for i := range cands {
		if e := &cands[i]; e.Flags&kb.FlagProse != 0 && e.admitted(q) {
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
	n := 0
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop || w.Whole < 0 {
			continue
		}
		if n++; n > mostCovered {
			break
		}
		m[q.Terms[w.Whole]] |= 1 << (2*n - 2)
		for _, t := range related()[q.Terms[w.Whole]] {
			m[t] |= 2 << (2*n - 2)
		}
	}
	return m
}

// mostCovered is how many words of a query Near and Covers look at.
const mostCovered = 32

// Covers is the share of the query, by weight, that a text answers whose terms
// have these bits of Near together: a word counts whole when it is there,
// relatedWeight of that when only one that is used for it is.
func (q *Query) Covers(has uint64) float64 {
	sum, got := 0.0, 0.0
	n := 0
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop || w.Whole < 0 {
			continue
		}
		if n++; n > mostCovered {
			break
		}
		sum += w.idf
		switch bits := has >> (2*n - 2); {
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
// relative to the best, with weights that sum to 1. They were fitted by the
// open questions of bench/web, leaving out one site at a time, and rounded.
var sectionSignals = []struct {
	name   string
	weight float64
	value  func(*ranking, *Evidence, *page) float64
}{
	{"lexical", 0.16, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Lexical }},
	{"vector", 0.16, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Cosine }},
	// What the page is about on the whole, and how good its best sections are.
	{"mean", 0.1, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Mean }},
	{"total", 0.06, func(_ *ranking, e *Evidence, _ *page) float64 { return total(e) }},
	{"page", 0.1, func(_ *ranking, _ *Evidence, p *page) float64 { return p.best }},
	// Words of the query, or such as are used for them.
	{"related", 0.22, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Section.Text }},
	{"headings", 0.05, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Section.Names }},
	// A section with every word of the query, which meaning does not outweigh.
	{"whole", 0.2, func(r *ranking, e *Evidence, _ *page) float64 { return flag(r.q.Coverage(e.Matched) > 0.99) }},
	// The vector of a short text is clean.
	{"lead", 0.15, func(_ *ranking, e *Evidence, _ *page) float64 { return e.Section.Lead }},
}

const (
	// againSection is what a further section of a page counts of the one
	// before: unlike two chunks of a file, two sections answer two questions.
	againSection = 0.95
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
	pages := map[docKey]*page{}
	var of []Scored
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
	if len(of) == 0 {
		return nil
	}
	for _, p := range pages {
		slices.SortFunc(p.lexical, func(a, b float64) int { return cmp.Compare(b, a) })
		for _, x := range p.lexical[:min(bestOfPage, len(p.lexical))] {
			p.best += x
		}
	}
	score := make([]float64, len(of))
	value := make([]float64, len(of))
	for k := range sectionSignals {
		sg := &sectionSignals[k]
		if slices.Contains(r.o.Without, sg.name) {
			continue
		}
		top := 0.0
		for i := range of {
			e := &of[i].Evidence
			value[i] = max(0, sg.value(r, e, pages[docKey{e.Store, e.Path}]))
			top = max(top, value[i])
		}
		if top == 0 {
			continue
		}
		for i := range of {
			v := sg.weight * value[i] / top
			score[i] += v
			if of[i].Parts != nil && v != 0 {
				of[i].Parts["section."+sg.name] = math.Round(v*1000) / 1000
			}
		}
	}
	for i := range of {
		of[i].raw = score[i] * r.demotion(&of[i])
	}
	slices.SortFunc(of, func(a, b Scored) int { return order(&a, &b) })
	return spread(of)
}

// spread puts further sections of a page, and further chunks of a section, a
// little later than they would come alone, and drops those beyond mostAgain.
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
		s.raw *= math.Pow(againSection, float64(shown[k]))
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
