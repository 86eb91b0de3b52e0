package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The functions of this file are what rows of rulesOf use for shapes that a
// table of keywords does not hold.

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
		first, rest = word(strings.TrimLeft(rest, " \t"))
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
		switch kind := jsValue(value); {
		case kind != "":
			return found{name: name, kind: kind, body: kind == "class"}, true
		case first == "const":
			return found{name: name, kind: "const"}, true
		}
		return found{name: name, kind: "var"}, true
	}
	return assignedFunction(s)
}

// assignedFunction finds "a.b.c = function" and its arrow form.
func assignedFunction(s string) (found, bool) {
	name := dotted(" " + s)
	if name == "" || strings.IndexByte(name, '.') < 0 || len(name) >= len(s) {
		return found{}, false
	}
	value, ok := assignedValue(s[len(name):])
	if !ok {
		return found{}, false
	}
	kind := jsValue(value)
	if kind == "" {
		return found{}, false
	}
	all, last := owners(name)
	f := found{name: last, kind: kind, body: kind == "class"}
	for _, o := range all {
		if o != "prototype" && o != "exports" && o != "module" && o != "window" && o != "this" {
			f.owner = append(f.owner, o)
		}
	}
	if last == "exports" || last == "prototype" || plain(last) == "" {
		return found{}, false
	}
	return f, true
}

// assignedValue returns what stands right of "=", perhaps after a type.
func assignedValue(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t")
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
	return strings.TrimLeft(s[1:], " \t"), true
}

// jsValue tells whether an expression begins a function or class.
func jsValue(s string) string {
	first, rest := word(s)
	if first == "async" {
		s = strings.TrimLeft(rest, " \t")
		first, rest = word(s)
	}
	switch {
	case first == "function":
		return "function"
	case first == "class":
		return "class"
	case first != "" && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "=>"):
		return "function"
	case strings.HasPrefix(s, "(") || strings.HasPrefix(s, "<"):
		if n := strings.Index(s, "=>"); n > 0 && !strings.Contains(s[:n], "`") && balanced(s[:n]) {
			return "function"
		}
	}
	return ""
}

// balanced reports whether s closes every bracket that it opens.
func balanced(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return depth == 0
}

var jsModifiers = kb.WordsOf("static async get set public private protected readonly override abstract accessor declare")

func jsMember(w *window, i int, s string) (found, bool) {
	if k := w.open[len(w.open)-1].kind; k != "class" {
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
	rest = strings.TrimLeft(rest, " \t?")
	if strings.HasPrefix(rest, "<") {
		rest = generic(rest)
	}
	if strings.HasPrefix(rest, "(") {
		return found{name: first, kind: "method"}, bodied(w, i, rest, false)
	}
	if value, ok := assignedValue(rest); ok && jsValue(value) == "function" {
		return found{name: first, kind: "method"}, true
	}
	return found{}, false
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

// cOther finds the functions of C and C++, typedefs and macros.
func cOther(w *window, i, ind int, s string) (found, bool) {
	if s[0] == '#' {
		first, rest := word(strings.TrimLeft(s[1:], " \t"))
		if first == "define" {
			if name := ident(rest); name != "" && !strings.HasSuffix(w.ls.text(max(0, i-1)), name) {
				return found{name: name, kind: "macro"}, true
			}
		}
		return found{}, false
	}
	if ind > 0 && len(w.open) == 0 {
		return found{}, false
	}
	if w.inType() && !w.member(ind) {
		return found{}, false
	}
	if strings.HasPrefix(s, "typedef ") {
		name := typedefName(w, i, s)
		return found{name: name, kind: "type"}, name != ""
	}
	name, owner, types := shape(w, i, s, false)
	switch {
	case name == "":
		return found{}, false
	case types > 0, len(owner) > 0, w.decor >= 0:
	case w.inType() && strings.TrimPrefix(name, "~") == last(w.path()):
	default:
		return found{}, false // a macro call, or a function of unknown type
	}
	return found{name: name, owner: owner, kind: "function"}, true
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// typedefName returns the name that a typedef introduces: the word before ";",
// which may stand after the "}" of a body.
func typedefName(w *window, i int, s string) string {
	const far = 100
	if strings.Contains(s, "(") {
		if n := strings.Index(s, "(*"); n >= 0 { // typedef int (*name)(void);
			name, after := word(strings.TrimLeft(s[n+2:], " \t"))
			if strings.HasPrefix(after, ")") {
				return name
			}
		}
		return ""
	}
	for n := 0; n < far; n++ {
		t := strings.TrimRight(s, " \t")
		if k := strings.Index(t, ";"); k >= 0 && (n == 0 || t[0] == '}') {
			t = strings.TrimRight(t[:k], " \t")
			if b := strings.IndexByte(t, '['); b > 0 {
				t = strings.TrimRight(t[:b], " \t")
			}
			from := len(t)
			for from > 0 && isWord(t[from-1]) {
				from--
			}
			if n == 0 && from == 0 {
				return ""
			}
			return plain(t[from:])
		}
		if n == 0 && strings.HasSuffix(t, ";") {
			return ""
		}
		i++
		if i >= w.ls.len() {
			return ""
		}
		if s = w.ls.text(i); s == "" {
			s = " "
		}
	}
	return ""
}

// cKeep reports preprocessor lines, labels and access specifiers.
func cKeep(s string) bool {
	if s[0] == '#' {
		return true
	}
	w, rest := word(s)
	if w == "" || !strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":") {
		return false
	}
	rest = strings.TrimLeft(rest, " \t")
	return !strings.HasPrefix(rest, "::") && w != "default"
}

// cDecorator finds template lines and the type of a function whose name stands
// on the next line.
func cDecorator(s string) (int, bool) {
	if strings.HasPrefix(s, "template") {
		if rest := strings.TrimLeft(s[len("template"):], " \t"); strings.HasPrefix(rest, "<") {
			after := generic(rest)
			if after == "" {
				return 0, true
			}
			return len(s) - len(after), false
		}
	}
	if len(s) > 80 {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isWord(c) && c != ' ' && c != '*' && c != '\t' {
			return 0, false
		}
	}
	switch first, rest := word(s); first {
	case "", "else", "do", "return", "struct", "union", "enum", "class", "namespace", "try", "public", "private", "extern":
		return 0, first == "extern" || (first == "struct" || first == "union" || first == "enum") && strings.HasSuffix(rest, "*")
	}
	return 0, true
}

// javaOther finds the methods of Java, C#, Dart and their kin.
func javaOther(w *window, i, ind int, s string) (found, bool) {
	if !w.member(ind) {
		return found{}, false
	}
	top := &w.open[len(w.open)-1]
	open := top.kind == "interface" || strings.HasPrefix(s, "abstract ") || strings.Contains(s, " abstract ")
	name, owner, types := shape(w, i, s, open)
	if name == "" || len(owner) > 0 {
		return found{}, false
	}
	if types == 0 && name != last(top.path) {
		return found{}, false
	}
	return found{name: name, kind: "method"}, true
}

// dartOther also finds functions at the top level.
func dartOther(w *window, i, ind int, s string) (found, bool) {
	if len(w.open) > 0 || ind > 0 {
		return javaOther(w, i, ind, s)
	}
	name, owner, types := shape(w, i, s, false)
	return found{name: name, kind: "function"}, name != "" && len(owner) == 0 && types > 0
}

// annotation returns the length of annotations such as @Override or
// @Named("x") at the line's start.
func annotation(s string) (int, bool) {
	n := 0
	for n < len(s) && s[n] == '@' {
		w, rest := word(s[n+1:])
		if w == "" || w == "interface" {
			return n, false
		}
		for strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ":") {
			_, rest = word(rest[1:])
		}
		if strings.HasPrefix(rest, "(") {
			depth, k := 0, 0
			for k < len(rest) {
				if rest[k] == '(' {
					depth++
				} else if rest[k] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
				k++
			}
			if k == len(rest) {
				return n, true
			}
			rest = rest[k+1:]
		}
		rest = strings.TrimLeft(rest, " \t")
		n = len(s) - len(rest)
	}
	return n, n > 0 && n == len(s)
}

// lineOf returns a decorator function for lines that begin with mark.
func lineOf(mark string) func(string) (int, bool) {
	return func(s string) (int, bool) { return 0, strings.HasPrefix(s, mark) }
}

// attribute finds [Attribute] of C# and #[attribute] of PHP and Rust.
func attribute(mark string) func(string) (int, bool) {
	return func(s string) (int, bool) {
		if !strings.HasPrefix(s, mark) {
			return 0, false
		}
		n := strings.LastIndexByte(s, ']')
		if n < 0 {
			return 0, true
		}
		rest := strings.TrimLeft(s[n+1:], " \t")
		if rest == "" || strings.HasPrefix(rest, "//") {
			return 0, true
		}
		return len(s) - len(rest), false
	}
}

// pythonOther finds constants: NAME = value in the first column.
func pythonOther(_ *window, _, ind int, s string) (found, bool) {
	if ind > 0 || s[0] < 'A' || s[0] > 'Z' && s[0] != '_' {
		return found{}, false
	}
	name, rest := word(s)
	if name != strings.ToUpper(name) || strings.Trim(name, "_0123456789") == "" {
		return found{}, false
	}
	_, ok := assignedValue(rest)
	return found{name: name, kind: "const"}, ok
}

// shellOther finds "name() {".
func shellOther(_ *window, _, _ int, s string) (found, bool) {
	n := 0
	for n < len(s) && (isWord(s[n]) && s[n] != '$' || s[n] == '-' || s[n] == ':' || s[n] == '.') {
		n++
	}
	name := s[:n]
	rest := strings.TrimLeft(s[n:], " \t")
	if name == "" || !strings.HasPrefix(rest, "()") || notNames[name] || strings.IndexByte(name, ':') >= 0 || strings.IndexByte(name, '.') >= 0 {
		return found{}, false
	}
	return found{name: name, kind: "function"}, true
}

// haskellOther finds type signatures: "name :: Type" in the first column.
func haskellOther(w *window, _, ind int, s string) (found, bool) {
	if ind > 0 && !w.member(ind) || s[0] < 'a' || s[0] > 'z' {
		return found{}, false
	}
	n := 0
	for n < len(s) && (isWord(s[n]) || s[n] == '\'') {
		n++
	}
	if !strings.HasPrefix(strings.TrimLeft(s[n:], " \t"), "::") {
		return found{}, false
	}
	return found{name: s[:n], kind: "function", flat: len(w.open) == 0}, true
}

// zigConst reads "const X = struct {": other constants count at the top only.
func zigOther(w *window, _, ind int, s string) (found, bool) {
	first, rest := word(s)
	if first == "pub" {
		first, rest = word(strings.TrimLeft(rest, " \t"))
	}
	if first != "const" && first != "var" {
		return found{}, false
	}
	name, after := identRest(rest)
	value, ok := assignedValue(after)
	if name == "" || !ok || ind > 0 && !w.member(ind) || strings.HasPrefix(value, "@import") {
		return found{}, false
	}
	for _, m := range []string{"extern ", "packed "} {
		value = strings.TrimPrefix(value, m)
	}
	switch kind, _ := word(value); kind {
	case "struct", "enum", "union", "opaque", "error":
		return found{name: name, kind: "type", body: true}, true
	}
	return found{name: name, kind: first}, true
}

// sqlOther finds CREATE … name.
func sqlOther(_ *window, _, _ int, s string) (found, bool) {
	if len(s) < 8 || !strings.EqualFold(s[:7], "create ") {
		return found{}, false
	}
	f := strings.Fields(s[:min(len(s), 300)])
	for k := 1; k < len(f) && k < 7; k++ {
		kind := strings.ToLower(f[k])
		switch kind {
		case "table", "view", "function", "procedure", "index", "trigger", "type", "schema", "sequence", "domain", "extension", "database", "role", "policy":
		default:
			continue
		}
		k++
		for k < len(f) && sqlFill[strings.ToLower(f[k])] {
			k++
		}
		if k >= len(f) {
			return found{}, false
		}
		name := f[k]
		if n := strings.IndexAny(name, "(;"); n >= 0 {
			name = name[:n]
		}
		name = strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "").Replace(name)
		owner, name := owners(name)
		if strings.EqualFold(name, "on") {
			return found{}, false
		}
		return found{name: name, owner: owner, kind: kind}, name != ""
	}
	return found{}, false
}

var sqlFill = kb.WordsOf("if not exists concurrently")

// makeOther finds the targets of a makefile.
func makeOther(_ *window, _, ind int, s string) (found, bool) {
	n := strings.IndexByte(s, ':')
	if ind > 0 || n <= 0 || strings.HasPrefix(s[n:], ":=") || strings.HasPrefix(s[n:], "::=") || strings.IndexByte(s[:n], '=') >= 0 {
		return found{}, false
	}
	name := strings.TrimSpace(s[:n])
	if name == "" || name[0] == '.' || strings.ContainsAny(name, "$%() \t\"'") {
		return found{}, false
	}
	return found{name: name, kind: "target"}, true
}

// sectionOther finds the "[section]" lines of TOML and INI.
func sectionOther(_ *window, _, ind int, s string) (found, bool) {
	n := strings.LastIndexByte(s, ']')
	if ind > 0 || s[0] != '[' || n < 0 {
		return found{}, false
	}
	if rest := strings.TrimLeft(s[n+1:], " \t"); rest != "" && rest[0] != '#' && rest[0] != ';' {
		return found{}, false
	}
	name := strings.TrimSpace(strings.Trim(s[:n], "[]"))
	return found{name: fold(name, noteBytes), kind: "section", flat: true}, name != ""
}

// rOther finds "name <- function(".
func rOther(_ *window, _, _ int, s string) (found, bool) {
	n := 0
	for n < len(s) && (isWord(s[n]) || s[n] == '.') {
		n++
	}
	rest := strings.TrimLeft(s[n:], " \t")
	if n == 0 || !strings.HasPrefix(rest, "<-") && !strings.HasPrefix(rest, "=") {
		return found{}, false
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, "<-="), " \t")
	return found{name: s[:n], kind: "function"}, strings.HasPrefix(rest, "function(")
}

// lispOther finds (defun name, (defn name, (define (name.
func lispOther(_ *window, _, ind int, s string) (found, bool) {
	if ind > 0 || !strings.HasPrefix(s, "(def") {
		return found{}, false
	}
	head, rest, _ := strings.Cut(s[1:], " ")
	rest = strings.TrimLeft(rest, " (")
	n := strings.IndexAny(rest, " ()\t[")
	if n < 0 {
		n = len(rest)
	}
	kind := "function"
	if head == "def" || head == "defvar" || head == "defconst" || head == "defcustom" {
		kind = "var"
	}
	name := rest[:n]
	return found{name: name, kind: kind}, name != "" && name[0] != '^' && name[0] != '\'' && len(name) < 100
}
