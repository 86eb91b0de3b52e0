package graph

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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
		for _, p := range splitName(d.Facts.Package) {
			f.root = r.make(f.root, r.intern(p))
			r.nodes[f.root].kind |= isSpace
		}
		f.self = r.free(-1, -1)
		r.nodes[f.self].file = int32(i)
		return
	}
	if f.lang == rustFamily {
		f.root = r.rustFile(int32(i))
		f.self = f.root
		return
	}
	f.root = r.free(-1, -1)
	f.self = f.root
	r.nodes[f.root].file = int32(i)
	r.nodes[f.root].kind |= isFile
	if f.lang == haskellFamily && d.Facts.Package != "" {
		if _, twice := r.modules[d.Facts.Package]; !twice {
			r.modules[d.Facts.Package] = int32(i)
		}
	}
}

// base returns the root of the namespaces that a file of a global family sees.
func (r *resolver) base(i int32) int32 {
	f := &r.files[i]
	key := f.lang.name
	if f.lang == swiftFamily {
		key += "\x00" + swiftModule(r.docs[i].Path)
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
	if f.lang == plainFamily && len(d.Facts.References) == 0 {
		f.nodes = make([]int32, len(d.Symbols))
		return
	}
	r.nest(i)
	f.nodes = make([]int32, len(d.Symbols))
	own := splitName(d.Facts.Package)
	var parts []string
	for k := range d.Symbols {
		s := &d.Symbols[k]
		parts = r.partsOf(parts[:0], f.lang, s)
		n, from := f.root, 0
		if f.lang.global && len(own) > 0 && len(parts) >= len(own) && equal(parts[:len(own)], own) {
			from = len(own)
		}
		for at, p := range parts[from:] {
			if f.lang == jsFamily && at == len(parts)-1 && r.loose(int32(i), n, s) {
				n = r.free(n, r.intern(p))
				continue
			}
			n = r.make(n, r.intern(p))
		}
		f.nodes[k] = n
		r.declare(n, int32(i), int32(k))
	}
	for k := range d.Facts.Imports {
		r.importIn(int32(i), int32(k))
	}
}

// loose reports whether a JavaScript method lies in an object that has no name,
// so that no name in scope means it.
func (r *resolver) loose(i, parent int32, s *kb.Symbol) bool {
	switch s.Kind {
	case "method", "getter", "setter", "field", "property":
	default:
		return false
	}
	v := &r.nodes[parent]
	if parent == r.files[i].root {
		return true
	}
	if v.kind&isFunc == 0 || v.first < 0 {
		return false
	}
	out := &r.docs[i].Symbols[r.decls[v.first].sym]
	return r.decls[v.first].file == i && first(s) >= first(out) && final(s) <= final(out)
}

// partsOf appends the names that lead to a symbol.
func (r *resolver) partsOf(to []string, fam *family, s *kb.Symbol) []string {
	for _, p := range s.Path {
		if fam.global && strings.IndexAny(p, ".:\\") > 0 {
			to = append(to, splitName(p)...)
		} else {
			to = append(to, p)
		}
	}
	name := s.Name
	if fam == phpFamily {
		name = strings.TrimPrefix(name, "$")
	}
	if fam == rubyFamily || fam == luaFamily {
		if rest, ok := strings.CutPrefix(name, "self."); ok {
			name = rest
		}
	}
	switch {
	case name == "":
		name = "?"
	case fam.global && kindOf(s.Kind)&(isType|isSpace) != 0 && strings.IndexAny(name, ".:\\") > 0:
		return append(to, splitName(name)...)
	case fam == cFamily && strings.Contains(name, "::"):
		return append(to, splitName(name)...)
	case fam == luaFamily && strings.IndexAny(name, ".:") > 0:
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

// importIn files one import under the scope in which it stands.
func (r *resolver) importIn(i, k int32) {
	f, imp := &r.files[i], &r.docs[i].Facts.Imports[k]
	scope := f.self
	for s := r.around(i, imp.Line); s >= 0; s = f.outer[s] {
		n := f.nodes[s]
		if r.is(n, isFunc) || r.is(n, isSpace) && !f.lang.global {
			scope = n
			break
		}
	}
	l := link{file: i, imp: k, scope: scope, next: -1, node: -1, conf: sureScope}
	at := int32(len(r.links))
	local, star := imp.Local, imp.Name == "*" && imp.Local == ""
	switch f.lang {
	case jvmFamily, csharpFamily, phpFamily, elixirFamily:
		star = local == "" || local == "*" || local == "_" || strings.HasSuffix(imp.Path, ".*") || strings.HasSuffix(imp.Path, "._")
	case swiftFamily, bashFamily:
		star = true
	case haskellFamily:
		star = star || imp.Name == "*" || imp.Name == "" && local == ""
	case rustFamily:
		star = star || strings.HasSuffix(imp.Path, "::*") || imp.Name == "*"
	}
	r.links = append(r.links, l)
	if star {
		if len(r.stars[scope]) < maxStars*4 {
			r.stars[scope] = append(r.stars[scope], at)
		}
		if f.lang != haskellFamily || local == "" {
			return
		}
	}
	if local == "" || local == "_" {
		return
	}
	if f.lang == pythonFamily { // "import a.b" makes "a" known here
		local, _, _ = strings.Cut(local, ".")
	}
	key := pair{scope, r.intern(local)}
	head, ok := r.locals[key]
	if !ok {
		r.locals[key] = at
		return
	}
	for n := 0; r.links[head].next >= 0; n++ {
		if n > 64 {
			return
		}
		head = r.links[head].next
	}
	r.links[head].next = at
}

// rehome moves members that stand outside the file of their type (a Rust impl,
// an extension, a method assigned to a prototype) below that type.
func (r *resolver) rehome(i int) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang == plainFamily || len(f.order) == 0 {
		return
	}
	homes := map[int32]int32{}
	for _, s := range f.order {
		if len(d.Symbols[s].Path) == 0 {
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

// derive notes the types of fields and variables, and the bases of types.
func (r *resolver) derive(i int) {
	f, d := &r.files[i], &r.docs[i]
	if f.lang == plainFamily || len(f.nodes) == 0 && len(d.Facts.Bindings) == 0 {
		return
	}
	for k := range d.Facts.Bindings {
		b := &d.Facts.Bindings[k]
		name, field := fieldName(b.Name)
		s := r.around(int32(i), b.From)
		owner := f.root
		if f.lang.global {
			owner = f.self
		}
		local := false
		for ; s >= 0; s = f.outer[s] {
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
		t := r.fields[key]
		switch {
		case t == nil:
			r.fields[key] = &typed{file: int32(i), at: s, text: b.Type, node: -1}
		case b.Type == "" || t.text == b.Type:
		case t.text == "":
			t.text, t.file, t.at = b.Type, int32(i), s
		default:
			t.mixed = true
		}
	}
	for k := range d.Facts.References {
		ref := &d.Facts.References[k]
		if ref.Kind != kb.UseInherit {
			continue
		}
		n, at := r.heir(int32(i), ref.Line)
		if n >= 0 && len(r.bases[n]) < maxBases {
			r.bases[n] = append(r.bases[n], base{int32(i), at, int32(k)})
		}
	}
}

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
	for s := r.around(i, line); s >= 0; s = f.outer[s] {
		if r.is(f.nodes[s], isFunc) {
			break
		}
		sym := &r.docs[i].Symbols[s]
		if kindOf(sym.Kind)&isType != 0 || sym.Kind == "module" {
			if f.lang != rustFamily || kindOf(sym.Kind)&isType != 0 {
				return f.nodes[s], f.outer[s]
			}
		}
	}
	if f.lang != rustFamily && f.lang != swiftFamily {
		return -1, -1
	}
	// The head of a block that is no declaration: its first member tells.
	k := 0
	for lo, hi := 0, len(f.at); lo < hi; {
		if m := (lo + hi) / 2; int(f.at[m]) < line {
			lo = m + 1
			k = lo
		} else {
			hi = m
			k = hi
		}
	}
	if k < len(f.order) {
		s := f.order[k]
		if c := r.classOf(f.nodes[s]); c >= 0 && len(r.docs[i].Symbols[s].Path) > 0 {
			return c, f.outer[s]
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
