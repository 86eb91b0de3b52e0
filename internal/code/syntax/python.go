package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var python = &spec{
	use: pythonUse, made: pythonMade,
	pattern:  func(w *walk, n int32, typ string) { pythonTarget(w, n, -1, typ) },
	grammar:  "python",
	comments: []string{"comment"},
	chains: chains{
		{"identifier", itself},
		{"attribute", link{name: "attribute", on: "object"}},
		{"call", link{read: func(w *walk, n int32) (string, int32) {
			if w.text(w.field(n, "function")) == "super" {
				return "super", -1
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"function_definition class_definition", func(w *walk, n int32) { pythonDef(w, n, w.typ(n), -1) }},
		{"decorated_definition", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if k := w.typ(c); k == "function_definition" || k == "class_definition" {
					pythonDef(w, c, k, n)
				} else {
					w.visit(c)
				}
			}
		}},
		{"import_statement", func(w *walk, n int32) {
			w.importing(n)
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "dotted_name":
					// import a.b binds a, and makes a.b reachable.
					w.imported(n, w.text(c), "", w.text(c))
				case "aliased_import":
					w.imported(n, w.text(w.field(c, "name")), "", w.text(w.field(c, "alias")))
				}
			}
		}},
		{"import_from_statement", func(w *walk, n int32) {
			w.importing(n)
			module := w.field(n, "module_name")
			path := strings.ReplaceAll(w.text(module), " ", "")
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if c == module {
					continue
				}
				switch w.typ(c) {
				case "dotted_name":
					w.imported(c, path, w.text(c), w.text(c))
				case "aliased_import":
					w.imported(c, path, w.text(w.field(c, "name")), w.text(w.field(c, "alias")))
				case "wildcard_import":
					w.imported(c, path, "*", "")
				}
			}
		}},
		{"future_import_statement", func(w *walk, n int32) { w.importing(n) }},
		{"call", all(uses(kb.UseCall, "function"), visits("arguments"))},
		{"decorator", func(w *walk, n int32) {
			// A decorator without arguments is called all the same.
			if c := w.first(n); c >= 0 {
				if t := w.typ(c); t == "identifier" || t == "attribute" {
					pythonUse(w, c, kb.UseCall)
				} else {
					w.visit(c)
				}
			}
		}},
		{"assignment", pythonAssignment},
		{"type_alias_statement", func(w *walk, n int32) {
			if left := w.child(w.first(n), "identifier"); left >= 0 {
				w.declare(declaration{node: n, name: left, kind: "type", inner: len(w.scope) > 0}, nil)
			}
			w.children(n)
		}},
		{"parameters", func(w *walk, n int32) {
			d := w.enclosing()
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "typed_parameter":
					name := w.first(c)
					w.bindIn(d, strings.Trim(w.text(name), "* "), pythonType(w, w.field(c, "type")))
					w.visit(w.field(c, "type"))
				case "typed_default_parameter":
					w.bindIn(d, w.text(w.field(c, "name")), pythonType(w, w.field(c, "type")))
					w.visitAll(w.field(c, "type"), w.field(c, "value"))
				case "default_parameter":
					w.bindIn(d, w.text(w.field(c, "name")), "")
					w.visit(w.field(c, "value"))
				default:
					w.bindIn(d, strings.Trim(w.text(c), "* "), "")
				}
			}
		}},
		{"lambda", func(w *walk, n int32) {
			if p := w.field(n, "parameters"); p >= 0 {
				for c := w.first(p); c >= 0; c = w.next(p, c) {
					if w.typ(c) == "identifier" {
						w.bind(n, w.text(c), "")
					} else if x := w.field(c, "name"); x >= 0 {
						w.bind(n, w.text(x), "")
					}
				}
			}
			w.visit(w.field(n, "body"))
		}},
		{"type", pythonTypes},
		{"for_statement for_in_clause", all(func(w *walk, n int32) { pythonTarget(w, w.field(n, "left"), n, "") }, children)},
		{"named_expression", all(assigns("name", "value"), visits("value"))},
		{"as_pattern", all(assigns("alias", "1"), visits("1"))}, // "open(p) as f", and "except E as e", where it is of the type
		{"except_clause", func(w *walk, n int32) {
			if v := w.field(n, "value"); v >= 0 {
				if t := w.typ(v); t == "identifier" || t == "attribute" {
					pythonUse(w, v, kb.UseType)
				} else if t == "as_pattern" {
					if c := w.first(v); c >= 0 {
						if t := w.typ(c); t == "identifier" || t == "attribute" {
							pythonUse(w, c, kb.UseType)
							pythonTarget(w, w.field(v, "alias"), -1, w.text(c))
						} else {
							w.visit(c)
							pythonTarget(w, w.field(v, "alias"), -1, "")
						}
					}
				}
			}
			w.butField(n, "value")
		}},
	},
}

func pythonDef(w *walk, n int32, kind string, outer int32) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), outer: outer, kind: "class"}
	if d.name < 0 || w.text(d.name) == "" {
		w.children(n)
		return
	}
	around := w.enclosing()
	if kind == "function_definition" {
		d.kind = "function"
		if around != nil && around.Kind == "class" {
			d.kind = "method"
		}
	}
	d.inner = around != nil && around.Kind != "class"
	if d.body >= 0 {
		if s := w.first(d.body); s >= 0 && w.typ(s) == "expression_statement" {
			d.doc = w.child(s, "string")
		}
	}
	if kind == "class_definition" {
		for c, p := int32(-1), w.field(n, "superclasses"); p >= 0; {
			if c < 0 {
				c = w.first(p)
			} else {
				c = w.next(p, c)
			}
			if c < 0 {
				break
			}
			switch w.typ(c) {
			case "identifier", "attribute":
				pythonUse(w, c, kb.UseInherit)
			case "subscript":
				pythonUse(w, w.field(c, "value"), kb.UseInherit)
			default:
				w.visit(c)
			}
		}
	}
	w.declare(d, func() {
		w.visitAll(w.field(n, "parameters"), w.field(n, "return_type"), d.body)
	})
}

// pythonUse records the use that an expression makes of a name.
func pythonUse(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "identifier":
		w.use(n, w.text(n), "", kind)
	case "attribute":
		object := w.field(n, "object")
		q := w.chain(object)
		w.use(w.field(n, "attribute"), w.text(w.field(n, "attribute")), q, kind)
		if q == noChain {
			w.visit(object)
		}
	default:
		w.visit(n)
	}
}

// pythonMade returns the type that an expression makes a value of: the
// constructor that it calls.
func pythonMade(w *walk, n int32) string {
	if n >= 0 && w.typ(n) == "call" {
		f := w.field(n, "function")
		if q := w.chain(f); q != noChain {
			last := q[strings.LastIndexByte(q, '.')+1:]
			if c := strings.TrimLeft(last, "_"); c != "" && c[0] >= 'A' && c[0] <= 'Z' {
				return q
			}
		}
	}
	return ""
}

// pythonType returns an annotation as a kb.Binding has it: "Optional[T]" and
// "T | None" are T.
func pythonType(w *walk, n int32) string {
	s := strings.Trim(w.text(n), `"' `)
	for _, p := range []string{"Optional[", "typing.Optional[", "t.Optional["} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			s = strings.TrimSuffix(rest, "]")
		}
	}
	if a, b, ok := strings.Cut(s, "|"); ok {
		if a, b = strings.TrimSpace(a), strings.TrimSpace(b); b == "None" {
			s = a
		} else if a == "None" && !strings.Contains(b, "|") {
			s = b
		} else {
			return ""
		}
	}
	return plainType(s)
}

// pythonTypes records the names in an annotation.
func pythonTypes(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "identifier", "attribute":
			pythonUse(w, c, kb.UseType)
		case "generic_type":
			pythonTypes(w, c)
		default:
			pythonTypes(w, c)
		}
	}
}

// pythonTarget binds what is assigned to: for the lines of within, or of the
// declaration around for -1.
func pythonTarget(w *walk, n int32, within int32, typ string) {
	switch w.typ(n) {
	case "identifier":
		d := w.enclosing()
		switch {
		case within >= 0:
			w.bind(within, w.text(n), typ)
		case d != nil && d.Kind == "class":
			w.bindIn(d, "self."+w.text(n), typ)
		case d != nil:
			w.bindIn(d, w.text(n), typ)
		case typ != "":
			w.bindIn(nil, w.text(n), typ)
		}
	case "attribute":
		if w.text(w.field(n, "object")) == "self" {
			w.bindIn(w.enclosingKind("class"), "self."+w.text(w.field(n, "attribute")), typ)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			t := ""
			if w.typ(n) == "as_pattern_target" {
				t = typ
			}
			pythonTarget(w, c, within, t)
		}
	}
}

// pythonAssignment reads "x = …", "x: T = …" and "self.x = …". Those at top
// level and in classes in upper case or annotated are declarations.
func pythonAssignment(w *walk, n int32) {
	left, right, typ := w.field(n, "left"), w.field(n, "right"), w.field(n, "type")
	made := cmp.Or(pythonType(w, typ), pythonMade(w, right))
	d := w.enclosing()
	if w.typ(left) == "identifier" && d == nil {
		kind := "var"
		if name := w.text(left); strings.ToUpper(name) == name && strings.ToLower(name) != name {
			kind = "const"
		}
		w.declare(declaration{node: n, name: left, kind: kind, inner: true}, nil)
	}
	if d == nil && w.typ(left) != "identifier" {
		pythonNames(w, left, func(name int32) {
			w.declare(declaration{node: n, name: name, kind: "var", inner: true}, nil)
		})
	}
	pythonTarget(w, left, -1, made)
	if t := w.typ(left); t == "subscript" || t == "attribute" {
		w.children(left)
	}
	w.visitAll(typ, right)
}

// pythonNames calls f with the names in a list of targets: "a, *b = …".
func pythonNames(w *walk, n int32, f func(name int32)) {
	switch w.typ(n) {
	case "identifier":
		f(n)
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern":
		w.each(n, func(c int32) { pythonNames(w, c, f) })
	}
}
