package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// count finds the methods that no other declaration shares its name with.
func (r *resolver) count() {
	for w := range commonMethods {
		if n := r.known(w); n >= 0 {
			r.common[n] = true
		}
	}
	for n := range r.nodes {
		v := &r.nodes[n]
		if v.first < 0 || v.kind&isFunc == 0 {
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
func (r *resolver) resolveFile(i int, emit func(kb.Edge)) {
	f, d := &r.files[i], &r.docs[i]
	refs := d.Facts.References
	if len(refs) == 0 || f.lang == plainFamily && len(d.Symbols) == 0 {
		return
	}
	r.cur = int32(i)
	r.binds, r.tried = map[int32][]int32{}, map[int32]hit{}
	for k := range d.Facts.Bindings {
		n := r.intern(strings.TrimPrefix(d.Facts.Bindings[k].Name, "$"))
		r.binds[n] = append(r.binds[n], int32(k))
	}
	order := make([]int32, len(refs))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return refs[a].Line - refs[b].Line })
	names := map[int32]string{}
	seen := map[kb.Edge]bool{}
	line, at := -1, int32(-1)
	for _, k := range order {
		ref := &refs[k]
		if ref.Line != line {
			line = ref.Line
			at = r.around(int32(i), line)
			clear(seen)
		}
		x, conf := r.use(int32(i), at, ref)
		if x < 0 {
			continue
		}
		t := r.decls[x]
		to := &r.docs[t.file].Symbols[t.sym]
		if t.file == int32(i) && lineOf(to) == line && (ref.Qualifier == "" || t.sym == at) {
			continue // the declaration itself
		}
		e := kb.Edge{Kind: ref.Kind, Confidence: conf}
		e.From = kb.Spot{Path: d.Path, Line: line}
		if at >= 0 {
			name, ok := names[at]
			if !ok {
				name = d.Symbols[at].Qualified()
				names[at] = name
			}
			e.From.Decl = name
		}
		e.To = kb.Spot{Path: r.docs[t.file].Path, Line: lineOf(to), Decl: to.Qualified()}
		if !seen[e] {
			seen[e] = true
			emit(e)
		}
	}
	r.cur, r.binds, r.tried = -1, nil, nil
}

// use returns the declaration that a reference means and how sure that is, -1
// when it is not known.
func (r *resolver) use(i, at int32, ref *kb.Reference) (int32, float64) {
	f := &r.files[i]
	name := ref.Name
	if f.lang == phpFamily {
		name = strings.TrimPrefix(name, "$")
	}
	r.depth, r.args = 0, ref.Args
	if ref.Kind == kb.UseInherit {
		if n, out := r.heir(i, ref.Line); n >= 0 {
			at = out
		}
	}
	id := r.known(name)
	if id < 0 {
		if f.lang != rubyFamily || name != "new" || ref.Qualifier == "" {
			return -1, 0
		}
		id = r.intern(name)
	}
	if ref.Qualifier == "" {
		h := r.lookup(i, at, ref.Line, id)
		if h.node < 0 {
			if h.stop || f.lang != bashFamily || ref.Kind != kb.UseCall {
				return -1, 0
			}
			return r.onlyOne(i, at, id, false)
		}
		return r.pick(i, at, h.node, ref.Kind, h.conf)
	}
	v := r.chain(i, at, ref.Line, ref.Qualifier)
	if v.node < 0 {
		if v.outside || ref.Kind != kb.UseCall || f.lang == plainFamily {
			return -1, 0
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
	if f.lang == rubyFamily && name == "new" && ref.Kind == kb.UseCall {
		return r.pick(i, at, v.node, ref.Kind, v.conf)
	}
	if f.lang == rustFamily && ref.Qualifier == "self" {
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
	word := r.words[id]
	if r.common[id] || method && !distinctive(word) || !method && len(word) < 4 {
		return -1, 0
	}
	n, ok := r.unique[pair{r.famKey(r.files[i].lang), id}]
	if !ok || n < 0 {
		return -1, 0
	}
	p := r.nodes[n].parent
	if method && (p < 0 || !r.is(p, isType)) {
		return -1, 0
	}
	return r.pick(i, at, n, kb.UseCall, sureUnique)
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

// pick chooses one of a node's declarations for a use, or the constructor of a
// type that is called.
func (r *resolver) pick(i, at, n int32, kind kb.UseKind, conf float64) (int32, float64) {
	f := &r.files[i]
	if kind == kb.UseCall && r.is(n, isFile) && f.lang == jsFamily {
		if n = r.standard(n, ""); r.is(n, isFile) {
			return -1, 0
		}
	}
	if r.nodes[n].first < 0 {
		return -1, 0
	}
	typish := r.is(n, isType)
	switch kind {
	case kb.UseType, kb.UseInherit:
		if !typish && !r.is(n, isVar|isSpace) {
			return -1, 0
		}
	case kb.UseCall:
		if r.is(n, isSpace) && !r.is(n, isFunc|isType|isVar) {
			return -1, 0
		}
		if typish && !r.is(n, isFunc) {
			if c := r.maker(n); c >= 0 {
				n = c
			}
		}
	}
	return r.choose(i, at, n, kind, conf)
}

// maker returns the constructor of a type, -1 when it declares none.
func (r *resolver) maker(n int32) int32 {
	fam := r.files[r.decls[r.nodes[n].first].file].lang
	for _, w := range fam.constructors {
		if c := r.get(n, r.known(w)); c >= 0 && r.is(c, isFunc) {
			return c
		}
	}
	if fam.overloads {
		if c := r.get(n, r.nodes[n].name); c >= 0 && r.is(c, isFunc) {
			return c
		}
	}
	return -1
}

// choose prefers, among several declarations of one node, those of the kind
// that the use asks for, in the same file, and with a body.
func (r *resolver) choose(i, at, n int32, kind kb.UseKind, conf float64) (int32, float64) {
	v := &r.nodes[n]
	if v.first == v.last {
		return v.first, conf
	}
	fam := r.files[i].lang
	best, most, same, total, files := int32(-1), -1, 0, 0, int32(-1)
	for d, k := v.first, 0; d >= 0 && k < 1024; d, k = r.decls[d].next, k+1 {
		x := r.decls[d]
		s := &r.docs[x.file].Symbols[x.sym]
		score := 0
		is := kindOf(s.Kind)
		switch kind {
		case kb.UseCall:
			if is&(isFunc|isType) != 0 {
				score += 256
			}
			if fam.overloads && r.args > 0 && takes(s, r.args-1) {
				score += 128
			}
		case kb.UseType, kb.UseInherit:
			if is&isType != 0 {
				score += 256
			}
		default:
			if is&isFunc == 0 {
				score += 256
			}
		}
		if x.file == i {
			score += 32
		}
		if fam == cFamily && !header(r.docs[x.file].Path) || fam != cFamily && x.file != i && !private(s) {
			score += 16
		}
		if !(fam.overloads && x.file == i && x.sym == at) {
			score += 8 // overloads call each other more often than themselves
		}
		if final(s)-lineOf(s) > 1 || fam != pythonFamily && fam != jsFamily {
			score += 4 // stubs of overloads have no body
		}
		total++
		switch {
		case score > most, score == most && r.latest(fam, kind) && x.file == files:
			if score == most {
				best = d // stubs of overloads stand before what they stand for
				same++
				break
			}
			best, most, same, files = d, score, 1, x.file
		case score == most:
			same++
			if x.file != files {
				files = -1
			}
		}
	}
	if same == 1 || r.latest(fam, kind) && files >= 0 {
		if total > 1 && fam.overloads && fam != cFamily {
			conf = min(conf, sureReceiver)
		}
		return best, conf
	}
	if fam == cFamily && files < 0 {
		return r.reached(i, n, conf)
	}
	if fam.overloads && r.is(n, isFunc) {
		conf = min(conf, sureOverload)
	}
	return best, conf
}

// takes reports whether a function can be called with n arguments, as far as
// its signature tells.
func takes(s *kb.Symbol, n int) bool {
	k := strings.Index(s.Signature, s.Name+"(")
	if k < 0 {
		return true
	}
	least, most, deep, some, optional, variadic := 0, 0, 0, false, false, false
	sig := s.Signature[k+len(s.Name)+1:]
	end := func() {
		if some {
			most++
			if !optional {
				least++
			}
		}
		some, optional = false, false
	}
	for at := 0; at < len(sig); at++ {
		c := sig[at]
		switch c {
		case '(', '[', '{', '<':
			deep++
		case '>':
			if at > 0 && (sig[at-1] == '-' || sig[at-1] == '=') {
				continue
			}
			deep--
		case ')', ']', '}':
			if deep == 0 && c == ')' {
				end()
				return n >= least && (variadic || n <= most)
			}
			deep--
		case ',':
			if deep == 0 {
				end()
				continue
			}
		case '=':
			optional = optional || deep == 0
		case '.':
			if strings.HasPrefix(sig[at:], "...") {
				variadic, optional = true, true
			}
		}
		if c != ' ' {
			some = true
		}
		if deep == 0 && (strings.HasPrefix(sig[at:], "vararg ") || strings.HasPrefix(sig[at:], "params ")) {
			variadic, optional = true, true
		}
	}
	return true // cut off
}

// private reports whether no other file can name a declaration.
func private(s *kb.Symbol) bool {
	return strings.HasPrefix(s.Signature, "private ") || strings.Contains(s.Signature, " private ")
}

// latest reports whether of several declarations the last one holds.
func (r *resolver) latest(fam *family, kind kb.UseKind) bool {
	return kind == kb.UseCall && (fam == pythonFamily || fam == jsFamily)
}

func header(p string) bool {
	switch path.Ext(p) {
	case ".h", ".hh", ".hpp", ".hxx", ".h++":
		return true
	}
	return false
}

// reached chooses among C declarations of one name in several files: that of
// a header which file i includes, or of the source beside such a header.
func (r *resolver) reached(i, n int32, conf float64) (int32, float64) {
	stems := map[string]bool{}
	for k := range r.docs[i].Facts.Imports {
		if h := r.include(i, r.docs[i].Facts.Imports[k].Path); h >= 0 {
			p := r.docs[h].Path
			stems[strings.TrimSuffix(p, path.Ext(p))] = true
		}
		if k == 256 {
			break
		}
	}
	best := int32(-1)
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 1024; d, k = r.decls[d].next, k+1 {
		p := r.docs[r.decls[d].file].Path
		if !stems[strings.TrimSuffix(p, path.Ext(p))] {
			continue
		}
		if best < 0 || header(r.docs[r.decls[best].file].Path) && !header(p) {
			best = d
		}
	}
	if best < 0 {
		return -1, 0
	}
	return best, min(conf, sureReceiver)
}
