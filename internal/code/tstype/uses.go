package tstype

import "strings"

// Place is where something is declared.
type Place struct {
	Path string
	Line int // of the name, from 1
	Name string
}

// UseKind is how a name is used.
type UseKind uint8

// The kinds of uses.
const (
	Called    UseKind = iota // called, constructed, or put into JSX
	Typed                    // named as a type
	Inherited                // extended or implemented
)

// Use is a name in a line that stands for what another file declares.
type Use struct {
	Line int
	Kind UseKind
	To   []Place // several of overloads and of what merges
}

// Uses returns what a file calls, constructs, inherits and names as a type of what other
// files declare, where the types say it, in order of the text.
func (w *World) Uses(path string) []Use {
	w.steps, w.depth, w.found = 0, 0, map[seen]*Type{}
	f := w.load(path)
	if f == nil || f.broken {
		return nil
	}
	c := &checker{w: w, f: f, uses: &[]Use{}}
	c.block(0, f.env)
	return *c.uses
}

// used notes a use, where that is asked for.
func (c *checker) used(n int32, kind UseKind, to []Place) {
	if c.uses == nil || n < 0 {
		return
	}
	var others []Place
	for _, p := range to {
		if p.Path != c.f.path && p.Path != "lib" {
			others = append(others, p)
		}
	}
	if len(others) > 0 {
		*c.uses = append(*c.uses, Use{Line: c.f.line(n), Kind: kind, To: others})
	}
}

// usedCall notes what a call calls; fn is what stands before its arguments.
func (c *checker) usedCall(fn int32, e *env, s sig, chosen bool) {
	if c.uses == nil {
		return
	}
	f := c.f
	for f.typ(fn) == "parenthesized_expression" || f.typ(fn) == "non_null_expression" || f.typ(fn) == "instantiation_expression" {
		fn = f.first(fn)
	}
	var to []Place
	name := fn
	switch f.typ(fn) {
	case "identifier":
		to = c.w.placesOf(c.w.through(e.value(f.text(fn))))
	case "member_expression":
		name = f.field(fn, "property")
		to = c.w.placesIn(c.w.infer(f.field(fn, "object"), e), f.text(name), 0)
	}
	if chosen && s.env != nil && s.node >= 0 && len(to) > 0 {
		if p := place(s.env.file, s.node); p.Path == to[0].Path && p.Name == to[0].Name {
			to = append([]Place{p}, to...)
		}
	}
	c.used(name, Called, to)
}

// usedType notes a type that is named.
func (c *checker) usedType(n int32, e *env, kind UseKind) {
	if c.uses == nil {
		return
	}
	f := c.f
	switch f.typ(n) {
	case "type_identifier", "identifier":
		if s, t := e.find(f.text(n)); t == nil {
			c.used(n, kind, c.w.placesOf(c.w.through(s)))
		}
	case "nested_type_identifier", "member_expression":
		name := f.field(n, "name")
		if name < 0 {
			name = f.field(n, "property")
		}
		if s, found := c.w.entity(n, e); found == yes {
			c.used(name, kind, c.w.placesOf(s))
		}
	}
}

// through follows an import to what it stands for; nil where that is not known.
func (w *World) through(s *symbol) *symbol {
	if s == nil {
		return nil
	}
	to, found := w.resolve(s)
	if found != yes {
		return nil
	}
	return to
}

// placesOf are the declarations of a symbol.
func (w *World) placesOf(s *symbol) (out []Place) {
	if s == nil {
		return nil
	}
	for _, d := range s.decls {
		out = append(out, place(d.env.file, d.node))
	}
	return out
}

// place is that of a declaration's name.
func place(f *file, n int32) Place {
	name := f.field(n, "name")
	if name < 0 || f.typ(n) == "arrow_function" {
		name = n
	}
	p := Place{Path: f.path, Line: f.line(name)}
	if name != n {
		p.Name, _ = f.unquoted(name)
	}
	return p
}

// placesIn are the declarations of a member of a value.
func (w *World) placesIn(t *Type, name string, depth int) (out []Place) {
	t = w.apparent(t)
	if depth > maxBasesDeep {
		return nil
	}
	switch t.Kind {
	case Ref:
		for _, d := range t.sym.decls {
			f := d.env.file
			if k := f.typ(d.node); k == "interface_declaration" || strings.Contains(k, "class") {
				out = append(out, members(f, f.field(d.node, "body"), name, false)...)
			}
		}
		for _, b := range w.bases(t) {
			if len(out) > 0 {
				break
			}
			out = w.placesIn(b, name, depth+1)
		}
	case Object:
		return members(t.env.file, t.node, name, false)
	case Tuple:
		return nil
	case Mapped:
		f := t.env.file
		keys := w.eval(f.field(f.child(t.node, "mapped_type_clause"), "type"), t.env)
		if keys.Kind == Keys {
			return w.placesIn(keys.parts[0], name, depth+1)
		}
	case Without:
		return w.placesIn(t.parts[0], name, depth+1)
	case Union, Inter:
		for _, p := range t.parts {
			out = append(out, w.placesIn(p, name, depth+1)...)
		}
	case Func, Class, EnumValue, Space:
		return w.placesStatic(t, name, depth)
	}
	return out
}

// maxBasesDeep is how many types are followed into each other for a member.
const maxBasesDeep = 12

func (w *World) placesStatic(t *Type, name string, depth int) (out []Place) {
	s := t.sym
	if t.files != nil {
		s = &symbol{typ: t}
	}
	if s == nil {
		return nil
	}
	if m, found := w.part(s, name); found == yes {
		return w.placesOf(m)
	}
	if t.Kind != Class {
		return nil
	}
	for _, d := range t.sym.decls {
		f := d.env.file
		out = append(out, members(f, f.field(d.node, "body"), name, true)...)
		if x := f.child(f.child(d.node, "class_heritage"), "extends_clause"); len(out) == 0 && x >= 0 {
			out = w.placesIn(w.infer(f.field(x, "value"), d.env), name, depth+1)
		}
	}
	return out
}

// members are the places of a name in a body.
func members(f *file, body int32, name string, static bool) (out []Place) {
	for c := range f.each(body) {
		n := f.field(c, "name")
		if key, ok := f.unquoted(n); ok && n >= 0 && key == name && stated(f, c, "static") == static {
			out = append(out, Place{Path: f.path, Line: f.line(n), Name: name})
		}
	}
	return out
}
