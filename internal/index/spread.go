package index

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// spread says where the documents of a generation lie, while it is made.
type spread struct {
	docs  []kb.Located
	segs  []*segment
	index map[string]int // of segments by name
	terms []uint32       // of the paths
	base  []uint32       // first chunks, and one more at the end
	old   []int32        // numbers in the generation before, -1 for none
	next  int            // document there
}

// add adds document i, which lies in s, and counts what it has.
func (x *spread) add(i int, s *segment, prev *Generation, t *kb.Totals) error {
	d := &x.docs[i]
	if d.Number >= s.info.Documents {
		return s.corrupt("it has fewer documents than its users say")
	}
	old := int32(-1)
	if prev != nil {
		for x.next < len(prev.paths) && prev.paths[x.next] < d.Path {
			x.next++
		}
		if x.next < len(prev.paths) && prev.paths[x.next] == d.Path {
			old = int32(x.next)
		}
	}
	x.old = append(x.old, old)
	if old >= 0 {
		x.terms = append(x.terms, prev.docs[old].terms)
	} else {
		x.terms = append(x.terms, uint32(len(pathTerms(d.Path))))
	}
	from, to := s.chunkRange(d.Number)
	x.base = append(x.base, x.base[i]+uint32(to-from))
	for c := from; c < to; c++ {
		for f, n := range s.lens(uint32(c)) {
			t.Length[f] += int64(n)
		}
	}
	t.Length[kb.FieldPath] += int64(x.terms[i])
	t.TextBytes += s.textLen(d.Number)
	t.Languages[s.language(d.Number)]++
	if s.flags(d.Number)&kb.FlagUnparsed != 0 {
		t.Garble(d.Path)
	}
	if s.flags(d.Number)&kb.FlagMasked != 0 {
		t.Masked++
	}
	return addSpec(d, s, t)
}
