package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var cChains = chains{
	{"identifier type_identifier field_identifier", itself},
	{"field_expression", link{read: func(w *walk, n int32) (string, int32) {
		if f := w.field(n, "field"); w.typ(f) == "field_identifier" {
			return w.text(f), w.field(n, "argument")
		}
		return noChain, -1
	}}},
	{"parenthesized_expression", link{read: func(w *walk, n int32) (string, int32) { // (*x).y is x->y
		if c := w.first(n); w.typ(c) == "pointer_expression" {
			return w.chain(w.field(c, "argument")), -1
		}
		return noChain, -1
	}}},
}

var cppChains = chains{
	{"namespace_identifier", itself},
	{"this", meaning("self")},
	{"qualified_identifier", link{read: func(w *walk, n int32) (string, int32) {
		return w.chain(w.field(n, "name")), w.field(n, "scope")
	}}},
	{"template_type template_function", inside("name")},
}

var clang = &spec{
	grammar: "c", rules: slices.Concat(cRules, rules{{"macro_type_specifier", cMacroType}}), chains: cChains,
	comments: []string{"comment"}, prepare: cPrepare,
}

var cpp = &spec{
	grammar: "cpp", rules: slices.Concat(cRules, cppRules), chains: slices.Concat(cChains, cppChains),
	comments: []string{"comment"}, prepare: cPrepare,
}

// cLocal reports whether the place is inside a function.
func cLocal(w *walk) bool { return w.in("function", "method", "constructor", "test") }

// cMember reports whether the place is right in a class.
func cMember(w *walk) bool { return w.in("class", "struct", "union") }

// cName is what a declarator declares.
type cName struct {
	node     int32    // the last identifier, -1 when there is none
	as       string   // the name when it is not the text of node
	owners   []string // names before it with "::"
	function int32    // the function_declarator whose name it is, -1 for none
}

// cDeclarator finds the name in a declarator.
func cDeclarator(w *walk, n int32) cName {
	out := cName{node: -1, function: -1}
	for range 64 {
		switch w.typ(n) {
		case "identifier", "type_identifier", "field_identifier", "primitive_type":
			out.node = n
			return out
		case "destructor_name", "operator_name":
			out.node, out.as = n, strings.Join(strings.Fields(w.text(n)), "")
			if rest, ok := strings.CutPrefix(out.as, "operator"); ok && rest != "" && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z') {
				out.as = "operator " + rest
			}
			return out
		case "operator_cast":
			out.node, out.as = n, "operator "+strings.TrimSpace(w.text(w.field(n, "type")))
			out.function = n
			return out
		case "template_function", "template_method", "template_type":
			n = w.field(n, "name")
		case "qualified_identifier":
			if s := w.field(n, "scope"); s >= 0 {
				if q := w.chain(s); q != noChain && q != "" {
					out.owners = append(out.owners, strings.Split(q, ".")...)
				}
			}
			n = w.field(n, "name")
		case "function_declarator":
			out.function = n
			n = cInnerDeclarator(w, n)
		case "parenthesized_declarator":
			n = cInnerDeclarator(w, n)
		case "pointer_declarator", "array_declarator", "reference_declarator", "pointer_type_declarator":
			out.function = -1
			n = cInnerDeclarator(w, n)
		case "init_declarator", "attributed_declarator", "variadic_declarator":
			n = cInnerDeclarator(w, n)
		default:
			return out
		}
	}
	return out
}

// cUnnamed reports whether a declarator has no name, or one that cannot be:
// what does not parse looks like that.
func cUnnamed(w *walk, name cName) bool {
	t := w.text(name.node)
	return t == "" || name.as == "" && (cKeyword[t] || cBuiltin[t] && w.typ(name.node) != "type_identifier" || cTags[t])
}

func cInnerDeclarator(w *walk, n int32) int32 {
	if d := w.field(n, "declarator"); d >= 0 {
		return d
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch t := w.typ(c); t {
		case "ms_call_modifier", "type_qualifier", "attribute_specifier", "ms_based_modifier", "comment", "ERROR":
		default:
			return c
		}
	}
	return -1
}

// cDefinition declares a function with a body.
func cDefinition(w *walk, n, outer int32) {
	declarator, body := w.field(n, "declarator"), w.field(n, "body")
	if body < 0 {
		body = w.child(n, "try_statement")
	}
	name := cDeclarator(w, declarator)
	if cUnnamed(w, name) {
		w.children(n)
		return
	}
	d := declaration{node: n, name: name.node, as: name.as, owners: name.owners, kind: cFunctionKind(w, name), body: body, outer: outer, inner: cLocal(w)}
	typ := w.field(n, "type")
	if init := w.child(n, "field_initializer_list"); init >= 0 {
		d.sigEnd = int(w.nodes[init].Start)
	}
	var params int32 = -1
	if name.function >= 0 {
		params = w.field(name.function, "parameters")
	}
	// A macro that makes a function out of its arguments: TEST(Suite, Name) {.
	if t := w.text(name.node); typ < 0 && name.owners == nil && name.function >= 0 && len(t) > 2 && strings.ToUpper(t) == t && body >= 0 && params >= 0 {
		var args []int32
		w.each(params, func(c int32) { args = append(args, c) })
		w.use(name.node, t, "", kb.UseCall)
		if len(args) > 0 && len(args) <= 2 && strings.Contains(t, "TEST") {
			d.kind, d.as, d.name = "test", w.text(args[len(args)-1]), args[len(args)-1]
			if len(args) == 2 {
				d.owners = []string{w.text(args[0])}
			}
		} else if len(args) > 0 && w.typ(w.field(args[0], "type")) == "type_identifier" && w.field(args[0], "declarator") < 0 {
			d.as, d.name = w.text(args[0]), args[0]
		}
		if d.as == "" {
			d.as = t
		}
		w.declare(d, func() { w.visit(body) })
		return
	}
	w.declare(d, func() {
		w.visit(typ)
		cParameters(w, declarator)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch w.typ(c) {
			case "declaration": // as K&R wrote the types of parameters
				cBindAll(w, c)
			case "field_initializer_list", "trailing_return_type":
				w.visit(c)
			}
		}
		w.visit(body)
	})
}

func cFunctionKind(w *walk, name cName) string {
	if cMember(w) || len(name.owners) > 0 {
		return "method"
	}
	return "function"
}

// cParameters visits what a declarator says besides names.
func cParameters(w *walk, n int32) {
	for c := w.first(n); n >= 0 && c >= 0; c = w.next(n, c) {
		switch t := w.typ(c); {
		case t == "parameter_list":
			for p := w.first(c); p >= 0; p = w.next(c, p) {
				if w.typ(p) == "identifier" {
					w.bindIn(w.enclosing(), w.text(p), "")
				} else {
					w.visit(p)
				}
			}
		case strings.HasSuffix(t, "declarator"):
			cParameters(w, c)
		case t == "trailing_return_type", w.fieldOf(c) == "size":
			w.visit(c)
		}
	}
}

// cBindAll binds the names of a declaration of variables and visits the rest.
func cBindAll(w *walk, n int32) {
	typ := w.field(n, "type")
	w.visit(typ)
	plain := cPlain(w, typ)
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "declarator" {
			continue
		}
		t, value := plain, int32(-1)
		if w.typ(c) == "init_declarator" {
			value = w.field(c, "value")
			if t == "auto" {
				t = cMade(w, value)
			}
		}
		if t == "auto" {
			t = ""
		}
		if w.typ(c) == "structured_binding_declarator" || value >= 0 && w.typ(w.field(c, "declarator")) == "structured_binding_declarator" {
			s := c
			if value >= 0 {
				s = w.field(c, "declarator")
			}
			for x := w.first(s); x >= 0; x = w.next(s, x) {
				cBind(w, w.text(x), "")
			}
		} else if name := cDeclarator(w, c); name.node >= 0 && len(name.owners) == 0 {
			cBind(w, w.text(name.node), t)
		}
		cParameters(w, c)
		if w.typ(value) == "identifier" {
			cValue(w, value)
		} else {
			w.visit(value)
		}
	}
}

// cBind binds a name in a function; parameters of prototypes bind nothing.
func cBind(w *walk, name, typ string) {
	if d := w.enclosing(); cLocal(w) && d.Body >= 0 {
		w.bindHere(name, typ)
	}
}

// cDeclare reads a declaration outside records: prototypes and variables; in
// functions it binds.
func cDeclare(w *walk, n, outer int32) {
	if cLocal(w) {
		cBindAll(w, n)
		return
	}
	typ := w.field(n, "type")
	if t := w.typ(typ); cIsRecord(t) && w.field(typ, "body") >= 0 {
		cRecord(w, typ, -1, n, outer)
	} else {
		w.visit(typ)
	}
	constant := false
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if t := w.text(c); w.typ(c) == "type_qualifier" && (t == "const" || t == "constexpr") {
			constant = true
		}
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "declarator" {
			if w.typ(c) == "ERROR" {
				w.visit(c)
			}
			continue
		}
		name := cDeclarator(w, c)
		value := int32(-1)
		if w.typ(c) == "init_declarator" {
			value = w.field(c, "value")
		}
		if !cUnnamed(w, name) {
			d := declaration{node: n, name: name.node, as: name.as, owners: name.owners, kind: "var", outer: outer}
			switch {
			case name.function >= 0:
				d.kind = cFunctionKind(w, name)
			case constant:
				d.kind = "const"
			}
			if value >= 0 && strings.Contains(w.text(value), "\n") {
				d.sigEnd = int(w.nodes[value].Start)
			}
			w.declare(d, func() {
				cParameters(w, c)
				if w.typ(value) == "identifier" {
					cValue(w, value)
				} else {
					w.visit(value)
				}
			})
			if d.kind != "function" && d.kind != "method" {
				if t := cPlain(w, typ); t != "" && t != "auto" && len(name.owners) == 0 {
					w.bindIn(w.enclosing(), w.text(name.node), t)
				}
			}
		}
	}
}
