package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func (g *Generation) load() error {
	raw, err := g.file.Section("head").All()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &g.head); err != nil {
		return g.corrupt("its head does not parse")
	}
	if g.head.Layout == "" { // rebuilt like a damaged one
		return kb.Errorf(kb.Corrupt, "the index of store %s was written by an older version", g.head.Store).WithHint("run store:index")
	}
	if filepath.Base(g.head.Layout) != g.head.Layout {
		return g.corrupt("its layout has no name")
	}
	if m := manifestName().FindStringSubmatch(filepath.Base(g.file.Path())); m != nil && m[1] != string(g.head.Store) {
		return g.corrupt("it is that of another store")
	}
	g.key = storeKey(g.head.Store)
	if g.lay, err = blockfile.Open(LayoutPath(g.pool.Dir, g.head.Layout), kindLayout, FormatVersion); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return g.corrupt("its layout is missing")
		}
		return err
	}
	if g.head.LayoutSum != 0 && g.head.LayoutSum != g.lay.Sum() {
		return g.corrupt("its layout is that of another")
	}
	if raw, err = g.lay.Section("segments").All(); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &g.names); err != nil {
		return g.corrupt("its list of segments does not parse")
	}
	for _, n := range g.names {
		s, err := g.pool.get(n)
		if err != nil {
			return err
		}
		g.segs = append(g.segs, s)
	}
	if g.dict, err = openDict(g.lay.Section("pathterms"), g.lay.Section("pathidx"), g.lay.Section("pathpost")); err != nil {
		return err
	}
	if raw, err = g.lay.Section("ids").All(); err != nil {
		return err
	}
	g.ids = idTable(raw)
	if raw, err = g.lay.Section("docs").All(); err != nil {
		return err
	}
	stamps, err := g.file.Section("stamps").All()
	if err != nil {
		return err
	}
	if err := g.loadDocs(raw, stamps); err != nil {
		return err
	}
	return g.loadUses()
}

func (g *Generation) loadUses() error {
	sec := g.lay.Section("uses")
	if sec.Len() == 0 {
		return nil
	}
	raw, err := sec.All()
	if err != nil {
		return err
	}
	if len(raw) != 4*len(g.docs) {
		return g.corrupt("its tables do not agree")
	}
	g.uses = make([]float32, len(g.docs))
	for i := range g.uses {
		g.uses[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

func (g *Generation) loadDocs(raw, stamps []byte) error {
	r := varReader{b: raw}
	n := g.head.Totals.Documents
	if n < 0 || n > len(raw) || len(stamps) != 8*n {
		return g.corrupt("its number of documents is wrong")
	}
	g.paths = make([]string, 0, n)
	g.docs = make([]genDoc, 0, n)
	g.base = make([]uint32, 0, n+1)
	g.globals = make([][]int32, len(g.segs))
	g.live = make([][]uint64, len(g.segs))
	g.first = make([][]int32, len(g.segs))
	first := g.first
	for i, s := range g.segs {
		g.globals[i] = make([]int32, s.info.Chunks)
		for c := range g.globals[i] {
			g.globals[i][c] = -1
		}
		g.live[i] = make([]uint64, (s.info.Chunks+63)/64)
		first[i] = make([]int32, s.info.Documents)
	}
	var path []byte
	next := uint32(0)
	for len(r.b) > 0 {
		shared := r.uvarint()
		suffix := r.bytes(r.uvarint())
		d := genDoc{seg: uint32(r.uvarint()), doc: uint32(r.uvarint()), terms: uint32(r.uvarint())}
		if r.err != nil || shared > uint64(len(path)) || int(d.seg) >= len(g.segs) || int(d.doc) >= g.segs[d.seg].info.Documents {
			return g.corrupt("its documents do not parse")
		}
		path = append(path[:shared], suffix...)
		s := g.segs[d.seg]
		from, to := s.chunkRange(int(d.doc))
		i := len(g.docs)
		if i >= n {
			return g.corrupt("its tables do not agree")
		}
		d.stamp = binary.LittleEndian.Uint64(stamps[8*i:])
		if f := first[d.seg][d.doc]; f != 0 {
			if g.shared == nil {
				g.shared = map[sharedKey][]int{}
			}
			k := sharedKey{d.seg, d.doc}
			if g.shared[k] == nil {
				g.shared[k] = []int{int(f - 1)}
			}
			g.shared[k] = append(g.shared[k], i)
			for c := from; c < to; c++ {
				g.globals[d.seg][c] = -2
			}
		} else {
			first[d.seg][d.doc] = int32(i + 1)
			for c := from; c < to; c++ {
				g.globals[d.seg][c] = int32(next) + int32(c-from)
				g.live[d.seg][c/64] |= 1 << (c % 64)
			}
		}
		g.paths = append(g.paths, string(path))
		g.docs = append(g.docs, d)
		g.base = append(g.base, next)
		next += uint32(to - from)
	}
	g.base = append(g.base, next)
	g.odd = make([][]uint64, len(g.segs))
	for i, globals := range g.globals {
		for c, global := range globals {
			if global >= 0 {
				continue
			}
			if g.odd[i] == nil {
				g.odd[i] = make([]uint64, len(g.live[i]))
			}
			g.odd[i][c/64] |= 1 << (c % 64)
		}
	}
	if len(g.docs) != n || int(next)*idRecord != len(g.ids) {
		return g.corrupt("its tables do not agree")
	}
	return nil
}
