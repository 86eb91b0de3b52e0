package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cppNamed declares an alias or a concept.
func cppNamed(w *walk, n, outer int32) {
	if name := w.field(n, "name"); name >= 0 && w.text(name) != "" {
		w.declare(declaration{node: n, name: name, kind: "type", outer: outer, inner: cLocal(w)}, nil)
	}
	w.butField(n, "name")
}

var cppRules = rules{
	{"attribute_declaration template_instantiation type_parameter_declaration ms_declspec_modifier", skip},
	{"class_specifier", func(w *walk, n int32) { cRecord(w, n, -1, -1, -1) }},
	{"optional_parameter_declaration variadic_parameter_declaration", cParameter},
	{"namespace_definition", func(w *walk, n int32) {
		name, body := w.field(n, "name"), w.field(n, "body")
		if name < 0 || w.text(name) == "" {
			w.visit(body)
			return
		}
		parts := strings.Split(strings.Join(strings.Fields(w.text(name)), ""), "::")
		last := len(parts) - 1
		if parts[last] == "" {
			w.visit(body)
			return
		}
		w.declare(declaration{node: n, name: name, as: strings.TrimPrefix(parts[last], "inline"), owners: parts[:last], kind: "namespace", body: body}, func() { w.visit(body) })
	}},
	{"template_declaration", func(w *walk, n int32) {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch t := w.typ(c); t {
			case "function_definition":
				cDefinition(w, c, n)
			case "declaration":
				cDeclare(w, c, n)
			case "field_declaration":
				cFieldDeclaration(w, c, n)
			case "class_specifier", "struct_specifier", "union_specifier":
				cRecord(w, c, -1, -1, n)
			case "alias_declaration", "concept_definition":
				cppNamed(w, c, n)
			default:
				w.visit(c)
			}
		}
	}},
	{"alias_declaration concept_definition", func(w *walk, n int32) { cppNamed(w, n, -1) }},
	{"using_declaration", func(w *walk, n int32) {
		if len(w.scope) == 0 || !cLocal(w) {
			w.importing(n)
		}
		c := w.first(n)
		for c >= 0 && w.typ(c) == "comment" {
			c = w.next(n, c)
		}
		q := w.chain(c)
		switch {
		case c < 0 || q == noChain:
		case strings.Contains(strings.TrimPrefix(w.t.Source[w.nodes[n].Start:w.nodes[c].Start], "using"), "namespace"):
			w.imported(n, strings.ReplaceAll(q, ".", "::"), "*", "")
		default:
			if i := strings.LastIndexByte(q, '.'); i > 0 && !cMember(w) {
				w.imported(n, strings.ReplaceAll(q[:i], ".", "::"), q[i+1:], q[i+1:])
			}
		}
	}},
	{"namespace_alias_definition", func(w *walk, n int32) {
		name := w.field(n, "name")
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != name {
				w.imported(n, strings.Join(strings.Fields(w.text(c)), ""), "", w.text(name))
			}
		}
	}},
	{"new_expression", func(w *walk, n int32) {
		args := w.field(n, "arguments")
		cUse(w, w.field(n, "type"), kb.UseCall, w.count(args)+1)
		w.visitAll(w.field(n, "placement"), w.field(n, "declarator"), args)
	}},
	{"qualified_identifier", func(w *walk, n int32) {
		last := n
		for range 64 {
			if w.typ(last) != "qualified_identifier" {
				break
			}
			last = w.field(last, "name")
		}
		if t := w.typ(last); t == "type_identifier" || t == "template_type" {
			cUse(w, n, kb.UseType, 0)
		} else {
			cUse(w, n, kb.UseName, 0)
		}
	}},
	{"template_type", func(w *walk, n int32) { cUse(w, n, kb.UseType, 0) }},
	{"template_function", func(w *walk, n int32) { cUse(w, n, kb.UseName, 0) }},
	{"for_range_loop", all(scope(cBindAll), visits("initializer", "right", "body"))},
	{"field_initializer", func(w *walk, n int32) {
		// ": Base(x), field(y)": fields are not called.
		c := w.first(n)
		if t := w.text(c); c >= 0 && t != "" && (t[0] >= 'A' && t[0] <= 'Z' || w.typ(c) != "field_identifier") {
			if w.typ(c) == "field_identifier" {
				w.use(c, t, "", kb.UseCall)
			} else {
				cUse(w, c, kb.UseCall, 0)
			}
		}
		if c >= 0 {
			w.after(n, c)
		}
	}},
	{"friend_declaration", func(w *walk, n int32) {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.typ(c) == "declaration" {
				w.visit(w.field(c, "type"))
				continue
			}
			w.visit(c)
		}
	}},
}
