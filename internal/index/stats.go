package index

import (
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Stats implements kb.Index. Of parts of the documents, lengths are in the
// proportion of the whole, since they serve for averages only.
func (g *Generation) Stats(ctx context.Context, terms []string, parts []kb.Part) (kb.TermStats, error) {
	t := g.head.Totals
	st := kb.TermStats{Documents: int64(t.Documents), Chunks: int64(t.Chunks), Lengths: t.Length,
		Frequency: make([]int64, len(terms)), PathFrequency: make([]int64, len(terms))}
	if g.pool.Far != nil && parts != nil {
		return g.statsFar(ctx, terms, parts)
	}
	err := g.guard(func() error {
		only := g.only(parts)
		if parts != nil {
			st.Documents, st.Chunks = g.count(only)
		}
		err := g.sideBySide(len(terms), len(terms)*len(g.segs) >= manyLookups, func(i int) error {
			_, err := g.lookup(terms[i])
			return err
		})
		if err != nil {
			return err
		}
		for i, term := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := g.frequency(term, parts == nil, only)
			if err != nil {
				return err
			}
			st.Frequency[i] = n
			err = g.pathPostings(term, func(p *posting) {
				if c := g.base[p.chunk]; parts == nil || c < g.base[p.chunk+1] && only(c) {
					st.PathFrequency[i]++
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := int64(t.Chunks); n > 0 && st.Chunks < n { // the averages stay as they are
		for f := range st.Lengths {
			whole, part := n, st.Chunks
			if f == kb.FieldPath {
				whole, part = int64(t.Documents), st.Documents
			}
			st.Lengths[f] = int64(float64(st.Lengths[f]) / float64(max(whole, 1)) * float64(part))
		}
	}
	return st, err
}

// frequency returns in how many chunks that only keeps a term occurs. Of all of
// them the dictionaries know, but for the chunks of which a generation has none
// or several.
func (g *Generation) frequency(term string, all bool, only func(uint32) bool) (sum int64, err error) {
	if !all {
		err = g.postings(term, func(si int) func(*posting) {
			return func(p *posting) {
				g.each(si, p.chunk, func(c uint32) {
					if only(c) {
						sum++
					}
				})
			}
		})
		return sum, err
	}
	at, err := g.lookup(term)
	if err != nil {
		return 0, err
	}
	for si, s := range g.segs {
		sum += int64(at[si].count)
		if at[si].count == 0 || g.odd[si] == nil {
			continue
		}
		if s.thin != nil { // as if the term were spread evenly
			sum += int64(math.Round(float64(at[si].count) * (float64(g.occurrences(si))/float64(s.info.Chunks) - 1)))
			continue
		}
		err := s.dict.eachIn(at[si], uint32(s.info.Chunks), g.odd[si], func(p *posting) {
			sum--
			g.each(si, p.chunk, func(uint32) { sum++ })
		})
		if err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// count returns the number of documents and chunks that only keeps.
func (g *Generation) count(only func(uint32) bool) (documents, chunks int64) {
	for d := range g.docs {
		before := chunks
		for c := g.base[d]; c < g.base[d+1]; c++ {
			if only(c) {
				chunks++
			}
		}
		if chunks > before {
			documents++
		}
	}
	return documents, chunks
}

// only reports of a chunk whether it is one of the parts; nil parts are all.
func (g *Generation) only(parts []kb.Part) func(c uint32) bool {
	if parts == nil {
		return func(uint32) bool { return true }
	}
	bits := make([]uint64, g.base[len(g.docs)]/64+1)
	d := 0
	for _, p := range parts {
		d += sort.SearchStrings(g.paths[d:], p.Path)
		if d == len(g.paths) {
			break
		}
		if g.paths[d] != p.Path {
			continue
		}
		for c := g.base[d]; c < g.base[d+1]; c++ {
			keep := p.Lines == nil
			if !keep {
				_, s, i := g.locate(c)
				ci := s.chunk(i)
				keep = slices.ContainsFunc(p.Lines, func(l [2]int) bool { return ci.start <= l[1] && l[0] <= ci.end })
			}
			if keep {
				bits[c/64] |= 1 << (c % 64)
			}
		}
	}
	return func(c uint32) bool { return bits[c/64]&(1<<(c%64)) != 0 }
}

// mostLooked is how many terms are remembered with where their postings lie:
// each is asked for three times in one search, in every segment.
const mostLooked = 512

// manyLookups is how many look-ups in dictionaries are made on several processors:
// a fifth of a millisecond.
const manyLookups = 100

// lookup returns where the postings of a term lie, by segment.
func (g *Generation) lookup(term string) ([]postingsAt, error) {
	at, err := g.lookupAll(term)
	if err != nil {
		return nil, err
	}
	return at[:len(g.segs):len(g.segs)], nil
}

// lookupAll is lookup, with where those of the paths lie after the others.
func (g *Generation) lookupAll(term string) ([]postingsAt, error) {
	g.looked.Lock()
	at := g.looked.terms[term]
	g.looked.Unlock()
	if at != nil {
		return at, nil
	}
	at = make([]postingsAt, len(g.segs)+1)
	var err error
	if at[len(g.segs)], err = g.dict.find(term); err != nil {
		return nil, err
	}
	for si, s := range g.segs {
		if at[si], err = s.dict.find(term); err != nil {
			return nil, err
		}
	}
	g.looked.Lock()
	defer g.looked.Unlock()
	if g.looked.terms == nil || len(g.looked.terms) >= mostLooked {
		g.looked.terms = map[string][]postingsAt{}
	}
	g.looked.terms[strings.Clone(term)] = at
	return at, nil
}

// postings calls f for every segment in which a term occurs, and what that
// returns for every posting in it.
func (g *Generation) postings(term string, f func(seg int) func(*posting)) error {
	return g.lists(term, func(si int, b []byte) error {
		return eachPosting(b, uint32(g.segs[si].info.Chunks), f(si))
	})
}

// lists calls f with the postings of a term, as they lie in the file, for every
// segment in which it occurs.
func (g *Generation) lists(term string, f func(seg int, b []byte) error) error {
	at, err := g.lookup(term)
	if err != nil {
		return err
	}
	for si, s := range g.segs {
		if at[si].count == 0 {
			continue
		}
		b, err := s.dict.read(at[si])
		if err == nil {
			err = f(si, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pathPostings calls f for every posting of a term in the paths.
func (g *Generation) pathPostings(term string, f func(*posting)) error {
	at, err := g.lookupAll(term)
	if err != nil {
		return err
	}
	var b []byte
	if in := at[len(g.segs)]; in.count > 0 {
		if b, err = g.dict.read(in); err != nil {
			return err
		}
	}
	if g.laid == nil {
		return eachPosting(b, uint32(len(g.docs)), f)
	}
	err = eachPosting(b, uint32(len(g.laid.now)), func(p *posting) {
		if now := g.laid.now[p.chunk]; now >= 0 {
			p.chunk = uint32(now)
			f(p)
		}
	})
	if err != nil {
		return err
	}
	if b, _, err = g.laid.terms.lookup(term); err != nil {
		return err
	}
	return eachPosting(b, uint32(len(g.docs)), f)
}
