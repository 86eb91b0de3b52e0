package syntax

import "strings"

func jsImports(w *walk, n int32) {
	w.importing(n)
	path := jsString(w, w.field(n, "source"))
	clause := w.child(n, "import_clause")
	if r := w.child(n, "import_require_clause"); r >= 0 {
		w.imported(n, jsString(w, w.field(r, "source")), "", w.text(w.child(r, "identifier")))
		return
	}
	if clause < 0 {
		w.imported(n, path, "", "")
		return
	}
	for c := w.first(clause); c >= 0; c = w.next(clause, c) {
		switch w.typ(c) {
		case "identifier":
			w.imported(c, path, "default", w.text(c))
		case "namespace_import":
			w.imported(c, path, "", w.text(w.child(c, "identifier")))
		case "named_imports":
			for s := w.first(c); s >= 0; s = w.next(c, s) {
				if w.typ(s) == "import_specifier" {
					name, local := w.field(s, "name"), w.field(s, "alias")
					if local < 0 {
						local = name
					}
					w.imported(s, path, strings.Trim(w.text(name), `"'`), w.text(local))
				}
			}
		}
	}
}

// jsExports reads an export statement. What is passed on under a name, of
// another module or of this one (path ""), is an import by that name.
func jsExports(w *walk, n int32) {
	source, clause := w.field(n, "source"), w.child(n, "export_clause")
	path := jsString(w, source)
	if source >= 0 {
		w.importing(n)
		if x := w.child(n, "namespace_export"); x >= 0 {
			w.imported(n, path, "", strings.Trim(w.text(w.first(x)), `"'`))
		} else if clause < 0 {
			w.imported(n, path, "*", "")
		}
	}
	if clause >= 0 {
		for s := w.first(clause); s >= 0; s = w.next(clause, s) {
			if w.typ(s) != "export_specifier" {
				continue
			}
			name, as := w.field(s, "name"), w.field(s, "alias")
			if as < 0 {
				as = name
			}
			a, b := strings.Trim(w.text(name), `"'`), strings.Trim(w.text(as), `"'`)
			if source >= 0 || a != b {
				w.imported(s, path, a, b)
			}
		}
		return
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch k := w.typ(c); {
		case w.fieldOf(c) == "declaration":
			if !w.ruled(c) {
				w.visit(c)
				continue
			}
			jsDeclaration(w, c, n, k)
		case c == source:
		case w.typ(c) == "decorator" || w.typ(c) == "comment":
			w.visit(c)
		default:
			jsExportValue(w, n, c)
		}
	}
}

// jsExportValue reads what a module offers as its default: "export default x",
// "module.exports = x".
func jsExportValue(w *walk, n, value int32) {
	value = jsPlain(w, value)
	d := declaration{node: n, name: -1, as: "default", inner: jsInner(w)}
	name := w.field(value, "name")
	if t := w.text(name); t != "" {
		d.as, d.name = t, name
	}
	switch w.typ(value) {
	case "arrow_function", "function_expression", "generator_function", "function_declaration", "generator_function_declaration":
		d.kind, d.body = "function", w.field(value, "body")
		jsFunctionDecl(w, d, value)
	case "class", "class_declaration":
		d.kind, d.body = "class", w.field(value, "body")
		jsClassDecl(w, d, value)
	case "assignment_expression":
		w.visit(value)
	default:
		if w.typ(value) == "identifier" {
			w.imported(n, "", w.text(value), "default")
			return
		}
		if path := jsRequired(w, value); path != "" {
			w.importing(n)
			w.imported(n, path, "*", "")
			w.imported(n, path, "", "default")
			return
		}
		jsValue(w, value)
		if w.typ(value) == "object" {
			jsRenamed(w, value)
		}
	}
}

// jsRenamed records what an exported object gives another name or takes from
// another module: { a: b, c: require("d") }.
func jsRenamed(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) != "pair" {
			continue
		}
		key, value := jsKey(w, w.field(c, "key")), w.field(c, "value")
		if key == "" {
			continue
		}
		if w.typ(value) == "identifier" && w.text(value) != key {
			w.imported(c, "", w.text(value), key)
		} else if path := jsRequired(w, value); path != "" {
			w.imported(c, path, "", key)
		}
	}
}

// jsAssign reads an assignment: of functions, classes and objects to what a
// module exports, to a prototype or a member, and of fields to "this".
func jsAssign(w *walk, n int32) {
	left, right := w.field(n, "left"), jsPlain(w, w.field(n, "right"))
	if w.typ(left) != "member_expression" {
		w.visitAll(left, right)
		return
	}
	object, property := w.chain(w.field(left, "object")), w.field(left, "property")
	name := w.text(property)
	chain := object + "." + name
	if object == noChain {
		w.visitAll(left, right)
		return
	}
	if chain == "module.exports" && !jsInner(w) {
		jsExportValue(w, n, right)
		return
	}
	exported := object == "exports" || object == "module.exports"
	var owners []string
	if !exported {
		owners = strings.Split(object, ".")
	}
	k := w.typ(right)
	if k == "object" && name == "prototype" && owners != nil && !jsInner(w) {
		jsMembers(w, right, owners, 0)
		return
	}
	if len(owners) > 1 && owners[len(owners)-1] == "prototype" {
		owners = owners[:len(owners)-1]
	}
	d := declaration{node: n, name: property, body: w.field(max(right, 0), "body"), owners: owners}
	plain := !jsInner(w) && !jsOfThis(w, left)
	switch {
	case plain && (k == "arrow_function" || k == "function_expression" || k == "generator_function"):
		d.kind = "function"
		if owners != nil {
			d.kind = "method"
		}
		jsFunctionDecl(w, d, right)
		return
	case plain && k == "class":
		d.kind = "class"
		jsClassDecl(w, d, right)
		return
	case exported && w.typ(right) == "identifier" && w.text(right) != name:
		w.imported(n, "", w.text(right), name)
		return
	case exported && jsRequired(w, right) != "":
		w.importing(n)
		w.imported(n, jsRequired(w, right), "", name)
		return
	}
	if w.typ(w.field(left, "object")) == "this" {
		if d := w.enclosingKind("class", "function"); d != nil {
			w.bindIn(d, "self."+name, jsMade(w, right))
		}
	}
	w.visit(right)
}
