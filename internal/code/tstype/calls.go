package tstype

import (
	"path"
	"strings"
)

// expected is the type that the place of a function expects of it.
type expected struct{ t *Type }

// parameter is the type of the i-th parameter of a function without types. It is
// failed where the compiler would find none.
func (x *expected) parameter(w *World, i int) *Type {
	if x == nil {
		return unknown
	}
	t := w.functionOf(w.apparent(x.t))
	if t.Kind == Error || t.Kind == Any {
		return failed
	}
	s := w.signatures(t)
	if len(s) == 0 {
		return unknown
	}
	ps := w.takes(s[0])
	if i < len(ps) && !ps[i].rest {
		return w.parameterType(s[0], ps[i], nil)
	}
	return unknown
}

// param is one parameter of a signature.
type param struct {
	node     int32 // of its type, -1 without
	optional bool
	rest     bool
	name     string
}

// takes are the parameters of a signature.
func (w *World) takes(s sig) (out []param) {
	if s.node < 0 || s.env == nil {
		return nil
	}
	f := s.env.file
	if p := f.field(s.node, "parameter"); p >= 0 {
		return []param{{node: -1, name: f.text(p)}}
	}
	for p := range f.each(f.field(s.node, "parameters")) {
		k := f.typ(p)
		if k != "required_parameter" && k != "optional_parameter" && !strings.HasSuffix(k, "pattern") && k != "identifier" {
			continue
		}
		pattern := f.field(p, "pattern")
		x := param{node: f.field(p, "type"), optional: k == "optional_parameter" || f.field(p, "value") >= 0 || k == "assignment_pattern", name: f.text(pattern)}
		if f.typ(pattern) == "this" || x.name == "this" {
			continue
		}
		x.rest = f.typ(pattern) == "rest_pattern" || k == "rest_pattern"
		out = append(out, x)
	}
	return out
}

// parameterType is the type of a parameter with what its type parameters are bound to.
func (w *World) parameterType(s sig, p param, bound map[string]*Type) *Type {
	if p.node < 0 {
		return unknown
	}
	e := w.generics(s.node, s.env)
	if bound != nil {
		e = w.bind(s, bound)
	}
	return w.eval(p.node, e)
}

// wanted is the type that the i-th argument of a call has to fit, nil where that is
// not said.
func (w *World) wanted(s sig, ps []param, i int, bound map[string]*Type) *Type {
	if i < len(ps) && !ps[i].rest {
		return w.parameterType(s, ps[i], bound)
	}
	if n := len(ps) - 1; n >= 0 && i >= n && ps[n].rest {
		if t := w.element(w.parameterType(s, ps[n], bound), -1); t.Kind != Unknown {
			return t
		}
	}
	return nil
}

// bind is the env of a signature with its type parameters bound; others are not known.
func (w *World) bind(s sig, bound map[string]*Type) *env {
	f := s.env.file
	e := s.env.inner()
	e.types = map[string]*Type{}
	for k, t := range bound {
		e.types[k] = t
	}
	for _, p := range parameters(f, s.node) {
		name := f.text(f.field(p, "name"))
		if bound[name] != nil {
			continue
		}
		e.types[name] = unknown
		if v := f.field(p, "value"); v >= 0 {
			e.types[name] = w.eval(v, e)
		}
	}
	return e
}

// returns is what a signature returns.
func (w *World) returns(s sig, bound map[string]*Type) *Type {
	if s.made != nil {
		return s.made
	}
	if s.ret < 0 || s.env == nil {
		return unknown
	}
	return w.eval(s.ret, w.bind(s, bound))
}

// signatures are those that a value is called with; of a class, that it is constructed with.
func (w *World) signatures(t *Type) []sig {
	up, ok := w.deeper()
	defer up()
	if !ok {
		return nil
	}
	switch t.Kind {
	case Func:
		return t.sigs
	case Object:
		return w.callable(t.env.file, t.node, t.env)
	case Ref:
		var out []sig
		for _, d := range t.sym.decls {
			f := d.env.file
			if f.typ(d.node) == "interface_declaration" {
				e := w.bound(d, t.args)
				e.this = t
				out = append(out, w.callable(f, f.field(d.node, "body"), e)...)
			}
		}
		if len(out) == 0 {
			for _, b := range w.bases(t) {
				out = append(out, w.signatures(b)...)
			}
		}
		return out
	case Inter:
		var out []sig
		for _, p := range t.parts {
			out = append(out, w.signatures(p)...)
		}
		return out
	case Class:
		return w.constructors(t)
	}
	return nil
}

// callable are the call and construct signatures of a body.
func (w *World) callable(f *file, body int32, e *env) (out []sig) {
	for c := range f.each(body) {
		switch f.typ(c) {
		case "call_signature", "construct_signature":
			s := sig{env: e, node: c, ret: returned(f, c), newing: f.typ(c) == "construct_signature"}
			if s.ret < 0 {
				s.made = unknown
			}
			out = append(out, s)
		}
	}
	return out
}

// constructors are the signatures of a class's constructor, which may be inherited.
func (w *World) constructors(t *Type) (out []sig) {
	for _, d := range t.sym.decls {
		f := d.env.file
		if !strings.Contains(f.typ(d.node), "class") {
			continue
		}
		e := w.generics(d.node, d.env)
		var all []sig
		for c := range f.each(f.field(d.node, "body")) {
			if f.text(f.field(c, "name")) == "constructor" {
				all = append(all, sig{env: e, node: c, made: unknown, newing: true})
			}
		}
		if len(all) > 1 && !declares(f.path) {
			all = all[:len(all)-1] // it implements the others
		}
		if len(all) > 0 {
			return all
		}
		h := f.child(d.node, "class_heritage")
		if h < 0 {
			return []sig{{env: e, node: d.node, made: unknown, newing: true}} // it takes nothing
		}
		if x := f.child(h, "extends_clause"); x >= 0 {
			return w.signatures(w.infer(f.field(x, "value"), d.env))
		}
		return nil
	}
	return nil
}

// arguments are the nodes of a call's arguments; false when something is spread.
func arguments(f *file, n int32) (out []int32, ok bool) {
	a := f.field(n, "arguments")
	if f.typ(a) == "template_string" {
		return nil, false
	}
	for c := range f.each(a) {
		if f.typ(c) == "spread_element" {
			return out, false
		}
		out = append(out, c)
	}
	return out, true
}

// fits reports whether a signature takes n arguments.
func (w *World) fits(s sig, n int) bool {
	least, most := w.arity(s)
	return n >= least && (most < 0 || n <= most)
}

// arity is how many arguments a signature takes, at most -1 for any number.
func (w *World) arity(s sig) (least, most int) {
	for i, p := range w.takes(s) {
		switch {
		case p.rest:
			return least, -1
		case !p.optional && !w.mayLack(s, p):
			least = i + 1
		}
		most++
	}
	return least, most
}

// mayLack reports whether a parameter is of void, or of what is not known to be none.
func (w *World) mayLack(s sig, p param) bool {
	if p.node < 0 {
		return strings.Contains(path.Ext(s.env.file.path), "js")
	}
	f := s.env.file
	t := f.text(p.node)
	return strings.Contains(t, "void")
}

// choose picks the signature of a call and what its type parameters are.
func (w *World) choose(sigs []sig, n int32, e *env) (sig, map[string]*Type, bool) {
	f := e.file
	args, whole := arguments(f, n)
	for _, s := range sigs {
		if whole && !w.fits(s, len(args)) {
			continue
		}
		bound := w.inferred(s, n, args, e)
		if len(sigs) > 1 && w.refuses(s, bound, args, e) {
			continue
		}
		return s, bound, true
	}
	return sig{}, nil, false
}

// refuses reports whether an argument surely does not fit.
func (w *World) refuses(s sig, bound map[string]*Type, args []int32, e *env) bool {
	ps := w.takes(s)
	for i, a := range args {
		if i >= len(ps) || ps[i].rest {
			return false
		}
		if w.assignable(w.infer(a, e), w.parameterType(s, ps[i], bound)) == no {
			return true
		}
	}
	return false
}

// inferred are the type arguments of a call: those that it states, else those
// that follow from its arguments, functions last.
func (w *World) inferred(s sig, n int32, args []int32, e *env) map[string]*Type {
	f := e.file
	bound := map[string]*Type{}
	if s.env == nil || s.node < 0 {
		return bound
	}
	names := parameters(s.env.file, s.node)
	if stated := f.field(n, "type_arguments"); stated >= 0 {
		i := 0
		for c := range f.each(stated) {
			if i < len(names) {
				bound[s.env.file.text(s.env.file.field(names[i], "name"))] = w.eval(c, e)
			}
			i++
		}
		return bound
	}
	ps := w.takes(s)
	for _, functions := range []bool{false, true} {
		for i, a := range args {
			k := f.typ(a)
			if i >= len(ps) || ps[i].rest || ps[i].node < 0 || functions != (k == "arrow_function" || k == "function_expression") {
				continue
			}
			if !functions {
				w.unify(w.parameterType(s, ps[i], nil), w.infer(a, e), bound, 0)
				continue
			}
			sigs := w.signatures(w.functionOf(w.apparent(w.parameterType(s, ps[i], nil))))
			for _, want := range sigs[:min(1, len(sigs))] {
				if want.ret < 0 || want.made != nil {
					continue
				}
				made := w.result(a, w.function(a, e, &expected{w.parameterType(s, ps[i], bound)}))
				w.unify(w.eval(want.ret, w.generics(want.node, want.env)), widened(made), bound, 0)
			}
		}
	}
	return bound
}

// functionOf is the part of a union that is called, the type itself where it is none.
func (w *World) functionOf(t *Type) *Type {
	if t.Kind == Union {
		for _, p := range t.parts {
			if p.Kind != Param && len(w.signatures(p)) > 0 {
				return p
			}
		}
	}
	return t
}

// unify finds what type parameters stand for where a value of type a is given for p.
func (w *World) unify(p, a *Type, bound map[string]*Type, depth int) {
	if depth > 6 || a.Kind == Unknown {
		return
	}
	switch {
	case p.Kind == Param:
		if bound[p.Text] == nil {
			bound[p.Text] = a
		}
	case p.Kind == Union:
		for _, x := range p.parts {
			if x.Kind != Param {
				w.unify(x, a, bound, depth+1)
			}
		}
		for _, x := range p.parts {
			if x.Kind == Param {
				w.unify(x, a, bound, depth+1)
			}
		}
	case p.Kind == Ref && a.Kind == Ref:
		for b := a; ; {
			if p.sym == b.sym {
				for i := range min(len(p.args), len(b.args)) {
					w.unify(p.args[i], b.args[i], bound, depth+1)
				}
				return
			}
			bases := w.bases(b)
			if depth++; depth > 6 || len(bases) == 0 || bases[0].Kind != Ref {
				return
			}
			b = bases[0]
		}
	case p.Kind == Tuple && a.Kind == Tuple:
		for i := range min(len(p.parts), len(a.parts)) {
			w.unify(p.parts[i], a.parts[i], bound, depth+1)
		}
	}
}
