package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var swift = &spec{
	grammar:  "swift",
	comments: []string{"comment", "multiline_comment"},
	chains: chains{
		{"simple_identifier type_identifier", unticked},
		{"self_expression", meaning("self")},
		{"super_expression", meaning("super")},
		{"user_type", link{read: func(w *walk, n int32) (string, int32) { return plainType(w.text(n)), -1 }}},
		{"postfix_expression", inside("1")},
		{"navigation_expression", link{read: func(w *walk, n int32) (string, int32) {
			if x := swiftSuffix(w, n); x >= 0 {
				return w.text(x), w.field(n, "target")
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"import_declaration", func(w *walk, n int32) {
			w.importing(n)
			if c := w.child(n, "identifier"); c >= 0 {
				path := w.text(c)
				name, local := "", path
				head := w.t.Source[w.nodes[n].Start:w.nodes[c].Start]
				// "import struct Lib.Foo" takes one name.
				for _, k := range []string{"struct", "class", "enum", "protocol", "func", "typealias", "let", "var"} {
					if strings.HasSuffix(strings.TrimSpace(head), " "+k) {
						if i := strings.LastIndexByte(path, '.'); i > 0 {
							name, local, path = path[i+1:], path[i+1:], path[:i]
						}
					}
				}
				w.imported(n, path, name, local)
			}
		}},
		{"class_declaration", swiftType},
		{"protocol_declaration", swiftDeclares("name", "", "protocol", "body")},
		{"function_declaration protocol_function_declaration", func(w *walk, n int32) {
			name, as := w.field(n, "name"), ""
			if name < 0 || w.typ(name) != "simple_identifier" {
				// An operator is no node: it is behind "func".
				as = swiftOperator(w, n)
				name = -1
				if as == "" {
					w.children(n)
					return
				}
			}
			k := "function"
			if swiftMember(w) {
				k = "method"
			}
			swiftDeclare(w, n, name, as, k, w.field(n, "body"), func() { swiftRest(w, n) })
		}},
		{"init_declaration", swiftDeclares("", "init", "constructor", "body")},
		{"deinit_declaration", swiftDeclares("", "deinit", "method", "body")},
		{"subscript_declaration", swiftDeclares("", "subscript", "method", "#computed_property")},
		{"property_declaration protocol_property_declaration", swiftProperty},
		{"typealias_declaration associatedtype_declaration", func(w *walk, n int32) {
			swiftDeclare(w, n, w.field(n, "name"), "", "type", -1, nil)
			swiftRest(w, n)
		}},
		{"enum_entry", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "name" && w.typ(c) == "simple_identifier" {
					w.declare(declaration{node: n, name: c, kind: "enumerator", inner: true}, nil)
				} else {
					w.visit(c)
				}
			}
		}},
		{"call_expression", func(w *walk, n int32) {
			f, suffix := w.first(n), w.child(n, "call_suffix")
			args := 0
			if a := w.child(suffix, "value_arguments"); suffix >= 0 && a >= 0 {
				args = w.count(a)
				if w.child(suffix, "lambda_literal") >= 0 {
					args++
				}
				args++
			}
			swiftUse(w, f, kb.UseCall, args)
			w.visit(suffix)
		}},
		{"user_type", func(w *walk, n int32) { swiftUserType(w, n, kb.UseType) }},
		{"parameter", func(w *walk, n int32) {
			var name, typ int32 = -1, -1
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "name" {
					if w.typ(c) == "simple_identifier" {
						name = c
					} else {
						typ = c
					}
				}
			}
			if d := w.enclosing(); d != nil && d.Body >= 0 {
				w.bindIn(d, w.text(name), swiftPlain(w, typ))
			}
			w.visit(typ)
		}},
		{"inheritance_specifier", func(w *walk, n int32) {
			if t := w.field(n, "inherits_from"); w.typ(t) == "user_type" {
				swiftUserType(w, t, kb.UseInherit)
			} else {
				w.children(n)
			}
		}},
		{"lambda_literal", all(scope(func(w *walk, n int32) { swiftLambda(w, w.field(n, "type")) }), children)},
		{"guard_statement if_statement while_statement", func(w *walk, n int32) {
			var names []int32
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "bound_identifier" {
					names = append(names, c)
				}
			}
			for _, c := range names {
				if w.enclosing() != nil {
					w.bindHere(w.text(c), "")
				}
			}
			w.children(n)
		}},
		{"for_statement", func(w *walk, n int32) {
			if item := w.field(n, "item"); item >= 0 {
				if b := w.field(item, "bound_identifier"); b >= 0 {
					w.bind(n, w.text(b), "")
				}
			}
			w.children(n)
		}},
		{"type_parameter", func(w *walk, n int32) {
			w.over(n, "type_identifier", func(c int32) { w.bindIn(w.enclosing(), w.text(c), "") })
		}},
		{"navigation_expression", func(w *walk, n int32) {
			// Foo.bar read, where Foo looks like a type.
			target := w.field(n, "target")
			if q := w.chain(target); q != noChain && q != "" && q[0] >= 'A' && q[0] <= 'Z' {
				swiftUse(w, n, kb.UseName, 0)
				return
			}
			w.children(n)
		}},
	},
}

// swiftDeclares declares a node by a part, or as, with its body.
func swiftDeclares(name, as, kind, body string) rule {
	return func(w *walk, n int32) {
		swiftDeclare(w, n, w.part(n, name), as, kind, w.part(n, body), func() { swiftRest(w, n) })
	}
}

func swiftDeclare(w *walk, n, name int32, as, kind string, body int32, inside func()) {
	if as == "" && (name < 0 || w.text(name) == "") {
		w.children(n)
		return
	}
	around := w.enclosing()
	inner := around != nil && (around.Kind == "function" || around.Kind == "method" || around.Kind == "constructor")
	w.declare(declaration{node: n, name: name, as: strings.Trim(as, "`"), kind: kind, body: body, inner: inner}, inside)
}

// swiftMember reports whether the place is in a type, of which extensions are
// no declarations but names of the path.
func swiftMember(w *walk) bool {
	if d := w.enclosing(); d != nil {
		return d.Kind != "function" && d.Kind != "method" && d.Kind != "constructor"
	}
	return len(w.path) > 0
}

func swiftRest(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "name" || w.typ(c) != "simple_identifier" && w.typ(c) != "type_identifier" && w.typ(c) != "pattern" {
			w.visit(c)
		}
	}
}

func swiftOperator(w *walk, n int32) string {
	s := w.text(n)
	_, s, ok := strings.Cut(s, "func")
	if !ok {
		return ""
	}
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "( \t\n<"); i > 0 {
		return s[:i]
	} else if i == 0 && strings.HasPrefix(s, "<") {
		if i := strings.IndexAny(s, "( \t\n"); i > 0 {
			return s[:i]
		}
	}
	return ""
}

// swiftType reads class, struct, enum, actor and extension, which the grammar
// calls by one name.
func swiftType(w *walk, n int32) {
	name, body := w.field(n, "name"), w.field(n, "body")
	head := ""
	if name >= 0 {
		from := w.nodes[n].Start
		if m := w.child(n, "modifiers"); m >= 0 && w.nodes[m].End <= w.nodes[name].Start {
			from = w.nodes[m].End
		}
		head = w.t.Source[from:w.nodes[name].Start]
	}
	kind := "class"
	for _, k := range []string{"extension", "struct", "enum", "actor"} {
		if strings.Contains(head, k) {
			kind = k
			break
		}
	}
	if kind == "actor" {
		kind = "class"
	}
	if kind != "extension" {
		swiftDeclare(w, n, name, "", kind, body, func() { swiftRest(w, n) })
		return
	}
	path := w.path
	w.use(name, plainLast(w.text(name)), "", kb.UseType)
	w.path = append(append([]string(nil), path...), strings.Split(plainType(w.text(name)), ".")...)
	w.but(n, name)
	w.path = path
}
