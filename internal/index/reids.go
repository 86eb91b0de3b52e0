package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// An edit leaves nearly every chunk at its place, and the table of ids in its order:
// what the generation before has of documents that stay is taken over from it, and
// only the places of the others are hashed and sorted. What comes out is what
// hashing and sorting all would give.

// idWriter makes the table of ids of a generation, document by document.
type idWriter struct {
	prev  *Generation // nil without a generation before whose table is one
	at    int         // in the documents of prev
	moved []uint32    // by chunk of prev, its number now + 1
	fresh []idEntry   // of documents that prev lacks
	n     uint32      // chunks so far
}

// after prepares the writer to take over from a generation; nil for none. One
// whose table is out of order, or that of another, is left alone.
func (w *idWriter) after(prev *Generation) {
	if prev == nil || prev.laid != nil || prev.guard(func() error { return prev.ids.check(len(prev.ids) / idRecord) }) != nil {
		return
	}
	w.prev, w.moved = prev, make([]uint32, prev.base[len(prev.docs)])
}

// add adds the chunks of the next document in order of path.
func (w *idWriter) add(d *kb.Located, s *segment) {
	from, to := s.chunkRange(d.Number)
	if old, ok := w.same(d); ok && int(w.prev.base[old+1]-w.prev.base[old]) == to-from {
		for c := w.prev.base[old]; c < w.prev.base[old+1]; c++ {
			w.n++
			w.moved[c] = w.n
		}
		return
	}
	for c := from; c < to; c++ {
		ci := s.chunk(c)
		w.fresh = append(w.fresh, idEntry{placeOf(d.Path, ci.decl, ci.ordinal), w.n})
		w.n++
	}
}

// same returns the number of a document in the generation before, where it is the
// same of the same segment.
func (w *idWriter) same(d *kb.Located) (int, bool) {
	if w.prev == nil {
		return 0, false
	}
	for w.at < len(w.prev.paths) && w.prev.paths[w.at] < d.Path {
		w.at++
	}
	if w.at == len(w.prev.paths) || w.prev.paths[w.at] != d.Path {
		return 0, false
	}
	old := w.prev.docs[w.at]
	return w.at, w.prev.names[old.seg] == d.Segment && int(old.doc) == d.Number
}

// table returns the table.
func (w *idWriter) table() (idTable, error) {
	if w.n > math.MaxUint32>>1 {
		return nil, kb.Errorf(kb.TooLarge, "the store has %d chunks, more than one store can hold", w.n)
	}
	slices.SortFunc(w.fresh, func(a, b idEntry) int {
		return cmp.Or(bytes.Compare(a.place[:], b.place[:]), cmp.Compare(a.global, b.global))
	})
	out := make(idTable, 0, int(w.n)*idRecord)
	fresh := w.fresh
	before := func(place []byte, global uint32) { // adds what comes before that
		for len(fresh) > 0 && cmp.Or(bytes.Compare(fresh[0].place[:], place), cmp.Compare(fresh[0].global, global)) < 0 {
			out = out.add(fresh[0].place[:], fresh[0].global)
			fresh = fresh[1:]
		}
	}
	if w.prev != nil {
		err := w.prev.guard(func() error {
			for old := w.prev.ids; len(old) > 0; old = old[idRecord:] {
				// Documents that stay stay in order, and so do equal places.
				if now := w.moved[binary.LittleEndian.Uint32(old[placeBytes:])]; now > 0 {
					before(old[:placeBytes], now-1)
					out = out.add(old[:placeBytes], now-1)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, e := range fresh {
		out = out.add(e.place[:], e.global)
	}
	return out, nil
}

func (t idTable) add(place []byte, global uint32) idTable {
	return binary.LittleEndian.AppendUint32(append(t, place...), global)
}

// place returns the place of record i as a number, in the order of places.
func (t idTable) place(i int) uint64 {
	r := t[i*idRecord:]
	return uint64(binary.BigEndian.Uint32(r))<<8 | uint64(r[4])
}

// check reports whether a table of n chunks has each once, in order.
func (t idTable) check(n int) error {
	seen := make(bitset, n/64+1)
	for i := range n {
		global := binary.LittleEndian.Uint32(t[i*idRecord+placeBytes:])
		if int(global) >= n || seen.has(global) || i > 0 && t.place(i) < t.place(i-1) {
			return kb.Errorf(kb.Corrupt, "the table of ids is out of order")
		}
		seen.add(global)
	}
	return nil
}

// goneBy returns the tombstones of a generation of the same store that follows g
// and has those places: the places of g that it lacks, then what g remembered.
func (g *Generation) goneBy(now *places) ([]byte, error) {
	if g == nil {
		return nil, nil
	}
	var out []byte
	n := 0
	err := g.guard(func() error {
		var all []idEntry
		if g.laid == nil {
			all = g.ids.lacking(now.table)
		} else {
			all = freshIDs(func(add func(string, *segment, int, uint32)) {
				for i, d := range g.docs {
					add(g.paths[i], g.segs[d.seg], int(d.doc), g.base[i])
				}
			})
		}
		out, n = g.tombs(all, now)
		old, err := g.tombstones()
		for _, t := range old {
			place := t.place.in(g.key)
			if n < MaxTombstones && len(g.places.find(place)) == 0 && len(now.find(place)) == 0 {
				out = appendTombstone(out, t)
				n++
			}
		}
		return err
	})
	return out, err
}

// tombs returns the tombstones of those places, in order, that are no longer
// there, and how many they are.
func (g *Generation) tombs(all []idEntry, now *places) (out []byte, n int) {
	for i, e := range all {
		if n == MaxTombstones || i > 0 && all[i-1].place == e.place || len(now.find(e.place)) > 0 {
			continue
		}
		di, s, c := g.locate(e.global)
		ci := s.chunk(c)
		out = appendTombstone(out, tombstone{e.place.in(g.key), ci.text, g.paths[di], ci.start, ci.end})
		n++
	}
	return out, n
}

// lacking returns the places of a table that another lacks.
func (t idTable) lacking(other idTable) (out []idEntry) {
	j, all := 0, len(other)/idRecord
	for i := range len(t) / idRecord {
		place := t.place(i)
		for j < all && other.place(j) < place {
			j++
		}
		if j < all && other.place(j) == place {
			continue
		}
		e := idEntry{global: binary.LittleEndian.Uint32(t[i*idRecord+placeBytes:])}
		copy(e.place[:], t[i*idRecord:])
		out = append(out, e)
	}
	return out
}
