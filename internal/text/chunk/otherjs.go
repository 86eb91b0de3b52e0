package chunk

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// jsOther finds functions by assignment, and methods of classes.
func jsOther(w *window, i, ind int, s string) (found, bool) {
	if w.member(ind) {
		return jsMember(w, i, s)
	}
	if len(w.open) > 0 && w.inType() || ind > 0 && len(w.open) == 0 {
		return found{}, false
	}
	first, rest := word(s)
	if first == "export" {
		first, rest = word(blanks(rest))
	}
	switch first {
	case "const", "let", "var":
		name, after := identRest(rest)
		if name == "" {
			return found{}, false
		}
		value, ok := assignedValue(after)
		if !ok || strings.HasPrefix(value, "require(") {
			return found{}, false
		}
		kind := cmp.Or(jsValue(value), strings.Replace(first, "let", "var", 1)) // let is a var
		return found{name: name, kind: kind, body: kind == "class"}, true
	}
	return assignedFunction(s)
}

// assignedFunction finds "a.b.c = function" and its arrow form.
func assignedFunction(s string) (found, bool) {
	name := dotted(" " + s)
	if name == "" || strings.IndexByte(name, '.') < 0 || len(name) >= len(s) {
		return found{}, false
	}
	value, _ := assignedValue(s[len(name):])
	kind := jsValue(value)
	all, last := owners(name)
	f := found{name: last, kind: kind, body: kind == "class"}
	for _, o := range all {
		if o != "prototype" && o != "exports" && o != "module" && o != "window" && o != "this" {
			f.owner = append(f.owner, o)
		}
	}
	return f, kind != "" && last != "exports" && last != "prototype" && plain(last) != ""
}

// assignedValue returns what is right of "=", perhaps after a type.
func assignedValue(s string) (string, bool) {
	s = blanks(s)
	if strings.HasPrefix(s, ":") {
		n := strings.Index(s, " = ")
		if n < 0 {
			return "", false
		}
		s = s[n+1:]
	}
	if !strings.HasPrefix(s, "=") || strings.HasPrefix(s, "==") || strings.HasPrefix(s, "=>") {
		return "", false
	}
	return blanks(s[1:]), true
}

// jsValue returns "function" or "class" when an expression begins one, else "".
func jsValue(s string) string {
	first, rest := word(s)
	if first == "async" {
		s = blanks(rest)
		first, rest = word(s)
	}
	switch {
	case first == "function":
		return "function"
	case first == "class":
		return "class"
	case first != "" && strings.HasPrefix(blanks(rest), "=>"):
		return "function"
	case strings.HasPrefix(s, "(") || strings.HasPrefix(s, "<"):
		if n := strings.Index(s, "=>"); n > 0 && !strings.Contains(s[:n], "`") && strings.Count(s[:n], "(") == strings.Count(s[:n], ")") {
			return "function"
		}
	}
	return ""
}

// closing returns where the bracket that s begins with closes, or -1.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var jsModifiers = kb.WordsOf("static async get set public private protected readonly override abstract accessor declare")

func jsMember(w *window, i int, s string) (found, bool) {
	if w.open[len(w.open)-1].kind != "class" {
		return found{}, false
	}
	first, rest := word(strings.TrimLeft(s, "*#"))
	for n := 0; n < 6 && jsModifiers[first]; n++ {
		t := strings.TrimLeft(rest, " \t*#")
		next, after := word(t)
		if next == "" {
			break
		}
		first, rest = next, after
	}
	if first == "" || notNames[first] || first[0] >= '0' && first[0] <= '9' {
		return found{}, false
	}
	rest = generic(strings.TrimLeft(rest, " \t?"))
	if strings.HasPrefix(rest, "(") {
		return found{name: first, kind: "method"}, bodied(w, i, rest, false)
	}
	value, _ := assignedValue(rest)
	return found{name: first, kind: "method"}, jsValue(value) == "function"
}

func jsImport(first, s string) bool {
	switch first {
	case "export":
		return strings.HasPrefix(s, "export *") || strings.HasPrefix(s, "export {") || strings.HasPrefix(s, "export type {")
	case "const", "var", "let":
		n := strings.Index(s, "require(")
		return n > 0 && strings.HasSuffix(strings.TrimRight(s[:n], " "), "=")
	}
	return false
}
