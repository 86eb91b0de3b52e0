package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// phpImports reads "use A\B as C, D;", "use A\{B, C as D};", "use function A\f;".
func phpImports(w *walk, n int32) {
	prefix := ""
	if p := w.child(n, "namespace_name"); p >= 0 {
		prefix = strings.Trim(w.text(p), `\`) + `\`
	}
	in := n
	if group := w.field(n, "body"); group >= 0 {
		in = group
	}
	for c := w.first(in); c >= 0; c = w.next(in, c) {
		name := w.child(c, "qualified_name", "name")
		if w.typ(c) != "namespace_use_clause" || name < 0 {
			continue
		}
		path := prefix + strings.TrimPrefix(w.text(name), `\`)
		local := path[strings.LastIndexByte(path, '\\')+1:]
		if alias := w.field(c, "alias"); alias >= 0 {
			local = w.text(alias)
		}
		w.imported(c, path, "", local)
	}
}

// phpIncluded records the file of require and include when it is written out.
func phpIncluded(w *walk, n int32) {
	c := w.first(n)
	if w.typ(c) == "parenthesized_expression" {
		c = w.first(c)
	}
	here := false
	if w.typ(c) == "binary_expression" {
		if l := w.field(c, "left"); w.text(l) == "__DIR__" || strings.HasPrefix(w.text(l), "dirname(") {
			here, c = true, w.field(c, "right")
		}
	}
	if t := w.typ(c); t == "string" || t == "encapsed_string" {
		path := strings.Trim(w.text(c), `'"`)
		if here {
			path = "." + path
		}
		if path != "" && !strings.Contains(path, "$") {
			w.imported(n, path, "", "")
			return
		}
	}
	w.children(n)
}

func phpFunctionCall(w *walk, n int32) {
	f, args := w.field(n, "function"), w.field(n, "arguments")
	switch w.typ(f) {
	case "name", "qualified_name", "relative_name":
		if w.text(f) == "define" && w.enclosing() == nil && args >= 0 {
			if s := w.child(w.first(args), "string", "encapsed_string"); s >= 0 {
				if name := strings.Trim(w.text(s), `'"`); name != "" && !strings.ContainsAny(name, "$ {") {
					w.declare(declaration{node: n, name: s, as: name, kind: "const", inner: true}, nil)
				}
			}
		}
		phpNamed(w, f, kb.UseCall)
	default:
		w.visit(f)
	}
	w.visit(args)
}

// phpDotted returns "A\B" as "A.B".
func phpDotted(s string) string {
	return strings.ReplaceAll(strings.Trim(strings.TrimPrefix(s, `namespace\`), `\ `), `\`, ".")
}

// phpNamed records the use of a name that is written out.
func phpNamed(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "name", "relative_scope":
		name := w.text(n)
		switch name {
		case "self", "static":
			if d := w.enclosingKind("class", "trait", "enum", "interface"); d != nil && kind == kb.UseCall {
				w.use(n, d.Name, "", kind)
			}
			return
		case "parent", "null", "true", "false", "mixed", "void", "never":
			return
		}
		w.use(n, name, "", kind)
	case "qualified_name", "relative_name":
		q, name := splitQualified(phpDotted(w.text(n)))
		w.use(n, name, q, kind)
	default:
		w.visit(n)
	}
}

// phpScope records the name before "::".
func phpScope(w *walk, n int32) {
	switch w.typ(n) {
	case "name", "qualified_name":
		phpNamed(w, n, kb.UseType)
	case "relative_scope", "variable_name", "":
	default:
		w.visit(n)
	}
}

// phpName returns the text of a name that is written out, noChain for another one.
func phpName(w *walk, n int32) string {
	if w.typ(n) != "name" {
		return noChain
	}
	return w.text(n)
}

// phpVariable returns "x" of $x, "" for a variable without a fixed name.
func phpVariable(w *walk, n int32) string {
	for n >= 0 && (w.typ(n) == "by_ref" || w.typ(n) == "reference_modifier") {
		n = w.first(n)
	}
	if w.typ(n) != "variable_name" {
		return ""
	}
	return strings.TrimPrefix(w.text(n), "$")
}

// phpType returns a declared type as a kb.Binding has it.
func phpType(w *walk, n int32) string {
	switch w.typ(n) {
	case "optional_type":
		return phpType(w, w.first(n))
	case "named_type":
		switch s := phpDotted(w.text(n)); s {
		case "self", "static":
			if d := w.enclosingKind("class", "trait", "enum", "interface"); d != nil {
				return d.Name
			}
			return ""
		default:
			return s
		}
	case "primitive_type":
		return w.text(n)
	case "union_type":
		// T|null is T.
		only := ""
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if t := phpType(w, c); t != "null" {
				if only != "" {
					return ""
				}
				only = t
			}
		}
		return only
	}
	return ""
}

// phpMade returns the class that an expression makes a value of.
func phpMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "parenthesized_expression":
		return phpMade(w, w.first(n))
	case "object_creation_expression":
		switch c := w.first(n); w.typ(c) {
		case "name", "qualified_name":
			s := phpDotted(w.text(c))
			if s != "self" && s != "static" {
				return s
			}
			if d := w.enclosingKind("class", "trait", "enum"); d != nil {
				return d.Name
			}
		}
	}
	return ""
}

func phpBindField(w *walk, name int32, typ string) {
	if s := phpVariable(w, name); s != "" {
		w.bindIn(w.enclosingKind("class", "trait", "enum", "interface"), "self."+s, typ)
	}
}

// phpTarget binds what is assigned to.
func phpTarget(w *walk, n int32, typ string) {
	switch w.typ(n) {
	case "variable_name":
		if s := phpVariable(w, n); s != "this" && (typ != "" || !w.top()) {
			w.bindHere(s, typ)
		}
	case "member_access_expression":
		if q := w.chain(n); strings.HasPrefix(q, "self.") && strings.Count(q, ".") == 1 {
			if typ != "" {
				w.bindIn(w.enclosingKind("class", "trait", "enum"), q, typ)
			}
			return
		}
		w.children(n)
	case "pair", "list_literal", "array_creation_expression", "array_element_initializer", "by_ref":
		w.each(n, func(c int32) { phpTarget(w, c, "") })
	default:
		w.visit(n)
	}
}
