package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// csPath returns a dotted name without white space and generic arguments.
func csPath(w *walk, n int32) string {
	if q := csTypeName(w, n); q != "" {
		return q
	}
	return unspaced(w.text(n))
}

// csBind binds the names of a pattern.
func csBind(w *walk, n int32, typ string) {
	switch w.typ(n) {
	case "identifier":
		w.bindHere(w.text(n), typ)
	case "tuple_pattern", "parenthesized_variable_designation":
		w.each(n, func(c int32) { csBind(w, c, "") })
	}
}

// csTypeName returns a type as a kb.Binding has it; "" for "var".
func csTypeName(w *walk, n int32) string {
	for n >= 0 {
		switch w.typ(n) {
		case "identifier", "predefined_type":
			return strings.TrimPrefix(w.text(n), "@")
		case "generic_name":
			n = w.first(n)
		case "nullable_type", "array_type", "pointer_type", "ref_type", "scoped_type":
			if t := w.field(n, "type"); t >= 0 {
				n = t
			} else {
				n = w.first(n)
			}
		case "qualified_name", "alias_qualified_name":
			var parts []string
			for n >= 0 && w.typ(n) == "qualified_name" {
				parts = append(parts, csTypeName(w, w.field(n, "name")))
				n = w.field(n, "qualifier")
			}
			if n >= 0 && w.typ(n) == "alias_qualified_name" {
				parts = append(parts, csTypeName(w, w.field(n, "name"))) // global::A
			} else if n >= 0 {
				parts = append(parts, csTypeName(w, n))
			}
			slices.Reverse(parts)
			return strings.Join(parts, ".")
		default:
			return ""
		}
	}
	return ""
}

// csType records a type that is used, and those in its arguments.
func csType(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "identifier":
		w.use(n, strings.TrimPrefix(w.text(n), "@"), "", kind)
	case "generic_name":
		csType(w, w.first(n), kind)
		w.visit(w.child(n, "type_argument_list"))
	case "qualified_name", "alias_qualified_name":
		q, name := splitQualified(csTypeName(w, n))
		w.use(n, name, q, kind)
		for c := n; c >= 0 && w.typ(c) == "qualified_name"; c = w.field(c, "qualifier") {
			if g := w.field(c, "name"); w.typ(g) == "generic_name" {
				w.visit(w.child(g, "type_argument_list"))
			}
		}
	case "nullable_type", "array_type", "pointer_type", "ref_type", "scoped_type", "tuple_type", "tuple_element":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.fieldOf(c) != "name" && w.typ(c) != "array_rank_specifier" {
				csType(w, c, kind)
			} else if w.typ(c) == "array_rank_specifier" {
				w.visit(c)
			}
		}
	case "predefined_type", "implicit_type":
	default:
		w.visit(n)
	}
}

// csUse records the use that an expression makes of a name.
func csUse(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "identifier", "generic_name":
		if w.text(n) != "nameof" {
			csType(w, n, kind)
		}
	case "member_access_expression":
		name := w.field(n, "name")
		q := csReceiver(w, n)
		if w.typ(name) == "generic_name" {
			w.use(name, w.text(w.first(name)), q, kind)
			w.visit(w.child(name, "type_argument_list"))
		} else {
			w.use(name, w.text(name), q, kind)
		}
		if q == noChain {
			w.visit(w.field(n, "expression"))
		}
	case "conditional_access_expression":
		condition := w.field(n, "condition")
		if b := w.child(n, "member_binding_expression"); b >= 0 {
			q := w.chain(condition)
			name := w.field(b, "name")
			if w.typ(name) == "generic_name" {
				w.visit(w.child(name, "type_argument_list"))
				name = w.first(name)
			}
			w.use(name, w.text(name), q, kind)
			if q == noChain {
				w.visit(condition)
			}
			return
		}
		// a?.b.c(): the access is an expression of its own.
		w.visit(condition)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != condition {
				csUse(w, c, kind)
			}
		}
	case "member_binding_expression":
		name := w.field(n, "name")
		w.use(name, w.text(name), noChain, kind)
	default:
		w.visit(n)
	}
}

// csReceiver returns the part before the name of a member access; "this"
// and "base" are no nodes.
func csReceiver(w *walk, n int32) string {
	if e := w.field(n, "expression"); e >= 0 {
		return w.chain(e)
	}
	switch s := w.text(n); {
	case strings.HasPrefix(s, "this"):
		return "self"
	case strings.HasPrefix(s, "base"):
		return "super"
	}
	return noChain
}

// csMade returns the type that an expression makes a value of.
func csMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "object_creation_expression", "cast_expression":
		return csTypeName(w, w.field(n, "type"))
	case "as_expression":
		return csTypeName(w, w.field(n, "right"))
	case "await_expression", "parenthesized_expression":
		return csMade(w, w.first(n))
	}
	return ""
}
