package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func cIsRecord(t string) bool {
	return t == "struct_specifier" || t == "union_specifier" || t == "enum_specifier" || t == "class_specifier"
}

func cTypeDefinition(w *walk, n int32) {
	typ := w.field(n, "type")
	body := int32(-1)
	tag := ""
	var names []cName
	var first int32 = -1
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) == "declarator" {
			if name := cDeclarator(w, c); name.node >= 0 && w.text(name.node) != "" {
				if first < 0 && w.nodes[name.node].Start == w.nodes[c].Start {
					first = name.node
				}
				names = append(names, name)
			}
			cParameters(w, c)
		}
	}
	if cIsRecord(w.typ(typ)) {
		body = w.field(typ, "body")
		tag = w.text(w.field(typ, "name"))
	}
	switch {
	case body >= 0:
		cRecord(w, typ, first, n, -1)
	default:
		w.visit(typ)
	}
	for _, name := range names {
		t := w.text(name.node)
		if body >= 0 && (tag == "" && name.node == first || t == tag) {
			continue
		}
		if body < 0 && t == tag {
			continue // typedef struct foo foo: the struct is elsewhere
		}
		w.declare(declaration{node: n, name: name.node, kind: "type", body: body, inner: cLocal(w) || body >= 0}, nil)
	}
}

// cRecord declares a struct, union, enum or class. One without a name goes by
// alias, the name of the typedef that it is in. whole is the declaration
// around it, of which its comment is; outer as for declare.
func cRecord(w *walk, n, alias, whole, outer int32) {
	name, body := w.field(n, "name"), w.field(n, "body")
	if body < 0 {
		if name >= 0 {
			cUse(w, name, kb.UseType, 0)
		}
		return
	}
	if name < 0 {
		name = alias
	}
	node := n
	if whole >= 0 {
		node = whole
	}
	d := declaration{node: node, body: body, outer: outer, inner: cLocal(w), kind: "struct"}
	named := cDeclarator(w, name)
	d.name, d.owners = named.node, named.owners
	switch w.typ(n) {
	case "union_specifier":
		d.kind = "union"
	case "class_specifier":
		d.kind = "class"
	case "enum_specifier":
		d.kind = "enum"
	}
	inside := func() {
		w.visitAll(w.child(n, "base_class_clause"), body)
	}
	if b := w.child(n, "base_class_clause"); b >= 0 {
		inside = func() {
			for c := w.first(b); c >= 0; c = w.next(b, c) {
				switch w.typ(c) {
				case "type_identifier", "qualified_identifier", "template_type":
					cUse(w, c, kb.UseInherit, 0)
				}
			}
			w.visit(body)
		}
	}
	if d.kind != "enum" {
		if d.name < 0 || w.text(d.name) == "" {
			w.visit(body)
			return
		}
		w.declare(d, inside)
		return
	}
	// The names in an enum are beside it, those in an enum class inside.
	enumerators := func() {
		w.each(body, func(c int32) { cEnumerators(w, c) })
	}
	if d.name < 0 || w.text(d.name) == "" {
		enumerators()
		return
	}
	head := w.t.Source[w.nodes[n].Start:w.nodes[d.name].Start]
	if w.nodes[d.name].Start < w.nodes[body].Start && (strings.Contains(head, "class") || strings.Contains(head, "struct")) {
		w.declare(d, enumerators)
		return
	}
	w.declare(d, nil)
	enumerators()
}

func cEnumerators(w *walk, n int32) {
	if w.typ(n) != "enumerator" {
		if strings.HasPrefix(w.typ(n), "preproc_") {
			w.each(n, func(c int32) { cEnumerators(w, c) })
		}
		return
	}
	if name := w.field(n, "name"); name >= 0 && w.text(name) != "" {
		w.declare(declaration{node: n, name: name, kind: "enumerator", inner: true}, nil)
	}
	w.visit(w.field(n, "value"))
}

// cFieldDeclaration reads the fields of a record, and in C++ its methods.
func cFieldDeclaration(w *walk, n, outer int32) {
	typ := w.field(n, "type")
	if t := w.typ(typ); cIsRecord(t) && w.field(typ, "body") >= 0 {
		cRecord(w, typ, -1, n, outer)
	} else {
		w.visit(typ)
	}
	plain := cPlain(w, typ)
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.fieldOf(c) {
		case "declarator":
			name := cDeclarator(w, c)
			if !cUnnamed(w, name) {
				if name.function >= 0 {
					w.declare(declaration{node: n, name: name.node, as: name.as, owners: name.owners, kind: "method", outer: outer}, func() { cParameters(w, c) })
					continue
				}
				if d := w.enclosingKind("struct", "union", "class"); d != nil {
					w.bindIn(d, "self."+w.text(name.node), plain)
				}
			}
			cParameters(w, c)
		case "default_value":
			w.visit(c)
		}
	}
}

var cRules = rules{
	{"function_definition", func(w *walk, n int32) { cDefinition(w, n, -1) }},
	{"declaration", func(w *walk, n int32) { cDeclare(w, n, -1) }},
	{"type_definition", cTypeDefinition},
	{"struct_specifier union_specifier enum_specifier", func(w *walk, n int32) { cRecord(w, n, -1, -1, -1) }},
	{"preproc_include", func(w *walk, n int32) {
		w.importing(n)
		if p := w.field(n, "path"); p >= 0 {
			if t := w.typ(p); t == "system_lib_string" || t == "string_literal" {
				w.imported(n, strings.Trim(w.text(p), `<>" `), "", "")
			}
		}
	}},
	{"preproc_def preproc_function_def", func(w *walk, n int32) {
		kind := w.typ(n)
		value := w.field(n, "value")
		if name := w.field(n, "name"); name >= 0 && (kind == "preproc_function_def" || value >= 0) {
			d := declaration{node: n, name: name, kind: "macro", inner: cLocal(w)}
			if value >= 0 && strings.Contains(w.text(value), "\n") {
				d.sigEnd = int(w.nodes[value].Start)
			}
			// Macros are in no name space.
			path := w.path
			w.path = nil
			w.declare(d, func() { cMacroCalls(w, n, value) })
			w.path = path
		}
	}},
	{"preproc_ifdef preproc_if", rest("name", "condition")},
	{"call_expression", func(w *walk, n int32) {
		args := w.field(n, "arguments")
		cUse(w, w.field(n, "function"), kb.UseCall, w.count(args)+1)
		w.visit(args)
	}},
	{"type_identifier", func(w *walk, n int32) { w.use(n, w.text(n), "", kb.UseType) }},
	{"parameter_declaration", cParameter},
	{"field_declaration", func(w *walk, n int32) { cFieldDeclaration(w, n, -1) }},
	{"initializer_pair", func(w *walk, n int32) {
		if v := w.field(n, "value"); w.typ(v) == "identifier" {
			cValue(w, v)
		} else {
			w.visit(v)
		}
	}},
	{"initializer_list argument_list", func(w *walk, n int32) {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.typ(c) == "identifier" {
				cValue(w, c)
			} else if w.typ(c) == "pointer_expression" && w.typ(w.field(c, "argument")) == "identifier" {
				cValue(w, w.field(c, "argument"))
			} else {
				w.visit(c)
			}
		}
	}},
	{"field_expression", func(w *walk, n int32) { w.visit(w.field(n, "argument")) }},
	{"identifier", func(w *walk, n int32) {
		// Only what is written as constants are: most others are variables.
		if t := w.text(n); len(t) > 1 && strings.ToUpper(t) == t {
			cValue(w, n)
		}
	}},
	{"attribute_specifier", skip},
}

func cParameter(w *walk, n int32) {
	cBindAll(w, n)
	w.visit(w.field(n, "default_value"))
}

func cMacroType(w *walk, n int32) {
	w.use(n, w.text(w.field(n, "name")), "", kb.UseCall)
	w.visit(w.field(n, "type"))
}
