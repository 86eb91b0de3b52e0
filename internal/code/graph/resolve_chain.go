package graph

import (
	"strings"
)

// value is what a qualifier stands for.
type value struct {
	node    int32 // a type, module, package or object; -1 when it is not known
	conf    float64
	super   bool // only what the bases of node have counts
	outside bool // it is known to lie outside the store
}

var unknown = value{node: -1}

// chain follows a qualifier as it stands in symbol at of file i.
func (r *resolver) chain(i, at int32, line int, qualifier string) value {
	if strings.ContainsAny(qualifier, "()[") || r.depth > maxFollow {
		return unknown
	}
	r.depth++
	defer func() { r.depth-- }()
	parts := splitName(qualifier)
	if len(parts) == 0 || len(parts) > maxChain {
		return unknown
	}
	f := &r.files[i]
	for k := range parts {
		parts[k] = strings.TrimPrefix(parts[k], f.lang.sigil)
	}
	v, rest := r.head(i, at, line, parts)
	for _, p := range rest {
		if v.node < 0 || v.super {
			return unknown
		}
		if selfWords[p] || f.lang.stays != nil && f.lang.stays(r, v.node, p) {
			continue
		}
		v = r.step(v, p)
	}
	return v
}

// head finds what a qualifier begins with, and returns the parts left.
func (r *resolver) head(i, at int32, line int, parts []string) (value, []string) {
	f, rest := &r.files[i], parts[1:]
	self := int32(-1)
	if at >= 0 {
		self = r.classOf(f.nodes[at])
	}
	w := parts[0]
	id := r.known(w)
	if f.lang.heads != nil {
		if v, rest, ok := f.lang.heads(r, i, self, at, parts, id >= 0); ok {
			return v, rest
		}
	}
	switch {
	case f.lang.super(w):
		return value{node: self, conf: sureReceiver, super: true, outside: self < 0}, rest
	case selfWords[w] && !f.lang.plainSelf || w == "this":
		return value{node: self, conf: sureScope, outside: self < 0}, rest
	}
	if id < 0 {
		if f.lang.extern != nil {
			if v := f.lang.extern(r, i, w); v.node >= 0 {
				return v, rest
			}
		}
		if upper(w) {
			return value{node: -1, outside: true}, nil
		}
		return unknown, nil
	}
	h := r.lookup(i, at, line, id)
	v := r.valueOf(i, at, h)
	if v.node < 0 && h.local < 0 && h.field == nil && h.node < 0 {
		if f.lang.extern != nil && !h.stop {
			if v := f.lang.extern(r, i, w); v.node >= 0 {
				return v, rest
			}
		}
		if upper(w) {
			v.outside = true
		}
	}
	return v, rest
}

// pythonHead finds a module: "import a.b" makes "a" known, and a.b with it.
func (r *resolver) pythonHead(i, _, _ int32, parts []string, known bool) (value, []string, bool) {
	if !known || selfWords[parts[0]] || r.files[i].lang.super(parts[0]) {
		return unknown, nil, false
	}
	k, ok := r.locals[pair{r.files[i].self, r.known(parts[0])}]
	for ; ok && k >= 0; k = r.links[k].next {
		imp := r.importOf(i, r.links[k].imp)
		if p := strings.Split(imp.Path, "."); imp.Name == "" && len(p) > 1 && len(p) <= len(parts) && equal(p, parts[:len(p)]) {
			if n := r.module(i, imp.Path); n >= 0 {
				return value{node: n, conf: sureScope}, parts[len(p):], true
			}
		}
	}
	return unknown, nil, false
}

// spaceAround returns the module around a symbol.
func (r *resolver) spaceAround(i, at int32) int32 {
	f := &r.files[i]
	for ; at >= 0; at = r.outer(i, at) {
		if r.is(f.nodes[at], isSpace) {
			return f.nodes[at]
		}
	}
	return f.root
}

// valueOf returns what members are looked for in, given what a name stands for.
func (r *resolver) valueOf(i, at int32, h hit) value {
	switch {
	case h.node >= 0:
		if r.is(h.node, isType|isSpace|isFile) {
			return value{node: h.node, conf: h.conf}
		}
		v := &r.nodes[h.node]
		key := pair{v.parent, v.name}
		t := r.field(key)
		if t == nil && v.first >= 0 && r.files[r.decls[v.first].file].lang.global {
			t = r.field(pair{r.files[r.decls[v.first].file].self, v.name})
		}
		if t != nil {
			if n := r.typedNode(t); n >= 0 {
				return value{node: n, conf: min(h.conf, sureReceiver)}
			}
			if !t.mixed && r.foreign(t.file, t.at, r.text(t.text)) {
				return value{node: -1, outside: true}
			}
		}
		if v.kids {
			return value{node: h.node, conf: h.conf}
		}
	case h.field != nil:
		if n := r.typedNode(h.field); n >= 0 {
			return value{node: n, conf: sureReceiver}
		}
		if !h.field.mixed && r.foreign(h.field.file, h.field.at, r.text(h.field.text)) {
			return value{node: -1, outside: true}
		}
	case h.local >= 0:
		if n := r.localNode(i, at, h.local); n >= 0 {
			return value{node: n, conf: sureReceiver}
		}
		if r.foreign(i, at, r.localType(i, h.local)) {
			return value{node: -1, outside: true}
		}
	case h.outside:
		return value{node: -1, outside: true}
	}
	return unknown
}

// step goes from a value to one of its members' values.
func (r *resolver) step(v value, word string) value {
	id := r.known(strings.TrimPrefix(word, "@"))
	if id < 0 {
		return unknown
	}
	if r.is(v.node, isFile|isSpace) {
		c := r.offers(v.node, id)
		if c < 0 {
			return unknown
		}
		return r.valueOf(-1, -1, found(c, v.conf))
	}
	if c, conf := r.member(v.node, id); c >= 0 {
		if w := r.valueOf(-1, -1, found(c, min(v.conf, conf))); w.node >= 0 {
			return w
		}
	}
	if t := r.fieldOf(v.node, id); t != nil {
		if n := r.typedNode(t); n >= 0 {
			return value{node: n, conf: min(v.conf, sureReceiver)}
		}
		if !t.mixed && r.foreign(t.file, t.at, r.text(t.text)) {
			return value{node: -1, outside: true}
		}
	}
	return unknown
}

// foreign reports whether a type is written that nothing in the store is
// called, so that no member of the store can be meant.
func (r *resolver) foreign(i, at int32, text string) bool {
	if k := strings.IndexAny(text, "<[ "); k > 0 {
		text = text[:k]
	}
	parts := splitName(text)
	if len(parts) == 0 || strings.Contains(text, "(") || r.depth > maxFollow {
		return false
	}
	r.depth++
	defer func() { r.depth-- }()
	if len(parts) == 1 && (selfWords[parts[0]] || !upper(parts[0]) && !r.files[i].lang.typed) {
		return false
	}
	return r.static(i, at, "", parts[0]) < 0
}
