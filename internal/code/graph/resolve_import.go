package graph

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
	if i := r.nodes[n].file; i >= 0 && r.files[i].lang.offers != nil {
		return r.files[i].lang.offers(r, i, name)
	}
	return -1
}

// pythonOffers finds a module in a package.
func (r *resolver) pythonOffers(i, name int32) int32 {
	if rest, ok := strings.CutSuffix(r.docs[i].path, "/__init__.py"); ok {
		return r.pythonFile(i, rest+"/"+r.text(name))
	}
	return -1
}

// luaMember finds a function of the table that a Lua file returns: the only
// one of that name.
func (r *resolver) luaMember(i, name int32) int32 {
	only := int32(-1)
	for k, n := range r.files[i].nodes {
		if r.nodes[n].name == name && len(r.pathTo(&r.docs[i].symbols[k])) <= 1 && n != only {
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
	imp := r.importOf(l.file, l.imp)
	fam := r.files[l.file].lang
	p, name := imp.Path, imp.Name
	for _, star := range []string{".*", "._", "::*"} {
		p = strings.TrimSuffix(p, star)
	}
	if name == "*" || name == "_" {
		name = ""
	}
	switch {
	case fam.target != nil:
		return fam.target(r, l, &imp, p, name)
	case fam.global:
		parts := splitName(p)
		if name != "" && name != "default" {
			parts = append(parts, splitName(name)...)
		}
		return r.space(l.file, parts)
	}
	m := r.module(l.file, p)
	if m < 0 || name == "" {
		return m
	}
	return r.offers(m, r.known(name))
}

func (r *resolver) swiftTarget(l *link, _ *kb.Import, p, _ string) int32 {
	if n, ok := r.spaces[r.files[l.file].lang.name+"\x00"+p]; ok {
		return n
	}
	return -1
}

func (r *resolver) rustTarget(l *link, _ *kb.Import, p, name string) int32 {
	scope := l.scope
	for scope >= 0 && !r.is(scope, isSpace) {
		scope = r.nodes[scope].parent
	}
	if name != "" && name != "self" {
		p += "::" + name
	}
	return r.rustPath(l.file, scope, p)
}

func (r *resolver) pythonTarget(l *link, imp *kb.Import, p, name string) int32 {
	if imp.Name == "" && imp.Local != "" {
		if top, _, _ := strings.Cut(p, "."); top == imp.Local || strings.HasPrefix(imp.Local, top+".") {
			p = top
		}
	}
	m := r.module(l.file, p)
	if name == "" {
		return m
	}
	if c := r.offers(m, r.known(name)); c >= 0 && c != l.node {
		return c
	}
	if strings.Trim(p, ".") != "" {
		p += "."
	}
	return r.module(l.file, p+name)
}

func (r *resolver) jsTarget(l *link, imp *kb.Import, p, name string) int32 {
	m := r.module(l.file, p)
	switch {
	case m < 0 && r.npm == nil && p != "" && name != "" && name != "default" && strings.IndexByte("~#$", p[0]) >= 0:
		l.conf = sureUnique // an alias that only the project's configuration knows
		return r.exported(l.file, r.known(name))
	case m < 0 || name == "":
		return m
	case name == "default":
		return r.standard(m, imp.Local)
	}
	return r.offers(m, r.known(name))
}

// space finds a namespace, or what lies in one, by its full name.
func (r *resolver) space(i int32, parts []string) int32 {
	n := r.base(i)
	for _, p := range parts {
		c := r.get(n, r.known(p))
		if !r.real(c) && r.is(n, isType) {
			c, _ = r.member(n, r.known(p))
		}
		if !r.real(c) && p == "Companion" {
			continue // whose members are taken for the class's
		}
		if n = c; !r.real(n) {
			return -1
		}
	}
	return n
}

// importIn files one import under the scope in which it stands.
func (r *resolver) importIn(i, k int32) {
	f, imp := &r.files[i], r.importOf(i, k)
	scope := f.self
	for s := r.around(i, imp.Line); s >= 0; s = r.outer(i, s) {
		n := f.nodes[s]
		if r.is(n, isFunc) || r.is(n, isSpace) && !f.lang.global {
			scope = n
			break
		}
	}
	l := link{file: i, imp: k, scope: scope, next: -1, node: -1, conf: sureScope}
	at := int32(len(r.links))
	local, star := imp.Local, imp.Name == "*" && imp.Local == ""
	if f.lang.star != nil {
		star = f.lang.star(&imp)
	}
	r.links = append(r.links, l)
	if star {
		if len(r.stars[scope]) < maxStars*4 {
			r.stars[scope] = append(r.stars[scope], at)
		}
		if !f.lang.starNamed || local == "" {
			return
		}
	}
	if local == "" || local == "_" {
		return
	}
	if f.lang.local != nil {
		local = f.lang.local(local)
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
