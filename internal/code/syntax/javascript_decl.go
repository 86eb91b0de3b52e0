package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// jsDeclaration reads a statement that declares something; outer is the export
// statement around it, or itself.
func jsDeclaration(w *walk, n, outer int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), outer: outer, inner: jsInner(w)}
	// "export default" is worth reading in a signature, decorators are not.
	d.node, d.sigStart = outer, w.behind(outer, "", "decorator")
	switch kind {
	case "function_declaration", "generator_function_declaration", "function_signature":
		d.kind = "function"
		jsFunctionDecl(w, d, n)
	case "class_declaration", "abstract_class_declaration":
		d.kind = "class"
		jsClassDecl(w, d, n)
	case "interface_declaration":
		d.kind = "interface"
		jsClassDecl(w, d, n)
	case "type_alias_declaration":
		jsAlias(w, d, n)
	case "enum_declaration":
		jsEnum(w, d, n)
	case "internal_module", "module":
		jsNamespace(w, d, n)
	case "ambient_declaration":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch k := w.typ(c); {
			case k != "ambient_declaration" && jsDeclares[k]:
				jsDeclaration(w, c, outer, k)
			case k == "statement_block": // declare global
				w.children(c)
			default:
				w.visit(c)
			}
		}
	default:
		jsVariables(w, n, outer)
	}
}

var jsDeclares = kb.WordsOf(jsDeclarations + " " + tsDeclarations)

func jsAlias(w *walk, d declaration, n int32) {
	d.kind, d.body = "type", -1
	if d.name < 0 {
		w.children(n)
		return
	}
	value := w.field(n, "value")
	if w.typ(value) == "object_type" {
		d.body = value
	}
	w.declare(d, func() {
		w.visit(w.field(n, "type_parameters"))
		if d.body >= 0 {
			w.children(value)
		} else {
			w.visit(value)
		}
	})
}

func jsEnum(w *walk, d declaration, n int32) {
	d.kind = "enum"
	if d.name < 0 {
		w.children(n)
		return
	}
	w.declare(d, func() {
		for c := w.first(d.body); c >= 0; c = w.next(d.body, c) {
			name := c
			if w.typ(c) == "enum_assignment" {
				name = w.field(c, "name")
			} else if w.fieldOf(c) != "name" {
				continue
			}
			if key := jsKey(w, name); key != "" {
				w.declare(declaration{node: c, name: name, as: key, kind: "enumerator", inner: true}, nil)
			}
			if c != name {
				w.visit(w.field(c, "value"))
			}
		}
	})
}

func jsNamespace(w *walk, d declaration, n int32) {
	d.kind = "namespace"
	if w.typ(d.name) == "string" {
		d.as = strings.Trim(w.text(d.name), "\"'`")
		d.kind = "module"
	}
	if d.name < 0 || d.as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	if d.as == "" && w.typ(d.name) == "nested_identifier" {
		// "namespace A.B": B in A.
		parts := strings.Split(strings.Join(strings.Fields(w.text(d.name)), ""), ".")
		d.owners, d.as = parts[:len(parts)-1], parts[len(parts)-1]
	}
	w.declare(d, func() { w.children(d.body) })
}

func jsIsType(d *Decl) bool {
	return d.Kind == "class" || d.Kind == "interface" || d.Kind == "type"
}

// jsInner reports whether the walk is inside of a function.
func jsInner(w *walk) bool {
	d := w.enclosing()
	return d != nil && !jsIsType(d) && d.Kind != "namespace" && d.Kind != "module" && d.Kind != "const" && d.Kind != "var"
}

// jsTop reports whether a variable here is one of the module or a namespace.
func jsTop(w *walk) bool {
	d := w.enclosing()
	return w.region == 0 && (d == nil || d.Kind == "namespace" || d.Kind == "module")
}

// jsFunctionDecl declares function n, or visits it when it has no name.
func jsFunctionDecl(w *walk, d declaration, n int32) {
	if d.as == "" && w.text(d.name) == "" {
		w.within(n, func() { jsFunctionParts(w, n) })
		return
	}
	w.declare(d, func() { jsFunctionParts(w, n) })
}

// jsFunctionParts visits what a function is made of and binds its parameters.
func jsFunctionParts(w *walk, n int32) {
	w.visit(w.field(n, "type_parameters"))
	if p := w.field(n, "parameter"); p >= 0 {
		jsBindPattern(w, p, "")
	}
	jsParameters(w, w.field(n, "parameters"), false)
	w.visitAll(w.field(n, "return_type"), w.field(n, "body"))
}

func jsParameters(w *walk, p int32, constructor bool) {
	if p < 0 {
		return
	}
	for c := w.first(p); c >= 0; c = w.next(p, c) {
		switch w.typ(c) {
		case "required_parameter", "optional_parameter":
			pattern, value := w.field(c, "pattern"), w.field(c, "value")
			typ := cmp.Or(jsType(w, w.field(c, "type")), jsMade(w, value))
			jsBindPattern(w, pattern, typ)
			if constructor && w.typ(pattern) == "identifier" && (w.child(c, "accessibility_modifier", "override_modifier") >= 0 ||
				strings.Contains(w.t.Source[w.nodes[c].Start:w.nodes[pattern].Start], "readonly ")) {
				w.bindIn(w.enclosingKind("class"), "self."+w.text(pattern), typ)
			}
			for x := w.first(c); x >= 0; x = w.next(c, x) {
				if x != pattern {
					w.visit(x)
				}
			}
		default:
			jsBindPattern(w, c, "")
		}
	}
}

// jsClassDecl declares class or interface n, or visits it when it has no name.
func jsClassDecl(w *walk, d declaration, n int32) {
	if d.as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	w.declare(d, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch w.typ(c) {
			case "class_heritage", "extends_type_clause":
				jsHeritage(w, c)
			default:
				if w.fieldOf(c) == "body" {
					w.children(c)
				} else if w.fieldOf(c) != "name" {
					w.visit(c)
				}
			}
		}
	})
}

func jsHeritage(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "extends_clause", "implements_clause":
			jsHeritage(w, c)
		case "identifier", "member_expression", "type_identifier", "nested_type_identifier":
			jsUse(w, c, kb.UseInherit)
		case "generic_type":
			name := w.field(c, "name")
			jsUse(w, name, kb.UseInherit)
			w.visit(w.field(c, "type_arguments"))
		default:
			w.visit(c)
		}
	}
}

// jsKey returns the name of a member: "" when it is computed.
func jsKey(w *walk, n int32) string {
	switch w.typ(n) {
	case "property_identifier", "private_property_identifier", "identifier", "shorthand_property_identifier", "number":
		return w.text(n)
	case "string":
		return strings.Trim(w.text(n), `"'`)
	case "computed_property_name":
		// [Symbol.iterator] is a name like any other, [f(x)] is none.
		if c := w.first(n); c >= 0 {
			if t := w.typ(c); t == "member_expression" && w.chain(c) != noChain || t == "identifier" {
				return "[" + w.text(c) + "]"
			}
			if w.typ(c) == "string" {
				return strings.Trim(w.text(c), `"'`)
			}
		}
	}
	return ""
}
