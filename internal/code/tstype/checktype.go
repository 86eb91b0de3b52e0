package tstype

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// generic checks the arguments of Name<…>: how many there are and that they
// fit what the parameters have to extend.
func (c *checker) generic(n int32, e *env) {
	f := c.f
	list := f.child(n, "type_arguments")
	name := f.field(n, "name")
	if name < 0 {
		name = f.first(n)
	}
	if f.typ(name) == "nested_type_identifier" {
		c.nested(name, e)
	}
	c.usedType(name, e, Typed)
	var args []int32
	for a := range f.each(list) {
		c.visit(a, e, nil)
		args = append(args, a)
	}
	s, found := c.w.entity(name, e)
	if found != yes {
		return
	}
	d, params, least := c.w.takesTypes(s)
	if d.env == nil {
		return
	}
	if len(args) < least || len(args) > len(params) {
		c.add(n, s.name, "%s takes %s", s.name, kb.Count(len(params), "type argument"))
		return
	}
	var types []*Type
	for _, a := range args {
		types = append(types, c.w.eval(a, e))
	}
	in := c.w.bound(d, types)
	for i, a := range args {
		k := d.env.file.field(params[i], "constraint")
		if k >= 0 && c.w.assignable(types[i], c.w.eval(k, in)) == no {
			c.add(a, s.name, "%s does not fit what %s takes", kb.Clip(f.text(a), 60), s.name)
		}
	}
}

// bare checks a type that is named without arguments.
func (c *checker) bare(n int32, e *env) {
	s, found := c.w.entity(n, e)
	if found != yes {
		return
	}
	if d, params, least := c.w.takesTypes(s); d.env != nil && least > 0 {
		c.add(n, s.name, "%s takes %s", s.name, kb.Count(len(params), "type argument"))
	}
}

// takesTypes returns the declaration of a type with its parameters, and how many
// arguments it takes at least. The env is nil for what is no type, or of the language.
func (w *World) takesTypes(s *symbol) (d decl, params []int32, least int) {
	for _, d := range s.decls {
		f := d.env.file
		switch f.typ(d.node) {
		case "interface_declaration", "class_declaration", "abstract_class_declaration", "type_alias_declaration":
		default:
			continue
		}
		if f == w.lib {
			return decl{}, nil, 0
		}
		params := parameters(f, d.node)
		for i, p := range params {
			if f.field(p, "value") < 0 {
				least = i + 1
			}
		}
		return d, params, least
	}
	return decl{}, nil, 0
}
