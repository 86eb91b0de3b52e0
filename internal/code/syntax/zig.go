package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var zig = &spec{
	typ: zigPlain, use: zigNames,
	grammar:  "zig",
	comments: []string{"comment"},
	chains: chains{
		{"identifier", itself},
		{"field_expression", link{read: func(w *walk, n int32) (string, int32) {
			if o := w.field(n, "object"); o >= 0 {
				return w.text(w.field(n, "member")), o
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"variable_declaration", zigVariable},
		{"function_declaration", func(w *walk, n int32) {
			name, body := w.field(n, "name"), w.field(n, "body")
			if name < 0 || w.text(name) == "" {
				w.children(n)
				return
			}
			k := "function"
			d := w.enclosing()
			if d != nil && zigContainer(d.Kind) {
				k = "method"
			}
			w.declare(declaration{node: n, name: name, kind: k, body: body, inner: d != nil && !zigContainer(d.Kind)}, func() {
				w.visit(w.child(n, "parameters"))
				zigType(w, w.field(n, "type"))
				w.visit(body)
			})
		}},
		{"test_declaration", func(w *walk, n int32) {
			body := w.child(n, "block")
			name := w.first(n)
			if name == body || name < 0 {
				w.declare(declaration{node: n, name: -1, as: "test", kind: "test", body: body}, func() { w.visit(body) })
				return
			}
			as := strings.ReplaceAll(strings.Trim(w.text(name), `"`), ".", "_")
			if as == "" {
				as = "test"
			}
			w.declare(declaration{node: n, name: name, as: as, kind: "test", body: body}, func() { w.visit(body) })
		}},
		{"container_field", func(w *walk, n int32) {
			name, typ := w.field(n, "name"), w.field(n, "type")
			d := w.enclosing()
			if d != nil && d.Kind == "enum" {
				if w.text(name) != "" {
					w.declare(declaration{node: n, name: name, kind: "enumerator", inner: true}, nil)
				}
			} else if d != nil {
				w.bindIn(d, "self."+w.text(name), zigPlain(w, typ))
			}
			zigType(w, typ)
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if c != name && c != typ {
					w.visit(c)
				}
			}
		}},
		{"call_expression", func(w *walk, n int32) {
			f := w.field(n, "function")
			zigUse(w, f, kb.UseCall, w.count(n))
			w.but(n, f)
		}},
		{"struct_initializer", func(w *walk, n int32) {
			c := w.first(n)
			if t := w.typ(c); t == "identifier" || t == "field_expression" {
				zigUse(w, c, kb.UseCall, 0)
			} else {
				w.visit(c)
			}
			if c >= 0 {
				w.after(n, c)
			}
		}},
		{"parameter", all(parameter("name", "type"), uses(kb.UseType, "type"))},
		{"payload", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.typ(c) == "identifier" && w.enclosing() != nil {
					w.bindHere(w.text(c), "")
				}
			}
		}},
		{"field_expression", func(w *walk, n int32) {
			// A.b, where A looks like a type.
			if q := w.chain(w.field(n, "object")); q != noChain && q != "" && q[0] >= 'A' && q[0] <= 'Z' {
				zigUse(w, n, kb.UseName, 0)
				return
			}
			w.children(n)
		}},
		{"error_set_declaration", skip},
	},
}

func zigContainer(kind string) bool {
	return kind == "struct" || kind == "enum" || kind == "union" || kind == "class"
}

var zigKinds = map[string]string{"struct_declaration": "struct", "enum_declaration": "enum", "union_declaration": "union", "opaque_declaration": "struct", "error_set_declaration": "enum"}

// zigVariable reads "const x = …": an import, a type, a value.
func zigVariable(w *walk, n int32) {
	name := w.first(n)
	for name >= 0 && w.typ(name) != "identifier" {
		name = w.next(n, name)
	}
	if name < 0 || w.text(name) == "" {
		w.children(n)
		return
	}
	typ := w.field(n, "type")
	var value int32 = -1
	for c := w.next(n, name); c >= 0; c = w.next(n, c) {
		if c != typ {
			value = c
		}
	}
	d := w.enclosing()
	local := d != nil && !zigContainer(d.Kind)
	if path, member := zigImport(w, value); path != "" {
		if !local {
			w.importing(n)
		}
		w.imported(n, path, member, w.text(name))
		return
	}
	if k := zigKinds[w.typ(value)]; k != "" {
		w.declare(declaration{node: n, name: name, kind: k, body: value, inner: local, sigEnd: int(w.nodes[value].Start) + max(0, strings.IndexByte(w.text(value), '{'))}, func() { w.children(value) })
		return
	}
	t := cmp.Or(zigPlain(w, typ), zigMade(w, value))
	if w.typ(value) == "builtin_function" && strings.HasPrefix(w.text(value), "@This") {
		if d != nil {
			w.bindIn(d, w.text(name), d.Name)
		}
		return
	}
	if local {
		w.bindHere(w.text(name), t)
		zigType(w, typ)
		w.visit(value)
		return
	}
	if t != "" {
		w.bindIn(d, w.text(name), t)
	}
	k := "var"
	if head := w.t.Source[w.nodes[n].Start:w.nodes[name].Start]; strings.Contains(head, "const") {
		k = "const"
	}
	x := declaration{node: n, name: name, kind: k}
	if value >= 0 && strings.Contains(w.text(value), "\n") {
		x.sigEnd = int(w.nodes[value].Start)
	}
	w.declare(x, func() {
		zigType(w, typ)
		if tt := w.typ(value); tt == "identifier" || tt == "field_expression" {
			zigUse(w, value, kb.UseName, 0)
		} else {
			w.visit(value)
		}
	})
}

// zigImport returns the path of @import("path"), with what is taken of it.
func zigImport(w *walk, n int32) (path, member string) {
	var parts []string
	for range 16 {
		if w.typ(n) != "field_expression" {
			break
		}
		parts = append([]string{w.text(w.field(n, "member"))}, parts...)
		n = w.field(n, "object")
	}
	if w.typ(n) != "builtin_function" || !strings.HasPrefix(w.text(n), "@import") {
		return "", ""
	}
	if a := w.child(n, "arguments"); a >= 0 {
		if s := w.child(a, "string"); s >= 0 {
			return strings.Trim(w.text(s), `"`), strings.Join(parts, ".")
		}
	}
	return "", ""
}

// zigType records the names in a type.
func zigType(w *walk, n int32) {
	switch w.typ(n) {
	case "":
	case "identifier", "field_expression":
		if w.text(n) != "Self" {
			zigUse(w, n, kb.UseType, 0)
		}
	case "pointer_type", "slice_type", "nullable_type", "error_union_type", "array_type", "optional_type":
		w.each(n, func(c int32) { zigType(w, c) })
	default:
		w.visit(n)
	}
}

// zigNames records the names in a type or an expression.
func zigNames(w *walk, n int32, kind kb.UseKind) {
	if kind == kb.UseType {
		zigType(w, n)
		return
	}
	zigUse(w, n, kind, 0)
}

func zigUse(w *walk, n int32, kind kb.UseKind, args int) {
	switch w.typ(n) {
	case "":
	case "identifier":
		if w.text(n) != "Self" {
			w.use(n, w.text(n), "", kind, args)
		}
	case "field_expression":
		object := w.field(n, "object")
		q := w.chain(object)
		if object < 0 {
			q = noChain // .member of what is expected
		}
		if m := w.field(n, "member"); m >= 0 {
			w.use(m, w.text(m), q, kind, args)
		}
		if q == noChain {
			w.visit(object)
		}
	default:
		w.visit(n)
	}
}

func zigPlain(w *walk, n int32) string {
	for range 8 {
		switch w.typ(n) {
		case "identifier", "field_expression":
			if q := w.chain(n); q != noChain {
				return q
			}
			return ""
		case "pointer_type", "nullable_type", "optional_type":
			c := w.first(n)
			for k := c; k >= 0; k = w.next(n, k) {
				c = k // the last is what it points to
			}
			n = c
		case "error_union_type":
			n = w.field(n, "ok")
		default:
			return ""
		}
	}
	return ""
}

// zigMade returns the type that an expression makes a value of: T{…}, or what
// a constructor by the usual name returns.
func zigMade(w *walk, n int32) string {
	for range 4 {
		switch w.typ(n) {
		case "try_expression":
			n = w.first(n)
			continue
		case "struct_initializer":
			if q := w.chain(w.first(n)); q != noChain {
				return q
			}
		case "call_expression":
			q := w.chain(w.field(n, "function"))
			for _, s := range []string{".init", ".create", ".initCapacity", ".new"} {
				if t, ok := strings.CutSuffix(q, s); ok {
					if last := t[strings.LastIndexByte(t, '.')+1:]; last != "" && last[0] >= 'A' && last[0] <= 'Z' {
						return t
					}
				}
			}
		}
		break
	}
	return ""
}
