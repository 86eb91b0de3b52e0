package index

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

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
	if err := g.layoutNames(&g.names); err != nil {
		return err
	}
	x, err := g.loadPatch()
	if err != nil {
		return err
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
	of := g.file
	if x != nil {
		of = g.baseFile
	}
	stamps, err := of.Section("stamps").All()
	if err != nil {
		return err
	}
	docs := merged{raw: raw, stamps: stamps, patch: x, segments: len(g.names)}
	if x != nil {
		docs.segments += len(x.names)
		if err := g.loadNames(&docs, x.names); err != nil {
			return err
		}
	}
	if g.segs, err = g.pool.getAll(g.names); err != nil {
		return err
	}
	if err := g.loadDocs(&docs); err != nil {
		return err
	}
	if x != nil {
		if err := g.loadLaid(x); err != nil {
			return err
		}
	} else if int(g.base[len(g.docs)])*idRecord != len(g.ids) {
		return g.corrupt("its tables do not agree")
	}
	g.places = places{table: g.ids, laid: g.laid, base: g.base}
	return g.loadUses(x)
}

// merged are the documents of a layout with what a patch says of them.
type merged struct {
	raw, stamps []byte
	patch       *patch // nil without one
	segments    int    // how many have numbers
	numbers     []int  // of segments that are open; nil where all are
}

// each calls f for every document in order of path, with its number in the layout, -1
// for none. The path is valid during the call. What does not parse is false.
func (m *merged) each(f func(path []byte, d genDoc, from int) error) (ok bool, err error) {
	var rows []row
	var dropped []droppedIn
	if m.patch != nil {
		rows, dropped = m.patch.rows, m.patch.dropped
	}
	put := func(path []byte, d genDoc, from int) error {
		if m.numbers != nil {
			d.seg = uint32(m.numbers[d.seg])
		}
		return f(path, d, from)
	}
	i := 0
	for r := (docReader{varReader: varReader{b: m.raw}}); len(r.b) > 0; i++ {
		d, ok := r.next(m.segments)
		if !ok || 8*i+8 > len(m.stamps) {
			return false, nil
		}
		if len(dropped) > 0 && dropped[0].number == i {
			dropped = dropped[1:]
			continue
		}
		for len(rows) > 0 && rows[0].path < string(r.path) {
			if err := put([]byte(rows[0].path), rows[0].genDoc, -1); err != nil {
				return true, err
			}
			rows = rows[1:]
		}
		d.stamp = binary.LittleEndian.Uint64(m.stamps[8*i:])
		if err := put(r.path, d, i); err != nil {
			return true, err
		}
	}
	for _, x := range rows {
		if err := put([]byte(x.path), x.genDoc, -1); err != nil {
			return true, err
		}
	}
	return len(dropped) == 0 && len(m.stamps) == 8*i, nil
}

// loadNames keeps the names of the segments that are still in use.
func (g *Generation) loadNames(docs *merged, more []string) error {
	used := make([]bool, docs.segments)
	ok, err := docs.each(func(_ []byte, d genDoc, _ int) error { used[d.seg] = true; return nil })
	if err != nil || !ok {
		return cmp.Or(err, g.corrupt("its documents do not parse"))
	}
	all := append(g.names, more...)
	g.names, docs.numbers = nil, make([]int, len(all))
	for i, name := range all {
		if docs.numbers[i] = slices.Index(g.names, name); docs.numbers[i] < 0 && used[i] {
			docs.numbers[i] = len(g.names)
			g.names = append(g.names, name)
		}
	}
	return nil
}

func (g *Generation) loadUses(x *patch) error {
	uses, err := g.laidUses()
	if err != nil || uses == nil {
		return err
	}
	if x == nil {
		g.uses = uses
		return nil
	}
	g.uses = make([]float32, len(g.docs))
	for i, from := range g.laid.from {
		if from >= 0 {
			g.uses[i] = uses[from]
		}
	}
	i := uint64(0)
	for r := (varReader{b: x.uses}); len(r.b) > 0; {
		i += r.uvarint()
		if raw := r.bytes(4); r.err == nil && i < uint64(len(g.uses)) {
			g.uses[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw))
			continue
		}
		return g.corrupt("its tables do not agree")
	}
	return nil
}

// laidUses returns how central the layout's documents are; nil where it does not say.
func (g *Generation) laidUses() ([]float32, error) {
	sec := g.lay.Section("uses")
	if sec.Len() == 0 {
		return nil, nil
	}
	raw, err := sec.All()
	if err != nil {
		return nil, err
	}
	n := len(g.docs)
	if g.laid != nil {
		n = len(g.laid.now)
	}
	if len(raw) != 4*n {
		return nil, g.corrupt("its tables do not agree")
	}
	uses := make([]float32, n)
	for i := range uses {
		uses[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return uses, nil
}

// loadLaid finds out how a patch hangs together with the layout.
func (g *Generation) loadLaid(x *patch) error {
	l := g.laid
	l.now = make([]int32, len(l.from)-len(x.rows)+len(x.dropped))
	for i := range l.now {
		l.now[i] = -1
	}
	var rows []int
	for i, from := range l.from {
		if from >= 0 {
			l.now[from] = int32(i)
		} else {
			rows = append(rows, i)
		}
	}
	dropped := x.dropped
	l.first = make([]uint32, len(l.now)+1)
	for i, now := range l.now {
		chunks := uint32(0)
		switch {
		case now >= 0:
			chunks = g.base[now+1] - g.base[now]
		case len(dropped) > 0 && dropped[0].number == i:
			chunks = uint32(dropped[0].chunks)
			dropped = dropped[1:]
		}
		l.first[i+1] = l.first[i] + chunks
	}
	if len(dropped) > 0 || len(rows) != len(x.rows) || int(l.first[len(l.now)])*idRecord != len(g.ids) {
		return g.corrupt("its tables do not agree")
	}
	l.fresh = freshIDs(func(add func(string, *segment, int, uint32)) {
		for _, i := range rows {
			add(g.paths[i], g.segs[g.docs[i].seg], int(g.docs[i].doc), g.base[i])
		}
	})
	var err error
	l.terms, err = pathDict(rows, func(i int) string { return g.paths[i] })
	return err
}

func (g *Generation) loadDocs(docs *merged) error {
	n := g.head.Totals.Documents
	if n < 0 || docs.patch == nil && n > len(docs.raw) || docs.patch != nil && n > len(docs.raw)+len(docs.patch.rows) {
		return g.corrupt("its number of documents is wrong")
	}
	if docs.patch != nil {
		g.laid = &laid{from: make([]int32, 0, n)}
	}
	g.paths = make([]string, 0, n)
	g.docs = make([]genDoc, 0, n)
	g.base = make([]uint32, 0, n+1)
	g.globals = make([][]int32, len(g.segs))
	g.live = make([][]uint64, len(g.segs))
	g.first = make([][]int32, len(g.segs))
	for i, s := range g.segs {
		g.globals[i] = make([]int32, s.info.Chunks)
		for c := range g.globals[i] {
			g.globals[i][c] = -1
		}
		g.live[i] = make([]uint64, (s.info.Chunks+63)/64)
		g.first[i] = make([]int32, s.info.Documents)
	}
	next := uint32(0)
	var text []byte // of all paths: one piece of memory instead of one each
	ends := make([]int, 0, n)
	ok, err := docs.each(func(path []byte, d genDoc, from int) error {
		if int(d.doc) >= g.segs[d.seg].info.Documents {
			return g.corrupt("its documents do not parse")
		}
		if len(g.docs) >= n {
			return g.corrupt("its tables do not agree")
		}
		if g.laid != nil {
			g.laid.from = append(g.laid.from, int32(from))
		}
		text = append(text, path...)
		ends = append(ends, len(text))
		next += g.loadDoc(d, next)
		return nil
	})
	from := 0
	for all := string(text); len(g.paths) < len(ends); {
		to := ends[len(g.paths)]
		g.paths = append(g.paths, all[from:to])
		from = to
	}
	if err == nil && (!ok || len(g.docs) != n) {
		err = g.corrupt("its documents do not parse")
	}
	if err != nil {
		return err
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
	return nil
}

// loadDoc adds a document whose first chunk has that number, and returns how many it
// has.
func (g *Generation) loadDoc(d genDoc, next uint32) uint32 {
	from, to := g.segs[d.seg].chunkRange(int(d.doc))
	i := len(g.docs)
	if f := g.first[d.seg][d.doc]; f != 0 {
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
		g.first[d.seg][d.doc] = int32(i + 1)
		for c := from; c < to; c++ {
			g.globals[d.seg][c] = int32(next) + int32(c-from)
			g.live[d.seg][c/64] |= 1 << (c % 64)
		}
	}
	g.docs = append(g.docs, d)
	g.base = append(g.base, next)
	return uint32(to - from)
}
