package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var rust = &spec{
	typ: rustPlain, use: rustNames, pattern: rustPattern,
	grammar:    "rust",
	comments:   []string{"line_comment", "block_comment"},
	attributes: []string{"attribute_item"},
	chains: chains{
		{"identifier type_identifier self super crate primitive_type field_identifier metavariable", itself},
		{"scoped_identifier scoped_type_identifier", link{name: "name", on: "path"}},
		{"field_expression", link{read: func(w *walk, n int32) (string, int32) {
			if f := w.field(n, "field"); w.typ(f) == "field_identifier" {
				return w.text(f), w.field(n, "value")
			}
			return noChain, -1
		}}},
		{"generic_type generic_type_with_turbofish", inside("type")},
		{"bracketed_type", link{read: func(w *walk, n int32) (string, int32) {
			c := w.first(n)
			if w.typ(c) != "qualified_type" {
				return w.chain(c), -1
			}
			if w.chain(w.field(c, "type")) == "Self" {
				return "Self", -1
			}
			return w.chain(w.field(c, "alias")), -1
		}}},
	},
	rules: rules{
		{"function_item function_signature_item", func(w *walk, n int32) { rustFunction(w, n, "function") }},
		{"struct_item union_item enum_item trait_item", func(w *walk, n int32) {
			rustTypeItem(w, n, strings.TrimSuffix(w.typ(n), "_item"))
		}},
		{"impl_item", rustImpl},
		{"mod_item", func(w *walk, n int32) {
			name, body := w.field(n, "name"), w.field(n, "body")
			if body < 0 {
				// "mod x;" brings in a file.
				w.importing(n)
				w.imported(n, "self::"+w.text(name), "", w.text(name))
				return
			}
			rustDeclare(w, n, name, "module", body, func() { w.visit(body) })
		}},
		{"type_item associated_type", func(w *walk, n int32) { rustDeclare(w, n, w.field(n, "name"), "type", -1, func() { rustRest(w, n) }) }},
		{"const_item static_item", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			k := "const"
			if kind == "static_item" {
				k = "var"
			}
			if w.text(name) == "_" {
				rustRest(w, n)
				return
			}
			rustDeclare(w, n, name, k, -1, nil)
			rustRest(w, n)
		}},
		{"macro_definition", func(w *walk, n int32) {
			if name := w.field(n, "name"); name >= 0 {
				w.declare(declaration{node: n, name: name, kind: "macro", body: w.child(n, "macro_rule"), sigEnd: int(w.nodes[name].End), inner: w.enclosingKind("function", "method") != nil}, nil)
			}
		}},
		{"use_declaration", all(imports, func(w *walk, n int32) { rustUseTree(w, w.field(n, "argument"), "") })},
		{"extern_crate_declaration", func(w *walk, n int32) {
			w.importing(n)
			local := w.either(n, "alias", "name")
			w.imported(n, w.text(w.field(n, "name")), "", w.text(local))
		}},
		{"call_expression", func(w *walk, n int32) {
			args := w.field(n, "arguments")
			rustUse(w, w.field(n, "function"), kb.UseCall, w.count(args)+1)
			w.visit(args)
		}},
		{"macro_invocation", func(w *walk, n int32) {
			rustUse(w, w.field(n, "macro"), kb.UseCall, 0)
			tokens := w.child(n, "token_tree")
			if m := w.text(w.field(n, "macro")); m == "lazy_static" || m == "thread_local" {
				rustStatics(w, tokens)
			}
			rustTokens(w, tokens)
		}},
		{"struct_expression", all(uses(kb.UseCall, "name"), visits("body"))},
		{"let_declaration", func(w *walk, n int32) { rustLet(w, n, -1) }},
		{"let_condition", all(patterns("pattern"), visits("value"))},
		{"for_expression", func(w *walk, n int32) {
			rustBind(w, w.field(n, "pattern"), n, "")
			w.visitAll(w.field(n, "value"), w.field(n, "body"))
		}},
		{"closure_expression", func(w *walk, n int32) {
			if p := w.field(n, "parameters"); p >= 0 {
				for c := w.first(p); c >= 0; c = w.next(p, c) {
					if w.typ(c) == "parameter" {
						rustBind(w, w.field(c, "pattern"), n, rustPlain(w, w.field(c, "type")))
						w.visit(w.field(c, "type"))
					} else {
						rustBind(w, c, n, "")
					}
				}
			}
			w.visitAll(w.field(n, "return_type"), w.field(n, "body"))
		}},
		{"match_arm", func(w *walk, n int32) {
			if p := w.field(n, "pattern"); p >= 0 {
				for c := w.first(p); c >= 0; c = w.next(p, c) {
					if w.fieldOf(c) == "condition" {
						w.visit(c)
					} else {
						rustBind(w, c, n, "")
					}
				}
			}
			w.visit(w.field(n, "value"))
		}},
		{"scoped_identifier", func(w *walk, n int32) { rustUse(w, n, kb.UseName, 0) }},
		{"scoped_type_identifier", func(w *walk, n int32) { rustUse(w, n, kb.UseType, 0) }},
		{"type_identifier", func(w *walk, n int32) {
			if t := w.text(n); t != "Self" && t != "_" {
				w.use(n, t, "", kb.UseType)
			}
		}},
		{"foreign_mod_item", func(w *walk, n int32) { w.visit(w.field(n, "body")) }},
		{"enum_variant", all(enumerator("name"), visits("body", "value"))},
		{"field_declaration", func(w *walk, n int32) {
			typ := w.field(n, "type")
			if d := w.enclosing(); d != nil && d.Kind != "enum" {
				w.bindIn(d, "self."+w.text(w.field(n, "name")), rustPlain(w, typ))
			}
			w.visit(typ)
		}},
		{"attribute_item inner_attribute_item", skip},
		{"const_parameter", all(hides("name"), visits("type"))},
		{"type_parameter", all(hides("name"), visits("bounds", "default_type"))}, // it hides types of its name
	},
}

// rustDeclare declares an item; one within a function is inner.
func rustDeclare(w *walk, n, name int32, kind string, body int32, inside func()) {
	if name < 0 || w.text(name) == "" {
		w.children(n)
		return
	}
	w.declare(declaration{node: n, name: name, as: strings.TrimPrefix(w.text(name), "r#"), kind: kind, body: body, inner: w.enclosingKind("function", "method") != nil}, inside)
}

// rustRest visits what is in an item besides its name.
func rustRest(w *walk, n int32) {
	w.butField(n, "name")
}

func rustFunction(w *walk, n int32, kind string) {
	body := w.field(n, "body")
	rustDeclare(w, n, w.field(n, "name"), kind, body, func() {
		d := w.enclosing()
		w.visit(w.field(n, "type_parameters"))
		if p := w.field(n, "parameters"); p >= 0 {
			for c := w.first(p); c >= 0; c = w.next(p, c) {
				if w.typ(c) == "parameter" {
					typ := w.field(c, "type")
					if x := w.field(c, "pattern"); w.typ(x) == "identifier" {
						w.bindIn(d, w.text(x), rustPlain(w, typ))
					} else {
						rustBind(w, x, -1, "")
					}
					w.visit(typ)
				}
			}
		}
		w.visitAll(w.field(n, "return_type"), w.child(n, "where_clause"), body)
	})
}

func rustTypeItem(w *walk, n int32, kind string) {
	body := w.field(n, "body")
	at := body
	if w.typ(body) == "ordered_field_declaration_list" {
		at = -1 // a part of what one wants to see
	}
	rustDeclare(w, n, w.field(n, "name"), kind, at, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch {
			case w.fieldOf(c) == "name":
			case w.fieldOf(c) == "bounds":
				for b := w.first(c); b >= 0; b = w.next(c, b) {
					rustUse(w, b, kb.UseInherit, 0)
				}
			case c == body && kind == "trait":
				rustMembers(w, body)
			default:
				w.visit(c)
			}
		}
	})
}

// rustImpl reads a block that adds to a type declared elsewhere: no
// declaration, but its members are of that type.
func rustImpl(w *walk, n int32) {
	typ, trait, body := w.field(n, "type"), w.field(n, "trait"), w.field(n, "body")
	if trait >= 0 {
		rustUse(w, trait, kb.UseInherit, 0)
	}
	if w.chain(typ) != noChain {
		rustUse(w, typ, kb.UseType, 0)
	} else {
		w.visit(typ)
	}
	owner := rustOwner(w, typ)
	around := len(w.path)
	if owner != "" {
		w.path = append(w.path, owner)
	}
	w.visit(w.child(n, "where_clause"))
	rustMembers(w, body)
	w.path = w.path[:around]
}

// rustOwner returns the name that members of an impl go by: that of the type
// behind pointers. Types without a name are called as their documentation does.
func rustOwner(w *walk, n int32) string {
	for range 8 {
		switch w.typ(n) {
		case "reference_type", "pointer_type":
			n = w.field(n, "type")
		case "dynamic_type", "abstract_type":
			n = w.field(n, "trait")
		case "bounded_type", "higher_ranked_trait_bound":
			if t := w.field(n, "type"); t >= 0 {
				n = t
			} else {
				n = w.first(n)
			}
		case "array_type":
			if w.field(n, "length") >= 0 {
				return "array"
			}
			return "slice"
		case "tuple_type", "unit_type":
			return "tuple"
		case "function_type":
			return "fn"
		case "never_type":
			return "never"
		default:
			q := w.chain(n)
			return strings.Trim(q[strings.LastIndexByte(q, '.')+1:], noChain)
		}
	}
	return ""
}

// rustMembers visits what is in a trait or an impl; its functions are methods.
func rustMembers(w *walk, body int32) {
	if body < 0 {
		return
	}
	for c := w.first(body); c >= 0; c = w.next(body, c) {
		if k := w.typ(c); k == "function_item" || k == "function_signature_item" {
			rustFunction(w, c, "method")
		} else {
			w.visit(c)
		}
	}
}

// rustUseTree records what a use declaration brings in. Paths are as written.
func rustUseTree(w *walk, n int32, prefix string) {
	join := func(n int32) string {
		s := strings.Join(strings.Fields(w.text(n)), "")
		if prefix == "" || n < 0 {
			return prefix + s
		}
		return prefix + "::" + s
	}
	last := func(p string) string { return p[strings.LastIndexByte(p, ':')+1:] }
	switch w.typ(n) {
	case "":
	case "use_list":
		w.each(n, func(c int32) { rustUseTree(w, c, prefix) })
	case "scoped_use_list":
		rustUseTree(w, w.field(n, "list"), join(w.field(n, "path")))
	case "use_as_clause":
		p := w.field(n, "path")
		path := join(p)
		if w.typ(p) == "self" && prefix != "" {
			path = prefix
		}
		local := w.text(w.field(n, "alias"))
		if local == "_" {
			local = ""
		}
		w.imported(n, path, "", local)
	case "use_wildcard":
		path := prefix
		if c := w.first(n); c >= 0 {
			path = join(c)
		}
		w.imported(n, path, "*", "")
	case "self":
		if prefix != "" {
			w.imported(n, prefix, "", last(prefix))
		}
	case "identifier", "scoped_identifier", "crate", "super":
		path := join(n)
		w.imported(n, path, "", last(path))
	}
}
