package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// visitCpp is visitC for what only C++ has.
func visitCpp(w *walk, n int32, kind int) {
	switch kind {
	case cppNamespace:
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
		w.declare(declaration{node: n, name: name, as: strings.TrimPrefix(parts[last], "inline"), owners: parts[:last], kind: "namespace", body: body, outer: -1, doc: -1}, func() { w.visit(body) })
	case cppTemplate:
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
	case cppAlias, cppConcept:
		cppNamed(w, n, -1)
	case cppUsing:
		if len(w.scope) == 0 || !cLocal(w) {
			w.importing(n)
		}
		c := w.first(n)
		for c >= 0 && w.typ(c) == "comment" {
			c = w.next(n, c)
		}
		q := cChain(w, c)
		switch {
		case c < 0 || q == "()":
		case strings.Contains(strings.TrimPrefix(w.t.Source[w.nodes[n].Start:w.nodes[c].Start], "using"), "namespace"):
			w.imported(n, strings.ReplaceAll(q, ".", "::"), "*", "")
		default:
			if i := strings.LastIndexByte(q, '.'); i > 0 && !cMember(w) {
				w.imported(n, strings.ReplaceAll(q[:i], ".", "::"), q[i+1:], q[i+1:])
			}
		}
	case cppNamespaceAlias:
		name := w.field(n, "name")
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != name {
				w.imported(n, strings.Join(strings.Fields(w.text(c)), ""), "", w.text(name))
			}
		}
	case cppNew:
		args := w.field(n, "arguments")
		cUse(w, w.field(n, "type"), kb.UseCall, children(w, args)+1)
		w.visitAll(w.field(n, "placement"), w.field(n, "declarator"), args)
	case cppQualified:
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
	case cppTemplateType:
		cUse(w, n, kb.UseType, 0)
	case cppTemplateFunction:
		cUse(w, n, kb.UseName, 0)
	case cppRange:
		w.within(n, func() { cBindAll(w, n) })
		w.visitAll(w.field(n, "initializer"), w.field(n, "right"), w.field(n, "body"))
	case cppFieldInitializer:
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
			for c = w.next(n, c); c >= 0; c = w.next(n, c) {
				w.visit(c)
			}
		}
	case cppFriend:
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.typ(c) == "declaration" {
				w.visit(w.field(c, "type"))
				continue
			}
			w.visit(c)
		}
	default:
		w.children(n)
	}
}

// cppNamed declares an alias or a concept.
func cppNamed(w *walk, n, outer int32) {
	if name := w.field(n, "name"); name >= 0 && w.text(name) != "" {
		w.declare(declaration{node: n, name: name, kind: "type", body: -1, outer: outer, doc: -1, inner: cLocal(w)}, nil)
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "name" {
			w.visit(c)
		}
	}
}
