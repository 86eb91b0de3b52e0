package index

import (
	"encoding/binary"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The facts of a document are what only some questions need, which is why
// they lie in a stream of their own. For each symbol, in the order of the
// chunks' metas:
//
//	varint line - start + 1, 0 when not known; varint elements of Path, each a string
//
// then string package, and three lists, each with its length as a varint
// before it:
//
//	imports     varint line, strings path, name, local
//	references  varint line - line of the one before, zigzag; byte kind,
//	            plus 16 × min(arguments + 1, 15), 0 when not known;
//	            varint qualifier, varint name
//	bindings    varint from, varint to - from, varint name, varint type
//
// Qualifiers, names and types are numbers of strings: n < the strings so far
// is that string, n = that many is a new one, which follows.

type factWriter struct {
	b       []byte
	strings map[string]uint64
	next    uint64 // number of the next new string
}

func (w *factWriter) uvarint(v int) { w.b = binary.AppendUvarint(w.b, uint64(max(0, v))) }

func (w *factWriter) name(s string) {
	n, ok := w.strings[s]
	if !ok {
		n = w.next
		w.next++
		w.strings[s] = n
	}
	w.b = binary.AppendUvarint(w.b, n)
	if !ok {
		w.b = appendString(w.b, s)
	}
}

// appendFacts encodes the facts of a document with the given chunks; nil when
// there are none.
func appendFacts(chunks []kb.Chunk, f *kb.Facts) []byte {
	w := factWriter{strings: map[string]uint64{}}
	symbols := 0
	for i := range chunks {
		for j := range chunks[i].Symbols {
			s := &chunks[i].Symbols[j]
			symbols++
			w.uvarint(max(0, s.Line-s.Start+1)) // 0: not known
			w.uvarint(len(s.Path))
			for _, p := range s.Path {
				w.name(p)
			}
		}
	}
	if symbols == 0 && f.Package == "" && len(f.Imports) == 0 && len(f.References) == 0 && len(f.Bindings) == 0 {
		return nil
	}
	w.b = appendString(w.b, f.Package)
	w.uvarint(len(f.Imports))
	for _, x := range f.Imports {
		w.uvarint(x.Line)
		w.b = appendString(w.b, x.Path)
		w.b = appendString(w.b, x.Name)
		w.b = appendString(w.b, x.Local)
	}
	w.uvarint(len(f.References))
	line := 0
	for _, x := range f.References {
		w.b = binary.AppendVarint(w.b, int64(x.Line-line))
		line = x.Line
		w.b = append(w.b, byte(x.Kind)|byte(min(max(x.Args, 0), 15))<<4)
		w.name(x.Qualifier)
		w.name(x.Name)
	}
	w.uvarint(len(f.Bindings))
	for _, x := range f.Bindings {
		w.uvarint(x.From)
		w.uvarint(x.To - x.From)
		w.name(x.Name)
		w.name(x.Type)
	}
	return w.b
}

// nameTable reads numbers of strings: those seen so far, in order.
type nameTable []string

// read returns the string whose number r has next; fresh reads a new one.
func (t *nameTable) read(r *varReader, fresh func() string) string {
	n := r.uvarint()
	if r.err != nil {
		return ""
	}
	if n < uint64(len(*t)) {
		return (*t)[n]
	}
	s := fresh()
	if n > uint64(len(*t)) {
		r.err = errShort
	}
	*t = append(*t, s)
	return s
}

type factReader struct {
	varReader
	strings nameTable
}

func (r *factReader) name() string { return r.strings.read(&r.varReader, r.string) }

// symbols fills in the symbols of chunks.
func (r *factReader) symbols(chunks []kb.Chunk) {
	for i := range chunks {
		for j := range chunks[i].Symbols {
			s := &chunks[i].Symbols[j]
			s.Line, s.Path = 0, nil
			if n := int(r.uvarint()); n > 0 {
				s.Line = s.Start + n - 1
			}
			if n := r.count(); n > 0 {
				s.Path = make([]string, n)
				for k := range s.Path {
					s.Path[k] = r.name()
				}
			}
		}
	}
}

// readFacts fills in the symbols of chunks and returns the rest.
func readFacts(b []byte, chunks []kb.Chunk) (kb.Facts, error) {
	var f kb.Facts
	if len(b) == 0 {
		return f, nil
	}
	r := factReader{varReader: varReader{b: b}}
	r.symbols(chunks)
	f.Package = r.string()
	f.Imports = make([]kb.Import, r.count())
	for i := range f.Imports {
		f.Imports[i] = kb.Import{Line: int(r.uvarint()), Path: r.string(), Name: r.string(), Local: r.string()}
	}
	f.References = make([]kb.Reference, r.count())
	line := 0
	for i := range f.References {
		line += int(r.varint())
		kind := r.bytes(1)
		if r.err != nil || kind[0]&15 >= byte(kb.UseKinds) {
			return kb.Facts{}, errShort
		}
		f.References[i] = kb.Reference{Line: line, Kind: kb.UseKind(kind[0] & 15), Args: int(kind[0] >> 4), Qualifier: r.name(), Name: r.name()}
	}
	f.Bindings = make([]kb.Binding, r.count())
	for i := range f.Bindings {
		x := kb.Binding{From: int(r.uvarint())}
		x.To = x.From + int(r.uvarint())
		x.Name, x.Type = r.name(), r.name()
		f.Bindings[i] = x
	}
	return f, r.err
}

// loadFacts reads where the facts of each document lie.
func (s *segment) loadFacts() error {
	raw, err := s.file.Section("factidx").All()
	if err != nil {
		return err
	}
	if len(raw) != 4*s.info.Documents {
		return s.corrupt("its tables have the wrong length")
	}
	s.fact = make([]int64, s.info.Documents+1)
	for d := range s.info.Documents {
		s.fact[d+1] = s.fact[d] + int64(binary.LittleEndian.Uint32(raw[4*d:]))
	}
	return s.facts.open(s.file.Section("facts"), s.file.Section("factblocks"), s.fact[s.info.Documents])
}

// factsOf returns the facts of a document and fills in the symbols of its
// chunks; none in segments of version 1.
func (s *segment) factsOf(d int, chunks []kb.Chunk) (kb.Facts, error) {
	if s.fact == nil {
		return kb.Facts{}, nil
	}
	b, err := s.part(&s.facts, s.fact[d], s.fact[d+1]-s.fact[d])
	if err != nil {
		return kb.Facts{}, err
	}
	f, err := readFacts(b, chunks)
	if err != nil {
		return kb.Facts{}, s.corrupt("its facts do not parse")
	}
	f.Spec, _, err = s.specOf(d, nil)
	return f, err
}
