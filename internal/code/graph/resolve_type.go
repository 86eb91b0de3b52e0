package graph

import (
	"strings"
)

// member returns what a type has under a name, its bases' included, and how
// sure that is; -1 when nothing.
func (r *resolver) member(n, name int32) (int32, float64) {
	if n < 0 || name < 0 {
		return -1, 0
	}
	if c := r.get(n, name); r.real(c) && !r.making(n, c) {
		return c, sureScope
	}
	if r.is(n, isType) {
		if c := r.inherit(n, name); c >= 0 {
			return c, r.inherited(n, c)
		}
	}
	if c := r.get(r.get(n, r.known("Companion")), name); r.real(c) {
		return c, sureScope
	}
	return -1, 0
}

func (r *resolver) inherited(n, c int32) float64 {
	a, b := r.nodes[n].first, r.nodes[c].first
	if a >= 0 && b >= 0 && r.decls[a].file == r.decls[b].file {
		return sureReceiver
	}
	return sureInherited
}

// inherit returns what the bases of a type have under a name.
func (r *resolver) inherit(n, name int32) int32 {
	for _, b := range r.ancestors(n) {
		if c := r.get(b, name); c >= 0 && r.nodes[c].first >= 0 && !r.making(b, c) {
			return c
		}
	}
	return -1
}

// making reports whether a member is the constructor that goes by its type's
// name, by which code means the type.
func (r *resolver) making(n, c int32) bool {
	return r.nodes[n].name == r.nodes[c].name && r.nodes[c].kind == isFunc && r.nodes[c].first >= 0 &&
		r.files[r.decls[r.nodes[c].first].file].lang.overloads
}

// field returns what is noted of a field or variable, nil for nothing.
func (r *resolver) field(key pair) *typed {
	k, ok := r.fields[key]
	if !ok {
		return nil
	}
	return &r.typed[k]
}

// fieldOf returns the type of a field of a type or its bases, nil when it has
// none of that name.
func (r *resolver) fieldOf(n, name int32) *typed {
	if t := r.field(pair{n, name}); t != nil {
		return t
	}
	if r.is(n, isType) {
		for _, b := range r.ancestors(n) {
			if t := r.field(pair{b, name}); t != nil {
				return t
			}
		}
	}
	return nil
}

// ancestors returns the bases of a type, nearest first, and theirs, each once.
func (r *resolver) ancestors(n int32) []int32 {
	if a, ok := r.orders[n]; ok {
		return a
	}
	if len(r.bases[n]) == 0 {
		return nil
	}
	r.orders[n] = nil // for a type that inherits from itself
	var all []int32
	seen := map[int32]bool{n: true}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxFollow {
		delete(r.orders, n)
		return nil
	}
	for _, b := range r.bases[n] {
		p := r.static(b.file, b.at, b.qualifier, b.name)
		if p < 0 || seen[p] || !r.is(p, isType|isSpace) {
			continue
		}
		seen[p] = true
		all = append(all, p)
		for _, q := range r.ancestors(p) {
			if !seen[q] && len(all) < maxBases {
				seen[q] = true
				all = append(all, q)
			}
		}
	}
	r.orders[n] = all
	return all
}

// static finds a type as it is named in a file, whatever variables there are.
func (r *resolver) static(i, at int32, qualifier, name string) int32 {
	cur := r.cur
	r.cur = -1
	defer func() { r.cur = cur }()
	id := r.known(name)
	if id < 0 {
		return -1
	}
	if qualifier == "" {
		return r.lookup(i, at, 0, id).node
	}
	v := r.chain(i, at, 0, qualifier)
	if v.node < 0 {
		return -1
	}
	c := r.offers(v.node, id)
	return c
}

// typeNode finds the type that a text names: a type, or a function that says
// what it returns.
func (r *resolver) typeNode(i, at int32, text string) int32 {
	if text == "" || r.depth > maxFollow {
		return -1
	}
	if k := strings.IndexAny(text, "<[ ("); k > 0 {
		text = text[:k]
	}
	text = strings.TrimLeft(text, "&*?$")
	text = strings.TrimRight(text, "?!*&")
	parts := splitName(text)
	if len(parts) == 0 {
		return -1
	}
	r.depth++
	defer func() { r.depth-- }()
	last := parts[len(parts)-1]
	if len(parts) == 1 && selfWords[last] {
		if at >= 0 {
			return r.classOf(r.files[i].nodes[at])
		}
		return -1
	}
	n := r.static(i, at, strings.Join(parts[:len(parts)-1], "."), last)
	if n < 0 {
		return -1
	}
	if r.is(n, isType) {
		return n
	}
	if r.is(n, isFile) && r.files[i].lang.standard != nil {
		if n = r.files[i].lang.standard(r, n, last); r.is(n, isType) {
			return n
		}
	}
	if r.is(n, isFunc) {
		return r.returns(n, false)
	}
	return -1
}

// localNode returns the type of a binding of the current file: as its type is
// written, or what the function that made it returns ("m.open" of x = m.open(),
// where m may be local too).
func (r *resolver) localNode(i, at, b int32) int32 {
	text := r.localType(i, b)
	if n := r.typeNode(i, at, text); n >= 0 || text == "" {
		return n
	}
	text = strings.TrimSuffix(text, "()")
	k := strings.LastIndexByte(text, '.')
	if k <= 0 || r.depth > maxFollow {
		return -1
	}
	id := r.known(text[k+1:])
	if id < 0 {
		return -1
	}
	r.depth++
	defer func() { r.depth-- }()
	v := r.chain(i, at, r.bindings(i)[b].From, text[:k])
	if v.node < 0 || v.super {
		return -1
	}
	if c, _ := r.member(v.node, id); r.is(c, isFunc) {
		return r.returns(c, false)
	}
	return -1
}

// localType returns the type of a binding, "" when others of the same name and
// lines say another.
func (r *resolver) localType(i, b int32) string {
	bs := r.bindings(i)
	x := &bs[b]
	text := ""
	for n, k := range r.binds[r.known(strings.TrimPrefix(x.Name, "$"))] {
		y := &bs[k]
		if n > 256 {
			return ""
		}
		if y.From != x.From || y.To != x.To || y.Type == "" || y.Type == text {
			continue
		}
		if text != "" {
			return ""
		}
		text = y.Type
	}
	return text
}

// typedNode returns the type of a field or variable, -1 when it is not known.
func (r *resolver) typedNode(t *typed) int32 {
	switch {
	case t == nil || t.mixed || t.text == 0 || t.state == 1:
		return -1
	case t.state == 0:
		t.state = 1
		t.node = r.typeNode(t.file, t.at, r.text(t.text))
		t.state = 2
	}
	return t.node
}

// returns finds the type that a function's signature says it returns. All
// declarations must agree, or nothing is known. With unwrap it is what a Result
// or Option holds.
func (r *resolver) returns(n int32, unwrap bool) int32 {
	found := int32(-1)
	for d, k := r.nodes[n].first, 0; d >= 0; d, k = r.decls[d].next, k+1 {
		x := r.decls[d]
		text := returnType(r.files[x.file].lang, r.signature(x.file, x.sym), r.text(r.nodes[n].name), unwrap)
		if k == 8 || text == "" {
			return -1
		}
		var t int32
		if selfWords[text] {
			t = r.classOf(n)
		} else {
			t = r.typeNode(x.file, x.sym, text)
		}
		if t < 0 || found >= 0 && t != found {
			return -1
		}
		found = t
	}
	return found
}

// returnType cuts the return type out of a signature, "" when it has none or
// one that is more than a name.
func returnType(fam *family, sig, name string, unwrap bool) string {
	if fam.returns == nil {
		return ""
	}
	t := fam.returns(sig, name)
	if len(sig) >= 190 && strings.HasSuffix(sig, t) {
		return "" // cut off, perhaps
	}
	t = strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(t), "=>"), " :{=;")
	if unwrap {
		k := strings.IndexByte(t, '<')
		if k < 0 || !strings.HasSuffix(t[:k], "Result") && !strings.HasSuffix(t[:k], "Option") {
			return ""
		}
		t, _, _ = strings.Cut(strings.TrimSuffix(t[k+1:], ">"), ",")
	}
	if rest, ok := strings.CutPrefix(t, fam.promise); ok && fam.promise != "" {
		t = strings.TrimSuffix(rest, ">") // what is not awaited has none of its type's members
	}
	t = strings.Trim(t, `"'&? `)
	t = strings.TrimPrefix(t, "mut ")
	for k := 0; k < len(t); k++ {
		switch c := t[k]; {
		case c == '_' || c == '.' || c == ':' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
		default:
			return ""
		}
	}
	return t
}
