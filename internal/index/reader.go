package index

import (
	"context"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// manifestName is what a manifest is called: store, number, job. An import may
// give one another number.
var manifestName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z2-7]{16})-[0-9]+-[A-Za-z0-9]+\.gen$`)
})

// Generation is an open generation: a kb.Index over local files. It stays
// what it is however many generations follow.
type Generation struct {
	pool  *Pool
	refs  int    // who have it open; the pool's mutex guards it
	name  string // of the manifest, when the pool shares it
	file  *blockfile.Reader
	lay   *blockfile.Reader // the layout
	key   placeKey          // of the store, see placeKey.in
	head  generationHead
	names []string // of the segments
	segs  []*segment
	paths []string
	docs  []genDoc
	base  []uint32 // global number of each document's first chunk; one more at the end
	dict  *dict
	ids   idTable // of the layout
	// places finds chunks by ids, and laid says how a patch hangs together with the
	// layout, nil where the generation is whole, see patch.go.
	places   places
	laid     *laid
	baseFile *blockfile.Reader // the manifest that a patch changes

	// globals[s][c] is the global number of chunk c of segment s, -1 when no
	// document of this generation holds it, -2 when several do (see shared).
	globals [][]int32
	shared  map[sharedKey][]int // generation documents that are the same segment document
	first   [][]int32           // by segment and document of it, the generation's first such document + 1
	live    [][]uint64          // bitset of chunks by segment
	odd     [][]uint64          // bitset of the chunks that are here not once, by segment; nil for none
	uses    []float32           // by document, see central.go; nil when an older version wrote the manifest

	scratch atomic.Pointer[scores] // of the last retrieval, for the next

	looked struct { // where the postings of terms lie that were asked for lately
		sync.Mutex
		terms map[string][]postingsAt
	}

	passed atomic.Int64 // see rest
	viewed atomic.Bool  // the vectors of all segments were opened

	exhaustive bool // in tests: scores everything
}

type genDoc struct {
	seg, doc uint32
	terms    uint32 // of the path
	stamp    uint64
}

type sharedKey struct{ seg, doc uint32 }

// OpenGeneration opens the manifest at path, which need not lie where manifests
// do, and the segments it names.
func (p *Pool) OpenGeneration(path string) (*Generation, error) {
	f, err := blockfile.Open(path, kindGeneration, patchVersion)
	if err != nil {
		return nil, err
	}
	g := &Generation{pool: p, file: f, refs: 1}
	if err := f.Guard(g.load); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// Release implements kb.Index: the last of those who have g open closes it.
func (g *Generation) Release() {
	if g.pool.last(g) {
		g.close()
	}
}

// close gives up the segments and the manifest.
func (g *Generation) close() {
	for _, s := range g.segs {
		g.pool.put(s)
	}
	g.segs = nil
	if g.lay != nil {
		g.lay.Close()
	}
	if g.baseFile != nil {
		g.baseFile.Close()
	}
	g.file.Close()
}

// Info implements kb.Index.
func (g *Generation) Info(context.Context) (kb.IndexInfo, error) {
	h := &g.head
	i := kb.IndexInfo{Generation: h.Generation, Commit: h.Commit, Chunker: h.Chunker, Embedder: h.Embedder,
		Totals: h.Totals, Segments: g.names}
	for _, s := range g.segs {
		if s.thin == nil && s.vecFile == nil && s.vecErr == nil && s.info.Chunks > 0 {
			i.Bare = append(i.Bare, s.name)
		}
	}
	return i, nil
}

// Manifest implements kb.Index.
func (g *Generation) Manifest(context.Context) ([]kb.Located, error) {
	out := make([]kb.Located, len(g.docs))
	for i, d := range g.docs {
		at := kb.Location{Segment: g.names[d.seg], Number: int(d.doc)}
		out[i] = kb.Located{Path: g.paths[i], Stamp: d.stamp, Location: at}
	}
	return out, nil
}

// Identities implements kb.Index.
func (g *Generation) Identities(_ context.Context, paths []string) ([]kb.Identity, error) {
	if paths == nil {
		paths = g.paths
	}
	out := make([]kb.Identity, 0, len(paths))
	err := g.guard(func() error {
		for _, p := range paths {
			if i, ok := g.docByPath(p); ok {
				d := g.docs[i]
				s, n := g.segs[d.seg], int(d.doc)
				out = append(out, kb.Identity{Path: p, DocKey: s.key(n), Stamp: d.stamp, Bytes: s.textLen(n)})
			}
		}
		return nil
	})
	return out, err
}

// guard turns faults in any of the maps into errors.
func (g *Generation) guard(f func() error) error { return g.file.Guard(f) }

func (g *Generation) corrupt(what string) error {
	return kb.Errorf(kb.Corrupt, "the manifest of store %s is damaged: %s", g.head.Store, what).
		WithHint("run store:index with force to rebuild the store")
}

// each calls f with every global number of chunk c of segment s.
func (g *Generation) each(s int, c uint32, f func(global uint32)) {
	switch v := g.globals[s][c]; {
	case v >= 0:
		f(uint32(v))
	case v == -2:
		doc := g.segs[s].doc[c]
		from, _ := g.segs[s].chunkRange(int(doc))
		for _, i := range g.shared[sharedKey{uint32(s), doc}] {
			f(g.base[i] + c - uint32(from))
		}
	}
}

// docOf returns the document that a global chunk number lies in.
func (g *Generation) docOf(global uint32) int {
	return sort.Search(len(g.docs), func(i int) bool { return g.base[i+1] > global })
}

// locate returns document, segment and chunk in the segment of a global number.
func (g *Generation) locate(global uint32) (doc int, s *segment, chunk int) {
	doc = g.docOf(global)
	d := g.docs[doc]
	s = g.segs[d.seg]
	from, _ := s.chunkRange(int(d.doc))
	return doc, s, from + int(global-g.base[doc])
}

// id returns the id of the chunk with that global number.
func (g *Generation) id(global uint32) string {
	doc, s, c := g.locate(global)
	ci := s.chunk(c)
	return formatID(placeOf(g.paths[doc], ci.decl, ci.ordinal).in(g.key), ci.text)
}

func (g *Generation) docByPath(path string) (int, bool) {
	return sort.Find(len(g.paths), func(i int) int { return strings.Compare(path, g.paths[i]) })
}

// Resolve says what each id means now.
func (g *Generation) Resolve(ctx context.Context, ids []string) ([]kb.Resolution, error) {
	out := make([]kb.Resolution, len(ids))
	err := g.guard(func() error {
		for i, id := range ids {
			out[i].ID = id
			key, text, ok := kb.ParseID(id)
			if !ok {
				continue
			}
			place := placeKey(key)
			found := g.places.find(place.in(g.key))
			for _, global := range found {
				doc, s, c := g.locate(global)
				ci := s.chunk(c)
				out[i].Places = append(out[i].Places, kb.Resolved{
					Place:   kb.Place{Path: g.paths[doc], Chunk: int(global - g.base[doc])},
					ID:      formatID(place, ci.text),
					Changed: ci.text != text,
				})
			}
			if len(found) > 0 {
				continue
			}
			gone, err := g.tombstones()
			if err != nil {
				return err
			}
			if j := slices.IndexFunc(gone, func(t tombstone) bool { return t.place == place }); j >= 0 {
				out[i].Gone = &kb.GonePlace{Path: gone[j].path, Start: gone[j].start, End: gone[j].end}
			}
		}
		return ctx.Err()
	})
	return out, err
}

// Documents lists the paths at or below under.
func (g *Generation) Documents(_ context.Context, under string) ([]string, error) {
	from, to := g.under(under)
	return slices.Clone(g.paths[from:to]), nil
}

// under returns the range of documents at or below a path. In byte order
// "a-b" sorts between "a" and "a/b", so the range is that of the prefix "a/";
// a document that is itself named is its own range.
func (g *Generation) under(path string) (from, to int) {
	path = strings.Trim(path, "/")
	if path == "" || path == "." {
		return 0, len(g.paths)
	}
	if i, ok := g.docByPath(path); ok {
		return i, i + 1
	}
	from = sort.SearchStrings(g.paths, path+"/")
	to = sort.SearchStrings(g.paths, path+"0") // '0' follows '/'
	return from, to
}

// Outlines returns what documents define, import and use, in the order asked;
// kb.NotFound when one is not there.
func (g *Generation) Outlines(ctx context.Context, paths []string) ([]kb.Outline, error) {
	if g.pool.Far != nil {
		return g.outlinesFar(ctx, paths)
	}
	out := make([]kb.Outline, len(paths))
	err := g.guard(func() error {
		read := int64(0)
		defer func() { g.rest(read) }()
		for k, p := range paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			i, ok := g.docByPath(p)
			if !ok {
				return kb.Errorf(kb.NotFound, "no document %q in the store", p)
			}
			s, doc := g.segs[g.docs[i].seg], int(g.docs[i].doc)
			read += s.textLen(doc)
			chunks, err := s.chunksOf(doc)
			if err != nil {
				return err
			}
			o := kb.Outline{Path: p, Hash: s.hash(doc), Language: s.language(doc), Flags: s.flags(doc)}
			if o.Facts, err = s.factsOf(doc, chunks); err != nil {
				return err
			}
			for j := range chunks {
				o.Symbols = append(o.Symbols, chunks[j].Symbols...)
			}
			out[k] = o
		}
		return nil
	})
	return out, err
}

// restAfter is after how many bytes of documents the files are let go of that a
// pass over a whole store has read: all of them would stay in memory to its end.
const restAfter = 64 << 20

// rest notes that so many bytes of documents were read.
func (g *Generation) rest(read int64) {
	if g.passed.Add(read) < restAfter {
		return
	}
	g.passed.Store(0)
	for _, s := range g.segs {
		s.file.Rest()
	}
}

// Document returns one document as it was indexed.
func (g *Generation) Document(ctx context.Context, path string) (kb.DocumentText, error) {
	i, ok := g.docByPath(path)
	if !ok {
		return kb.DocumentText{}, kb.Errorf(kb.NotFound, "no document %q in the store", path)
	}
	if g.pool.Far != nil {
		return g.documentFar(ctx, i)
	}
	var t kb.DocumentText
	err := g.guard(func() error {
		s, doc := g.segs[g.docs[i].seg], int(g.docs[i].doc)
		body, err := s.body(doc)
		if err != nil {
			return err
		}
		chunks, err := s.chunksOf(doc)
		if err != nil {
			return err
		}
		facts, err := s.factsOf(doc, chunks)
		if err != nil {
			return err
		}
		t = kb.DocumentText{Path: path, Hash: s.hash(doc), Body: body, Language: s.language(doc), Flags: s.flags(doc),
			Chunks: chunks, Facts: facts, Stamp: g.docs[i].stamp}
		for global := g.base[i]; global < g.base[i+1]; global++ {
			t.IDs = append(t.IDs, g.id(global))
		}
		return nil
	})
	return t, err
}
