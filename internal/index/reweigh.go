package index

import (
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// usersOf returns the documents that mention a name, and by which term.
func (x *recentral) usersOf(name string) (term string, users []uint32, err error) {
	for _, term = range mentions(name) {
		if users, err = x.find(term); err != nil || len(users) > 0 {
			break
		}
	}
	return term, users, err
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

// declarations returns the names that the affected documents declare, in order, each
// with those.
func (x *recentral) declarations() ([]declaredBy, error) {
	docs := map[string][]uint32{}
	for d := range x.affected {
		declared, err := x.declaredIn(d)
		if err != nil {
			return nil, err
		}
		for _, name := range declared {
			docs[name] = append(docs[name], d)
		}
		if len(docs) > mostRenamed {
			break
		}
	}
	out := make([]declaredBy, 0, len(docs))
	for name, in := range docs {
		out = append(out, declaredBy{name: name, docs: in})
	}
	slices.SortFunc(out, func(a, b declaredBy) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// declaredBy is a name, those of the affected documents that declare it, and what it
// counts for them.
type declaredBy struct {
	name string
	docs []uint32
	shareOf
}

// weigh finds how central the affected documents are, which declare those names, as
// centrality does.
func (x *recentral) weigh(names []declaredBy) error {
	err := x.side(len(names), func(i int) (err error) {
		names[i].shareOf, err = x.share(names[i].name)
		return err
	})
	if err != nil {
		return err
	}
	of := map[uint32][]int{} // by document, its names
	for i := range names {
		for _, d := range names[i].docs {
			of[d] = append(of[d], i)
		}
	}
	share := make([]uint16, len(x.docs))
	var touched []uint32
	for d := range x.affected {
		for _, i := range of[d] {
			for _, o := range names[i].users {
				if o == d {
					continue
				}
				if share[o] == 0 {
					touched = append(touched, o)
				}
				share[o] = max(share[o], names[i].share)
			}
		}
		sum := uint64(0)
		for _, o := range touched {
			sum += uint64(share[o])
			share[o] = 0
		}
		x.uses[d], touched = usesOf(sum), touched[:0]
	}
	return nil
}

// shareOf is what a name counts for those that declare it.
type shareOf struct {
	share uint16   // of a use, of those who mention it
	term  string   // by which they do
	users []uint32 // they; none where it does not count
}

// share returns what a name counts.
func (x *recentral) share(name string) (s shareOf, err error) {
	x.mu.Lock()
	s, ok := x.shares[name]
	x.mu.Unlock()
	if ok {
		return s, nil
	}
	declarers, err := x.find("=" + name)
	if err != nil {
		return s, err
	}
	var users []uint32
	if len(declarers) > 0 && len(declarers) <= mostDeclarers {
		if s.term, users, err = x.usersOf(name); err != nil {
			return s, err
		}
		s.share = uint16(wholeUse / len(declarers))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.share > 0 {
		x.margin = min(x.margin, marginOf(len(users), len(x.docs)))
		if len(users)*2 > len(x.docs) {
			s.share = 0
		} else {
			s.users = users
		}
	}
	x.shares[name] = s
	return s, nil
}

// adjust changes how central documents are by how changed documents use them now and
// did.
func (x *recentral) adjust() error {
	var docs []uint32
	for d := range x.adjusted {
		if !x.affected[d] && x.uses[d] < mostAdjusted {
			docs = append(docs, d)
		} else {
			x.affected[d] = true
		}
	}
	return x.side(len(docs), func(i int) error {
		d := docs[i]
		by := x.adjusted[d]
		slices.Sort(by)
		by = slices.DeleteFunc(slices.Compact(by), func(i int) bool { return x.changed[i].is(d) })
		if len(by) == 0 {
			return nil
		}
		names, err := x.declaredIn(d)
		if err != nil {
			return err
		}
		had, has := make([]uint16, len(by)), make([]uint16, len(by))
		for _, name := range names {
			terms := hashesOf(mentions(name))
			for k, i := range by {
				c := &x.changed[i]
				if !slices.ContainsFunc(terms, func(h uint64) bool { return c.had.hasHash(h) || c.has.hasHash(h) }) {
					continue
				}
				s, err := x.share(name)
				if err != nil {
					return err
				}
				if s.share > 0 && c.had.has(s.term) {
					had[k] = max(had[k], s.share)
				}
				if s.share > 0 && c.has.has(s.term) {
					has[k] = max(has[k], s.share)
				}
			}
		}
		sum := int64(math.Round(float64(x.uses[d]) * wholeUse))
		for k := range by {
			sum += int64(has[k]) - int64(had[k])
		}
		x.uses[d] = usesOf(uint64(max(sum, 0)))
		return nil
	})
}

// termSet is a set of terms, by their hashes in order.
type termSet []uint64

func termSetOf(terms map[string]bool) termSet {
	s := make(termSet, 0, len(terms))
	for term := range terms {
		s = append(s, hashOf([]byte(term)))
	}
	slices.Sort(s)
	return s
}

func (s termSet) has(term string) bool { return s.hasHash(hashOf([]byte(term))) }

func (s termSet) hasHash(h uint64) bool {
	_, ok := slices.BinarySearch(s, h)
	return ok
}

func hashesOf(terms []string) []uint64 {
	out := make([]uint64, len(terms))
	for i, term := range terms {
		out[i] = hashOf([]byte(term))
	}
	return out
}

// side calls f for 0 to n-1, on all processors.
func (x *recentral) side(n int, f func(i int) error) error {
	return byWorkers(n, runtime.GOMAXPROCS(0), func(work func() error) error {
		guarded := func() error { return x.prev.guard(work) }
		for _, s := range x.segs {
			next, file := guarded, s.file
			guarded = func() error { return file.Guard(next) }
		}
		return guarded()
	}, f)
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
