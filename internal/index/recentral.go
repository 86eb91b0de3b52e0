package index

import (
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// After an edit how central documents are is not found anew from all that is
// declared and mentioned. All that it follows from is looked at for those that
//
//   - are new,
//   - declare a name that they did not, or declared one that they do not,
//   - declare a name that another declares now and did not, or did,
//
// and of those that declare a name that a changed document mentions now and did not, or
// did, how often that one uses them; the others are as central as they were, as long as
// no other name has come to be mentioned by more than half of all documents, or has
// ceased to be, since these have become more or fewer: how far all names are from that
// is known, see generationHead.Margin. What comes out is what centrality finds, to the
// bit.

const (
	// Everything is found anew when more documents changed than fewChanged and one in
	// shareChanged of all: each takes as long as some thirty do then.
	fewChanged   = 64
	shareChanged = 64
	mostRenamed  = 60_000 // names that documents may declare of which all is looked at
	leastCentral = 400    // documents below which that is no work
	// mostAdjusted is the number of uses from which on it is not known exactly enough
	// to be changed.
	mostAdjusted = 1000
)

// recentral finds how central documents are after others changed.
type recentral struct {
	prev    *Generation
	segs    []*segment
	at      [][]int32 // by segment and document of it, its number + 1
	docs    []kb.Located
	uses    []float32
	changed []changedDoc

	affected map[uint32]bool  // documents of which all is looked at
	adjusted map[uint32][]int // and those of which how some changed documents use them is

	mu     sync.Mutex
	margin int
	docsOf map[string][]uint32 // of a term, remembered
	shares map[string]shareOf  // of a name, likewise
}

// changedDoc is a document that came, went, or was replaced: nil for none.
type changedDoc struct {
	was, now       *segment
	wasDoc, nowDoc int
	number         int
	had, has       termSet
}

// is reports whether it is that document now.
func (c *changedDoc) is(d uint32) bool { return c.now != nil && c.number == int(d) }

// again returns how central documents are, and how far names are from being
// mentioned by half of them; false where everything is to be found anew.
func (x *recentral) again() (ok bool, err error) {
	n := len(x.docs)
	x.margin = x.prev.head.Margin
	if x.margin <= 0 || x.prev.uses == nil || n < leastCentral || !x.compare() {
		return false, nil
	}
	before := len(x.prev.docs)
	if x.margin -= max(n-before, before-n); x.margin <= 0 {
		return false, nil
	}
	x.docsOf, x.shares = map[string][]uint32{}, map[string]shareOf{}
	x.affected, x.adjusted = map[uint32]bool{}, map[uint32][]int{}
	if err := x.affect(); err != nil {
		return false, err
	}
	if err := x.adjust(); err != nil {
		return false, err
	}
	names, err := x.declarations()
	if err != nil || len(names) > mostRenamed {
		return false, err
	}
	if err := x.weigh(names); err != nil {
		return false, err
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
	most := max(fewChanged, len(x.docs)/shareChanged)
	for (i < len(g.docs) || j < len(x.docs)) && len(x.changed) <= most {
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
	return len(x.changed) <= most
}

// affect finds the documents that may be more central or less than they were.
func (x *recentral) affect() error {
	t := touched{mentioned: map[string][]int{}, declared: map[string][]int{}}
	err := x.side(len(x.changed), func(i int) error {
		c := &x.changed[i]
		was, err := termsOf(c.was, c.wasDoc)
		if err != nil {
			return err
		}
		now, err := termsOf(c.now, c.nowDoc)
		if err != nil {
			return err
		}
		c.had, c.has = termSetOf(was), termSetOf(now)
		x.mu.Lock()
		defer x.mu.Unlock()
		if c.now != nil && c.was == nil {
			x.affected[uint32(c.number)] = true
		}
		t.compare(was, now, i)
		return nil
	})
	if err != nil {
		return err
	}
	names, err := x.namesOf(t.mentioned)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := t.declared[name]; ok {
			continue
		}
		if err := x.affectUsed(name, &t); err != nil {
			return err
		}
	}
	for name, by := range t.declared {
		if err := x.affectBy(name, by, &t); err != nil {
			return err
		}
	}
	return nil
}

// touched are the terms that some changed documents have now and had not, or had.
type touched struct {
	mentioned map[string][]int // by term, the changed documents
	declared  map[string][]int // by name that is declared, or was
}

// compare notes how the terms of changed document i differ.
func (t *touched) compare(was, now map[string]bool, i int) {
	for _, pair := range [][2]map[string]bool{{was, now}, {now, was}} {
		for term := range pair[0] {
			if pair[1][term] {
				continue
			}
			t.mentioned[term] = append(t.mentioned[term], i)
			if name, ok := strings.CutPrefix(term, "="); ok && countsAsName([]byte(name)) {
				t.declared[name] = append(t.declared[name], i)
			}
		}
	}
}

// affectUsed finds the documents that are affected by a name that some changed documents
// mention and did not, or did, and that as many declare as before.
func (x *recentral) affectUsed(name string, t *touched) error {
	docs, err := x.find("=" + name)
	if err != nil || len(docs) > mostDeclarers {
		return err
	}
	terms := mentions(name)
	users, err := x.find(terms[0])
	if err != nil {
		return err
	}
	before := len(users)
	for _, i := range t.mentioned[terms[0]] {
		if x.changed[i].has.has(terms[0]) {
			before--
		} else {
			before++
		}
	}
	x.margin = min(x.margin, marginOf(len(users), len(x.docs)))
	counted, counts := before*2 <= len(x.prev.docs), len(users)*2 <= len(x.docs)
	for _, d := range docs {
		switch {
		case len(terms) > 1 || counted != counts: // the other term may have been meant, or all users are new
			x.affected[d] = true
		case counts:
			x.adjusted[d] = append(x.adjusted[d], t.mentioned[terms[0]]...)
		}
	}
	return nil
}

// affectBy finds the documents that are affected by a name that some changed documents
// declare and did not, or did: all that declare it, and those, unless none but
// themselves mentions it and that was so before.
func (x *recentral) affectBy(name string, by []int, t *touched) error {
	docs, err := x.find("=" + name)
	if err != nil {
		return err
	}
	before := len(docs)
	for _, i := range by {
		if x.changed[i].has.has("=" + name) {
			before--
		} else {
			before++
		}
	}
	if min(before, len(docs)) > mostDeclarers {
		return nil // it counted for none of them, and does not
	}
	_, users, err := x.usersOf(name)
	if err != nil {
		return err
	}
	terms := mentions(name)
	mentioned := func(d uint32) bool {
		if len(users) > 1 || len(users) == 1 && users[0] != d {
			return true
		}
		return slices.ContainsFunc(terms, func(term string) bool {
			return slices.ContainsFunc(t.mentioned[term], func(i int) bool { return len(terms) > 1 || !x.changed[i].is(d) })
		})
	}
	for _, i := range by {
		if c := &x.changed[i]; c.now != nil && mentioned(uint32(c.number)) {
			x.affected[uint32(c.number)] = true
		}
	}
	for _, d := range docs {
		if mentioned(d) {
			x.affected[d] = true
		}
	}
	return nil
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
func (x *recentral) namesOf(mentioned map[string][]int) ([]string, error) {
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
	err := x.side(len(x.segs), func(i int) error {
		var here []string
		for _, prefix := range begin {
			err := x.segs[i].dict.each("="+prefix, func(term []byte, _, _ int64) error {
				name := string(term[1:])
				if slices.ContainsFunc(mentions(name), func(m string) bool { _, ok := mentioned[m]; return ok }) && countsAsName(term[1:]) {
					here = append(here, name)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, name := range here {
			found[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(found))
	for name := range found {
		out = append(out, name)
	}
	return out, nil
}

// find returns the documents in which a term occurs.
func (x *recentral) find(term string) ([]uint32, error) {
	x.mu.Lock()
	docs, ok := x.docsOf[term]
	x.mu.Unlock()
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
	x.mu.Lock()
	x.docsOf[term] = docs
	x.mu.Unlock()
	return docs, nil
}
