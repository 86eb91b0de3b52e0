package graph

import (
	"strings"
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
	small := f.lang == rubyFamily && !upper(r.words[name])
	for s := at; s >= 0; s = f.outer[s] {
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
				return h
			}
			inner = false
		}
		if b >= 0 && r.covers(i, s, b) {
			return hit{node: -1, local: b, stop: true}
		}
		if k&(isSpace|isVar) != 0 && k&(isFunc|isType) == 0 && k&isSpace != 0 {
			if c := r.get(n, name); r.real(c) {
				return found(c, sureScope)
			}
			if h := r.imported(n, name); h.node >= 0 || h.stop {
				return h
			}
			if h := r.starred(n, name); h.node >= 0 {
				return h
			}
			if f.lang == rustFamily {
				return none
			}
		}
		// A member that stands outside its type: the type is a scope too.
		up := f.root
		if o := f.outer[s]; o >= 0 {
			up = f.nodes[o]
		}
		for p, d := r.nodes[n].parent, 0; p >= 0 && p != up && p != f.root && d < 32; p, d = r.nodes[p].parent, d+1 {
			if r.is(p, isType) {
				if h := r.classScope(f, p, name, false, small && !inner); h.node >= 0 || h.stop {
					return h
				}
				inner = false
			} else if r.is(p, isSpace) && f.lang.global {
				if c := r.get(p, name); r.real(c) {
					return found(c, sureScope)
				}
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

// classScope finds a bare name among the members of a type.
func (r *resolver) classScope(f *file, n, name int32, direct, skip bool) hit {
	if skip {
		return none
	}
	if !f.lang.implicit {
		if f.lang == pythonFamily && direct {
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
		if t := r.fields[pair{f.self, name}]; t != nil && c < 0 {
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
			if f.lang == jvmFamily {
				break
			}
		}
	}
	if h := r.starred(f.self, name); h.node >= 0 {
		return h
	}
	if f.lang == jvmFamily {
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
	bs := r.docs[i].Facts.Bindings
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
	x := &r.docs[i].Facts.Bindings[b]
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 64; d, k = r.decls[d].next, k+1 {
		if t := r.decls[d]; t.file == i {
			line := lineOf(&r.docs[i].Symbols[t.sym])
			return line < x.From || line > x.To
		}
	}
	for k, ok := r.locals[pair{r.files[i].self, r.known(x.Name)}]; ok && k >= 0; k = r.links[k].next {
		if line := r.docs[i].Facts.Imports[r.links[k].imp].Line; line >= x.From && line <= x.To {
			return false // the binding is the import
		}
	}
	return true
}

// covers reports whether a binding lies within a symbol.
func (r *resolver) covers(i, s, b int32) bool {
	x, sym := &r.docs[i].Facts.Bindings[b], &r.docs[i].Symbols[s]
	return x.From >= first(sym) && x.To <= final(sym)
}

// within reports whether a node is declared in file i and, unless s is -1,
// between the lines of symbol s.
func (r *resolver) within(n, i, s int32) bool {
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 256; d, k = r.decls[d].next, k+1 {
		if x := &r.decls[d]; x.file == i {
			if s < 0 {
				return true
			}
			in, out := &r.docs[i].Symbols[x.sym], &r.docs[i].Symbols[s]
			if first(in) >= first(out) && final(in) <= final(out) {
				return true
			}
		}
	}
	return false
}

// imported finds a name among the imports of one scope.
func (r *resolver) imported(scope, name int32) hit {
	k, ok := r.locals[pair{scope, name}]
	if !ok {
		return none
	}
	for ; k >= 0; k = r.links[k].next {
		if n := r.follow(k); n >= 0 {
			return found(n, r.links[k].conf)
		}
	}
	return hit{node: -1, local: -1, stop: true, outside: true}
}

// starred finds a name among what the star imports of one scope offer.
func (r *resolver) starred(scope, name int32) hit {
	if r.depth > maxFollow {
		return none
	}
	r.depth++
	defer func() { r.depth-- }()
	for k, l := range r.stars[scope] {
		if k == maxStars {
			break
		}
		if n := r.follow(l); n >= 0 && n != scope {
			if c := r.offers(n, name); c >= 0 {
				return found(c, sureScope)
			}
		}
	}
	return none
}

// offers returns what a module, package or type gives under a name, re-exports
// included; -1 when nothing.
func (r *resolver) offers(n, name int32) int32 {
	if n < 0 || name < 0 || r.depth > maxFollow {
		return -1
	}
	if c := r.get(n, name); r.real(c) {
		return c
	}
	if r.is(n, isType) {
		c, _ := r.member(n, name)
		return c
	}
	r.depth++
	defer func() { r.depth-- }()
	if h := r.imported(n, name); h.node >= 0 || h.stop {
		return h.node
	}
	if h := r.starred(n, name); h.node >= 0 {
		return h.node
	}
	if i := r.nodes[n].file; i >= 0 && r.files[i].lang == pythonFamily {
		if rest, ok := strings.CutSuffix(r.docs[i].Path, "/__init__.py"); ok {
			return r.pythonFile(rest + "/" + r.words[name])
		}
	}
	if i := r.nodes[n].file; i >= 0 && r.files[i].lang == luaFamily {
		return r.luaMember(i, name)
	}
	return -1
}

// luaMember finds a function of the table that a Lua file returns: the only
// one of that name.
func (r *resolver) luaMember(i, name int32) int32 {
	only := int32(-1)
	for k, n := range r.files[i].nodes {
		if r.nodes[n].name == name && len(r.docs[i].Symbols[k].Path) <= 1 && n != only {
			if only >= 0 {
				return -1
			}
			only = n
		}
	}
	return only
}

// follow returns the node that an import names, -1 when it lies outside.
func (r *resolver) follow(k int32) int32 {
	l := &r.links[k]
	if l.state != 0 || r.depth > maxFollow {
		return l.node
	}
	l.state = 1
	r.depth++
	n := r.target(l)
	r.depth--
	l = &r.links[k]
	l.node, l.state = n, 2
	return n
}

func (r *resolver) target(l *link) int32 {
	i, scope := l.file, l.scope
	imp := &r.docs[i].Facts.Imports[l.imp]
	f := &r.files[i]
	p, name := imp.Path, imp.Name
	for _, star := range []string{".*", "._", "::*"} {
		p = strings.TrimSuffix(p, star)
	}
	if name == "*" || name == "_" {
		name = ""
	}
	if f.lang.global {
		if f.lang == swiftFamily {
			if n, ok := r.spaces["swift\x00"+p]; ok {
				return n
			}
			return -1
		}
		parts := splitName(p)
		if name != "" && name != "default" {
			parts = append(parts, splitName(name)...)
		}
		return r.space(i, parts)
	}
	if f.lang == rustFamily {
		for scope >= 0 && !r.is(scope, isSpace) {
			scope = r.nodes[scope].parent
		}
		if name != "" && name != "self" {
			p += "::" + name
		}
		return r.rustPath(i, scope, p)
	}
	if f.lang == pythonFamily && imp.Name == "" && imp.Local != "" {
		if top, _, _ := strings.Cut(p, "."); top == imp.Local || strings.HasPrefix(imp.Local, top+".") {
			p = top
		}
	}
	m := r.module(i, p)
	if m < 0 && f.lang == jsFamily && p != "" && name != "" && name != "default" && strings.IndexByte("~#$", p[0]) >= 0 {
		l.conf = sureUnique // an alias that only the project's configuration knows
		return r.exported(r.known(name))
	}
	switch {
	case f.lang == pythonFamily && name != "":
		if c := r.offers(m, r.known(name)); c >= 0 && c != l.node {
			return c
		}
		if strings.Trim(p, ".") != "" {
			p += "."
		}
		return r.module(i, p+name)
	case m < 0 || name == "":
		return m
	case name == "default" && f.lang == jsFamily:
		return r.standard(m, imp.Local)
	}
	return r.offers(m, r.known(name))
}

// exported returns the only top-level declaration of a name in JavaScript.
func (r *resolver) exported(name int32) int32 {
	if r.tops == nil {
		r.tops = map[int32]int32{}
		for i := range r.files {
			f := &r.files[i]
			if f.lang != jsFamily {
				continue
			}
			for k, n := range f.nodes {
				if len(r.docs[i].Symbols[k].Path) > 0 {
					continue
				}
				if old, ok := r.tops[r.nodes[n].name]; ok && old != n {
					n = -1
				}
				r.tops[r.nodes[f.nodes[k]].name] = n
			}
		}
	}
	if n, ok := r.tops[name]; ok {
		return n
	}
	return -1
}

// standard returns the default export of a JavaScript module: what is called
// so, else what its importers call it, what its file is called, or the only
// declaration. It is the module itself when none of these is there.
func (r *resolver) standard(m int32, local string) int32 {
	if r.nodes[m].file < 0 {
		return -1
	}
	if c := r.offers(m, r.known("default")); c >= 0 {
		return c
	}
	i := r.nodes[m].file
	d := &r.docs[i]
	only, many := int32(-1), false
	stem := d.Path[strings.LastIndexByte(d.Path, '/')+1:]
	stem, _, _ = strings.Cut(stem, ".")
	byStem := int32(-1)
	for k := range d.Symbols {
		s := &d.Symbols[k]
		if len(s.Path) > 0 {
			continue
		}
		n := r.files[i].nodes[k]
		if strings.Contains(s.Signature, "export default") {
			return n
		}
		if strings.EqualFold(s.Name, strings.ReplaceAll(stem, "-", "")) {
			byStem = n
		}
		if kindOf(s.Kind)&(isFunc|isType) != 0 {
			many = many || only >= 0 && only != n
			only = n
		}
	}
	if c := r.get(m, r.known(local)); c >= 0 && r.nodes[c].first >= 0 {
		return c
	}
	if byStem >= 0 {
		return byStem
	}
	if only >= 0 && !many {
		return only
	}
	return m
}

// space finds a namespace, or what lies in one, by its full name.
func (r *resolver) space(i int32, parts []string) int32 {
	n := r.base(i)
	for _, p := range parts {
		c := r.get(n, r.known(p))
		if !r.real(c) && r.is(n, isType) {
			c, _ = r.member(n, r.known(p))
		}
		if n = c; !r.real(n) {
			return -1
		}
	}
	return n
}

func upper(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c)
}
