package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	placeBytes = 5 // of a kb.PlaceKey
	idRecord   = placeBytes + 4
	// MaxTombstones bounds what a generation remembers of deleted places.
	MaxTombstones = 100_000
)

type placeKey kb.PlaceKey

// placeOf returns the 40 bits that name a place within any store. The place
// that an id shows is that combined with the store's own 40 bits, see
// placeKey.in: a table of places can so be shared by stores of the same content.
func placeOf(path string, decl uint64, ordinal uint16) (k placeKey) {
	b := make([]byte, 0, 128)
	b = append(b, path...)
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint64(b, decl)
	b = binary.LittleEndian.AppendUint16(b, ordinal)
	sum := sha256.Sum256(b)
	copy(k[:], sum[:])
	return k
}

// storeKey returns the 40 bits of a store.
func storeKey(store kb.StoreID) (k placeKey) {
	sum := sha256.Sum256([]byte(store))
	copy(k[:], sum[:])
	return k
}

// in combines the bits of a place with those of a store, or takes them apart again.
func (k placeKey) in(store placeKey) placeKey {
	for i := range k {
		k[i] ^= store[i]
	}
	return k
}

// formatID returns the id of a place whose text hashes to text.
func formatID(k placeKey, text uint16) string { return kb.FormatID(kb.PlaceKey(k), text) }

// A tombstone is a place that an earlier generation had: 5 bytes place as ids
// show it, u16 text hash, string path, varint first line, varint lines. They are
// stored newest first; no text is kept.
type tombstone struct {
	place      placeKey
	text       uint16
	path       string
	start, end int
}

func appendTombstone(dst []byte, t tombstone) []byte {
	dst = append(dst, t.place[:]...)
	dst = binary.LittleEndian.AppendUint16(dst, t.text)
	dst = appendString(dst, t.path)
	dst = binary.AppendUvarint(dst, uint64(t.start))
	return binary.AppendUvarint(dst, uint64(max(0, t.end-t.start)))
}

func readTombstones(b []byte) ([]tombstone, error) {
	r := varReader{b: b}
	var out []tombstone
	for len(r.b) > 0 && r.err == nil {
		var t tombstone
		copy(t.place[:], r.bytes(placeBytes))
		if h := r.bytes(2); r.err == nil {
			t.text = binary.LittleEndian.Uint16(h)
		}
		t.path = r.string()
		t.start = int(r.uvarint())
		t.end = t.start + int(r.uvarint())
		if r.err == nil {
			out = append(out, t)
		}
	}
	return out, r.err
}

// idTable finds chunks by place in a sorted table.
type idTable []byte

func (t idTable) find(k placeKey) (globals []uint32) {
	n := len(t) / idRecord
	i := sort.Search(n, func(i int) bool {
		return bytes.Compare(t[i*idRecord:i*idRecord+placeBytes], k[:]) >= 0
	})
	for ; i < n && bytes.Equal(t[i*idRecord:i*idRecord+placeBytes], k[:]); i++ {
		globals = append(globals, binary.LittleEndian.Uint32(t[i*idRecord+placeBytes:]))
	}
	return globals
}

// tombstones returns what is remembered of deleted places, the newest first. A
// place that is there again may be among them.
func (g *Generation) tombstones() ([]tombstone, error) {
	raw, err := g.file.Section("gone").All()
	if err != nil {
		return nil, err
	}
	out, err := readTombstones(raw)
	if err != nil || g.baseFile == nil {
		return out, err
	}
	if raw, err = g.baseFile.Section("gone").All(); err != nil {
		return nil, err
	}
	older, err := readTombstones(raw)
	return append(out, older...), err
}
