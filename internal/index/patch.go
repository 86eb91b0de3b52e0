package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// An edit changes little of a large generation. Its layout and stamps are not
// written again then: the manifest is a patch, which says by what it differs from
// that of an earlier generation, its base, whose layout it shares. A base is never
// a patch itself, so that reading takes two files, however many edits there were.
// Patches grow with what has changed since the base; when those written since have
// become as large as the base together, or one a quarter of it, all is written
// whole again: an edit that changes p bytes of a base of b costs the root of 2bp on
// average.

const (
	// patchVersion is the version of manifests that are patches. Older programs
	// refuse them, as they do whatever a newer one wrote.
	patchVersion = 4
	// wholeBelow is the size of layout and manifest up to which they are written
	// whole: work trees of one content share layouts, and small ones cost nothing.
	wholeBelow = 256 << 10
)

// patch is by what a generation differs from its base.
type patch struct {
	names   []string    // of segments, from the number on that the base's layout has
	dropped []droppedIn // documents of the layout that are gone, or others now
	rows    []row       // documents that are not as they are there, in order of path
	uses    []byte
	gone    []byte // tombstones since the base
}

// droppedIn is a document of a layout by its number, with its number of chunks.
type droppedIn struct{ number, chunks int }

// row is a document of a patch; its segment is by number in the layout's names and
// then the patch's.
type row struct {
	path string
	genDoc
}

func (x *patch) sections() ([]named, error) {
	names, err := json.Marshal(x.names)
	if err != nil {
		return nil, err
	}
	var dropped, docs []byte
	last := 0
	for _, d := range x.dropped {
		dropped = binary.AppendUvarint(dropped, uint64(d.number-last))
		dropped = binary.AppendUvarint(dropped, uint64(d.chunks))
		last = d.number
	}
	before := ""
	for _, r := range x.rows {
		docs = appendDoc(docs, before, r.path, r.genDoc)
		docs = binary.LittleEndian.AppendUint64(docs, r.stamp)
		before = r.path
	}
	return []named{{"segments", names}, {"dropped", dropped}, {"docs", docs}, {"uses", x.uses}, {"gone", x.gone}}, nil
}

// appendDoc appends a document as layouts and patches have it.
func appendDoc(dst []byte, before, path string, d genDoc) []byte {
	shared := commonPrefix(before, path)
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = appendString(dst, path[shared:])
	dst = binary.AppendUvarint(dst, uint64(d.seg))
	dst = binary.AppendUvarint(dst, uint64(d.doc))
	return binary.AppendUvarint(dst, uint64(d.terms))
}

// docReader reads documents as appendDoc writes them.
type docReader struct {
	varReader
	path []byte
}

// next returns the next document; path is valid until the next but one.
func (r *docReader) next(segments int) (genDoc, bool) {
	shared := r.uvarint()
	suffix := r.bytes(r.uvarint())
	d := genDoc{seg: uint32(r.uvarint()), doc: uint32(r.uvarint()), terms: uint32(r.uvarint())}
	if r.err != nil || shared > uint64(len(r.path)) || int(d.seg) >= segments {
		return d, false
	}
	r.path = append(r.path[:shared], suffix...)
	return d, true
}

// loadPatch reads a patch; nil from a generation that is whole.
func (g *Generation) loadPatch() (*patch, error) {
	if g.head.Base == "" {
		return nil, nil
	}
	if filepath.Base(g.head.Base) != g.head.Base {
		return nil, g.corrupt("its base has no name")
	}
	var err error
	if g.baseFile, err = blockfile.Open(g.pool.ManifestPath(g.head.Base), kindGeneration, FormatVersion); err != nil {
		if kb.CodeOf(err) == kb.NotFound {
			return nil, g.corrupt("the manifest that it changes is missing")
		}
		return nil, err
	}
	if g.baseFile.Sum() != g.head.BaseSum {
		return nil, g.corrupt("the manifest that it changes is that of another")
	}
	raw := map[string][]byte{}
	for _, name := range []string{"segments", "dropped", "docs", "uses"} {
		if raw[name], err = g.file.Section(name).All(); err != nil {
			return nil, err
		}
	}
	x := &patch{uses: raw["uses"]}
	if json.Unmarshal(raw["segments"], &x.names) != nil {
		return nil, g.corrupt("its list of segments does not parse")
	}
	number := uint64(0)
	for r := (varReader{b: raw["dropped"]}); len(r.b) > 0; {
		number += r.uvarint()
		x.dropped = append(x.dropped, droppedIn{int(number), int(r.uvarint())})
		if r.err != nil || number > math.MaxInt32 {
			return nil, g.corrupt("what it drops does not parse")
		}
	}
	for r := (docReader{varReader: varReader{b: raw["docs"]}}); len(r.b) > 0; {
		d, ok := r.next(len(g.names) + len(x.names))
		stamp := r.bytes(8)
		if !ok || r.err != nil {
			return nil, g.corrupt("its documents do not parse")
		}
		d.stamp = binary.LittleEndian.Uint64(stamp)
		x.rows = append(x.rows, row{string(r.path), d})
	}
	return x, nil
}

// laid is how a generation that is a patch hangs together with its layout.
type laid struct {
	from  []int32  // by document, its number in the layout, -1 for none
	now   []int32  // by document of the layout, its number, -1 for none
	first []uint32 // by document of the layout, its first chunk there; one more at the end
	terms *dict    // of the paths that the layout has not
	fresh []idEntry
}

// places finds chunks by the place that ids name.
type places struct {
	table idTable
	laid  *laid    // nil where the table is the generation's own
	base  []uint32 // of the generation
}

// find returns the chunks at a place, in order.
func (p *places) find(k placeKey) []uint32 {
	found := p.table.find(k)
	if p.laid == nil {
		return found
	}
	var out []uint32
	for _, c := range found {
		doc := sort.Search(len(p.laid.now)-1, func(i int) bool { return p.laid.first[i+1] > c })
		if now := p.laid.now[doc]; now >= 0 {
			out = append(out, p.base[now]+c-p.laid.first[doc])
		}
	}
	i, _ := slices.BinarySearchFunc(p.laid.fresh, k, func(e idEntry, k placeKey) int { return bytes.Compare(e.place[:], k[:]) })
	for ; i < len(p.laid.fresh) && p.laid.fresh[i].place == k; i++ {
		out = append(out, p.laid.fresh[i].global)
	}
	slices.Sort(out)
	return out
}

// freshIDs returns the ids of documents, in order.
func freshIDs(each func(add func(path string, s *segment, doc int, base uint32))) []idEntry {
	var out []idEntry
	each(func(path string, s *segment, doc int, base uint32) {
		from, to := s.chunkRange(doc)
		for c := from; c < to; c++ {
			ci := s.chunk(c)
			out = append(out, idEntry{placeOf(path, ci.decl, ci.ordinal), base + uint32(c-from)})
		}
	})
	slices.SortFunc(out, func(a, b idEntry) int {
		return cmp.Or(bytes.Compare(a.place[:], b.place[:]), cmp.Compare(a.global, b.global))
	})
	return out
}

// memory is a section in memory.
type memory []byte

func (m memory) Len() int64 { return int64(len(m)) }
func (m memory) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > int64(len(m)) {
		return nil, errShort
	}
	return m[off : off+n], nil
}

// pathDict returns the dictionary of the paths of some documents.
func pathDict(docs []int, path func(i int) string) (*dict, error) {
	posts := pathPosts{}
	for _, i := range docs {
		posts.add(i, pathTerms(path(i)))
	}
	d := posts.dict()
	return openDict(memory(d.terms), memory(d.index), memory(d.post))
}

// pathPosts are the postings of the terms of paths.
type pathPosts map[string]*termPost

func (p pathPosts) add(i int, of []string) {
	count := map[string]uint16{}
	for _, term := range of {
		count[term]++
	}
	for term, n := range count {
		t := p[term]
		if t == nil {
			t = &termPost{term: term}
			p[term] = t
		}
		t.buf = appendPosting(t.buf, uint32(i)-t.last, [numFields]uint16{n})
		t.last = uint32(i)
		t.n++
	}
}

func (p pathPosts) dict() (d dictWriter) {
	for _, term := range slices.Sorted(maps.Keys(p)) {
		d.add(term, int(p[term].n), p[term].buf)
	}
	return d
}

// asPatch makes the sections of a patch of what prev is, or of its base, where that
// is worth it.
func (w *draft) asPatch(prev *Generation, at *spread, uses []float32) error {
	h, whole := prev.head, prev.lay.Size()+prev.file.Size()
	h.Base, h.BaseSum = prev.name, prev.file.Sum()
	if prev.laid != nil {
		h.Base, h.BaseSum, whole = prev.head.Base, prev.head.BaseSum, prev.lay.Size()+prev.baseFile.Size()
	}
	if whole < w.pool.wholeBelow() || h.Base == "" || h.Chunker != w.head.Chunker || h.Embedder != w.head.Embedder ||
		h.LayoutSum == 0 || prev.uses == nil || filepath.Base(prev.file.Path()) != prev.name {
		return nil
	}
	x, l, err := prev.patchTo(at, uses)
	if err != nil {
		return err
	}
	now := &places{table: prev.ids, laid: l, base: at.base}
	if x.gone, err = prev.goneInPatch(at, now); err != nil {
		return err
	}
	secs, err := x.sections()
	if err != nil {
		return err
	}
	size := int64(0)
	for _, s := range secs {
		size += int64(len(s.data))
	}
	if size > whole/4 || h.Spent+size > whole {
		return nil
	}
	w.head.Layout, w.head.LayoutSum = h.Layout, h.LayoutSum
	w.head.Base, w.head.BaseSum, w.head.Spent = h.Base, h.BaseSum, h.Spent+size
	raw, err := json.Marshal(&w.head)
	if err != nil {
		return err
	}
	w.patch, w.size = append([]named{{"head", raw}}, secs...), whole
	return nil
}

// patchTo returns by what documents differ from the layout of g, and how they hang
// together with it.
func (g *Generation) patchTo(at *spread, uses []float32) (*patch, *laid, error) {
	was, err := g.laidUses()
	if err != nil {
		return nil, nil, err
	}
	var names []string
	if err := g.layoutNames(&names); err != nil {
		return nil, nil, err
	}
	x := &patch{}
	first := g.base // of the layout
	if g.laid != nil {
		first = g.laid.first
	}
	l := &laid{from: make([]int32, len(at.docs)), now: make([]int32, len(first)-1), first: first}
	for i := range l.now {
		l.now[i] = -1
	}
	numbers := map[string]uint32{}
	for i, n := range names {
		numbers[n] = uint32(i)
	}
	last := 0
	for i := range at.docs {
		d := &at.docs[i]
		l.from[i] = -1
		if old := at.old[i]; old >= 0 {
			o := g.docs[old]
			if g.names[o.seg] == d.Segment && int(o.doc) == d.Number && o.stamp == d.Stamp {
				l.from[i] = old
				if g.laid != nil {
					l.from[i] = g.laid.from[old]
				}
			}
		}
		use := float32(0)
		if from := l.from[i]; from >= 0 {
			l.now[from] = int32(i)
			use = was[from]
		} else {
			n, ok := numbers[d.Segment]
			if !ok {
				n = uint32(len(names) + len(x.names))
				x.names, numbers[d.Segment] = append(x.names, d.Segment), n
			}
			x.rows = append(x.rows, row{d.Path, genDoc{seg: n, doc: uint32(d.Number), terms: at.terms[i], stamp: d.Stamp}})
		}
		if uses[i] != use {
			x.uses = binary.AppendUvarint(x.uses, uint64(i-last))
			x.uses = binary.LittleEndian.AppendUint32(x.uses, math.Float32bits(uses[i]))
			last = i
		}
	}
	for i, now := range l.now {
		if now < 0 {
			x.dropped = append(x.dropped, droppedIn{i, int(first[i+1] - first[i])})
		}
	}
	l.fresh = freshIDs(func(add func(string, *segment, int, uint32)) {
		for i, from := range l.from {
			if d := &at.docs[i]; from < 0 {
				add(d.Path, at.segs[at.index[d.Segment]], d.Number, at.base[i])
			}
		}
	})
	return x, l, nil
}

// goneInPatch returns the tombstones of a patch that follows g and has those places:
// of the documents of g that changed, then what g has more than its base.
func (g *Generation) goneInPatch(at *spread, now *places) ([]byte, error) {
	stays := make([]bool, len(g.docs))
	for i, old := range at.old {
		if old >= 0 {
			o, d := g.docs[old], &at.docs[i]
			stays[old] = g.names[o.seg] == d.Segment && int(o.doc) == d.Number
		}
	}
	out, _ := g.tombs(freshIDs(func(add func(string, *segment, int, uint32)) {
		for i, d := range g.docs {
			if !stays[i] {
				add(g.paths[i], g.segs[d.seg], int(d.doc), g.base[i])
			}
		}
	}), now)
	if g.laid == nil {
		return out, nil
	}
	more, err := g.file.Section("gone").All()
	return append(out, more...), err
}

// layoutNames reads the names of the layout's segments.
func (g *Generation) layoutNames(names *[]string) error {
	raw, err := g.lay.Section("segments").All()
	if err == nil && json.Unmarshal(raw, names) != nil {
		err = g.corrupt("its list of segments does not parse")
	}
	return err
}
