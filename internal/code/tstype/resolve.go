package tstype

import (
	"slices"
	"strings"
)

// look is what is known of whether something is there.
type look uint8

const (
	maybe look = iota
	yes
	no
)

// module returns the file that a module's name means in a file.
func (w *World) module(from *file, spec string) (*file, look) {
	path, known := w.host.Resolve(from.path, spec)
	if !known {
		return nil, maybe
	}
	if path == "" {
		return nil, no
	}
	f := w.load(path)
	if f == nil || f.broken {
		return nil, maybe
	}
	return f, yes
}

// resolve follows a symbol that another file, or another name, is imported as.
func (w *World) resolve(s *symbol) (*symbol, look) {
	up, ok := w.deeper()
	defer up()
	switch {
	case s == nil || !ok:
		return nil, maybe
	case s.see != nil:
		if s.busy {
			return nil, maybe
		}
		s.busy = true
		defer func() { s.busy = false }()
		return s.see()
	case s.alias == nil:
		return s, yes
	case s.busy:
		return nil, maybe
	}
	s.busy = true
	defer func() { s.busy = false }()
	f, found := w.module(s.alias.file, s.alias.spec)
	if found != yes {
		return nil, found
	}
	switch s.alias.name {
	case "*", "=":
		if f.assign >= 0 {
			if t, found := w.entity(f.assign, f.env); found == yes {
				return t, yes
			}
			return nil, maybe
		}
		return &symbol{name: f.path, typ: &Type{Kind: Space, files: f}}, yes
	}
	return w.export(f, s.alias.name, map[*file]bool{})
}

// export finds what a file exports under a name.
func (w *World) export(f *file, name string, seen map[*file]bool) (*symbol, look) {
	if seen[f] {
		return nil, no
	}
	seen[f] = true
	if s := f.exports[name]; s != nil {
		return w.resolve(s)
	}
	if f.assign >= 0 {
		s, found := w.entity(f.assign, f.env)
		if found != yes {
			return nil, maybe
		}
		if name == "default" {
			return s, yes
		}
		return w.part(s, name)
	}
	if name == "default" && declares(f.path) { // the compiler takes the module itself for it
		return &symbol{name: f.path, typ: &Type{Kind: Space, files: f}}, yes
	}
	found := no
	for _, spec := range f.stars {
		over, ok := w.module(f, spec)
		if ok != yes {
			if ok == maybe {
				found = maybe
			}
			continue
		}
		switch s, ok := w.export(over, name, seen); ok {
		case yes:
			return s, yes
		case maybe:
			found = maybe
		}
	}
	return nil, found
}

// part is a member of a namespace, an enum or a module.
func (w *World) part(s *symbol, name string) (*symbol, look) {
	if s.typ != nil && s.typ.Kind == Space && s.typ.files != nil {
		return w.export(s.typ.files, name, map[*file]bool{})
	}
	if s.within != nil {
		if m := s.within[name]; m != nil {
			return w.resolve(m)
		}
		return nil, no
	}
	return nil, maybe
}

// entity resolves a name or a.b.c, of types and of values.
func (w *World) entity(n int32, e *env) (*symbol, look) {
	f := e.file
	switch f.typ(n) {
	case "identifier", "type_identifier":
		s, t := e.find(f.text(n))
		if s == nil || t != nil {
			return nil, maybe
		}
		return w.resolve(s)
	case "nested_type_identifier", "nested_identifier", "member_expression":
		object, name := f.field(n, "module"), f.field(n, "name")
		if object < 0 {
			object, name = f.field(n, "object"), f.field(n, "property")
		}
		s, found := w.entity(object, e)
		if found != yes {
			return nil, found
		}
		return w.part(s, f.text(name))
	}
	return nil, maybe
}

// valueOf is the type of the value that a symbol names.
func (w *World) valueOf(s *symbol) *Type {
	if s == nil {
		return unknown
	}
	if s.value != nil {
		return s.value
	}
	if s.busy {
		return unknown
	}
	if s.alias != nil || s.see != nil {
		to, found := w.resolve(s)
		switch found {
		case no:
			return failed
		case maybe:
			return unknown
		}
		return w.valueOf(to)
	}
	s.busy = true
	t := w.declared(s)
	s.busy = false
	if w.depth < maxDepth/2 { // deeper, it may be cut short
		s.value = t
	}
	return t
}

func (w *World) declared(s *symbol) *Type {
	if s.typ != nil {
		return s.typ
	}
	if s.lazy != nil {
		return s.lazy()
	}
	var out *Type
	for _, d := range s.decls {
		f := d.env.file
		switch f.typ(d.node) {
		case "variable_declarator":
			if t := f.field(d.node, "type"); t >= 0 {
				return w.eval(t, d.env)
			}
			v := f.field(d.node, "value")
			if v < 0 {
				return unknown
			}
			return w.infer(v, d.env)
		case "function_declaration", "generator_function_declaration", "function_signature":
			if out == nil || out.Kind != Func {
				out = &Type{Kind: Func, sym: s}
			}
			if f.typ(d.node) == "function_declaration" && len(out.sigs) > 0 && f.path == s.decls[0].env.file.path {
				continue // it implements the overloads before it
			}
			out.sigs = append(out.sigs, w.signature(d.node, d.env))
		case "class_declaration", "abstract_class_declaration", "class":
			return &Type{Kind: Class, sym: s}
		case "enum_declaration":
			return &Type{Kind: EnumValue, sym: s}
		case "internal_module", "module":
			if out == nil {
				out = &Type{Kind: Space, sym: s}
			}
		}
	}
	if out == nil {
		return unknown
	}
	return out
}

// signature is that of a node with parameters.
func (w *World) signature(n int32, e *env) sig {
	s := sig{env: e, node: n, ret: returned(e.file, n)}
	if s.ret < 0 {
		s.made = unknown
		if !declares(e.file.path) {
			s.made = w.body(n, e)
		}
	}
	return s
}

// body is what a function without a return type returns.
func (w *World) body(n int32, e *env) *Type {
	f := e.file
	b := f.field(n, "body")
	if b < 0 || strings.Contains(f.typ(n), "generator") || f.typ(n) == "method_definition" && strings.Contains(f.between(n, -1, f.field(n, "name")), "*") {
		return unknown
	}
	up, ok := w.deeper()
	defer up()
	if !ok {
		return unknown
	}
	return w.result(n, w.function(n, e, nil))
}

// result is what a function returns, given the env inside it.
func (w *World) result(n int32, in *env) *Type {
	f := in.file
	b := f.field(n, "body")
	var t *Type
	if b < 0 {
		return unknown
	}
	if f.typ(b) != "statement_block" {
		t = w.infer(b, in)
	} else if all := w.allReturns(b, in); len(all) == 0 {
		t = simple["void"]
	} else {
		// What one place returns mostly says what the others do.
		known := slices.DeleteFunc(slices.Clone(all), func(p *Type) bool { return p.Kind == Unknown })
		if t = unknown; len(known) > 0 {
			t = union(known...)
		}
	}
	if strings.HasPrefix(f.text(n), "async") || stated(f, n, "async") {
		return w.builtin("Promise", w.awaited(t))
	}
	return t
}

// allReturns are the types of what the statements in a block return.
func (w *World) allReturns(b int32, e *env) (out []*Type) {
	f := e.file
	in := e.inner()
	w.hoist(in, b)
	for s := range f.each(b) {
		out = append(out, w.returnsOf(s, in)...)
		if f.typ(s) == "if_statement" && f.field(s, "alternative") < 0 && leaves(f, f.field(s, "consequence")) {
			in = w.narrow(f.field(s, "condition"), in, false)
		}
	}
	return out
}

func (w *World) returnsOf(s int32, e *env) (out []*Type) {
	f := e.file
	switch k := f.typ(s); k {
	case "return_statement":
		if v := f.first(s); v >= 0 {
			return []*Type{w.infer(v, e)}
		}
		return []*Type{simple["undefined"]}
	case "statement_block":
		return w.allReturns(s, e)
	case "if_statement":
		test := f.field(s, "condition")
		out = w.returnsOf(f.field(s, "consequence"), w.narrow(test, e, true))
		return append(out, w.returnsOf(f.field(s, "alternative"), w.narrow(test, e, false))...)
	case "for_statement", "for_in_statement", "while_statement", "do_statement", "switch_statement", "try_statement", "labeled_statement":
		if holds(f, s, "return_statement") {
			return []*Type{unknown} // its names are of an env of its own
		}
	case "else_clause":
		for c := range f.each(s) {
			out = append(out, w.returnsOf(c, e)...)
		}
	}
	return out
}

// function is the env inside a function: its type parameters and its parameters,
// which are of the types of another signature where they state none.
func (w *World) function(n int32, e *env, as *expected) *env {
	f := e.file
	in := w.generics(n, e).inner()
	if p := f.field(n, "parameter"); p >= 0 { // x => …
		in.names[f.text(p)] = &symbol{name: f.text(p), lazy: func() *Type { return as.parameter(w, 0) }}
	}
	i := 0
	for p := range f.each(f.field(n, "parameters")) {
		k := f.typ(p)
		if k != "required_parameter" && k != "optional_parameter" && k != "identifier" && k != "object_pattern" && k != "array_pattern" && k != "assignment_pattern" && k != "rest_pattern" {
			continue
		}
		at, pattern, typ, value := i, f.field(p, "pattern"), f.field(p, "type"), f.field(p, "value")
		if pattern < 0 {
			pattern = p
		}
		if f.typ(pattern) == "this" {
			continue
		}
		i++
		rest := f.typ(pattern) == "rest_pattern"
		if rest {
			pattern = f.first(pattern)
		}
		w.pattern(in, pattern, func() *Type {
			switch {
			case typ >= 0:
				return w.eval(typ, in)
			case rest:
				return unknown
			case as != nil:
				return as.parameter(w, at)
			case value >= 0:
				return widened(w.infer(value, e))
			}
			return unknown
		})
	}
	return in
}
