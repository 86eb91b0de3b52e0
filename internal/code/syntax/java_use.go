package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// javaTypeName returns a type as a kb.Binding has it; "" for "var".
func javaTypeName(w *walk, n int32) string {
	for n >= 0 {
		switch w.typ(n) {
		case "type_identifier":
			if t := w.text(n); t != "var" && t != "val" {
				return t
			}
			return ""
		case "array_type":
			n = w.field(n, "element")
		case "generic_type":
			n = w.first(n)
		case "annotated_type":
			n = w.child(n, "type_identifier", "scoped_type_identifier", "generic_type", "array_type")
		case "scoped_type_identifier":
			return javaScoped(w, n)
		default:
			return plainType(w.text(n))
		}
	}
	return ""
}

// javaScoped returns the names of a scoped type without annotations and
// generic arguments.
func javaScoped(w *walk, n int32) string {
	var parts []string
	for n >= 0 && w.typ(n) != "type_identifier" {
		next := int32(-1)
		last := ""
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch w.typ(c) {
			case "type_identifier":
				if w.typ(n) == "generic_type" || next >= 0 || w.next(n, c) < 0 || last != "" {
					last = w.text(c)
				}
				if next < 0 && last == "" {
					next = c
				}
			case "scoped_type_identifier", "generic_type":
				next = c
			}
		}
		if last != "" {
			parts = append(parts, last)
		}
		n = next
	}
	if n >= 0 {
		parts = append(parts, w.text(n))
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// javaUse records a type that is used, and the types in its arguments.
func javaUse(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "type_identifier":
		if t := w.text(n); t != "var" {
			w.use(n, t, "", kind)
		}
	case "scoped_type_identifier":
		q, name := splitQualified(javaScoped(w, n))
		w.use(n, name, q, kind)
	case "generic_type":
		javaUse(w, w.first(n), kind)
		w.visit(w.child(n, "type_arguments"))
	case "annotated_type":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if t := w.typ(c); t == "annotation" || t == "marker_annotation" {
				w.visit(c)
			} else {
				javaUse(w, c, kind)
			}
		}
	default:
		w.visit(n)
	}
}

// javaMade returns the type that an expression makes a value of.
func javaMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "object_creation_expression", "cast_expression":
		return javaTypeName(w, w.field(n, "type"))
	}
	return ""
}

// javaReference reads "Item::name" and "Shop::new".
func javaReference(w *walk, n int32) {
	object := w.first(n)
	if object < 0 {
		return
	}
	name := int32(-1)
	for c := w.next(n, object); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "identifier" {
			name = c
		} else {
			w.visit(c)
		}
	}
	q := ""
	switch w.typ(object) {
	case "type_identifier", "scoped_type_identifier", "generic_type", "array_type":
		q = javaTypeName(w, object)
		w.visit(w.child(object, "type_arguments"))
	default:
		if q = w.chain(object); q == noChain {
			w.visit(object)
		}
	}
	if name >= 0 {
		w.use(name, w.text(name), q, kb.UseCall)
	} else if q != noChain {
		qualifier, last := splitQualified(q)
		w.use(object, last, qualifier, kb.UseCall)
	}
}

// unspaced takes white space out of a dotted name.
func unspaced(s string) string {
	if strings.ContainsAny(s, " \t\r\n") {
		return strings.Join(strings.Fields(s), "")
	}
	return s
}

// splitQualified splits "a.b.C" into "a.b" and "C".
func splitQualified(s string) (qualifier, name string) {
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}
