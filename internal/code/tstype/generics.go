package tstype

// parameters are the nodes of the type parameters of a declaration.
func parameters(f *file, n int32) (out []int32) {
	for c := range f.each(f.field(n, "type_parameters")) {
		if f.typ(c) == "type_parameter" {
			out = append(out, c)
		}
	}
	return out
}

// filled adds the defaults to type arguments.
func (w *World) filled(d decl, args []*Type) []*Type {
	f := d.env.file
	names := parameters(f, d.node)
	if len(args) >= len(names) {
		return args
	}
	e := w.bound(d, args)
	out := append([]*Type{}, args...)
	for _, p := range names[len(args):] {
		out = append(out, e.types[f.text(f.field(p, "name"))])
	}
	return out
}

// bound is the env of a declaration with its type parameters: as args say, else
// their defaults, else not known.
func (w *World) bound(d decl, args []*Type) *env {
	f := d.env.file
	e := &env{up: d.env, file: f, types: map[string]*Type{}}
	for i, p := range parameters(f, d.node) {
		name := f.text(f.field(p, "name"))
		if i < len(args) {
			e.types[name] = args[i]
		} else if v := f.field(p, "value"); v >= 0 {
			e.types[name] = w.eval(v, e)
		} else {
			e.types[name] = unknown
		}
	}
	return e
}

// generics is the env inside a declaration, where its type parameters are
// themselves.
func (w *World) generics(n int32, e *env) *env {
	list := parameters(e.file, n)
	if len(list) == 0 {
		return e
	}
	in := e.inner()
	in.types = map[string]*Type{}
	for _, p := range list {
		name := e.file.text(e.file.field(p, "name"))
		in.types[name] = &Type{Kind: Param, Text: name, env: in, node: p}
	}
	return in
}

// constraint of a type parameter, nil without.
func (w *World) constraint(t *Type) *Type {
	c := t.env.file.field(t.node, "constraint")
	if c < 0 {
		return nil
	}
	return w.eval(c, t.env)
}

// apparent is the type whose members a value of t has.
func (w *World) apparent(t *Type) *Type {
	for range maxDepth {
		if t.Kind != Param {
			return solid(t)
		}
		c := w.constraint(t)
		if c == nil {
			return simple["unknown"]
		}
		t = c
	}
	return unknown
}
