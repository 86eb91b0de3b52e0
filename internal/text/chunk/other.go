package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The functions of this file are what rows of rulesOf use for shapes that a
// table of keywords does not hold.

// cOther finds the functions of C and C++, typedefs and macros.
func cOther(w *window, i, ind int, s string) (found, bool) {
	if s[0] == '#' {
		first, rest := word(blanks(s[1:]))
		name := ident(rest)
		ok := first == "define" && name != "" && !strings.HasSuffix(w.ls.text(max(0, i-1)), name)
		return found{name: name, kind: "macro"}, ok
	}
	if ind > 0 && len(w.open) == 0 || w.inType() && !w.member(ind) {
		return found{}, false
	}
	if strings.HasPrefix(s, "typedef ") {
		name := typedefName(w, i, s)
		return found{name: name, kind: "type"}, name != ""
	}
	name, owner, types := shape(w, i, s, false)
	// Others are a macro call, or a function of unknown type.
	ok := types > 0 || len(owner) > 0 || w.decor >= 0 || w.inType() && strings.TrimPrefix(name, "~") == last(w.path())
	return found{name: name, owner: owner, kind: "function"}, name != "" && ok
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// typedefName returns the name that a typedef introduces: the word before ";",
// perhaps after the "}" of a body.
func typedefName(w *window, i int, s string) string {
	const far = 100
	if strings.Contains(s, "(") {
		if n := strings.Index(s, "(*"); n >= 0 { // typedef int (*name)(void);
			name, after := word(blanks(s[n+2:]))
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
	rest = blanks(rest)
	return w != "" && w != "default" && strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::")
}

// cDecorator finds template lines and the type of a function whose name is on
// the next line.
func cDecorator(s string) (int, bool) {
	if strings.HasPrefix(s, "template") {
		if rest := blanks(s[len("template"):]); strings.HasPrefix(rest, "<") {
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
	return found{name: name, kind: "method"}, name != "" && len(owner) == 0 && (types > 0 || name == last(top.path))
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
			k := closing(rest)
			if k < 0 {
				return n, true
			}
			rest = rest[k+1:]
		}
		rest = blanks(rest)
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
		rest := blanks(s[n+1:])
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
	name, rest := leading(s, "-")
	ok := name != "" && strings.HasPrefix(rest, "()") && !notNames[name] && strings.IndexByte(name, '$') < 0
	return found{name: name, kind: "function"}, ok
}

// haskellOther finds type signatures: "name :: Type" in the first column.
func haskellOther(w *window, _, ind int, s string) (found, bool) {
	if ind > 0 && !w.member(ind) || s[0] < 'a' || s[0] > 'z' {
		return found{}, false
	}
	name, rest := leading(s, "'")
	return found{name: name, kind: "function", flat: len(w.open) == 0}, strings.HasPrefix(rest, "::")
}

// zigOther reads "const X = struct {": other constants count at the top only.
func zigOther(w *window, _, ind int, s string) (found, bool) {
	first, rest := word(s)
	if first == "pub" {
		first, rest = word(blanks(rest))
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
		if !sqlKinds[kind] {
			continue
		}
		for k++; k < len(f) && sqlFill[strings.ToLower(f[k])]; k++ {
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
		return found{name: name, owner: owner, kind: kind}, name != "" && !strings.EqualFold(name, "on")
	}
	return found{}, false
}

var (
	sqlFill  = kb.WordsOf("if not exists concurrently")
	sqlKinds = kb.WordsOf(`table view function procedure index trigger type schema sequence domain extension database
		role policy`)
)

// makeOther finds the targets of a makefile.
func makeOther(_ *window, _, ind int, s string) (found, bool) {
	n := strings.IndexByte(s, ':')
	if ind > 0 || n <= 0 || strings.HasPrefix(s[n:], ":=") || strings.HasPrefix(s[n:], "::=") || strings.IndexByte(s[:n], '=') >= 0 {
		return found{}, false
	}
	name := strings.TrimSpace(s[:n])
	return found{name: name, kind: "target"}, name != "" && name[0] != '.' && !strings.ContainsAny(name, "$%() \t\"'")
}

// sectionOther finds the "[section]" lines of TOML and INI.
func sectionOther(_ *window, _, ind int, s string) (found, bool) {
	n := strings.LastIndexByte(s, ']')
	if ind > 0 || s[0] != '[' || n < 0 {
		return found{}, false
	}
	if rest := blanks(s[n+1:]); rest != "" && rest[0] != '#' && rest[0] != ';' {
		return found{}, false
	}
	name := strings.TrimSpace(strings.Trim(s[:n], "[]"))
	return found{name: fold(name, noteBytes), kind: "section", flat: true}, name != ""
}

// rOther finds "name <- function(".
func rOther(_ *window, _, _ int, s string) (found, bool) {
	name, rest := leading(s, ".")
	assigns := name != "" && (strings.HasPrefix(rest, "<-") || strings.HasPrefix(rest, "="))
	rest = blanks(strings.TrimLeft(rest, "<-="))
	return found{name: name, kind: "function"}, assigns && strings.HasPrefix(rest, "function(")
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
