package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var csharp = &spec{
	typ: csTypeName, use: csType, pattern: csBind,
	grammar:  "csharp",
	comments: []string{"comment"},
	chains: chains{
		{"identifier predefined_type", link{read: func(w *walk, n int32) (string, int32) { return strings.TrimPrefix(w.text(n), "@"), -1 }}},
		{"generic_name", link{name: "1"}},
		{"qualified_name alias_qualified_name", link{read: func(w *walk, n int32) (string, int32) { return csTypeName(w, n), -1 }}},
		{"postfix_unary_expression", link{read: func(w *walk, n int32) (string, int32) {
			if !strings.HasSuffix(w.text(n), "!") {
				return noChain, -1
			}
			return w.chain(w.first(n)), -1
		}}},
		{"member_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			name := w.field(n, "name")
			if w.typ(name) == "generic_name" {
				name = w.first(name)
			}
			if e := w.field(n, "expression"); e >= 0 {
				return w.text(name), e
			}
			if q := csReceiver(w, n); q != noChain {
				return q + "." + w.text(name), -1
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"using_directive", func(w *walk, n int32) {
			w.importing(n)
			alias := w.field(n, "name")
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if c == alias {
					continue
				}
				path := csPath(w, c)
				head := w.t.Source[w.nodes[n].Start:w.nodes[c].Start]
				switch {
				case alias >= 0:
					w.imported(n, path, "", w.text(alias))
				case strings.Contains(head, "static"):
					w.imported(n, path, "*", "")
				default:
					w.imported(n, path, "", "")
				}
				return
			}
		}},
		{"namespace_declaration file_scoped_namespace_declaration", func(w *walk, n int32) {
			name := csPath(w, w.field(n, "name"))
			if around := w.enclosing(); around != nil || csNamespaces(w) > 1 || w.out.Facts.Package != "" {
				// One of several, or one in another, is a declaration around its own.
				w.declare(declaration{node: n, name: w.field(n, "name"), as: name, kind: "namespace", body: w.field(n, "body")}, func() { w.visit(w.field(n, "body")) })
				return
			}
			w.out.Facts.Package = name
			w.butField(n, "name")
		}},
		{"class_declaration interface_declaration struct_declaration record_declaration enum_declaration", func(w *walk, n int32) { csTypeDecl(w, n, csKinds[w.typ(n)]) }},
		{"enum_member_declaration", all(enumerator("name"), visits("value"))},
		{"delegate_declaration", func(w *walk, n int32) { csMember(w, n, "delegate", "") }},
		{"method_declaration", func(w *walk, n int32) { csMember(w, n, "method", "") }},
		{"local_function_statement", func(w *walk, n int32) { csMember(w, n, "function", "") }},
		{"constructor_declaration", func(w *walk, n int32) { csMember(w, n, "constructor", "") }},
		{"destructor_declaration", func(w *walk, n int32) { csMember(w, n, "destructor", "~"+w.text(w.field(n, "name"))) }},
		{"operator_declaration conversion_operator_declaration", func(w *walk, n int32) {
			// The operator is before the parameters: "operator +(…)".
			head := w.text(n)
			if p := w.field(n, "parameters"); p >= 0 {
				head = w.t.Source[w.nodes[n].Start:w.nodes[p].Start]
			}
			name := "operator"
			if i := strings.Index(head, "operator"); i >= 0 {
				name = "operator " + strings.Join(strings.Fields(head[i+len("operator"):]), " ")
			}
			csMember(w, n, "operator", strings.TrimSpace(name))
		}},
		{"indexer_declaration", func(w *walk, n int32) { csMember(w, n, "property", "this[]") }},
		{"property_declaration event_declaration", all(owns("name", "type"), func(w *walk, n int32) { csMember(w, n, "property", "") })},
		{"event_field_declaration field_declaration", func(w *walk, n int32) {
			w.over(n, "variable_declaration", func(c int32) { csVariablesOf(w, c, "self.") })
		}},
		{"variable_declaration", func(w *walk, n int32) { csVariablesOf(w, n, "") }},
		{"block switch_body switch_expression for_statement using_statement catch_clause " +
			"lambda_expression anonymous_method_expression accessor_declaration", func(w *walk, n int32) {
			kind := w.typ(n)
			w.within(n, func() {
				if p := w.field(n, "parameters"); kind == "lambda_expression" && w.typ(p) == "identifier" {
					w.bindHere(w.text(p), "")
				}
				w.children(n)
			})
		}},
		{"foreach_statement", scope(takes("left", "type"), uses(kb.UseType, "type"), visits("right", "body"))},
		{"catch_declaration declaration_pattern declaration_expression recursive_pattern", all(takes("name", "type"), uses(kb.UseType, "type"), rest("type", "name"))},
		{"parameter", all(binds("name", "type"), uses(kb.UseType, "type"), rest("type"))},
		{"parameter_list", func(w *walk, n int32) {
			// "params int[] sizes" has no node of its own.
			typ := int32(-1)
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.fieldOf(c) {
				case "type":
					typ = c
					csType(w, c, kb.UseType)
				case "name":
					w.bindHere(w.text(c), csTypeName(w, typ))
				default:
					w.visit(c)
				}
			}
		}},
		{"implicit_parameter", func(w *walk, n int32) { w.bindHere(w.text(n), "") }},
		{"invocation_expression", func(w *walk, n int32) {
			i, f := len(w.out.Facts.References), w.field(n, "function")
			csUse(w, f, kb.UseCall)
			if t := w.typ(f); t == "identifier" && w.text(f) != "nameof" || t == "generic_name" || t == "member_access_expression" {
				w.argued(i, w.field(n, "arguments"), 0)
			}
			w.visit(w.field(n, "arguments"))
		}},
		{"object_creation_expression", func(w *walk, n int32) {
			i := len(w.out.Facts.References)
			csType(w, w.field(n, "type"), kb.UseCall)
			if args := w.field(n, "arguments"); args >= 0 {
				w.argued(i, args, 0)
			}
			w.visitAll(w.field(n, "arguments"), w.field(n, "initializer"))
		}},
		{"constructor_initializer", func(w *walk, n int32) {
			own := !strings.HasPrefix(strings.TrimLeft(w.text(n), ": \t\r\n"), "base")
			delegates(w, n, own, w.child(n, "argument_list"))
			w.children(n)
		}},
		{"attribute", all(uses(kb.UseType, "name"), visits("#attribute_argument_list"))},
		{"type_parameter", func(w *walk, n int32) { w.bindHere(w.text(w.field(n, "name")), "") }},
		{"type_parameter_constraint typeof_expression default_expression cast_expression array_creation_expression", all(
			uses(kb.UseType, "type"), rest("type"))},
		{"from_clause", all(uses(kb.UseType, "type"), binds("name", "type"), rest("type"))},
		{"as_expression is_expression", all(visits("left"), uses(kb.UseType, "right"))},
		{"type_argument_list", eachUses(kb.UseType)},
		{"assignment_expression", func(w *walk, n int32) {
			left := w.field(n, "left")
			if w.chain(left) == noChain {
				w.visit(left)
			}
			w.visit(w.field(n, "right"))
		}},
	},
}

var csKinds = map[string]string{"class_declaration": "class", "interface_declaration": "interface", "struct_declaration": "struct", "record_declaration": "record", "enum_declaration": "enum"}

// csNamespaces counts the namespaces at the top of a file.
func csNamespaces(w *walk) int {
	n := 0
	for c := w.first(0); c >= 0; c = w.next(0, c) {
		if k := w.typ(c); k == "namespace_declaration" || k == "file_scoped_namespace_declaration" {
			n++
		}
	}
	return n
}

func csTypeDecl(w *walk, n int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), kind: kind, inner: javaInner(w), sigStart: w.behind(n, "", "attribute_list")}
	if w.text(d.name) == "" {
		w.children(n)
		return
	}
	for c := w.first(n); c >= 0 && w.typ(c) == "attribute_list"; c = w.next(n, c) {
		w.visit(c)
	}
	base := ""
	if l := w.child(n, "base_list"); l >= 0 {
		first := w.first(l)
		if w.typ(first) == "primary_constructor_base_type" {
			first = w.field(first, "type")
		}
		base = csTypeName(w, first)
	}
	w.declare(d, func() {
		extending(w, base, func() {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "attribute_list":
				case "base_list":
					for b := w.first(c); b >= 0; b = w.next(c, b) {
						if w.typ(b) == "argument_list" {
							w.visit(b)
						} else if w.typ(b) == "primary_constructor_base_type" {
							csType(w, w.field(b, "type"), kb.UseInherit)
							w.visit(w.child(b, "argument_list"))
						} else {
							csType(w, b, kb.UseInherit)
						}
					}
				case "parameter_list":
					for p := w.first(c); p >= 0 && kind == "record"; p = w.next(c, p) {
						if name := w.field(p, "name"); name >= 0 {
							w.bindHere("self."+w.text(name), csTypeName(w, w.field(p, "type")))
						}
					}
					w.visit(c)
				default:
					if w.fieldOf(c) != "name" {
						w.visit(c)
					}
				}
			}
		})
	})
}

// csMember declares a member called as, or by its field "name".
func csMember(w *walk, n int32, kind, as string) {
	d := declaration{node: n, name: w.field(n, "name"), as: as, body: w.field(n, "body"), kind: kind, inner: javaInner(w), sigStart: w.behind(n, "", "attribute_list")}
	if as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	if kind == "function" {
		d.inner = true
	}
	// A property ends its signature at its accessors or its arrow.
	if d.body < 0 {
		d.body = w.field(n, "accessors")
	}
	if v := w.field(n, "value"); d.body < 0 && w.typ(v) == "arrow_expression_clause" {
		d.body = v
	}
	for c := w.first(n); c >= 0 && w.typ(c) == "attribute_list"; c = w.next(n, c) {
		w.visit(c)
	}
	w.declare(d, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch f := w.fieldOf(c); {
			case w.typ(c) == "attribute_list" || f == "name":
			case f == "type" || f == "returns":
				csType(w, c, kb.UseType)
			case w.typ(c) == "explicit_interface_specifier":
				csType(w, w.first(c), kb.UseType)
			default:
				w.visit(c)
			}
		}
	})
}

// csVariablesOf binds variables, or fields with prefix "self.".
func csVariablesOf(w *walk, n int32, prefix string) {
	typ := w.field(n, "type")
	name := csTypeName(w, typ)
	csType(w, typ, kb.UseType)
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) != "variable_declarator" {
			continue
		}
		id := w.field(c, "name")
		t := name
		for v := w.first(c); v >= 0; v = w.next(c, v) {
			if v == id {
				continue
			}
			if t == "" {
				t = csMade(w, v)
			}
		}
		if id >= 0 {
			w.bindHere(prefix+w.text(id), t)
		} else if p := w.child(c, "tuple_pattern"); p >= 0 {
			csBind(w, p, "")
		}
		if prefix != "" {
			w.within(c, func() { w.children(c) })
		} else {
			w.children(c)
		}
	}
}
