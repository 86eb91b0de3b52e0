package graph

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// count finds the methods that no other declaration shares its name with, of
// those that something calls.
func (r *resolver) count() {
	for w := range commonMethods {
		if n := r.known(w); n >= 0 {
			r.common[n] = true
		}
	}
	for n := range r.nodes {
		v := &r.nodes[n]
		if v.first < 0 || v.kind&isFunc == 0 || v.name < 0 || r.strs.marks[v.name]&isCalled == 0 {
			continue
		}
		fam := r.files[r.decls[v.first].file].lang
		key := pair{r.famKey(fam), v.name}
		if _, twice := r.unique[key]; twice {
			r.unique[key] = -1
			continue
		}
		r.unique[key] = int32(n)
	}
}

// famKey returns a number for a family that no name has.
func (r *resolver) famKey(fam *family) int32 { return -2 - r.intern("\x00"+fam.name) }

// resolveFile emits the edges of one document.
func (r *resolver) resolveFile(i int, emit func(used)) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang.plain && len(d.symbols) == 0 {
		return
	}
	refs := r.refs(int32(i))
	if len(refs) == 0 {
		return
	}
	r.cur = int32(i)
	r.binds, r.tried = map[int32][]int32{}, map[int32]hit{}
	for k, b := range r.bindings(int32(i)) {
		n := r.intern(strings.TrimPrefix(b.Name, "$"))
		r.binds[n] = append(r.binds[n], int32(k))
	}
	order := make([]int32, len(refs))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return refs[a].Line - refs[b].Line })
	line, at := -1, int32(-1)
	for _, k := range order {
		ref := &refs[k]
		if ref.Line != line {
			line = ref.Line
			at = r.around(int32(i), line)
		}
		x, conf := r.use(int32(i), at, int(k))
		if x < 0 {
			continue
		}
		t := r.decls[x]
		if t.file == int32(i) && int(r.docs[i].symbols[t.sym].line) == line && (ref.Qualifier == "" || t.sym == at) {
			continue // the declaration itself
		}
		emit(used{int32(i), int32(line), t, ref.Kind, conf})
	}
	r.cur, r.binds, r.tried = -1, nil, nil
}

// use returns the declaration that a reference means and how sure that is, -1
// when it is not known.
func (r *resolver) use(i, at int32, k int) (int32, float64) {
	f, ref := &r.files[i], &r.refs(i)[k]
	name := strings.TrimPrefix(ref.Name, f.lang.sigil)
	if name == f.lang.library && ref.Qualifier == "" {
		return -1, 0 // the library's, whatever looks like a declaration of it
	}
	r.depth, r.args = 0, ref.Args
	if ref.Kind == kb.UseInherit {
		if n, out := r.heir(i, ref.Line); n >= 0 {
			at = out
		}
	}
	id := r.known(name)
	if id < 0 {
		if name != f.lang.maker || ref.Qualifier == "" {
			return -1, 0
		}
		id = r.intern(name)
	}
	if ref.Qualifier == "" {
		h := r.lookup(i, at, ref.Line, id)
		if h.node < 0 && !h.stop && f.lang.macro != nil && ref.Kind == kb.UseCall {
			h = found(f.lang.macro(r, i, id), sureReceiver)
		}
		if h.node < 0 {
			if h.stop || !f.lang.anywhere || ref.Kind != kb.UseCall {
				return -1, 0
			}
			return r.onlyOne(i, at, id, false)
		}
		return r.pick(i, at, h.node, ref.Kind, h.conf)
	}
	v := r.chain(i, at, ref.Line, ref.Qualifier)
	if v.node < 0 {
		if v.outside || ref.Kind != kb.UseCall || f.lang.plain {
			return -1, 0
		}
		if ref.Qualifier == "()" {
			if t := r.receiver(i, at, k, false); t >= 0 {
				if c, conf := r.member(t, id); c >= 0 {
					return r.pick(i, at, c, ref.Kind, min(conf, sureInherited))
				}
			}
		}
		return r.onlyOne(i, at, id, true)
	}
	if v.super {
		if name == "new" || selfWords[name] || f.lang.super(name) {
			return -1, 0
		}
		if c := r.inherit(v.node, id); c >= 0 {
			return r.pick(i, at, c, ref.Kind, min(v.conf, r.inherited(v.node, c)))
		}
		return -1, 0
	}
	if r.is(v.node, isFile|isSpace) {
		if c := r.offers(v.node, id); c >= 0 {
			return r.pick(i, at, c, ref.Kind, v.conf)
		}
	} else {
		if c, conf := r.member(v.node, id); c >= 0 {
			return r.pick(i, at, c, ref.Kind, min(v.conf, conf))
		}
	}
	if name == f.lang.maker && ref.Kind == kb.UseCall {
		return r.pick(i, at, v.node, ref.Kind, v.conf)
	}
	if f.lang.spaces && ref.Qualifier == "self" {
		// self::name of a function beside, not a member.
		if c := r.offers(r.spaceAround(i, at), id); c >= 0 && ref.Kind == kb.UseCall && r.fieldOf(v.node, id) == nil {
			return r.pick(i, at, c, ref.Kind, sureReceiver)
		}
	}
	return -1, 0
}

// onlyOne resolves a call whose receiver is not known, by a name that is
// declared once and that libraries are not likely to use.
func (r *resolver) onlyOne(i, at, id int32, method bool) (int32, float64) {
	word := r.text(id)
	if r.common[id] || method && !distinctive(word) || !method && len(word) < 4 {
		return -1, 0
	}
	n, ok := r.unique[pair{r.famKey(r.files[i].lang), id}]
	if !ok || n < 0 {
		return -1, 0
	}
	if r.encloses(i, at, n) {
		return -1, 0 // it passes the call on, to an object of another type
	}
	p := r.nodes[n].parent
	if method && (p < 0 || !r.is(p, isType) || r.shared(n)) {
		return -1, 0
	}
	return r.pick(i, at, n, kb.UseCall, sureUnique)
}

// shared reports whether a method belongs to its type rather than to the
// objects of it, and so is not called on one.
func (r *resolver) shared(n int32) bool {
	d := r.decls[r.nodes[n].first]
	return r.docs[d.file].symbols[d.sym].kind&isStatic != 0
}

// distinctive reports whether a name has two words and six letters or more, so
// that a method of another library is not likely to be called the same.
func distinctive(s string) bool {
	if len(s) < 6 || strings.HasPrefix(s, "__") {
		return false
	}
	s = strings.Trim(s, "_!?=")
	for k := 1; k < len(s); k++ {
		if s[k] == '_' || s[k] >= 'A' && s[k] <= 'Z' && s[k-1] >= 'a' && s[k-1] <= 'z' {
			return true
		}
	}
	return false
}
