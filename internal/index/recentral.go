package index

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// After an edit how central documents are is not found anew from all that is
// declared and mentioned. It is what it was for all but those that
//
//   - changed,
//   - declare a name that a changed document mentions now and did not, or did,
//   - declare a name that a changed document declares now and did not, or did,
//
// as long as no name has come to be mentioned by more than half of all documents,
// or has ceased to be: how far all names are from that is known, see
// generationHead.Margin. The others are found as centrality finds them, to the bit.

const (
	mostChanged  = 64     // documents beyond which everything is found anew
	mostRenamed  = 20_000 // names of which the documents affected may declare so many
	leastCentral = 400    // documents below which that is no work
)

// recentral finds how central documents are after others changed.
type recentral struct {
	prev    *Generation
	segs    []*segment
	at      [][]int32 // by segment and document of it, its number + 1
	docs    []kb.Located
	uses    []float32
	changed []changedDoc
	margin  int

	docsOf   map[string][]uint32 // of a term, remembered
	affected map[uint32]bool
}

// changedDoc is a document that came, went, or was replaced: nil for none.
type changedDoc struct {
	was, now       *segment
	wasDoc, nowDoc int
	number         int
}

// again returns how central documents are, and how far names are from being
// mentioned by half of them; false where everything is to be found anew.
func (x *recentral) again() (ok bool, err error) {
	n := len(x.docs)
	x.margin = x.prev.head.Margin
	if x.margin <= 0 || x.prev.uses == nil || n < leastCentral || !x.compare() {
		return false, nil
	}
	before := len(x.prev.docs)
	if x.margin -= 2*len(x.changed) + max(n-before, before-n); x.margin <= 0 {
		return false, nil
	}
	x.docsOf, x.affected = map[string][]uint32{}, map[uint32]bool{}
	if err := x.affect(); err != nil {
		return false, err
	}
	names := 0
	for d := range x.affected {
		declared, err := x.declaredIn(d)
		if err != nil {
			return false, err
		}
		if names += len(declared); names > mostRenamed {
			return false, nil
		}
		if x.uses[d], err = x.usesOf(d, declared); err != nil {
			return false, err
		}
	}
	return x.margin > 0, nil
}

// compare takes over what is known of the documents that are as they were, and
// finds those that are not; false for too many. Copies count where the first of
// them is.
func (x *recentral) compare() bool {
	g := x.prev
	index := map[string]*segment{}
	for _, s := range x.segs {
		index[s.name] = s
	}
	numbers := map[*segment][]int32{}
	for i, s := range x.segs {
		numbers[s] = x.at[i]
	}
	x.uses = make([]float32, len(x.docs))
	i, j := 0, 0
	for (i < len(g.docs) || j < len(x.docs)) && len(x.changed) <= mostChanged {
		order := 0
		switch {
		case i == len(g.docs):
			order = 1
		case j == len(x.docs):
			order = -1
		default:
			order = strings.Compare(g.paths[i], x.docs[j].Path)
		}
		c := changedDoc{number: j}
		if order <= 0 {
			d := g.docs[i]
			if int(g.first[d.seg][d.doc])-1 == i {
				c.was, c.wasDoc = g.segs[d.seg], int(d.doc)
			}
		}
		if order >= 0 {
			d := &x.docs[j]
			s := index[d.Segment]
			if int(numbers[s][d.Number])-1 == j {
				c.now, c.nowDoc = s, d.Number
			}
		}
		if order == 0 && g.uses != nil {
			x.uses[j] = g.uses[i]
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
		if c.was != c.now || c.wasDoc != c.nowDoc {
			if c.was == nil || c.now == nil || c.was.key(c.wasDoc) != c.now.key(c.nowDoc) {
				x.changed = append(x.changed, c)
			}
		}
	}
	return len(x.changed) <= mostChanged
}

// affect finds the documents that may be more central or less than they were.
func (x *recentral) affect() error {
	mentioned, declared := map[string]bool{}, map[string]bool{}
	for _, c := range x.changed {
		was, err := termsOf(c.was, c.wasDoc)
		if err != nil {
			return err
		}
		now, err := termsOf(c.now, c.nowDoc)
		if err != nil {
			return err
		}
		if c.now != nil {
			x.affected[uint32(c.number)] = true
		}
		for _, pair := range [][2]map[string]bool{{was, now}, {now, was}} {
			for t := range pair[0] {
				if pair[1][t] {
					continue
				}
				mentioned[t] = true
				if name, ok := strings.CutPrefix(t, "="); ok && countsAsName([]byte(name)) {
					declared[name] = true
				}
			}
		}
	}
	names, err := x.namesOf(mentioned)
	if err != nil {
		return err
	}
	for _, name := range names {
		declared[name] = true
	}
	for name := range declared {
		docs, err := x.find("=" + name)
		if err != nil {
			return err
		}
		if len(docs) <= mostDeclarers+len(x.changed) {
			for _, d := range docs {
				x.affected[d] = true
			}
		}
	}
	return nil
}

// countsAsName reports whether the mentions of a declared name count.
func countsAsName(name []byte) bool {
	return len(name) >= leastName && terms.Cased(string(name)) == ""
}

// termsOf returns the terms of a document, none for none.
func termsOf(s *segment, doc int) (map[string]bool, error) {
	if s == nil {
		return nil, nil
	}
	d, err := s.document(doc)
	if err != nil {
		return nil, err
	}
	b := &Builder{terms: map[string]uint32{}}
	for i := range d.Chunks {
		b.addTerms(d.Text.Body[d.Chunks[i].From:d.Chunks[i].To], &d.Chunks[i])
	}
	out := make(map[string]bool, len(b.terms))
	for t := range b.terms {
		out[t] = true
	}
	return out, nil
}

// namesOf returns the names that are declared and of which one of the terms is a
// mention. A mention begins as its name does, but for underscores and its last
// letter, so that few names are looked at.
func (x *recentral) namesOf(mentioned map[string]bool) ([]string, error) {
	var begin []string
	for t := range mentioned {
		if t != "" {
			begin = append(begin, t[:min(max(len(t)-1, 1), 3)])
		}
	}
	begin = append(begin, "_")
	slices.Sort(begin)
	begin = slices.CompactFunc(begin, func(a, b string) bool { return strings.HasPrefix(b, a) })
	found := map[string]bool{}
	for _, s := range x.segs {
		for _, prefix := range begin {
			err := s.dict.each("="+prefix, func(term []byte, _, _ int64) error {
				name := string(term[1:])
				if !found[name] && slices.ContainsFunc(mentions(name), func(m string) bool { return mentioned[m] }) && countsAsName(term[1:]) {
					found[name] = true
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	out := make([]string, 0, len(found))
	for name := range found {
		out = append(out, name)
	}
	return out, nil
}

// find returns the documents in which a term occurs.
func (x *recentral) find(term string) ([]uint32, error) {
	docs, ok := x.docsOf[term]
	if ok {
		return docs, nil
	}
	for i, s := range x.segs {
		at, err := s.dict.find(term)
		if err != nil {
			return nil, err
		}
		if at.count == 0 {
			continue
		}
		err = s.docsOf(at.off, int64(at.size), func(d int) {
			if g := x.at[i][d]; g > 0 {
				docs = append(docs, uint32(g-1))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	x.docsOf[term] = docs
	return docs, nil
}

// declaredIn returns the names that a document declares, each once.
func (x *recentral) declaredIn(d uint32) ([]string, error) {
	i := slices.IndexFunc(x.segs, func(s *segment) bool { return s.name == x.docs[d].Segment })
	chunks, err := x.segs[i].chunksOf(x.docs[d].Number)
	if err != nil {
		return nil, err
	}
	var out []string
	for c := range chunks {
		for k := range chunks[c].Symbols {
			s := &chunks[c].Symbols[k]
			if !s.Declares() {
				continue
			}
			for _, t := range []string{terms.Exact(s.Name), terms.Cased(s.Name)} {
				if name, ok := strings.CutPrefix(t, "="); ok && countsAsName([]byte(name)) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// usesOf returns how central a document is that declares those names, as
// centrality does.
func (x *recentral) usesOf(d uint32, names []string) (sum float32, err error) {
	share := map[uint32]float32{}
	n := len(x.docs)
	for _, name := range names {
		declarers, err := x.find("=" + name)
		if err != nil {
			return 0, err
		}
		if len(declarers) == 0 || len(declarers) > mostDeclarers {
			continue
		}
		var users []uint32
		for _, term := range mentions(name) {
			if users, err = x.find(term); err != nil {
				return 0, err
			}
			if len(users) > 0 {
				break
			}
		}
		x.margin = min(x.margin, marginOf(len(users), n))
		if len(users)*2 > n {
			continue
		}
		w := 1 / float32(len(declarers))
		for _, o := range users {
			if o != d {
				share[o] = max(share[o], w)
			}
		}
	}
	order := make([]uint32, 0, len(share))
	for o := range share {
		order = append(order, o)
	}
	slices.Sort(order)
	for _, o := range order {
		sum += share[o]
	}
	return sum, nil
}

// marginOf returns by how much twice the documents that mention a name, less all
// documents, may change before it is mentioned by more than half of them or no
// longer.
func marginOf(users, n int) int {
	if over := 2*users - n; over > 0 {
		return over - 1
	}
	return n - 2*users
}

// mostMargin is the margin of names that nothing mentions.
const mostMargin = math.MaxInt32

// byNumber returns the numbers + 1 of a generation's documents, by segment and
// document of it; copies have that of the first.
func byNumber(docs []kb.Located, segs []*segment, index map[string]int) [][]int32 {
	at := make([][]int32, len(segs))
	for i, s := range segs {
		at[i] = make([]int32, s.info.Documents)
	}
	for i := range docs {
		if d := &at[index[docs[i].Segment]][docs[i].Number]; *d == 0 {
			*d = int32(i + 1)
		}
	}
	return at
}
