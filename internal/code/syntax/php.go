package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var php = &spec{
	typ: phpType, use: phpNamed, pattern: phpTarget, made: phpMade,
	grammar:  "php",
	tokens:   []string{"instanceof"},
	comments: []string{"comment"},
	chains: chains{
		{"name qualified_name relative_name", link{read: func(w *walk, n int32) (string, int32) { return phpDotted(w.text(n)), -1 }}},
		{"relative_scope", link{read: func(w *walk, n int32) (string, int32) {
			if w.text(n) == "parent" {
				return "super", -1
			}
			return "self", -1
		}}},
		{"variable_name", link{read: func(w *walk, n int32) (string, int32) {
			if s := phpVariable(w, n); s != "this" {
				return s, -1
			}
			return "self", -1
		}}},
		{"member_access_expression nullsafe_member_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			return phpName(w, w.field(n, "name")), w.field(n, "object")
		}}},
		{"scoped_property_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			return phpVariable(w, w.field(n, "name")), w.field(n, "scope")
		}}},
		{"class_constant_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			scope := w.first(n)
			if scope < 0 || w.text(w.next(n, scope)) == "class" {
				return noChain, -1
			}
			return phpName(w, w.next(n, scope)), scope
		}}},
	},
	rules: rules{
		{"namespace_definition", func(w *walk, n int32) {
			w.out.Facts.Package = w.text(w.field(n, "name"))
			if body := w.field(n, "body"); body >= 0 {
				w.children(body)
			} else {
				w.importing(n)
			}
		}},
		{"namespace_use_declaration", all(imports, phpImports)},
		{"require_expression require_once_expression include_expression include_once_expression", all(atTop, phpIncluded)},
		{"const_declaration", func(w *walk, n int32) {
			w.over(n, "const_element", func(c int32) {
				name := w.first(c)
				if name >= 0 && w.text(name) != "" {
					w.declare(declaration{node: n, name: name, kind: "const", inner: true, sigEnd: int(w.nodes[c].End)}, nil)
					for v := w.next(c, name); v >= 0; v = w.next(c, v) {
						w.visit(v)
					}
				}
			})
		}},
		{"class_declaration interface_declaration trait_declaration enum_declaration", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			if w.text(name) == "" {
				w.children(n)
				return
			}
			d := declaration{node: n, name: name, kind: phpKinds[kind], body: w.field(n, "body"), inner: phpInFunction(w)}
			d.sigStart = w.behind(n, "", "attribute_list")
			w.visit(w.field(n, "attributes"))
			w.declare(d, func() { phpRest(w, n) })
		}},
		{"enum_case", all(enumerator("name"), visits("value"))},
		{"method_declaration function_definition", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			if w.text(name) == "" {
				w.children(n)
				return
			}
			d := declaration{node: n, name: name, kind: "function", body: w.field(n, "body"), inner: phpInFunction(w)}
			if kind == "method_declaration" {
				d.kind = "method"
			}
			if d.body < 0 {
				d.sigEnd = int(w.nodes[n].Start) + len(strings.TrimRight(w.text(n), "; \t\r\n"))
			}
			d.sigStart = w.behind(n, "", "attribute_list")
			w.visit(w.field(n, "attributes"))
			w.declare(d, func() { phpRest(w, n) })
		}},
		{"property_declaration", func(w *walk, n int32) {
			typ := w.field(n, "type")
			w.over(n, "property_element", func(c int32) {
				phpBindField(w, w.field(c, "name"), phpType(w, typ))
				w.visit(w.field(c, "default_value"))
			})
			w.visit(w.field(n, "hooks"))
		}},
		{"property_promotion_parameter", func(w *walk, n int32) {
			typ := phpType(w, w.field(n, "type"))
			name := w.field(n, "name")
			w.bindHere(phpVariable(w, name), typ)
			phpBindField(w, name, typ)
			w.visitAll(w.field(n, "attributes"), w.field(n, "type"), w.field(n, "default_value"))
		}},
		{"simple_parameter variadic_parameter", func(w *walk, n int32) {
			kind := w.typ(n)
			typ := w.field(n, "type")
			made := phpType(w, typ)
			if kind == "variadic_parameter" {
				made = "" // an array of them
			}
			w.bindHere(phpVariable(w, w.field(n, "name")), made)
			w.visitAll(w.field(n, "attributes"), typ, w.field(n, "default_value"))
		}},
		{"use_declaration base_clause class_interface_clause", func(w *walk, n int32) {
			as := kb.UseInherit
			if w.region != 0 { // of a class without a name
				as = kb.UseType
			}
			w.each(n, func(c int32) { phpNamed(w, c, as) })
		}},
		{"function_call_expression", phpFunctionCall},
		{"scoped_call_expression", func(w *walk, n int32) {
			scope, name := w.field(n, "scope"), w.field(n, "name")
			if q := w.chain(scope); w.typ(name) == "name" {
				w.use(name, w.text(name), q, kb.UseCall)
			} else {
				w.visit(name)
			}
			phpScope(w, scope)
			w.visit(w.field(n, "arguments"))
		}},
		{"member_call_expression nullsafe_member_call_expression", func(w *walk, n int32) {
			object, name := w.field(n, "object"), w.field(n, "name")
			q := w.chain(object)
			if q == noChain {
				w.visit(object)
			}
			if w.typ(name) == "name" {
				w.use(name, w.text(name), q, kb.UseCall)
			} else {
				w.visit(name)
			}
			w.visit(w.field(n, "arguments"))
		}},
		{"object_creation_expression", func(w *walk, n int32) {
			i := 0
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if i == 0 {
					phpNamed(w, c, kb.UseCall)
				} else {
					w.visit(c)
				}
				i++
			}
		}},
		{"class_constant_access_expression", func(w *walk, n int32) {
			scope := w.first(n)
			if scope < 0 {
				return
			}
			phpScope(w, scope)
			if name := w.next(n, scope); w.typ(name) == "name" && w.text(name) != "class" {
				w.use(name, w.text(name), w.chain(scope), kb.UseName)
			}
		}},
		{"scoped_property_access_expression", func(w *walk, n int32) { phpScope(w, w.field(n, "scope")) }},
		{"named_type", eachUses(kb.UseType)},
		{"assignment_expression", all(assigns("left", "right"), visits("right"))},
		{"anonymous_function arrow_function", scoped},
		{"catch_clause", func(w *walk, n int32) {
			typ := ""
			if t := w.first(w.field(n, "type")); t >= 0 && w.next(w.field(n, "type"), t) < 0 {
				typ = phpType(w, t)
			}
			w.bindHere(phpVariable(w, w.field(n, "name")), typ)
			w.children(n)
		}},
		{"foreach_statement", func(w *walk, n int32) {
			body := w.field(n, "body")
			i := 0
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if i == 0 || c == body {
					w.visit(c)
				} else {
					phpTarget(w, c, "")
				}
				i++
			}
		}},
		{"binary_expression", func(w *walk, n int32) {
			right := w.field(n, "right")
			if w.child(n, "instanceof") >= 0 && right >= 0 {
				w.visit(w.field(n, "left"))
				phpNamed(w, right, kb.UseType)
				return
			}
			w.children(n)
		}},
		{"attribute", all(uses(kb.UseType, "1"), visits("parameters"))},
		{"anonymous_class", scoped},
		{"global_declaration static_variable_declaration", func(w *walk, n int32) {
			w.over(n, "variable_name", func(c int32) { w.bindHere(phpVariable(w, c), "") })
		}},
		{"qualified_name", func(w *walk, n int32) { phpNamed(w, n, kb.UseName) }},
	},
}

var phpKinds = map[string]string{"class_declaration": "class", "interface_declaration": "interface", "trait_declaration": "trait", "enum_declaration": "enum"}

// phpInFunction reports whether the walk is inside of a function.
func phpInFunction(w *walk) bool { return w.enclosingKind("function", "method") != nil }

// phpRest visits a declaration but for its attributes.
func phpRest(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "attributes" && w.fieldOf(c) != "name" {
			w.visit(c)
		}
	}
}
