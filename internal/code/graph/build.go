package graph

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// interner numbers strings in the order in which it meets them; 0 is "".
type interner struct {
	mu   sync.Mutex
	ids  map[string]uint32
	list []string
}

func newInterner() *interner {
	return &interner{ids: map[string]uint32{"": 0}, list: []string{""}}
}

// id returns the number of s. The string is copied, since it is often a part
// of a document's text that must not be kept alive.
func (n *interner) id(s string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[s]; ok {
		return id
	}
	s = strings.Clone(s)
	id := uint32(len(n.list))
	n.ids[s] = id
	n.list = append(n.list, s)
	return id
}

// lookup returns the number of s if it has one.
func (n *interner) lookup(s string) (uint32, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[s]
	return id, ok
}

// declared is a declaration in the making, its strings interned.
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
	entry  Entry
	decls  []declared
	edges  []edge // while they are collected
	packed []byte // in order, see pack
	count  int    // of those packed
	done   bool   // its declarations are known
}

// builder collects declarations and edges. Different documents may be filled
// by different goroutines.
type builder struct {
	strs *interner
	docs []building
	at   map[string]int32 // path → document
	mu   sync.Mutex
}

func newBuilder(entries []Entry) *builder {
	b := &builder{strs: newInterner(), docs: make([]building, len(entries)), at: make(map[string]int32, len(entries))}
	for i, e := range entries {
		b.docs[i].entry = e
		b.at[e.Path] = int32(i)
	}
	return b
}

// declare gives a document its declarations, once: sorted by line, else in
// the order they come in. It returns where each of ds went.
func (b *builder) declare(doc int32, ds []declared) []int32 {
	order := make([]int32, len(ds))
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(i, j int) bool { return ds[order[i]].line < ds[order[j]].line })
	where := make([]int32, len(ds))
	for to, from := range order {
		where[from] = int32(to)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &b.docs[doc]
	if d.done {
		return where
	}
	sorted := make([]declared, len(ds))
	for to, from := range order {
		sorted[to] = ds[from]
	}
	d.decls, d.done = sorted, true
	return where
}

// symbols declares what a document of another language than Go defines.
func (b *builder) symbols(doc int32, symbols []kb.Symbol) {
	ds := make([]declared, 0, len(symbols))
	for i := range symbols {
		s := &symbols[i]
		line := s.Line
		if line == 0 {
			line = s.Start
		}
		if !s.Declares() || s.Name == "" || line <= 0 {
			continue
		}
		ds = append(ds, declared{
			name: b.strs.id(s.Name), qual: b.strs.id(strings.Join(s.Path, ".")), kind: b.strs.id(s.Kind),
			line: int32(line), start: int32(min(max(s.Start, 1), line)), end: int32(max(s.End, line)),
		})
	}
	b.declare(doc, ds)
}

// find returns the declaration that a spot names, noRef if there is none.
// Line 0 stands for any line.
func (b *builder) find(s kb.Spot) ref {
	doc, ok := b.at[s.Path]
	if !ok {
		return noRef
	}
	// A name may hold dots itself: every way to cut it is tried, the last dot first.
	for end := len(s.Decl); ; {
		qual, name := "", s.Decl
		dot := strings.LastIndexByte(s.Decl[:end], '.')
		if dot >= 0 {
			qual, name = s.Decl[:dot], s.Decl[dot+1:]
		}
		q, ok := b.strs.lookup(qual)
		n, ok2 := b.strs.lookup(name)
		if ok && ok2 {
			ds := b.docs[doc].decls
			i := 0
			if s.Line > 0 {
				i = sort.Search(len(ds), func(i int) bool { return ds[i].line >= int32(s.Line) })
			}
			for ; i < len(ds) && (s.Line == 0 || ds[i].line == int32(s.Line)); i++ {
				if ds[i].name == n && ds[i].qual == q {
					return ref{doc, int32(i)}
				}
			}
		}
		if dot < 0 {
			return noRef
		}
		end = dot
	}
}

// add takes an edge whose ends are named. One whose target is not declared is
// dropped.
func (b *builder) add(e kb.Edge) {
	doc, ok := b.at[e.From.Path]
	if !ok || e.From.Line <= 0 {
		return
	}
	target := b.find(e.To)
	if target == noRef {
		return
	}
	conf := uint8(min(max(int(e.Confidence*100+0.5), 1), 100))
	b.docs[doc].edges = append(b.docs[doc].edges, edge{int32(e.From.Line), target, e.Kind, conf})
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
func (d *building) pack(es []edge) {
	var e enc
	var last edge
	for _, x := range es {
		e.int(int(x.line - last.line))
		e.zig(int(x.target.doc - last.target.doc))
		e.int(int(x.target.decl))
		e.b = append(e.b, byte(x.kind), x.conf)
		last = x
	}
	d.edges, d.count, d.packed = nil, len(es), slices.Clone(e.b)
}

// unpack appends the edges to es.
func (d *building) unpack(es []edge) []edge {
	var last edge
	r := dec{b: d.packed}
	for range d.count {
		last.line += int32(r.int())
		last.target = ref{last.target.doc + int32(r.zig()), int32(r.int())}
		b := r.bytes(2)
		last.kind, last.conf = kb.UseKind(b[0]), b[1]
		es = append(es, last)
	}
	return es
}
