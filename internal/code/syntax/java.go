package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var java = &spec{
	typ: javaTypeName, use: javaUse,
	grammar:  "java",
	comments: []string{"line_comment", "block_comment"},
	chains: chains{
		{"identifier", itself},
		{"this", meaning("self")},
		{"super", meaning("super")},
		{"field_access", link{name: "field", on: "object"}},
	},
	rules: rules{
		{"package_declaration", all(visits("#annotation marker_annotation"), func(w *walk, n int32) {
			w.out.Facts.Package = unspaced(w.text(w.child(n, "scoped_identifier", "identifier")))
		})},
		{"import_declaration", func(w *walk, n int32) {
			w.importing(n)
			path := unspaced(w.text(w.child(n, "scoped_identifier", "identifier")))
			if w.child(n, "asterisk") >= 0 {
				w.imported(n, path, "*", "")
				return
			}
			local := path[strings.LastIndexByte(path, '.')+1:]
			of := strings.TrimSuffix(path[:len(path)-len(local)], ".")
			w.imported(n, of, local, local)
		}},
		{"class_declaration interface_declaration enum_declaration record_declaration " +
			"annotation_type_declaration", func(w *walk, n int32) { javaTypeDecl(w, n, javaKinds[w.typ(n)]) }},
		{"enum_constant", func(w *walk, n int32) {
			name := w.field(n, "name")
			w.visitAll(w.child(n, "modifiers"), w.field(n, "arguments"))
			if w.text(name) != "" {
				w.declare(declaration{node: n, name: name, kind: "enumerator", body: w.field(n, "body"), inner: true}, func() {
					w.visit(w.field(n, "body"))
				})
			}
		}},
		{"method_declaration constructor_declaration compact_constructor_declaration " +
			"annotation_type_element_declaration", func(w *walk, n int32) { javaMethodDecl(w, n, w.typ(n)) }},
		{"field_declaration constant_declaration", func(w *walk, n int32) { javaVariables(w, n, true) }},
		{"local_variable_declaration", func(w *walk, n int32) { javaVariables(w, n, false) }},
		{"block switch_block for_statement try_with_resources_statement constructor_body", scoped},
		{"enhanced_for_statement", scope(binds("name", "type"), children)},
		{"catch_clause", scoped},
		{"catch_formal_parameter", func(w *walk, n int32) {
			types := w.child(n, "catch_type")
			typ := ""
			if types >= 0 {
				if c := w.first(types); c >= 0 && w.next(types, c) < 0 {
					typ = javaTypeName(w, c)
				}
			}
			w.bindHere(w.text(w.field(n, "name")), typ)
			w.children(n)
		}},
		{"resource instanceof_expression", func(w *walk, n int32) {
			kind := w.typ(n)
			if name := w.field(n, "name"); name >= 0 && w.typ(name) == "identifier" {
				typ := w.field(n, "type")
				if kind == "instanceof_expression" {
					typ = w.field(n, "right")
				}
				made := cmp.Or(javaTypeName(w, typ), javaMade(w, w.field(n, "value")))
				w.bindHere(w.text(name), made)
			}
			w.children(n)
		}},
		{"formal_parameter", all(binds("name", "type"), children)},
		{"spread_parameter", func(w *walk, n int32) {
			if v := w.child(n, "variable_declarator"); v >= 0 {
				typ := ""
				for c := w.first(n); c >= 0 && c != v; c = w.next(n, c) {
					if w.typ(c) != "modifiers" {
						typ = javaTypeName(w, c)
					}
				}
				w.bindHere(w.text(w.field(v, "name")), typ)
			}
			w.children(n)
		}},
		{"lambda_expression", func(w *walk, n int32) {
			w.within(n, func() {
				p := w.field(n, "parameters")
				if w.typ(p) == "identifier" {
					w.bindHere(w.text(p), "")
				} else if w.typ(p) == "inferred_parameters" {
					w.each(p, func(c int32) { w.bindHere(w.text(c), "") })
				}
				w.children(n)
			})
		}},
		{"type_pattern record_pattern_component", func(w *walk, n int32) {
			typ := w.first(n)
			if typ >= 0 {
				if name := w.child(n, "identifier"); name >= 0 && name != typ {
					w.bindHere(w.text(name), javaTypeName(w, typ))
				}
			}
			w.children(n)
		}},
		{"record_pattern", func(w *walk, n int32) {
			c := w.child(n, "identifier")
			w.use(c, w.text(c), "", kb.UseType)
			w.children(n)
		}},
		{"method_invocation", func(w *walk, n int32) {
			object, q := w.field(n, "object"), ""
			if object >= 0 {
				if q = w.chain(object); q == noChain {
					w.visit(object)
				}
			}
			name := w.field(n, "name")
			i := len(w.out.Facts.References)
			w.use(name, w.text(name), q, kb.UseCall)
			w.argued(i, w.field(n, "arguments"), 0)
			w.visitAll(w.field(n, "type_arguments"), w.field(n, "arguments"))
		}},
		{"object_creation_expression", func(w *walk, n int32) {
			typ := w.field(n, "type")
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if c == typ {
					i := len(w.out.Facts.References)
					javaUse(w, c, kb.UseCall)
					w.argued(i, w.field(n, "arguments"), 0)
				} else if w.typ(c) == "class_body" {
					w.within(c, func() { w.visit(c) })
				} else {
					w.visit(c)
				}
			}
		}},
		{"explicit_constructor_invocation", func(w *walk, n int32) {
			delegates(w, n, w.typ(w.field(n, "constructor")) == "this", w.field(n, "arguments"))
			w.visitAll(w.field(n, "type_arguments"), w.field(n, "arguments"))
		}},
		{"method_reference", javaReference},
		{"annotation marker_annotation", func(w *walk, n int32) {
			name := w.field(n, "name")
			if q, last := splitQualified(unspaced(w.text(name))); last != "" {
				w.use(n, last, q, kb.UseType)
			}
			w.visit(w.field(n, "arguments"))
		}},
		{"type_identifier scoped_type_identifier", func(w *walk, n int32) { javaUse(w, n, kb.UseType) }},
		{"type_parameter", func(w *walk, n int32) {
			name := w.child(n, "type_identifier", "identifier")
			w.bindHere(w.text(name), "")
			w.but(n, name)
		}},
		{"assignment_expression", func(w *walk, n int32) {
			left := w.field(n, "left")
			if w.typ(left) != "field_access" || w.chain(left) == noChain {
				w.visit(left)
			}
			w.visit(w.field(n, "right"))
		}},
	},
}

var javaKinds = map[string]string{"class_declaration": "class", "interface_declaration": "interface", "enum_declaration": "enum", "record_declaration": "record", "annotation_type_declaration": "annotation"}

func isTypeKind(kind string) bool {
	switch kind {
	case "class", "interface", "enum", "record", "annotation", "struct", "object", "type":
		return true
	}
	return false
}

// javaInner reports whether the walk is inside of a method, an
// initializer or a class without a name.
func javaInner(w *walk) bool {
	d := w.enclosing()
	return w.region != 0 || d != nil && !isTypeKind(d.Kind) && d.Kind != "namespace"
}

func javaTypeDecl(w *walk, n int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), kind: kind, inner: javaInner(w),
		sigStart: w.behind(n, "modifiers", "annotation", "marker_annotation")}
	if w.text(d.name) == "" {
		w.children(n)
		return
	}
	w.visit(w.child(n, "modifiers"))
	base := ""
	if s := w.field(n, "superclass"); s >= 0 {
		base = javaTypeName(w, w.first(s))
	}
	w.declare(d, func() {
		extending(w, base, func() {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "modifiers":
				case "superclass", "super_interfaces", "extends_interfaces":
					javaInherits(w, c)
				case "formal_parameters": // of a record
					for p := w.first(c); p >= 0; p = w.next(c, p) {
						if name := w.field(p, "name"); name >= 0 {
							typ := javaTypeName(w, w.field(p, "type"))
							w.bindIn(w.enclosing(), "self."+w.text(name), typ)
						}
					}
					w.children(c)
				default:
					w.visit(c)
				}
			}
		})
	})
}

func javaInherits(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "type_list" {
			javaInherits(w, c)
		} else {
			javaUse(w, c, kb.UseInherit)
		}
	}
}

func javaMethodDecl(w *walk, n int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), kind: "method", inner: javaInner(w),
		sigStart: w.behind(n, "modifiers", "annotation", "marker_annotation")}
	if kind == "constructor_declaration" || kind == "compact_constructor_declaration" {
		d.kind = "constructor"
	}
	if w.text(d.name) == "" {
		w.children(n)
		return
	}
	w.visit(w.child(n, "modifiers"))
	w.declare(d, func() {
		w.butType(n, "modifiers")
	})
}

// javaVariables binds the variables of a declaration of fields or locals.
func javaVariables(w *walk, n int32, field bool) {
	typ := w.field(n, "type")
	name := javaTypeName(w, typ)
	w.visit(w.child(n, "modifiers"))
	w.visit(typ)
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) != "variable_declarator" {
			continue
		}
		value, t := w.field(c, "value"), name
		if t == "" {
			t = javaMade(w, value)
		}
		if d := w.enclosing(); field && w.region == 0 && d != nil {
			w.bindIn(d, "self."+w.text(w.field(c, "name")), t)
		} else if field {
			w.bindHere("self."+w.text(w.field(c, "name")), t)
		} else {
			w.bindHere(w.text(w.field(c, "name")), t)
		}
		if field {
			w.within(c, func() { w.visit(value) })
		} else {
			w.visit(value)
		}
	}
}

// extending calls f for what is in a type with a base class, "" without one.
func extending(w *walk, base string, f func()) {
	old := w.state
	w.state = base
	w.within(0, f)
	w.state = old
}

// delegates records the call that a constructor makes of another one: of its
// own class, or of the base that extending gave. They go by the classes' names,
// as "new" does.
func delegates(w *walk, n int32, own bool, args int32) {
	name := ""
	if own {
		if d := w.enclosingKind("class", "enum", "record", "struct"); d != nil {
			name = d.Name
		}
	} else if s, ok := w.state.(string); ok {
		name = s
	}
	qualifier, last := splitQualified(name)
	i := len(w.out.Facts.References)
	if w.use(n, last, qualifier, kb.UseCall); last != "" {
		w.argued(i, args, 0)
	}
}
