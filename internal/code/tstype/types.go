package tstype

import "strings"

// Kind is what a type is.
type Kind uint8

// The kinds of types.
const (
	Unknown Kind = iota // nothing is known here; it fits everything, and has everything
	Error               // what the compiler cannot find, and takes for any
	Any
	Opaque // the type "unknown"
	Never
	Void
	Undefined
	Null
	String
	Number
	Boolean
	BigInt
	Symbol
	NonPrimitive // the type "object"
	Literal      // Text is as it is written, strings with double quotes
	Ref          // an interface, or an instance of a class
	Object       // a type in braces
	Mapped       // { [K in …]: … }
	Made         // an object that an expression makes
	Func         // a function: its signatures
	Class        // a class as a value
	EnumValue    // an enum as a value
	Enum         // a value of an enum
	Space        // a namespace or a module as a value
	Union
	Inter
	Tuple
	Keys    // keyof
	Without // the first of its parts without the keys of the second
	Param
)

// Type is one type. Which fields hold something depends on its kind.
type Type struct {
	Kind  Kind
	Text  string  // of literals and members of enums; of parameters their name
	parts []*Type // of unions, intersections, tuples; one of Keys
	sym   *symbol
	args  []*Type
	env   *env
	node  int32
	sigs  []sig
	props map[string]*Type
	files *file // of a whole module
	open  bool  // of Made: it may have more
	line  int   // of Made: where a literal begins
}

// sig is one signature of a function.
type sig struct {
	env    *env
	node   int32 // which has parameters
	ret    int32
	made   *Type // what it returns, where no node says it
	newing bool
}

var (
	unknown = &Type{Kind: Unknown}
	failed  = &Type{Kind: Error}
	anyType = &Type{Kind: Any}
	simple  = map[string]*Type{
		"any": anyType, "unknown": {Kind: Opaque}, "never": {Kind: Never}, "void": {Kind: Void}, "undefined": {Kind: Undefined},
		"null": {Kind: Null}, "string": {Kind: String}, "number": {Kind: Number}, "boolean": {Kind: Boolean}, "bigint": {Kind: BigInt},
		"symbol": {Kind: Symbol}, "unique symbol": {Kind: Symbol}, "object": {Kind: NonPrimitive},
	}
)

// deeper counts steps, and reports whether there are more to take.
func (w *World) deeper() (func(), bool) {
	w.steps++
	w.depth++
	return func() { w.depth-- }, w.depth < maxDepth && w.steps < maxSteps && (w.steps&1023 != 0 || w.ctx.Err() == nil)
}

// eval returns the type that a node writes.
func (w *World) eval(n int32, e *env) *Type {
	up, ok := w.deeper()
	defer up()
	if n < 0 || !ok {
		return unknown
	}
	f := e.file
	switch f.typ(n) {
	case "type_annotation", "parenthesized_type", "readonly_type", "optional_type", "constraint", "default_type", "opting_type_annotation":
		return w.eval(f.first(n), e)
	case "predefined_type":
		if t := simple[f.text(n)]; t != nil {
			return t
		}
	case "literal_type":
		return literal(f, f.first(n))
	case "undefined", "null", "string", "number", "true", "false":
		return literal(f, n)
	case "template_literal_type", "template_type":
		return simple["string"]
	case "type_identifier", "identifier":
		return w.named(f.text(n), n, nil, e)
	case "nested_type_identifier", "nested_identifier":
		s, found := w.entity(n, e)
		return w.typeOf(s, found, nil)
	case "generic_type":
		return w.generic(n, e)
	case "union_type":
		var parts []*Type
		for c := range f.each(n) {
			parts = append(parts, w.eval(c, e))
		}
		return union(parts...)
	case "intersection_type":
		t := &Type{Kind: Inter}
		for c := range f.each(n) {
			if p := w.eval(c, e); p.Kind == Inter {
				t.parts = append(t.parts, p.parts...)
			} else {
				t.parts = append(t.parts, p)
			}
			if len(t.parts) > maxParts {
				return unknown
			}
		}
		return t
	case "array_type":
		return w.array(w.eval(f.first(n), e))
	case "tuple_type":
		return w.tuple(n, e)
	case "object_type":
		if m := mapped(f, n); m >= 0 {
			return &Type{Kind: Mapped, env: e, node: m}
		}
		return &Type{Kind: Object, env: e, node: n}
	case "function_type", "constructor_type":
		return &Type{Kind: Func, sigs: []sig{{env: e, node: n, ret: returned(f, n), newing: f.typ(n) == "constructor_type"}}}
	case "type_query":
		return w.query(f.first(n), e)
	case "index_type_query":
		return &Type{Kind: Keys, parts: []*Type{w.eval(f.first(n), e)}}
	case "lookup_type":
		of := f.first(n)
		return w.indexed(w.eval(of, e), w.eval(f.next(n, of), e))
	case "conditional_type":
		return w.conditional(n, e)
	case "this_type":
		for at := e; at != nil; at = at.up {
			if at.this != nil {
				return at.this
			}
		}
	case "type_predicate", "type_predicate_annotation":
		return simple["boolean"]
	case "asserts", "asserts_annotation":
		return simple["void"]
	}
	return unknown
}

func (w *World) tuple(n int32, e *env) *Type {
	f := e.file
	t := &Type{Kind: Tuple}
	for c := range f.each(n) {
		switch f.typ(c) {
		case "rest_type":
			t.open = true
			continue
		case "required_parameter", "optional_parameter":
			c = f.field(c, "type")
		}
		t.parts = append(t.parts, w.eval(c, e))
	}
	return t
}

// mapped returns the index signature that makes a type in braces a mapped one, -1 for others.
func mapped(f *file, n int32) int32 {
	if i := f.child(n, "index_signature"); i >= 0 && f.child(i, "mapped_type_clause") >= 0 {
		return i
	}
	return -1
}

// returned is the node of a function that says what it returns.
func returned(f *file, n int32) int32 {
	if r := f.field(n, "return_type"); r >= 0 {
		return r
	}
	return f.field(n, "type")
}

func literal(f *file, n int32) *Type {
	switch s := f.text(n); f.typ(n) {
	case "undefined":
		return simple["undefined"]
	case "null":
		return simple["null"]
	case "string":
		if len(s) >= 2 {
			return &Type{Kind: Literal, Text: `"` + s[1:len(s)-1] + `"`}
		}
	case "number", "true", "false":
		return &Type{Kind: Literal, Text: s}
	case "unary_expression":
		return &Type{Kind: Literal, Text: s}
	case "template_string":
		return simple["string"]
	}
	return unknown
}

// base is the type that a literal is one of.
func base(t *Type) Kind {
	switch {
	case t.Kind != Literal:
		return t.Kind
	case strings.HasPrefix(t.Text, `"`):
		return String
	case t.Text == "true" || t.Text == "false":
		return Boolean
	case strings.HasSuffix(t.Text, "n"):
		return BigInt
	}
	return Number
}

// widened is the type of a variable that is given a literal.
func widened(t *Type) *Type {
	if t.Kind == Literal {
		return map[Kind]*Type{String: simple["string"], Boolean: simple["boolean"], BigInt: simple["bigint"], Number: simple["number"]}[base(t)]
	}
	return t
}

// union joins types. With what is not known nothing is.
func union(parts ...*Type) *Type {
	t := &Type{Kind: Union}
	for _, p := range parts {
		switch p.Kind {
		case Unknown, Any, Error:
			return p
		case Never:
		case Union:
			t.parts = append(t.parts, p.parts...)
		default:
			t.parts = append(t.parts, p)
		}
		if len(t.parts) > maxParts {
			return unknown
		}
	}
	switch len(t.parts) {
	case 0:
		return simple["never"]
	case 1:
		return t.parts[0]
	}
	return t
}

// solid is a type without null and undefined.
func solid(t *Type) *Type {
	if t.Kind != Union {
		return t
	}
	var parts []*Type
	for _, p := range t.parts {
		if p.Kind != Null && p.Kind != Undefined && p.Kind != Void {
			parts = append(parts, p)
		}
	}
	return union(parts...)
}

func (w *World) array(of *Type) *Type { return w.builtin("Array", of) }

// builtin is an interface of the language with its arguments.
func (w *World) builtin(name string, args ...*Type) *Type {
	if w.lib == nil {
		return unknown
	}
	s := w.lib.env.names[name]
	if s == nil {
		return unknown
	}
	return &Type{Kind: Ref, sym: s, args: args}
}

// isBuiltin reports whether a type is an interface of the language of one of these names.
func (w *World) isBuiltin(t *Type, names ...string) bool {
	if t.Kind != Ref {
		return false
	}
	for _, n := range names {
		if w.lib != nil && t.sym == w.lib.env.names[n] {
			return true
		}
	}
	return false
}

// element is what is at an index of an array or a tuple, or comes out of a loop.
func (w *World) element(t *Type, at int) *Type {
	t = w.apparent(t)
	switch {
	case t.Kind == Tuple && at >= 0 && at < len(t.parts):
		return t.parts[at]
	case t.Kind == Tuple && !t.open && at < 0:
		return union(t.parts...)
	case w.isBuiltin(t, "Array", "ReadonlyArray", "Set", "ReadonlySet") && len(t.args) == 1:
		return t.args[0]
	case t.Kind == Error || t.Kind == Any:
		return t
	}
	return unknown
}

// generic evaluates Name<args>.
func (w *World) generic(n int32, e *env) *Type {
	f := e.file
	name := f.field(n, "name")
	if name < 0 {
		name = f.first(n)
	}
	var args []*Type
	for c := range f.each(f.child(n, "type_arguments")) {
		args = append(args, w.eval(c, e))
	}
	if f.typ(name) == "type_identifier" || f.typ(name) == "identifier" {
		return w.named(f.text(name), name, args, e)
	}
	s, found := w.entity(name, e)
	return w.typeOf(s, found, args)
}

// named is the type of a plain name.
func (w *World) named(name string, n int32, args []*Type, e *env) *Type {
	s, t := e.find(name)
	if t != nil {
		return t
	}
	if s == nil {
		if t := simple[name]; t != nil {
			return t
		}
		return unknown
	}
	if len(s.decls) > 0 && w.lib != nil && s.decls[0].env == w.lib.env {
		if t := w.special(name, args); t != nil {
			return t
		}
	}
	s, found := w.resolve(s)
	return w.typeOf(s, found, args)
}

// typeOf is the type that a symbol names.
func (w *World) typeOf(s *symbol, found look, args []*Type) *Type {
	up, ok := w.deeper()
	defer up()
	switch {
	case found == no:
		return failed
	case s == nil || found == maybe || !ok:
		return unknown
	}
	for _, d := range s.decls {
		f := d.env.file
		switch f.typ(d.node) {
		case "interface_declaration", "class_declaration", "abstract_class_declaration", "class":
			return &Type{Kind: Ref, sym: s, args: w.filled(d, args)}
		case "enum_declaration":
			return &Type{Kind: Enum, sym: s}
		case "type_alias_declaration":
			if s.open {
				return unknown // it is said by itself
			}
			s.open = true
			defer func() { s.open = false }()
			return w.eval(f.field(d.node, "value"), w.bound(d, args))
		}
	}
	if s.typ != nil && s.typ.Kind == Enum {
		return s.typ
	}
	return unknown
}
