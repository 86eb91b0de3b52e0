package graph

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// derive notes the types of fields and variables, and the bases of types.
func (r *resolver) derive(i int) {
	f := &r.files[i]
	if f.lang.plain {
		return
	}
	bindings := r.bindings(int32(i))
	if len(f.nodes) == 0 && len(bindings) == 0 {
		return
	}
	for k := range bindings {
		b := &bindings[k]
		name, field := fieldName(b.Name)
		s := r.around(int32(i), b.From)
		owner := f.root
		if f.lang.global {
			owner = f.self
		}
		local := false
		for ; s >= 0; s = r.outer(int32(i), s) {
			n := f.nodes[s]
			if r.is(n, isType) {
				owner = n
				break
			}
			if r.is(n, isFunc) {
				if field {
					owner = r.classOf(n)
					break
				}
				local = true
				break
			}
		}
		if local || owner < 0 {
			continue
		}
		key := pair{owner, r.intern(name)}
		t, text := r.field(key), int32(r.strs.id(b.Type, 0))
		switch {
		case t == nil:
			r.fields[key] = int32(len(r.typed))
			r.typed = append(r.typed, typed{file: int32(i), at: s, text: text, node: -1})
		case text == 0 || t.text == text:
		case t.text == 0:
			t.text, t.file, t.at = text, int32(i), s
		default:
			t.mixed = true
		}
	}
	for _, ref := range r.refs(int32(i)) {
		if ref.Kind != kb.UseInherit {
			continue
		}
		n, at := r.heir(int32(i), ref.Line)
		if n >= 0 && len(r.bases[n]) < maxBases {
			r.bases[n] = append(r.bases[n], base{int32(i), at, ref.Qualifier, ref.Name})
		}
	}
}

// outer returns the symbol around one, -1 for none.
func (r *resolver) outer(i, s int32) int32 { return r.nest(i).outer[s] }

// fieldName strips the receiver of a field's name.
func fieldName(s string) (string, bool) {
	for _, p := range []string{"self.", "this.", "$this.", "@"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return strings.TrimPrefix(rest, "@"), true
		}
	}
	return strings.TrimPrefix(s, "$"), false
}

// heir returns the type whose bases are named on a line, and the symbol
// outside of which those names are to be looked for.
func (r *resolver) heir(i int32, line int) (n, at int32) {
	f := &r.files[i]
	for s := r.around(i, line); s >= 0; s = r.outer(i, s) {
		if r.is(f.nodes[s], isFunc) {
			break
		}
		sym := &r.docs[i].symbols[s]
		if sym.is&isType != 0 || sym.kind&isModule != 0 {
			if !f.lang.spaces || sym.is&isType != 0 {
				return f.nodes[s], r.outer(i, s)
			}
		}
	}
	if !f.lang.blocks {
		return -1, -1
	}
	in := r.nest(i)
	// The head of a block that is no declaration: its first member tells.
	k := 0
	for lo, hi := 0, len(in.at); lo < hi; {
		if m := (lo + hi) / 2; int(in.at[m]) < line {
			lo = m + 1
			k = lo
		} else {
			hi = m
			k = hi
		}
	}
	if k < len(in.order) {
		s := in.order[k]
		if c := r.classOf(f.nodes[s]); c >= 0 && r.docs[i].symbols[s].path > 0 {
			return c, in.outer[s]
		}
	}
	return -1, -1
}

// classOf returns the type around a node: what "self" stands for in it.
func (r *resolver) classOf(n int32) int32 {
	if r.is(n, isType) {
		return n
	}
	start := n
	for depth := 0; n >= 0 && depth < 64; depth++ {
		p := r.nodes[n].parent
		if p >= 0 && r.is(p, isType) {
			return p
		}
		n = p
	}
	// A function in an object or on a prototype.
	if start >= 0 {
		if p := r.nodes[start].parent; p >= 0 && r.nodes[p].parent >= 0 && !r.is(p, isSpace|isFile) {
			return p
		}
	}
	return -1
}
