package graph

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// kept is what the resolver keeps of a document. A large store declares millions
// of names and uses tens of millions: of a symbol that is 32 bytes instead of
// some 200, and what only one pass over a document reads lies in a file.
type kept struct {
	doc            int32 // its number in the view
	path, language string
	pkg            string
	symbols        []symbol
	signatures     []uint32 // of the symbols, where the family reads them
	imports        []imported

	refs, bindings int // of those in the spill
	facts          spilled
}

// symbol is a declaration; its strings are numbers of words.
type symbol struct {
	name, path  uint32 // path is a number of paths
	line        int32  // of the name
	start, end  int32
	decl        int32 // which one of its document it is in the view; -1 for none
	is          uint8 // what it makes of a node
	kind        symbolKind
	least, most uint8 // arguments that it takes
}

// symbolKind is what else is known of a symbol, as bits.
type symbolKind uint8

const (
	isModule  symbolKind = 1 << iota
	isMacro              //
	isMember             // method, field or the like
	isStatic             // belongs to its type, not to the objects of it
	isPrivate            // no other file can name it
	isExport             // the default export of a JavaScript module
)

// symbolPath holds the names of the declarations around a symbol.
type symbolPath []string

// imported is an import; its strings are numbers of words.
type imported struct {
	path, name, local uint32
	line              int32
}

// keep makes a document one of the resolver's. doc is its number in the view, and
// decls has the numbers of its symbols there.
func (r *resolver) keep(d *Document, doc int32, decls []int32) {
	k := kept{doc: doc, path: d.Path, language: d.Language, pkg: strings.Clone(d.Facts.Package),
		refs: len(d.Facts.References), bindings: len(d.Facts.Bindings)}
	fam := familyOf(d.Language)
	k.facts = r.spilt.add(r.pack(&d.Facts, fam))
	k.symbols = make([]symbol, len(d.Symbols))
	for i := range d.Symbols {
		k.symbols[i] = r.symbol(&d.Symbols[i], fam)
		k.symbols[i].decl = decls[i]
	}
	if fam.returns != nil {
		k.signatures = make([]uint32, len(d.Symbols))
		for i := range d.Symbols {
			k.signatures[i] = r.strs.id(d.Symbols[i].Signature, 0)
		}
	}
	k.imports = make([]imported, len(d.Facts.Imports))
	for i := range d.Facts.Imports {
		m := &d.Facts.Imports[i]
		k.imports[i] = imported{r.strs.id(m.Path, 0), r.strs.id(m.Name, 0), r.strs.id(m.Local, 0), int32(m.Line)}
	}
	r.docs = append(r.docs, k)
}

func (r *resolver) symbol(s *kb.Symbol, fam *family) symbol {
	out := symbol{name: r.strs.id(s.Name, 0), path: r.pathOf(s.Path), is: kindOf(s.Kind),
		line: int32(lineOf(s)), start: int32(s.Start), end: int32(max(s.End, s.Line, s.Start))}
	if s.Start <= 0 {
		out.start = int32(s.Line)
	}
	switch s.Kind {
	case "module":
		out.kind |= isModule
	case "macro":
		out.kind |= isMacro
	case "method", "getter", "setter", "field", "property":
		out.kind |= isMember
	}
	sig := s.Signature
	static := strings.HasPrefix(sig, "static ") || strings.Contains(sig, " static ")
	if fam.static != nil {
		static = fam.static(sig)
	}
	if static {
		out.kind |= isStatic
	}
	if strings.HasPrefix(sig, "private ") || strings.Contains(sig, " private ") {
		out.kind |= isPrivate
	}
	if strings.Contains(sig, "export default") || strings.HasPrefix(sig, "module.exports = ") {
		out.kind |= isExport
	}
	out.least, out.most = 0, mostArguments
	if fam.overloads {
		out.least, out.most = arguments(s.Name, sig)
	}
	return out
}

// pathOf returns the number of a list of names.
func (r *resolver) pathOf(names []string) uint32 {
	if len(names) == 0 {
		return 0
	}
	joined := r.strs.id(strings.Join(names, "\x00"), 0)
	n, ok := r.pathAt[joined]
	if !ok {
		n = uint32(len(r.paths))
		r.pathAt[joined] = n
		path := make(symbolPath, len(names))
		for i, name := range names {
			path[i] = r.strs.text(r.strs.id(name, 0))
		}
		r.paths = append(r.paths, path)
	}
	return n
}

// pathTo returns the names of the declarations around a symbol.
func (r *resolver) pathTo(s *symbol) symbolPath { return r.paths[s.path] }

// text returns the string of a name or another number of words.
func (r *resolver) text(n int32) string { return r.strs.word(uint32(n)) }

// importOf returns an import of a document.
func (r *resolver) importOf(doc, k int32) kb.Import {
	m := &r.docs[doc].imports[k]
	return kb.Import{Path: r.strs.word(m.path), Name: r.strs.word(m.name), Local: r.strs.word(m.local), Line: int(m.line)}
}

// pack encodes references and bindings, in some six bytes each.
func (r *resolver) pack(f *kb.Facts, fam *family) []byte {
	var e enc
	line := 0
	for i := range f.References {
		x := &f.References[i]
		e.zig(x.Line - line)
		line = x.Line
		e.int(int(x.Kind))
		e.int(x.Args)
		e.uint(uint64(r.strs.id(x.Qualifier, 0)))
		mark := uint8(0)
		if x.Kind == kb.UseCall {
			mark = isCalled
			if fam.sigil != "" {
				r.strs.id(strings.TrimPrefix(x.Name, fam.sigil), mark)
			}
		}
		e.uint(uint64(r.strs.id(x.Name, mark)))
	}
	for i := range f.Bindings {
		x := &f.Bindings[i]
		e.zig(x.From)
		e.zig(x.To - x.From)
		e.uint(uint64(r.strs.id(x.Name, 0)))
		e.uint(uint64(r.strs.id(x.Type, 0)))
	}
	return e.b
}

// factsOf returns the references and bindings of a document. Those of one
// document at a time are unpacked: passes take documents one after the other.
func (r *resolver) factsOf(i int32) *kb.Facts {
	if r.opened == i {
		return &r.facts
	}
	k := &r.docs[i]
	d := dec{b: r.spilt.get(k.facts)}
	r.opened = i
	r.facts.References = slices.Grow(r.facts.References[:0], k.refs)[:k.refs]
	line := 0
	for j := range r.facts.References {
		line += d.zig()
		r.facts.References[j] = kb.Reference{Line: line, Kind: kb.UseKind(d.int()), Args: d.int(),
			Qualifier: r.text(int32(d.uint())), Name: r.text(int32(d.uint()))}
	}
	r.facts.Bindings = slices.Grow(r.facts.Bindings[:0], k.bindings)[:k.bindings]
	for j := range r.facts.Bindings {
		from := d.zig()
		r.facts.Bindings[j] = kb.Binding{From: from, To: from + d.zig(), Name: r.text(int32(d.uint())), Type: r.text(int32(d.uint()))}
	}
	return &r.facts
}

// signature returns that of a symbol, "" where the family reads none.
func (r *resolver) signature(i, s int32) string {
	if r.docs[i].signatures == nil {
		return ""
	}
	return r.strs.word(r.docs[i].signatures[s])
}

func (r *resolver) refs(i int32) []kb.Reference { return r.factsOf(i).References }

func (r *resolver) bindings(i int32) []kb.Binding { return r.factsOf(i).Bindings }
