package syntax

import (
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const ktTypes = "#user_type nullable_type function_type parenthesized_type not_nullable_type"

// ktTypeOf returns the node of a declaration's type, -1 without one.
func ktTypeOf(w *walk, n int32) int32 {
	return w.part(n, ktTypes)
}

// ktTypeName returns a type as a kb.Binding has it.
func ktTypeName(w *walk, n int32) string {
	for n >= 0 {
		switch w.typ(n) {
		case "nullable_type", "parenthesized_type", "not_nullable_type":
			n = w.first(n)
		case "user_type":
			return ktJoined(w, n)
		default:
			return ""
		}
	}
	return ""
}

func ktJoined(w *walk, n int32) string {
	s := ""
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "type_identifier" {
			if s != "" {
				s += "."
			}
			s += w.text(c)
		}
	}
	return s
}

// ktType records a type that is used, and those in its arguments.
func ktType(w *walk, n int32, kind kb.UseKind) {
	if n < 0 {
		return
	}
	if w.typ(n) != "user_type" {
		w.visit(n)
		return
	}
	q, name := splitQualified(ktJoined(w, n))
	w.use(n, name, q, kind)
	w.each(n, func(c int32) { w.visit(c) })
}

func ktInherits(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "constructor_invocation", "explicit_delegation":
			for x := w.first(c); x >= 0; x = w.next(c, x) {
				if w.typ(x) == "user_type" {
					ktType(w, x, kb.UseInherit)
				} else {
					w.visit(x)
				}
			}
		case "user_type":
			ktType(w, c, kb.UseInherit)
		default:
			w.visit(c)
		}
	}
}

// ktCallOf reads a call that has more arguments behind it.
func ktCallOf(w *walk, n int32, more int) {
	f := w.first(n)
	if f < 0 {
		return
	}
	suffix := w.child(n, "call_suffix")
	args := int32(-1)
	if suffix >= 0 {
		args = w.child(suffix, "value_arguments")
		// A lambda behind the parentheses is an argument too.
		if w.child(suffix, "annotated_lambda") >= 0 {
			more++
		}
	}
	i := len(w.out.Facts.References)
	switch w.typ(f) {
	case "call_expression":
		if args >= 0 {
			more = 0
		}
		ktCallOf(w, f, more)
	default:
		ktUse(w, f)
		if t := w.typ(f); t == "simple_identifier" || t == "navigation_expression" {
			w.argued(i, args, more)
		}
	}
	w.after(n, f)
}

// ktUse records what an expression calls.
func ktUse(w *walk, n int32) {
	switch w.typ(n) {
	case "simple_identifier":
		w.use(n, w.text(n), "", kb.UseCall)
	case "navigation_expression":
		object := w.first(n)
		suffix := w.child(n, "navigation_suffix")
		name := int32(-1)
		if suffix >= 0 {
			name = w.child(suffix, "simple_identifier")
		}
		q := w.chain(object)
		if name >= 0 {
			w.use(name, w.text(name), q, kb.UseCall)
		}
		if q == noChain || name < 0 {
			w.visit(object)
			if name < 0 {
				w.visit(suffix)
			}
		}
	default:
		w.visit(n)
	}
}

// ktMade returns the type that an expression makes a value of.
func ktMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "call_expression":
		if q := w.chain(w.first(n)); q != noChain {
			if _, last := splitQualified(q); last != "" && last[0] >= 'A' && last[0] <= 'Z' {
				return q
			}
		}
	case "as_expression":
		return ktTypeName(w, ktTypeOf(w, n))
	}
	return ""
}
