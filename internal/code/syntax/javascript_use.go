package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// jsUse records the use that an expression or type makes of a name.
func jsUse(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "identifier", "type_identifier":
		w.use(n, w.text(n), "", kind)
	case "super":
		w.use(n, "constructor", "super", kind)
	case "member_expression", "nested_type_identifier", "nested_identifier":
		object, property := jsMember(w, n)
		q := w.chain(object)
		w.use(property, w.text(property), q, kind)
		if q == noChain {
			w.visit(object)
		}
	case "non_null_expression":
		jsUse(w, w.first(n), kind)
	case "instantiation_expression":
		jsUse(w, w.first(n), kind)
		w.visit(w.child(n, "type_arguments"))
	default:
		w.visit(n)
	}
}

// jsOfThis reports whether a chain begins with "this".
func jsOfThis(w *walk, n int32) bool {
	for n >= 0 && (w.typ(n) == "member_expression" || w.typ(n) == "non_null_expression") {
		n = w.first(n)
	}
	return w.typ(n) == "this"
}

// jsType returns a type as a kb.Binding has it, "" when it is not one that is
// declared somewhere: a function, an object, a union of several.
func jsType(w *walk, n int32) string {
	for n >= 0 {
		switch w.typ(n) {
		case "type_annotation", "parenthesized_type", "readonly_type":
			n = w.first(n)
		case "type_identifier", "predefined_type":
			return w.text(n)
		case "nested_type_identifier":
			return w.chain(n)
		case "generic_type":
			n = w.field(n, "name")
		case "array_type":
			n = w.first(n)
		case "union_type":
			only := int32(-1)
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if t := w.text(c); t == "null" || t == "undefined" {
					continue
				}
				if only >= 0 {
					return ""
				}
				only = c
			}
			n = only
		default:
			return ""
		}
	}
	return ""
}

// jsMade returns the type that an expression makes a value of.
func jsMade(w *walk, n int32) string {
	for n >= 0 {
		switch w.typ(n) {
		case "parenthesized_expression", "await_expression", "non_null_expression":
			n = w.first(n)
		case "new_expression":
			if q := w.chain(w.field(n, "constructor")); q != noChain {
				return q
			}
			return ""
		case "as_expression", "satisfies_expression":
			if c := w.first(n); c >= 0 {
				return jsType(w, w.next(n, c))
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// jsEachName calls f with the names in a pattern, -1 for none, and with what is
// taken where a value lacks, -1 for nothing.
func jsEachName(w *walk, n int32, deep int, f func(name, fallback int32)) {
	if n < 0 || deep > 100 {
		return
	}
	switch w.typ(n) {
	case "identifier", "shorthand_property_identifier_pattern", "shorthand_property_identifier":
		f(n, -1)
	case "pair_pattern", "pair":
		if k := w.field(n, "key"); w.typ(k) == "computed_property_name" {
			f(-1, k)
		}
		jsEachName(w, w.field(n, "value"), deep+1, f)
	case "assignment_pattern", "object_assignment_pattern", "assignment_expression":
		jsEachName(w, w.field(n, "left"), deep+1, f)
		f(-1, w.field(n, "right"))
	case "object_pattern", "array_pattern", "rest_pattern", "object", "array", "spread_element":
		w.each(n, func(c int32) { jsEachName(w, c, deep+1, f) })
	}
}

// jsBindPattern binds the names of a pattern; typ is that of the whole.
func jsBindPattern(w *walk, n int32, typ string) {
	if w.typ(n) != "identifier" {
		typ = ""
	}
	jsEachName(w, n, 0, func(name, fallback int32) {
		if name >= 0 {
			w.bindHere(w.text(name), typ)
		}
		w.visit(fallback)
	})
}

// jsString returns a literal string, "" for anything else.
func jsString(w *walk, n int32) string {
	if w.typ(n) == "string" {
		return strings.Trim(w.text(n), `"'`)
	}
	if w.typ(n) == "template_string" && w.child(n, "template_substitution") < 0 {
		return strings.Trim(w.text(n), "`")
	}
	return ""
}

// jsRequired returns the path of a call of require or import().
func jsRequired(w *walk, n int32) string {
	for n >= 0 && (w.typ(n) == "await_expression" || w.typ(n) == "parenthesized_expression") {
		n = w.first(n)
	}
	if w.typ(n) != "call_expression" {
		return ""
	}
	if f := w.field(n, "function"); w.typ(f) != "import" && w.text(f) != "require" {
		return ""
	}
	args := w.field(n, "arguments")
	if args < 0 {
		return ""
	}
	return jsString(w, w.first(args))
}

// jsRequire reads "name = require(path)" as an import and reports whether it
// is one.
func jsRequire(w *walk, name, value int32) bool {
	member := ""
	if w.typ(value) == "member_expression" {
		member = w.text(w.field(value, "property"))
		value = w.field(value, "object")
	}
	path := jsRequired(w, value)
	if path == "" {
		return false
	}
	switch w.typ(name) {
	case "identifier":
		w.imported(name, path, member, w.text(name))
	case "object_pattern":
		for c := w.first(name); c >= 0; c = w.next(name, c) {
			what, local := c, c
			switch w.typ(c) {
			case "pair_pattern":
				what, local = w.field(c, "key"), w.field(c, "value")
			case "object_assignment_pattern":
				what = w.field(c, "left")
				local = what
			}
			if w.typ(local) == "assignment_pattern" {
				local = w.field(local, "left")
			}
			switch w.typ(local) {
			case "identifier", "shorthand_property_identifier_pattern":
				of := jsKey(w, what)
				if of == "" {
					of = w.text(what)
				}
				if member != "" {
					// A member of a member: of the module all the same.
					w.bindHere(w.text(local), "")
					continue
				}
				w.imported(c, path, of, w.text(local))
			default:
				jsBindPattern(w, local, "")
			}
		}
	default:
		return false
	}
	return true
}

// jsCallOf reads a call.
func jsCallOf(w *walk, n int32) {
	if path := jsRequired(w, n); path != "" {
		w.importing(n)
		w.imported(n, path, "", "")
		return
	}
	f := w.field(n, "function")
	if w.typ(f) != "import" {
		jsUse(w, f, kb.UseCall)
	}
	w.visitAll(w.field(n, "type_arguments"), w.field(n, "arguments"))
}
