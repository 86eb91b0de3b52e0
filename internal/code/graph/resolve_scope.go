package graph

import (
	"unicode"
	"unicode/utf8"
)

// hit is what a name stands for.
type hit struct {
	node  int32  // what is declared; -1 when nothing is known
	local int32  // binding of the current file; -1
	field *typed // of a field or variable that is not declared as a symbol
	conf  float64
	// stop: the name is taken by something that is not known, a local variable
	// or an import from outside, so that nothing else can be meant.
	stop    bool
	outside bool // it is an import from outside
}

var none = hit{node: -1, local: -1}

func found(n int32, conf float64) hit { return hit{node: n, local: -1, conf: conf} }

// lookup finds what a bare name stands for inside symbol at of file i.
func (r *resolver) lookup(i, at int32, line int, name int32) hit {
	f := &r.files[i]
	b := r.bound(i, name, line)
	direct, inner := true, true
	small := f.lang.innermost && !upper(r.text(name))
	for s := at; s >= 0; s = r.outer(i, s) {
		n := f.nodes[s]
		k := r.nodes[n].kind
		if k&isFunc != 0 {
			if c := r.get(n, name); c >= 0 && r.nodes[c].first >= 0 && r.within(c, i, s) && !r.hides(i, b, c) {
				return found(c, sureScope)
			}
		}
		if b >= 0 && k&(isFunc|isVar) != 0 && r.covers(i, s, b) {
			return hit{node: -1, local: b, stop: true}
		}
		if k&isFunc != 0 {
			if h := r.imported(n, name); h.node >= 0 || h.stop {
				return h
			}
			if h := r.starred(n, name); h.node >= 0 {
				return h
			}
			direct = false
		}
		if k&isType != 0 {
			if h := r.classScope(f, n, name, direct, small && !inner); h.node >= 0 || h.stop {
				// What is imported under the name of the function around is
				// meant more often than that the function calls itself.
				if h.node >= 0 && f.lang.overloads && r.encloses(i, at, h.node) {
					if x := r.imported(f.self, name); x.node >= 0 && r.is(x.node, isFunc) {
						return x
					}
				}
				return h
			}
			inner = false
		}
		if b >= 0 && r.covers(i, s, b) {
			return hit{node: -1, local: b, stop: true}
		}
		if k&isSpace != 0 && k&(isFunc|isType) == 0 {
			if c := r.get(n, name); r.real(c) {
				return found(c, sureScope)
			}
			if h := r.imported(n, name); h.node >= 0 || h.stop {
				return h
			}
			if h := r.starred(n, name); h.node >= 0 {
				return h
			}
			if f.lang.spaces {
				return none
			}
		}
		// A member that stands outside its type: the type is a scope too.
		up := f.root
		if o := r.outer(i, s); o >= 0 {
			up = f.nodes[o]
		}
		for p, d := r.nodes[n].parent, 0; p >= 0 && p != up && p != f.root && d < 32; p, d = r.nodes[p].parent, d+1 {
			if r.is(p, isType) {
				if h := r.classScope(f, p, name, false, small && !inner); h.node >= 0 || h.stop {
					return h
				}
				inner = false
			} else if c := r.get(p, name); f.lang.global && r.is(p, isSpace) && r.real(c) {
				return found(c, sureScope)
			} else if !f.lang.global {
				break
			}
		}
	}
	h := r.topLevel(i, name)
	if b >= 0 && (h.node < 0 || r.hides(i, b, h.node)) {
		return hit{node: -1, local: b, stop: true}
	}
	return h
}

// encloses reports whether symbol at or one around it declares a node.
func (r *resolver) encloses(i, at, n int32) bool {
	for f := &r.files[i]; at >= 0; at = r.outer(i, at) {
		if f.nodes[at] == n {
			return true
		}
	}
	return false
}

// classScope finds a bare name among the members of a type.
func (r *resolver) classScope(f *file, n, name int32, direct, skip bool) hit {
	if skip {
		return none
	}
	if !f.lang.implicit {
		if f.lang.direct && direct {
			if c := r.get(n, name); c >= 0 && r.nodes[c].first >= 0 {
				return found(c, sureScope)
			}
		}
		return none
	}
	if c, conf := r.member(n, name); c >= 0 {
		return found(c, conf)
	}
	if t := r.fieldOf(n, name); t != nil {
		return hit{node: -1, local: -1, field: t, stop: true}
	}
	return none
}

// topLevel finds a name that is declared in no scope around. For the file that
// is being resolved the answer is kept.
func (r *resolver) topLevel(i, name int32) hit {
	if i != r.cur || r.depth > 1 {
		return r.findTop(i, name)
	}
	h, ok := r.tried[name]
	if !ok {
		h = r.findTop(i, name)
		r.tried[name] = h
	}
	return h
}

func (r *resolver) findTop(i, name int32) hit {
	f := &r.files[i]
	c := r.get(f.root, name)
	if f.lang.global {
		if c >= 0 && r.within(c, i, -1) {
			return found(c, sureScope)
		}
		if t := r.field(pair{f.self, name}); t != nil && c < 0 {
			return hit{node: -1, local: -1, field: t, stop: true}
		}
	} else if r.real(c) {
		return found(c, sureScope)
	}
	if h := r.imported(f.self, name); h.node >= 0 || h.stop {
		return h
	}
	if f.lang.global {
		// The package and, but for Java, the packages around it.
		for n, d := f.root, 0; n >= 0 && d < 32; n, d = r.nodes[n].parent, d+1 {
			if c := r.get(n, name); r.real(c) {
				return found(c, sureScope)
			}
			if f.lang.written {
				break
			}
		}
	}
	if h := r.starred(f.self, name); h.node >= 0 {
		return h
	}
	if f.lang.written {
		// The first part of a package written in full.
		if c := r.get(r.base(i), name); r.is(c, isSpace) {
			return found(c, sureScope)
		}
	}
	return none
}

// bound returns the innermost binding of a name at a line, -1 when there is none.
func (r *resolver) bound(i, name int32, line int) int32 {
	if i != r.cur {
		return -1
	}
	best, size := int32(-1), 0
	bs := r.bindings(i)
	for _, k := range r.binds[name] {
		if b := &bs[k]; b.From <= line && line <= b.To {
			if n := b.To - b.From; best < 0 || n <= size {
				best, size = k, n
			}
		}
	}
	return best
}

// hides reports whether a binding is of a narrower scope than a declaration:
// that of its file does not lie between the binding's lines.
func (r *resolver) hides(i, b, n int32) bool {
	if b < 0 || r.nodes[n].first < 0 && r.nodes[n].parent == r.files[i].root {
		return false
	}
	x := &r.bindings(i)[b]
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 64; d, k = r.decls[d].next, k+1 {
		if t := r.decls[d]; t.file == i {
			line := int(r.docs[i].symbols[t.sym].line)
			return line < x.From || line > x.To
		}
	}
	for k, ok := r.locals[pair{r.files[i].self, r.known(x.Name)}]; ok && k >= 0; k = r.links[k].next {
		if line := int(r.docs[i].imports[r.links[k].imp].line); line >= x.From && line <= x.To {
			return false // the binding is the import
		}
	}
	return true
}

// covers reports whether a binding lies within a symbol.
func (r *resolver) covers(i, s, b int32) bool {
	x, sym := &r.bindings(i)[b], &r.docs[i].symbols[s]
	return x.From >= int(sym.start) && x.To <= int(sym.end)
}

// within reports whether a node is declared in file i and, unless s is -1,
// between the lines of symbol s.
func (r *resolver) within(n, i, s int32) bool {
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 256; d, k = r.decls[d].next, k+1 {
		if x := &r.decls[d]; x.file == i {
			if s < 0 {
				return true
			}
			in, out := &r.docs[i].symbols[x.sym], &r.docs[i].symbols[s]
			if in.start >= out.start && in.end <= out.end {
				return true
			}
		}
	}
	return false
}

func upper(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c)
}
