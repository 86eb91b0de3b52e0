package tstype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Fault is something that is wrong on a line for sure.
type Fault struct {
	Line int
	Name string // what it is about: "Client", "Client.run"
	Says string
}

// Check returns what is wrong in a file, in order of lines.
func (w *World) Check(path string) []Fault {
	w.steps, w.depth, w.found = 0, 0, map[seen]*Type{}
	f := w.load(path)
	if f == nil || f.broken {
		return nil
	}
	c := &checker{w: w, f: f}
	c.block(0, f.env)
	slices.SortStableFunc(c.faults, func(a, b Fault) int { return a.Line - b.Line })
	return slices.Compact(c.faults)
}

type checker struct {
	w      *World
	f      *file
	faults []Fault
	uses   *[]Use // where those are asked for
	ret    *Type  // what the function around returns, nil where that is not said
	deep   int
}

func (c *checker) add(n int32, name, format string, args ...any) {
	c.faults = append(c.faults, Fault{Line: c.f.line(n), Name: name, Says: fmt.Sprintf(format, args...)})
}

// block checks the statements in a node, whose names e has.
func (c *checker) block(n int32, e *env) {
	f := c.f
	for s := range f.each(n) {
		c.visit(s, e, nil)
		if f.typ(s) == "if_statement" && f.field(s, "alternative") < 0 && leaves(f, f.field(s, "consequence")) {
			e = c.w.narrow(f.field(s, "condition"), e, false)
		}
	}
}

// leaves reports whether a statement ends what is around it.
func leaves(f *file, n int32) bool {
	switch f.typ(n) {
	case "return_statement", "throw_statement", "continue_statement", "break_statement":
		return true
	case "statement_block":
		last := int32(-1)
		for s := range f.each(n) {
			last = s
		}
		return last >= 0 && leaves(f, last)
	}
	return false
}

// visit checks a node. want is the type that its place expects, nil for none.
func (c *checker) visit(n int32, e *env, want *Type) {
	if n < 0 || c.deep > 400 || c.w.ctx.Err() != nil {
		return
	}
	c.deep++
	defer func() { c.deep-- }()
	f := c.f
	switch k := f.typ(n); k {
	case "import_statement":
		c.imports(n, "named_imports", "import_specifier")
	case "export_statement":
		if f.field(n, "source") >= 0 {
			c.imports(n, "export_clause", "export_specifier")
			return
		}
		c.children(n, e)
	case "statement_block", "class_static_block":
		in := e.inner()
		c.w.hoist(in, n)
		c.block(n, in)
	case "function_declaration", "generator_function_declaration", "arrow_function", "function_expression", "generator_function", "method_definition",
		"function_signature", "method_signature", "abstract_method_signature", "function_type", "constructor_type", "call_signature", "construct_signature":
		c.function(n, e, want)
	case "class_declaration", "abstract_class_declaration", "class", "interface_declaration", "type_alias_declaration":
		c.declaration(n, e)
	case "if_statement", "ternary_expression", "while_statement":
		test := f.field(n, "condition")
		c.visit(test, e, nil)
		c.visit(f.field(n, "consequence"), c.w.narrow(test, e, true), want)
		c.visit(f.field(n, "body"), c.w.narrow(test, e, true), nil)
		c.visit(f.field(n, "alternative"), c.w.narrow(test, e, false), want)
	case "for_statement", "for_in_statement", "catch_clause", "switch_body":
		c.loop(n, e)
	case "return_statement":
		if v := f.first(n); v >= 0 {
			c.visit(v, e, c.ret)
			if c.ret != nil {
				c.given(n, v, e, c.ret)
			}
		}
	case "variable_declarator":
		c.variable(n, e)
	case "internal_module", "module":
		if s := e.names[f.text(f.field(n, "name"))]; s != nil && len(s.spaces) > 0 {
			c.block(f.field(n, "body"), s.spaces[len(s.spaces)-1])
		}
	default:
		if !c.typed(n, e) {
			c.expression(n, e, want)
		}
	}
}

func (c *checker) children(n int32, e *env) {
	for x := range c.f.each(n) {
		c.visit(x, e, nil)
	}
}

// typed checks a node of a type, and reports whether it is one.
func (c *checker) typed(n int32, e *env) bool {
	f := c.f
	switch f.typ(n) {
	case "generic_type":
		c.generic(n, e)
	case "nested_type_identifier":
		c.nested(n, e)
		c.usedType(n, e, Typed)
	case "type_identifier":
		c.usedType(n, e, Typed)
		c.bare(n, e)
	case "extends_clause":
		c.usedType(f.field(n, "value"), e, Inherited)
		c.children(n, e)
	case "extends_type_clause", "implements_clause":
		c.inherits(n, e)
	default:
		return false
	}
	return true
}

// expression checks a node of an expression, and what is in every other.
func (c *checker) expression(n int32, e *env, want *Type) {
	f := c.f
	switch f.typ(n) {
	case "binary_expression":
		l, r := f.field(n, "left"), f.field(n, "right")
		c.visit(l, e, want)
		switch strings.TrimSpace(f.between(n, l, r)) {
		case "&&":
			e = c.w.narrow(l, e, true)
		case "||":
			e = c.w.narrow(l, e, false)
		}
		c.visit(r, e, want)
	case "assignment_expression":
		l, r := f.field(n, "left"), f.field(n, "right")
		c.visit(l, e, nil)
		to := unknown
		if f.typ(l) == "member_expression" || f.typ(l) == "identifier" {
			to = c.w.infer(l, e)
		}
		c.visit(r, e, to)
		c.given(l, r, e, to)
	case "member_expression":
		c.member(n, e)
	case "subscript_expression":
		object := f.field(n, "object")
		if c.w.infer(object, e).Kind == Opaque {
			c.add(object, "", "%s is unknown", kb.Clip(f.text(object), 60))
		}
		c.children(n, e)
	case "call_expression", "new_expression":
		c.call(n, e)
	case "jsx_opening_element", "jsx_self_closing_element":
		if name := f.field(n, "name"); f.text(name) != "" {
			c.usedCall(name, e, sig{}, false)
		}
		c.children(n, e)
	case "parenthesized_expression", "satisfies_expression":
		c.visit(f.first(n), e, want)
	case "object":
		c.object(n, e, want)
	case "as_expression":
		v := f.first(n)
		if t := f.next(n, v); t >= 0 {
			c.visit(t, e, nil)
			want = c.w.eval(t, e)
		}
		c.visit(v, e, want)
	default:
		c.children(n, e)
	}
}

func (c *checker) function(n int32, e *env, want *Type) {
	f := c.f
	var as *expected
	if k := f.typ(n); want != nil && (k == "arrow_function" || k == "function_expression" || k == "method_definition") {
		as = &expected{want}
	}
	in := c.w.function(n, e, as)
	if as != nil && as.parameter(c.w, 0).Kind == Error && c.w.apparent(want).Kind != Func {
		ps := f.field(n, "parameters")
		if p := f.field(n, "parameter"); p >= 0 {
			c.add(p, "", "the parameter %s has no type", f.text(p))
		}
		for p := range f.each(ps) {
			if f.field(p, "type") < 0 && f.field(p, "value") < 0 {
				c.add(p, "", "the parameter %s has no type", kb.Clip(f.text(p), 40))
			}
		}
	}
	around := c.ret
	c.ret = c.returned(n, in, as)
	defer func() { c.ret = around }()
	body := f.field(n, "body")
	for p := range f.each(n) {
		switch k := f.typ(p); {
		case k == "statement_block":
			c.w.hoist(in, p)
			c.block(p, in)
		case p == body:
			c.visit(p, in, c.ret)
			if c.ret != nil {
				c.given(p, p, in, c.ret)
			}
		case k == "decorator":
			c.visit(p, e, nil)
		case k == "property_identifier" || k == "identifier":
		default:
			c.visit(p, in, nil)
		}
	}
}

// returned is what a function has to return: what it states, else what its place
// expects; nil where neither says.
func (c *checker) returned(n int32, in *env, as *expected) *Type {
	f := c.f
	if f.typ(n) == "generator_function_declaration" || f.typ(n) == "generator_function" || strings.Contains(f.between(n, -1, f.field(n, "parameters")), "*") {
		return nil
	}
	var t *Type
	if r := returned(f, n); r >= 0 {
		t = c.w.eval(r, in)
	} else if as != nil {
		if s := c.w.signatures(c.w.apparent(as.t)); len(s) == 1 {
			t = c.w.returns(s[0], nil)
		}
	}
	if t == nil || t.Kind == Void {
		return nil
	}
	if strings.HasPrefix(f.text(n), "async") || stated(f, n, "async") {
		return c.w.awaited(t)
	}
	return t
}

// declaration checks inside a class, an interface or a type.
func (c *checker) declaration(n int32, e *env) {
	f := c.f
	in := c.w.generics(n, e)
	if in == e {
		in = e.inner()
	}
	if strings.Contains(f.typ(n), "class") {
		s := e.names[f.text(f.field(n, "name"))]
		if s == nil || len(s.decls) == 0 {
			s = &symbol{name: "class", decls: []decl{{e, n}}}
		}
		this := &Type{Kind: Ref, sym: s}
		for _, p := range parameters(f, n) {
			this.args = append(this.args, in.types[f.text(f.field(p, "name"))])
		}
		in.this = this
		c.implements(n, in, this)
	}
	for x := range f.each(n) {
		if f.field(n, "name") != x {
			c.visit(x, in, nil)
		}
	}
	for m := range f.each(f.field(n, "body")) {
		key := f.field(m, "name")
		if f.typ(m) == "public_field_definition" && f.typ(key) == "computed_property_name" && c.w.infer(f.first(key), in).Kind == Error {
			c.add(key, "", "%s is not known", kb.Clip(f.text(f.first(key)), 60))
		}
	}
}

// implements checks that a class has what its interfaces ask for.
func (c *checker) implements(n int32, e *env, this *Type) {
	f := c.f
	for t := range f.each(f.child(f.child(n, "class_heritage"), "implements_clause")) {
		of := c.w.eval(t, e)
		if of.Kind != Ref {
			continue
		}
		needs, _ := c.w.needs(of)
		for _, need := range needs {
			if _, found := c.w.property(this, need.name); found == no && !need.optional {
				c.add(f.field(n, "name"), of.sym.name+"."+need.name, "the class lacks %s of %s", need.name, of.sym.name)
				return
			}
		}
	}
}

func (c *checker) loop(n int32, e *env) {
	f := c.f
	in := e.inner()
	switch f.typ(n) {
	case "for_in_statement":
		left, right := f.field(n, "left"), f.field(n, "right")
		c.visit(right, e, nil)
		of := strings.Contains(f.between(n, left, right), "of")
		await := strings.Contains(f.src[f.nodes[n].Start:f.nodes[max(left, n)].Start], "await")
		c.w.pattern(in, left, func() *Type {
			if !of || await {
				return unknown
			}
			return c.w.element(c.w.infer(right, e), -1)
		})
		c.visit(f.field(n, "body"), in, nil)
		return
	case "catch_clause":
		p, typ := f.field(n, "parameter"), f.field(n, "type")
		c.w.pattern(in, p, func() *Type {
			if typ >= 0 {
				return c.w.eval(typ, e)
			}
			return unknown
		})
		c.visit(f.field(n, "body"), in, nil)
		return
	case "switch_body":
		for s := range f.each(n) {
			c.w.hoist(in, s)
		}
	default:
		if i := f.field(n, "initializer"); i >= 0 {
			c.w.statement(in, i)
		}
	}
	for x := range f.each(n) {
		c.visit(x, in, nil)
	}
}

func (c *checker) variable(n int32, e *env) {
	f := c.f
	typ, v := f.field(n, "type"), f.field(n, "value")
	c.visit(typ, e, nil)
	if name := f.field(n, "name"); f.typ(name) == "object_pattern" {
		c.taken(name, c.w.infer(v, e))
	}
	if v < 0 {
		return
	}
	var want *Type
	if typ >= 0 {
		want = c.w.eval(typ, e)
	}
	c.visit(v, e, want)
	if want != nil {
		c.given(f.field(n, "name"), v, e, want)
	}
}
