package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// plainLast returns the last name of a type.
func plainLast(s string) string {
	s = plainType(s)
	return s[strings.LastIndexByte(s, '.')+1:]
}

func swiftProperty(w *walk, n int32) {
	local := !swiftMember(w) && w.enclosing() != nil
	top := w.enclosing() == nil && len(w.path) == 0
	computed := w.field(n, "computed_value")
	typ := w.child(n, "type_annotation")
	plain := ""
	if typ >= 0 {
		plain = swiftPlain(w, w.field(typ, "name"))
	}
	first := true
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.fieldOf(c) {
		case "name":
			name := w.field(c, "bound_identifier")
			t := ""
			if first {
				t = plain
			}
			first = false
			if t == "" {
				if v := w.next(n, c); v >= 0 && w.fieldOf(v) == "value" {
					t = swiftMade(w, v)
				}
			}
			if name < 0 {
				if local {
					swiftPattern(w, c)
				}
				continue
			}
			switch {
			case local:
				w.bindHere(w.text(name), t)
			case computed >= 0 || w.typ(n) == "protocol_property_declaration":
				d := w.enclosingKind("class", "struct", "enum", "protocol")
				w.bindIn(d, "self."+w.text(name), t)
				w.declare(declaration{node: n, name: name, kind: "var", body: computed, inner: local}, func() { w.visit(computed) })
			case top:
				k := "var"
				if b := w.child(n, "value_binding_pattern"); strings.HasPrefix(w.text(b), "let") {
					k = "const"
				}
				w.declare(declaration{node: n, name: name, kind: k}, nil)
				if t != "" {
					w.bindIn(nil, w.text(name), t)
				}
			default:
				w.bindIn(w.enclosingKind("class", "struct", "enum", "protocol"), "self."+w.text(name), t)
			}
		case "computed_value":
			if !local && computed >= 0 {
				continue
			}
			w.visit(c)
		default:
			w.visit(c)
		}
	}
}

func swiftPattern(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) == "bound_identifier" {
			w.bindHere(w.text(c), "")
		} else if w.typ(c) == "pattern" {
			swiftPattern(w, c)
		}
	}
}

func swiftLambda(w *walk, n int32) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "lambda_parameter" {
			w.bindHere(w.text(w.field(c, "name")), "")
		} else if w.typ(c) == "lambda_function_type_parameters" {
			swiftLambda(w, c)
		}
	}
	w.depth--
}

func swiftUserType(w *walk, n int32, kind kb.UseKind) {
	var names []int32
	w.over(n, "type_identifier", func(c int32) { names = append(names, c) })
	if len(names) == 0 {
		return
	}
	var q []string
	for _, c := range names[:len(names)-1] {
		q = append(q, w.text(c))
	}
	last := names[len(names)-1]
	if w.text(last) != "Self" {
		w.use(last, w.text(last), strings.Join(q, "."), kind)
	}
}

func swiftUse(w *walk, n int32, kind kb.UseKind, args int) {
	switch w.typ(n) {
	case "":
	case "simple_identifier":
		w.use(n, strings.Trim(w.text(n), "`"), "", kind, args)
	case "navigation_expression":
		target := w.field(n, "target")
		q := w.chain(target)
		if x := swiftSuffix(w, n); x >= 0 {
			w.use(x, strings.Trim(w.text(x), "`"), q, kind, args)
		}
		if q == noChain {
			w.visit(target)
		}
	default:
		w.visit(n)
	}
}

// swiftSuffix returns the name behind the last "." of a chain, -1 for something else.
func swiftSuffix(w *walk, n int32) int32 {
	if s := w.field(n, "suffix"); s >= 0 {
		if x := w.field(s, "suffix"); w.typ(x) == "simple_identifier" {
			return x
		}
	}
	return -1
}

func swiftPlain(w *walk, n int32) string {
	switch w.typ(n) {
	case "user_type":
		return plainType(w.text(n))
	case "optional_type":
		return swiftPlain(w, w.field(n, "wrapped"))
	case "opaque_type", "existential_type", "type_annotation":
		return swiftPlain(w, w.first(n))
	}
	return ""
}

func swiftMade(w *walk, n int32) string {
	for range 4 {
		switch w.typ(n) {
		case "try_expression", "await_expression":
			if e := w.field(n, "expr"); e >= 0 {
				n = e
				continue
			}
		case "as_expression":
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "name" {
					return swiftPlain(w, c)
				}
			}
		case "call_expression":
			f := w.first(n)
			if q := w.chain(f); q != noChain {
				q = strings.TrimSuffix(q, ".init")
				if last := q[strings.LastIndexByte(q, '.')+1:]; last != "" && last[0] >= 'A' && last[0] <= 'Z' {
					return q
				}
			}
		}
		break
	}
	return ""
}
