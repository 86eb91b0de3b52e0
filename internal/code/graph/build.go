package graph

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// declared is a declaration in the making, its strings numbers of words.
type declared struct {
	name, qual, kind uint32
	line, start, end int32
}

// edge is a use in the making; the document it stands in is known by whose
// list it is in.
type edge struct {
	line   int32
	target ref
	kind   kb.UseKind
	conf   uint8 // percent, 1 to 100
}

// ref names a declaration: a document and a position in its list.
type ref struct{ doc, decl int32 }

var noRef = ref{-1, -1}

// building is one document in the making.
type building struct {
	entry Entry
	decls []declared // of Go; of other languages they are in the builder's spill
	where spilled    // of those
	kept  int        // of those
	edges []edge     // while they are collected
	done  bool       // its declarations are known

	packed spilled // its edges in order, see pack
	count  int     // of those
}

// size returns the number of a document's declarations.
func (d *building) size() int { return len(d.decls) + d.kept }

// builder collects declarations and edges. Different documents may be filled
// by different goroutines.
type builder struct {
	strs *words
	docs []building
	at   map[string]int32 // path → document
	mu   sync.Mutex

	spiltDecls, spiltEdges spill
}

// newBuilder returns a builder that keeps in files in dir what would take memory.
func newBuilder(entries []Entry, dir string) *builder {
	b := &builder{strs: newWords(), docs: make([]building, len(entries)), at: make(map[string]int32, len(entries)),
		spiltDecls: spill{dir: dir}, spiltEdges: spill{dir: dir}}
	for i, e := range entries {
		b.docs[i].entry = e
		b.at[e.Path] = int32(i)
	}
	return b
}

func (b *builder) close() {
	b.spiltDecls.close()
	b.spiltEdges.close()
}

// err returns what the files of the builder failed with.
func (b *builder) err() error { return cmp.Or(b.spiltDecls.err, b.spiltEdges.err) }

// name returns the number of a string of the view.
func (b *builder) name(s string) uint32 { return b.strs.id(s, inFile) }

// declare gives a document its declarations, once: sorted by line, else in
// the order they come in. It returns where each of ds went.
func (b *builder) declare(doc int32, ds []declared) []int32 {
	sorted, where := inOrder(ds)
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := &b.docs[doc]; !d.done {
		d.decls, d.done = sorted, true
	}
	return where
}

// inOrder returns declarations in order of line, and where each of ds went.
func inOrder(ds []declared) (sorted []declared, where []int32) {
	order := make([]int32, len(ds))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(ds[a].line, ds[b].line) })
	sorted, where = make([]declared, len(ds)), make([]int32, len(ds))
	for to, from := range order {
		sorted[to], where[from] = ds[from], int32(to)
	}
	return sorted, where
}

// symbols declares what a document of another language than Go defines. It
// returns by which declaration each is known, -1 for none: of those that share
// line and name the first.
func (b *builder) symbols(doc int32, symbols []kb.Symbol) []int32 {
	ds, from := make([]declared, 0, len(symbols)), make([]int, 0, len(symbols))
	for i := range symbols {
		s := &symbols[i]
		line := cmp.Or(s.Line, s.Start)
		if !s.Declares() || s.Name == "" || line <= 0 {
			continue
		}
		ds = append(ds, declared{
			name: b.name(s.Name), qual: b.name(strings.Join(s.Path, ".")), kind: b.name(s.Kind),
			line: int32(line), start: int32(min(max(s.Start, 1), line)), end: int32(max(s.End, line)),
		})
		from = append(from, i)
	}
	sorted, where := inOrder(ds)
	known := make([]int32, len(symbols))
	for i := range known {
		known[i] = -1
	}
	for k, i := range from {
		known[i] = where[k]
	}
	for i := range symbols[:len(symbols)*min(1, len(sorted))] {
		line := int32(lineOf(&symbols[i]))
		if w := int(known[i]); w < 0 || w > 0 && sorted[w-1].line == line || w+1 < len(sorted) && sorted[w+1].line == line {
			known[i] = b.find(sorted, line, symbols[i].Qualified())
		}
	}
	if d := &b.docs[doc]; !d.done {
		d.where, d.kept, d.done = b.spiltDecls.add(packDecls(sorted)), len(sorted), true
	}
	return known
}

// packDecls keeps declarations in less than half of the memory.
func packDecls(ds []declared) []byte {
	var e enc
	line := int32(0)
	for _, d := range ds {
		e.uint(uint64(d.name))
		e.uint(uint64(d.qual))
		e.uint(uint64(d.kind))
		e.int(int(d.line - line))
		line = d.line
		e.int(int(d.line - d.start))
		e.int(int(d.end - d.line))
	}
	return e.b
}

// declsOf returns a document's declarations in into, which may be used again.
func (b *builder) declsOf(doc int, into []declared) []declared {
	d := &b.docs[doc]
	into = append(into[:0], d.decls...)
	r := dec{b: b.spiltDecls.get(d.where)}
	line := int32(0)
	for range d.kept {
		x := declared{name: uint32(r.uint()), qual: uint32(r.uint()), kind: uint32(r.uint())}
		line += int32(r.int())
		x.line, x.start = line, line-int32(r.int())
		x.end = line + int32(r.int())
		into = append(into, x)
	}
	return into
}

// find returns the declaration of a qualified name, -1 if there is none. Line 0
// stands for any line.
func (b *builder) find(ds []declared, line int32, decl string) int32 {
	// A name may hold dots itself: every way to cut it is tried, the last dot first.
	for end := len(decl); ; {
		qual, name := "", decl
		dot := strings.LastIndexByte(decl[:end], '.')
		if dot >= 0 {
			qual, name = decl[:dot], decl[dot+1:]
		}
		q, ok := b.strs.lookup(qual, inFile)
		n, ok2 := b.strs.lookup(name, inFile)
		if ok && ok2 {
			i := 0
			if line > 0 {
				i = sort.Search(len(ds), func(i int) bool { return ds[i].line >= line })
			}
			for ; i < len(ds) && (line == 0 || ds[i].line == line); i++ {
				if ds[i].name == n && ds[i].qual == q {
					return int32(i)
				}
			}
		}
		if dot < 0 {
			return -1
		}
		end = dot
	}
}

// add takes an edge from a line of a document.
func (b *builder) add(doc, line int32, to ref, kind kb.UseKind, confidence float64) {
	if line <= 0 || to.decl < 0 {
		return
	}
	conf := uint8(min(max(int(confidence*100+0.5), 1), 100))
	b.docs[doc].edges = append(b.docs[doc].edges, edge{line, to, kind, conf})
}

// fold sorts edges and keeps one, the surest, per line, target and kind.
func fold(es []edge) []edge {
	less := func(a, b edge) int {
		switch {
		case a.line != b.line:
			return int(a.line - b.line)
		case a.target.doc != b.target.doc:
			return int(a.target.doc - b.target.doc)
		case a.target.decl != b.target.decl:
			return int(a.target.decl - b.target.decl)
		case a.kind != b.kind:
			return int(a.kind) - int(b.kind)
		}
		return int(b.conf) - int(a.conf)
	}
	sort.Slice(es, func(i, j int) bool { return less(es[i], es[j]) < 0 })
	out := es[:0]
	for _, e := range es {
		if n := len(out); n > 0 && out[n-1].line == e.line && out[n-1].target == e.target && out[n-1].kind == e.kind {
			continue
		}
		out = append(out, e)
	}
	return out
}

// pack keeps a document's edges, which are sorted, in a fifth of the memory.
func (b *builder) pack(doc int32, es []edge) {
	var e enc
	var last edge
	for _, x := range es {
		e.int(int(x.line - last.line))
		e.zig(int(x.target.doc - last.target.doc))
		e.int(int(x.target.decl))
		e.b = append(e.b, byte(x.kind), x.conf)
		last = x
	}
	d := &b.docs[doc]
	d.edges, d.count, d.packed = nil, len(es), b.spiltEdges.add(e.b)
}

// unpack appends a document's edges to es.
func (b *builder) unpack(doc int, es []edge) []edge {
	d := &b.docs[doc]
	var last edge
	r := dec{b: b.spiltEdges.get(d.packed)}
	for range d.count {
		last.line += int32(r.int())
		last.target = ref{last.target.doc + int32(r.zig()), int32(r.int())}
		x := r.bytes(2)
		if r.bad {
			break // the file of the edges failed
		}
		last.kind, last.conf = kb.UseKind(x[0]), x[1]
		es = append(es, last)
	}
	return es
}
