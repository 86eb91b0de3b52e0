package graph

import (
	"strings"
)

// splitName returns the parts of a dotted name in any language's spelling:
// "a.b", "a::b", "a\b", "a/b".
func splitName(s string) []string {
	if !strings.ContainsAny(s, ".:\\/") {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	return strings.FieldsFunc(s, func(c rune) bool { return c == '.' || c == ':' || c == '\\' || c == '/' })
}

// place gives a file its root in the tree.
func (r *resolver) place(i int) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang.global {
		f.root = r.base(int32(i))
		for _, p := range splitName(d.pkg) {
			f.root = r.make(f.root, r.intern(p))
			r.nodes[f.root].kind |= isSpace
		}
		f.self = r.free(-1, -1)
		r.nodes[f.self].file = int32(i)
		return
	}
	if f.lang.root != nil {
		f.root = f.lang.root(r, int32(i))
		f.self = f.root
		return
	}
	f.root = r.free(-1, -1)
	f.self = f.root
	r.nodes[f.root].file = int32(i)
	r.nodes[f.root].kind |= isFile
	if f.lang.named && d.pkg != "" {
		if _, twice := r.modules[d.pkg]; !twice {
			r.modules[d.pkg] = int32(i)
		}
	}
}

// base returns the root of the namespaces that a file of a global family sees.
func (r *resolver) base(i int32) int32 {
	f := &r.files[i]
	key := f.lang.name
	if f.lang.space != nil {
		key += "\x00" + f.lang.space(r.docs[i].path)
	}
	return r.spaceRoot(key)
}

func (r *resolver) spaceRoot(key string) int32 {
	n, ok := r.spaces[key]
	if !ok {
		n = r.free(-1, -1)
		r.nodes[n].kind |= isSpace
		r.spaces[key] = n
	}
	return n
}

// plant hangs a file's declarations and imports into the tree.
func (r *resolver) plant(i int) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang.plain && d.refs == 0 {
		f.nodes = make([]int32, len(d.symbols))
		return
	}
	f.nodes = make([]int32, len(d.symbols))
	own := splitName(d.pkg)
	var parts []string
	for k := range d.symbols {
		s := &d.symbols[k]
		parts = r.partsOf(parts[:0], f.lang, s)
		n, from := f.root, 0
		if f.lang.global && len(own) > 0 && len(parts) >= len(own) && equal(parts[:len(own)], own) {
			from = len(own)
		}
		for at, p := range parts[from:] {
			if f.lang.loose && at == len(parts)-1 && r.loose(int32(i), n, s) {
				n = r.free(n, r.intern(p))
				continue
			}
			n = r.make(n, r.intern(p))
		}
		f.nodes[k] = n
		r.declare(n, int32(i), int32(k))
	}
	for k := range d.imports {
		r.importIn(int32(i), int32(k))
	}
}

// loose reports whether a JavaScript method lies in an object that has no name,
// so that no name in scope means it.
func (r *resolver) loose(i, parent int32, s *symbol) bool {
	if s.kind&isMember == 0 {
		return false
	}
	v := &r.nodes[parent]
	if parent == r.files[i].root {
		return true
	}
	if v.kind&isFunc == 0 || v.first < 0 {
		return false
	}
	out := &r.docs[i].symbols[r.decls[v.first].sym]
	return r.decls[v.first].file == i && s.start >= out.start && s.end <= out.end
}

// partsOf appends the names that lead to a symbol.
func (r *resolver) partsOf(to []string, fam *family, s *symbol) []string {
	for _, p := range r.pathTo(s) {
		if fam.global && strings.IndexAny(p, ".:\\") > 0 {
			to = append(to, splitName(p)...)
		} else {
			to = append(to, p)
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(r.text(int32(s.name)), fam.sigil), fam.ownPrefix)
	switch {
	case name == "":
		name = "?"
	case fam.global && s.is&(isType|isSpace) != 0 && strings.IndexAny(name, ".:\\") > 0:
		return append(to, splitName(name)...)
	case fam.splits != nil && fam.splits(name):
		return append(to, splitName(name)...)
	}
	return append(to, name)
}

func equal(a, b []string) bool {
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// rehome moves members that stand outside the file of their type (a Rust impl,
// an extension, a method assigned to a prototype) below that type.
func (r *resolver) rehome(i int) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang.plain || len(d.symbols) == 0 {
		return
	}
	homes := map[int32]int32{}
	for _, s := range r.nest(int32(i)).order {
		if d.symbols[s].path == 0 {
			continue
		}
		n := f.nodes[s]
		p := r.nodes[n].parent
		if p < 0 || r.nodes[p].first >= 0 || r.is(p, isSpace|isFile) || p == f.root {
			continue
		}
		home, ok := homes[p]
		if !ok {
			home = -1
			if up := r.nodes[p].parent; up >= 0 {
				scope := f.self
				if up != f.root {
					scope = up
				}
				h := r.imported(scope, r.nodes[p].name)
				if h.node < 0 {
					h = r.starred(scope, r.nodes[p].name)
				}
				if h.node >= 0 && h.node != p && r.is(h.node, isType) {
					home = h.node
				}
			}
			homes[p] = home
			if home < 0 {
				r.nodes[p].kind |= isType // of a type that lies elsewhere
			}
		}
		if home < 0 {
			continue
		}
		if c := r.get(home, r.nodes[n].name); c >= 0 {
			if c != n {
				r.declare(c, int32(i), s)
				f.nodes[s] = c
			}
			continue
		}
		r.child[pair{home, r.nodes[n].name}] = n
		r.nodes[home].kids = true
		r.nodes[n].parent = home
	}
}
