package graph

import (
	"bytes"
	"slices"
)

// goVersion is the version of the Go linker: with another one, nothing is
// taken over from a view.
const goVersion = 1

// goState is the section "go" of a view: a uvarint goVersion, the number of
// Go files, each: document (delta), size, build constraint, package, imports
// (number, each), functions (number, each), 8 bytes of skeleton; all strings by number. Then
// the number of units, each: folder, package, import path (strings) and 8 bytes of key.
type goState struct {
	files map[string]*goFile // by path
	keys  map[unitName]sum8
}

type unitName struct{ dir, name, path string }

// internState interns the strings that writeState asks for.
func (g *goLinker) internState() {
	var e enc
	g.writeState(&e, func(s string) int { return int(g.b.name(s)) })
}

func (g *goLinker) writeState(e *enc, str func(string) int) {
	e.int(goVersion)
	var files []*goFile
	for _, u := range g.layout.units {
		files = append(files, u.files...)
	}
	slices.SortFunc(files, func(a, b *goFile) int { return int(a.doc) - int(b.doc) })
	e.int(len(files))
	last := 0
	for _, f := range files {
		e.int(int(f.doc) - last)
		last = int(f.doc)
		e.int(int(f.size))
		e.int(str(f.build))
		e.int(str(f.pkg))
		e.int(len(f.imports))
		for _, p := range f.imports {
			e.int(str(p))
		}
		e.int(len(f.tops))
		for _, p := range f.tops {
			e.int(str(p))
		}
		e.b = append(e.b, f.skeleton[:]...)
	}
	e.int(len(g.layout.units))
	for _, u := range g.layout.units {
		e.int(str(u.dir))
		e.int(str(u.name))
		e.int(str(u.path))
		e.b = append(e.b, u.key[:]...)
	}
}

// goState reads what a link left; nil when it is of no use.
func (v *View) goState() *goState {
	if v == nil {
		return nil
	}
	s := &goState{files: map[string]*goFile{}, keys: map[unitName]sum8{}}
	ok := false
	err := v.guard(func() error {
		texts, err := v.core.strings()
		if err != nil {
			return err
		}
		d, err := v.core.single("go")
		if err != nil {
			return err
		}
		if d.int() != goVersion {
			return nil
		}
		str := func() string {
			if v.core.strs == nil {
				v.core.strs = texts.all()
			}
			return v.core.strs[d.int()]
		}
		doc := 0
		for n := d.count(); n > 0; n-- {
			doc += d.int()
			f := &goFile{path: v.core.paths[doc], size: int64(d.int())}
			sum, err := v.core.hash(doc)
			if err != nil {
				return err
			}
			copy(f.hash[:], sum)
			f.build, f.pkg = str(), str()
			for k := d.count(); k > 0; k-- {
				f.imports = append(f.imports, str())
			}
			for k := d.count(); k > 0; k-- {
				f.tops = append(f.tops, str())
			}
			copy(f.skeleton[:], d.bytes(len(f.skeleton)))
			s.files[f.path] = f
		}
		for n := d.count(); n > 0; n-- {
			u := unitName{str(), str(), str()}
			var key sum8
			copy(key[:], d.bytes(len(key)))
			s.keys[u] = key
		}
		ok = !d.bad
		return nil
	})
	if err != nil || !ok {
		return nil
	}
	return s
}

// reuse copies declarations and edges of documents from an earlier view.
type reuse struct {
	v *View
	b *builder
	// moved holds, for documents that changed, where their declarations went.
	moved map[int32][]int32
}

// declare gives an unchanged document the declarations it had.
func (r *reuse) declare(doc int32) error {
	c := r.v.core
	old := c.doc(r.b.docs[doc].entry.Path)
	rows, err := c.rows(old)
	if err != nil {
		return err
	}
	ds := make([]declared, len(rows))
	for i, w := range rows {
		ds[i] = declared{
			name: r.b.name(c.strs[w.name]), qual: r.b.name(c.strs[w.qual]), kind: r.b.name(c.strs[w.kind]),
			line: int32(w.line), start: int32(w.start), end: int32(w.end),
		}
	}
	r.b.declare(doc, ds)
	return nil
}

// edges gives an unchanged document the edges it had. All documents must have
// their declarations by then.
func (r *reuse) edges(doc int32) error {
	c := r.v.core
	as, err := c.arrows(c.doc(r.b.docs[doc].entry.Path))
	if err != nil {
		return err
	}
	out := make([]edge, 0, len(as))
	for _, a := range as {
		target, err := r.target(a.target)
		if err != nil {
			return err
		}
		if target != noRef {
			out = append(out, edge{int32(a.line), target, a.kind, uint8(a.conf)})
		}
	}
	r.b.pack(doc, fold(out))
	return nil
}

// target returns where a declaration of the earlier view is now.
func (r *reuse) target(old ref) (ref, error) {
	c := r.v.core
	doc, ok := r.b.at[c.paths[old.doc]]
	if !ok {
		return noRef, nil
	}
	sum, err := c.hash(int(old.doc))
	if err != nil {
		return noRef, err
	}
	if bytes.Equal(sum, r.b.docs[doc].entry.Hash[:hashBytes]) {
		return ref{doc, old.decl}, nil
	}
	if _, ok := r.moved[old.doc]; !ok {
		rows, err := c.rows(int(old.doc))
		if err != nil {
			return noRef, err
		}
		r.moved[old.doc] = r.match(rows, r.b.docs[doc].decls)
	}
	if to := r.moved[old.doc][old.decl]; to >= 0 {
		return ref{doc, to}, nil
	}
	return noRef, nil
}

// match returns for each row the declaration of the same qualified name: the
// first for the first and so on; -1 for none.
func (r *reuse) match(rows []row, ds []declared) []int32 {
	type name struct{ name, qual uint32 }
	now := map[name][]int32{}
	for i, d := range ds {
		k := name{d.name, d.qual}
		now[k] = append(now[k], int32(i))
	}
	out := make([]int32, len(rows))
	for i, w := range rows {
		k := name{r.b.name(r.v.core.strs[w.name]), r.b.name(r.v.core.strs[w.qual])}
		out[i] = -1
		if rest := now[k]; len(rest) > 0 {
			out[i], now[k] = rest[0], rest[1:]
		}
	}
	return out
}
