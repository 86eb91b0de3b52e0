package tstype

import "strings"

// seen is an expression at a place.
type seen struct {
	n int32
	e *env
}

// infer is the type of an expression.
func (w *World) infer(n int32, e *env) *Type {
	up, ok := w.deeper()
	defer up()
	if n < 0 || !ok {
		return unknown
	}
	if t := w.found[seen{n, e}]; t != nil {
		return t
	}
	t := w.expression(n, e)
	if w.depth < maxDepth/2 { // deeper, it may be cut short
		w.found[seen{n, e}] = t
	}
	return t
}

func (w *World) expression(n int32, e *env) *Type {
	f := e.file
	switch f.typ(n) {
	case "parenthesized_expression", "satisfies_expression":
		return w.infer(f.first(n), e)
	case "non_null_expression":
		return solid(w.infer(f.first(n), e))
	case "await_expression":
		return w.awaited(w.infer(f.first(n), e))
	case "as_expression":
		v := f.first(n)
		t := f.next(n, v)
		if t < 0 { // as const
			return w.infer(v, e)
		}
		return w.eval(t, e)
	case "type_assertion":
		return w.eval(f.first(f.child(n, "type_arguments")), e)
	case "identifier":
		return w.variable(f.text(n), e)
	case "this":
		for at := e; at != nil; at = at.up {
			if at.this != nil {
				return at.this
			}
		}
	case "string", "number", "true", "false", "null", "undefined":
		return literal(f, n)
	case "template_string":
		return simple["string"]
	case "member_expression":
		t := w.infer(f.field(n, "object"), e)
		p, found := w.property(t, f.text(f.field(n, "property")))
		if found == maybe && p.Kind != Union {
			return unknown
		}
		return p
	case "subscript_expression":
		return w.subscript(n, e)
	case "call_expression":
		return w.called(n, e)
	case "new_expression":
		return w.newed(n, e)
	case "arrow_function", "function_expression", "generator_function":
		return &Type{Kind: Func, sigs: []sig{w.signature(n, e)}}
	case "object":
		return w.object(n, e)
	case "array":
		return w.list(n, e)
	case "binary_expression":
		return w.binary(n, e)
	case "unary_expression":
		switch op := f.text(n); {
		case strings.HasPrefix(op, "!"), strings.HasPrefix(op, "delete"):
			return simple["boolean"]
		case strings.HasPrefix(op, "typeof"):
			return simple["string"]
		}
	case "ternary_expression":
		test := f.field(n, "condition")
		return union(w.infer(f.field(n, "consequence"), w.narrow(test, e, true)), w.infer(f.field(n, "alternative"), w.narrow(test, e, false)))
	case "assignment_expression":
		return w.infer(f.field(n, "right"), e)
	case "class":
		return &Type{Kind: Class, sym: &symbol{name: f.text(f.field(n, "name")), decls: []decl{{e, n}}}}
	}
	return unknown
}

// list is the type of an array that is written out.
func (w *World) list(n int32, e *env) *Type {
	f := e.file
	var parts []*Type
	for c := range f.each(n) {
		if f.typ(c) == "spread_element" {
			return w.array(unknown)
		}
		parts = append(parts, widened(w.infer(c, e)))
	}
	if len(parts) == 0 {
		return w.array(unknown)
	}
	return w.array(union(parts...))
}

func (w *World) variable(name string, e *env) *Type {
	s := e.value(name)
	if s == nil {
		if name == "undefined" {
			return simple["undefined"]
		}
		return unknown
	}
	return w.valueOf(s)
}

func (w *World) subscript(n int32, e *env) *Type {
	f := e.file
	t := w.infer(f.field(n, "object"), e)
	k := w.infer(f.field(n, "index"), e)
	if k.Kind == Number || k.Kind == Literal && base(k) == Number {
		return w.element(t, map[bool]int{true: int(firstDigit(k.Text)), false: -1}[len(k.Text) == 1])
	}
	if k.Kind == Literal {
		return w.indexed(t, k)
	}
	if t.Kind == Error {
		return t
	}
	return unknown
}

func firstDigit(s string) byte {
	if s == "" {
		return 0
	}
	return s[0] - '0'
}

func (w *World) object(n int32, e *env) *Type {
	f := e.file
	t := &Type{Kind: Made, props: map[string]*Type{}, line: f.line(n)}
	for c := range f.each(n) {
		switch f.typ(c) {
		case "pair":
			if name, ok := f.unquoted(f.field(c, "key")); ok {
				t.props[name] = widened(w.infer(f.field(c, "value"), e))
				continue
			}
			t.open = true
		case "shorthand_property_identifier":
			t.props[f.text(c)] = w.variable(f.text(c), e)
		case "method_definition":
			if name, ok := f.unquoted(f.field(c, "name")); ok {
				t.props[name] = &Type{Kind: Func, sigs: []sig{{env: e, node: c, ret: returned(f, c), made: unknown}}}
			}
		default:
			t.open = true
		}
	}
	return t
}

func (w *World) binary(n int32, e *env) *Type {
	f := e.file
	l, r := f.field(n, "left"), f.field(n, "right")
	switch op := strings.TrimSpace(f.between(n, l, r)); op {
	case "||", "??":
		return union(solid(w.infer(l, e)), w.infer(r, e))
	case "&&":
		return w.infer(r, w.narrow(l, e, true))
	case "===", "!==", "==", "!=", "<", ">", "<=", ">=", "instanceof", "in":
		return simple["boolean"]
	case "-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>":
		if base(w.infer(l, e)) == Number {
			return simple["number"]
		}
	case "+":
		if base(w.infer(l, e)) == String || base(w.infer(r, e)) == String {
			return simple["string"]
		}
	}
	return unknown
}

// called is what a call returns.
func (w *World) called(n int32, e *env) *Type {
	f := e.file
	fn := f.field(n, "function")
	if f.typ(fn) == "import" || f.typ(fn) == "super" {
		return unknown
	}
	if f.text(fn) == "require" {
		return unknown
	}
	t := w.infer(fn, e)
	if t.Kind == Error || t.Kind == Any {
		return t
	}
	s, bound, ok := w.choose(w.signatures(w.apparent(t)), n, e)
	if !ok {
		return unknown
	}
	return w.returns(s, bound)
}

// newed is what new makes.
func (w *World) newed(n int32, e *env) *Type {
	f := e.file
	t := w.infer(f.field(n, "constructor"), e)
	var args []*Type
	for c := range f.each(f.field(n, "type_arguments")) {
		args = append(args, w.eval(c, e))
	}
	if len(args) > 0 || t.Kind != Class {
		return w.instance(t, args)
	}
	for _, d := range t.sym.decls {
		if len(parameters(d.env.file, d.node)) == 0 {
			continue
		}
		s, bound, ok := w.choose(w.signatures(t), n, e)
		if !ok {
			break
		}
		for _, p := range parameters(d.env.file, d.node) {
			name := d.env.file.text(d.env.file.field(p, "name"))
			if b := bound[name]; b != nil {
				args = append(args, b)
			} else {
				args = append(args, unknown)
			}
		}
		_ = s
		break
	}
	return w.instance(t, args)
}
