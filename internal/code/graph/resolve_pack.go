package graph

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// packedFacts are the references and bindings of a document, of which a large
// store has millions: some six bytes each instead of sixty.
type packedFacts struct {
	refs, bindings int
	b              []byte
}

// keeper makes what is kept of documents small: a string is kept once however
// many documents have it, and what only one pass reads is packed.
type keeper struct {
	words []string
	ids   map[string]int
	paths map[string][]string // by what they are joined to
}

// packedDocs are the packed facts of documents, in their order.
type packedDocs struct {
	*keeper
	facts []packedFacts
}

func newKeeper() *keeper {
	return &keeper{words: []string{""}, ids: map[string]int{"": 0}, paths: map[string][]string{}}
}

func (k *keeper) id(s string) int {
	id, ok := k.ids[s]
	if !ok {
		s = strings.Clone(s)
		id = len(k.words)
		k.ids[s] = id
		k.words = append(k.words, s)
	}
	return id
}

func (k *keeper) keep(s *string) { *s = k.words[k.id(*s)] }

// pack takes the references and bindings out of a document, and shares what is
// left with other documents. Nothing reads the comments of declarations.
func (k *keeper) pack(d *Document) packedFacts {
	var e enc
	line := 0
	for i := range d.Facts.References {
		r := &d.Facts.References[i]
		e.zig(r.Line - line)
		line = r.Line
		e.int(int(r.Kind))
		e.int(r.Args)
		e.int(k.id(r.Qualifier))
		e.int(k.id(r.Name))
	}
	for i := range d.Facts.Bindings {
		b := &d.Facts.Bindings[i]
		e.zig(b.From)
		e.zig(b.To - b.From)
		e.int(k.id(b.Name))
		e.int(k.id(b.Type))
	}
	p := packedFacts{len(d.Facts.References), len(d.Facts.Bindings), slices.Clone(e.b)}
	d.Facts.References, d.Facts.Bindings = nil, nil
	for i := range d.Facts.Imports {
		m := &d.Facts.Imports[i]
		k.keep(&m.Path)
		k.keep(&m.Name)
		k.keep(&m.Local)
	}
	d.Symbols = slices.Clip(d.Symbols)
	for i := range d.Symbols {
		s := &d.Symbols[i]
		k.keep(&s.Name)
		k.keep(&s.Kind)
		s.Doc = ""
		if len(s.Path) == 0 {
			continue
		}
		joined := strings.Join(s.Path, "\x00")
		path, ok := k.paths[joined]
		if !ok {
			path = slices.Clone(s.Path)
			for j := range path {
				k.keep(&path[j])
			}
			k.paths[joined] = path
		}
		s.Path = path
	}
	return p
}

// unpack returns the references and bindings again.
func (p *packedFacts) unpack(words []string) (f kb.Facts) {
	d := dec{b: p.b}
	f.References = make([]kb.Reference, p.refs)
	line := 0
	for i := range f.References {
		line += d.zig()
		f.References[i] = kb.Reference{Line: line, Kind: kb.UseKind(d.int()), Args: d.int(), Qualifier: words[d.int()], Name: words[d.int()]}
	}
	f.Bindings = make([]kb.Binding, p.bindings)
	for i := range f.Bindings {
		from := d.zig()
		f.Bindings[i] = kb.Binding{From: from, To: from + d.zig(), Name: words[d.int()], Type: words[d.int()]}
	}
	return f
}

// factsOf returns the references and bindings of a document. Those of one
// document at a time are unpacked: passes take documents one after the other.
func (r *resolver) factsOf(i int32) *kb.Facts {
	if r.packed == nil {
		return &r.docs[i].Facts
	}
	if r.opened != i {
		r.opened, r.facts = i, r.packed[i].unpack(r.texts)
	}
	return &r.facts
}

func (r *resolver) refs(i int32) []kb.Reference { return r.factsOf(i).References }

func (r *resolver) bindings(i int32) []kb.Binding { return r.factsOf(i).Bindings }
