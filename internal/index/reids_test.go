package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// After edits the table of ids is what hashing everything gives, to the byte, and
// every place that went has its tombstone, the newest first.
func TestIDsAfterEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	w := newWorld(t)
	text := func() string {
		s := ""
		for range 1 + r.IntN(5) {
			s += fmt.Sprintf("word%d word%d\n\n", r.IntN(100), r.IntN(100))
		}
		return s
	}
	for i := range 80 {
		w.docs[fmt.Sprintf("d%d/f%02d", i%5, i)] = text()
	}
	w.publish(20)
	for round := range 40 {
		prev := w.prev
		if w.pool.share(prev.name) != prev {
			t.Fatal("the generation before is not open")
		}
		paths := sortedKeys(w.docs)
		for range 1 + r.IntN(6) {
			p := paths[r.IntN(len(paths))]
			switch r.IntN(6) {
			case 0:
				delete(w.docs, p)
			case 1:
				w.docs[fmt.Sprintf("a%d/new", round)] = text()
			case 2:
				w.docs[p+"/copy"] = w.docs[p]
			case 3:
				w.docs["moved/"+p] = w.docs[p]
				delete(w.docs, p)
			default:
				w.docs[p] = text()
			}
		}
		g := w.publish(100)
		docs, err := g.Manifest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all idWriter
		for i := range docs {
			all.add(&docs[i], g.segs[g.docs[i].seg])
		}
		want, err := all.table()
		if err != nil || !bytes.Equal(want, g.ids) {
			t.Fatalf("round %d: another table of ids, %v", round, err)
		}
		was, err := prev.tombstones()
		if err != nil {
			t.Fatal(err)
		}
		var gone []tombstone
		has := func(place placeKey) bool { return len(g.ids.find(place.in(g.key))) > 0 }
		for i := 0; i < len(prev.ids); i += idRecord {
			var k placeKey
			copy(k[:], prev.ids[i:])
			if k = k.in(prev.key); !has(k) && !slices.ContainsFunc(gone, func(t tombstone) bool { return t.place == k }) {
				di, s, c := prev.locate(binary.LittleEndian.Uint32(prev.ids[i+placeBytes:]))
				ci := s.chunk(c)
				gone = append(gone, tombstone{k, ci.text, prev.paths[di], ci.start, ci.end})
			}
		}
		for _, old := range was {
			if !has(old.place) && !slices.ContainsFunc(gone, func(t tombstone) bool { return t.place == old.place }) {
				gone = append(gone, old)
			}
		}
		got, err := g.tombstones()
		if err != nil || !slices.Equal(got, gone) {
			t.Fatalf("round %d: tombstones %v, want %v, %v", round, got, gone, err)
		}
		prev.Release()
	}
}

// A table that is out of order, or has a chunk twice, is not taken over.
func TestIDsOutOfOrder(t *testing.T) {
	var good idTable
	for i := range 9 {
		good = good.add([]byte{0, 0, 0, byte(i / 2), 7}, uint32(8-i))
	}
	if err := good.check(9); err != nil {
		t.Error(err)
	}
	for what, spoil := range map[string]func(idTable){
		"twice":     func(t idTable) { t[placeBytes] = t[idRecord+placeBytes] },
		"too large": func(t idTable) { t[placeBytes] = 9 },
		"order":     func(t idTable) { t[0] = 1 },
	} {
		bad := slices.Clone(good)
		spoil(bad)
		if bad.check(9) == nil {
			t.Errorf("%s: taken over", what)
		}
	}
}
