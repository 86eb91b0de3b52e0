package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cUse records the use that an expression or a type makes of a name.
func cUse(w *walk, n int32, kind kb.UseKind, args int) {
	switch w.typ(n) {
	case "":
	case "identifier", "type_identifier", "field_identifier", "namespace_identifier":
		w.use(n, w.text(n), "", kind, args)
	case "field_expression":
		object, field := w.field(n, "argument"), w.field(n, "field")
		q := w.chain(object)
		for range 4 {
			switch w.typ(field) {
			case "template_method":
				w.visit(w.field(field, "arguments"))
				field = w.field(field, "name")
				continue
			case "qualified_identifier", "dependent_name":
				if x := w.field(field, "name"); x >= 0 {
					field = x
				} else {
					field = w.first(field)
				}
				continue
			}
			break
		}
		if w.typ(field) == "field_identifier" || w.typ(field) == "identifier" {
			w.use(field, w.text(field), q, kind, args)
		}
		if q == noChain {
			w.visit(object)
		}
	case "qualified_identifier":
		var parts []string
		plain := true
		for range 64 {
			if w.typ(n) != "qualified_identifier" {
				break
			}
			if s := w.field(n, "scope"); s >= 0 {
				q := w.chain(s)
				if q == noChain {
					plain = false
				}
				parts = append(parts, q)
				cTemplateArguments(w, s)
			}
			n = w.field(n, "name")
		}
		q := strings.Join(parts, ".")
		if !plain {
			q = noChain
		}
		switch w.typ(n) {
		case "template_function", "template_type", "template_method":
			w.visit(w.field(n, "arguments"))
			n = w.field(n, "name")
		case "dependent_name":
			n = w.first(n)
			if n >= 0 && w.field(n, "name") >= 0 {
				n = w.field(n, "name")
			}
		}
		if n >= 0 {
			w.use(n, w.text(n), q, kind, args)
		}
	case "template_function", "template_type":
		name := w.field(n, "name")
		if !strings.HasSuffix(w.text(name), "_cast") {
			cUse(w, name, kind, args)
		}
		w.visit(w.field(n, "arguments"))
	default:
		w.visit(n)
	}
}

// cTemplateArguments visits the template arguments of a scope.
func cTemplateArguments(w *walk, n int32) {
	if n >= 0 && w.typ(n) == "template_type" {
		w.visit(w.field(n, "arguments"))
	}
}

// cValue records that the name of a function or constant is used as a value,
// unless it is a variable of the function around.
func cValue(w *walk, n int32) {
	t := w.text(n)
	if d := w.enclosing(); d != nil && cLocal(w) {
		b := w.out.Facts.Bindings
		for i := len(b) - 1; i >= 0 && b[i].From >= d.Start+1; i-- {
			if b[i].Name == t {
				return
			}
		}
	}
	if t == "NULL" || t == "true" || t == "false" || t == "TRUE" || t == "FALSE" {
		return
	}
	w.use(n, t, "", kb.UseName)
}

// cMacroCalls records the calls in the text of a macro.
func cMacroCalls(w *walk, n, value int32) {
	if value < 0 {
		return
	}
	s := w.text(value)
	line := w.start(value)
	word := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\n':
			line++
			i++
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"' && s[i] != '\n'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i++
		case word(s[i]):
			j := i
			for j < len(s) && word(s[j]) {
				j++
			}
			name := s[i:j]
			if j < len(s) && s[j] == '(' && (name[0] < '0' || name[0] > '9') && !cKeyword[name] && (i == 0 || s[i-1] != '.' && s[i-1] != '>' && s[i-1] != ':' && s[i-1] != '#') {
				w.out.Facts.References = append(w.out.Facts.References, kb.Reference{Name: name, Kind: kb.UseCall, Line: line + 1})
			}
			i = j
		default:
			i++
		}
	}
}

var cKeyword = kb.WordsOf("if for while switch return sizeof typeof __typeof__ __attribute__ __extension__ defined do else case alignof _Alignof static_cast reinterpret_cast const_cast dynamic_cast decltype asm __asm__ _Static_assert static_assert __declspec noexcept catch alignas")

// cPointers are types through which the members of their argument are reached.
var cPointers = []string{"unique_ptr", "shared_ptr", "weak_ptr", "optional", "scoped_refptr", "RefPtr", "intrusive_ptr"}

// cPlain returns a type as a kb.Binding has it; "auto" for auto, "" for
// primitive ones, which have no members.
func cPlain(w *walk, n int32) string {
	switch w.typ(n) {
	case "type_identifier":
		return w.text(n)
	case "struct_specifier", "union_specifier", "enum_specifier", "class_specifier":
		return cPlain(w, w.field(n, "name"))
	case "qualified_identifier":
		scope, name := w.field(n, "scope"), w.field(n, "name")
		last := name
		for range 16 {
			if w.typ(last) != "qualified_identifier" {
				break
			}
			last = w.field(last, "name")
		}
		if w.typ(last) == "template_type" && slices.Contains(cPointers, w.text(w.field(last, "name"))) {
			return cPlain(w, last)
		}
		t := cPlain(w, name)
		if q := w.chain(scope); t != "" && q != noChain && q != "" {
			return q + "." + t
		}
		return t
	case "template_type":
		if slices.Contains(cPointers, w.text(w.field(n, "name"))) {
			if a := w.field(n, "arguments"); a >= 0 {
				if c := w.first(a); c >= 0 {
					return cPlain(w, w.field(c, "type"))
				}
			}
		}
		return cPlain(w, w.field(n, "name"))
	case "dependent_type":
		return cPlain(w, w.first(n))
	case "placeholder_type_specifier":
		return "auto"
	case "type_descriptor":
		return cPlain(w, w.field(n, "type"))
	}
	return ""
}

// cMade returns the type that an expression makes a value of.
func cMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "new_expression", "compound_literal_expression", "cast_expression":
		return cPlain(w, w.field(n, "type"))
	case "call_expression":
		f := w.field(n, "function")
		if w.typ(f) == "qualified_identifier" {
			if x := w.field(f, "name"); w.typ(x) == "template_function" {
				f = x
			}
		}
		if w.typ(f) == "template_function" {
			name := w.text(w.field(f, "name"))
			if strings.HasSuffix(name, "_cast") || strings.HasPrefix(name, "make_") || strings.HasPrefix(name, "Make") {
				if a := w.field(f, "arguments"); a >= 0 {
					if c := w.first(a); c >= 0 {
						return cPlain(w, w.field(c, "type"))
					}
				}
			}
			return ""
		}
		if w.typ(f) == "identifier" {
			if t := w.text(f); t != "" && t[0] >= 'A' && t[0] <= 'Z' && strings.ToUpper(t) != t {
				return t
			}
		}
	}
	return ""
}
