package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// rules is one language's row: its lexical grammar and what begins a
// declaration. A declaration is found by its first words: modifiers, then a
// keyword, then what the keyword's name function reads. What has no keyword
// (a function of C, a method of Java) is left to other.
type rules struct {
	syntax
	modifiers kb.Words
	keywords  map[string]keyword
	imports   []string // first words of lines that import
	isImport  func(first, line string) bool
	// decorator returns the bytes of annotations at the line's start, and
	// whether there is nothing else on it.
	decorator func(line string) (int, bool)
	// other finds what no keyword introduces. line is without indentation and annotations.
	other func(w *window, i, ind int, line string) (found, bool)
	// keep reports lines that end nothing, however little they are indented.
	keep func(line string) bool
	ends []string // first words of lines that close or continue a block
	// looseBraces says that a "{" alone on a line begins a block of its own.
	looseBraces bool
	docString   bool // documentation is a string below the signature
	typeAbove   bool // a function's type may be on the line above its name
	do          bool // "do" at the end of a line begins the body
}

// keyword says what the word begins. name reads the declared name from what
// follows the keyword; "" means that this is no declaration after all.
type keyword struct {
	kind string
	name func(rest string) string
	body bool // may hold further declarations
	// bare allows a scope without a name.
	bare  bool
	quiet bool
	top   bool // counts at the top level or as a member only in the first column
}

// match returns the declaration that line i begins.
func (r *rules) match(w *window, i, ind int, line string) (found, bool) {
	first, rest := word(line)
	for n := 0; n < 8 && first != "" && r.modifiers[first]; n++ {
		next := blanks(rest)
		if strings.HasPrefix(next, "(") { // pub(crate)
			if k := strings.IndexByte(next, ')'); k > 0 && k < 40 {
				next = blanks(next[k+1:])
			}
		} else if strings.HasPrefix(next, `"`) { // extern "C"
			if k := strings.IndexByte(next[1:], '"'); k >= 0 && k < 20 {
				next = blanks(next[k+2:])
			}
		}
		second, after := word(next)
		if _, ok := r.keywords[second]; !ok && !r.modifiers[second] {
			break
		}
		first, rest = second, after
	}
	if k, ok := r.keywords[first]; ok && (rest == "" || !isWord(rest[0])) {
		if !k.top || ind == 0 || w.member(ind) {
			if name := k.name(rest); name != "" {
				f := found{name: name, kind: k.kind, body: k.body, quiet: k.quiet}
				f.owner, f.name = owners(name)
				return f, true
			}
			if k.bare {
				return found{kind: k.kind, body: true}, true
			}
		}
	}
	if r.other != nil {
		return r.other(w, i, ind, line)
	}
	return found{}, false
}

// owners splits a qualified name at "::", "." and ":": the last part is the name.
func owners(name string) ([]string, string) {
	if strings.IndexByte(name, '.') < 0 && strings.IndexByte(name, ':') < 0 {
		return nil, name
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' })
	if len(parts) == 0 {
		return nil, name
	}
	return parts[:len(parts)-1], parts[len(parts)-1]
}

// blanks returns s without the blanks it begins with.
func blanks(s string) string { return strings.TrimLeft(s, " \t") }

// leading splits off the word that s begins with, more bytes allowed in it, and
// returns what follows behind blanks.
func leading(s, more string) (name, rest string) {
	n := 0
	for n < len(s) && (isWord(s[n]) || strings.IndexByte(more, s[n]) >= 0) {
		n++
	}
	return s[:n], blanks(s[n:])
}

// spaced returns s without leading white space, or "" when it has none: a
// keyword and a name must be parted.
func spaced(s string) string {
	if s == "" || s[0] != ' ' && s[0] != '\t' {
		return ""
	}
	return blanks(s)
}

// ident reads an identifier after white space.
func ident(rest string) string {
	name, _ := identRest(rest)
	return name
}

func identRest(rest string) (string, string) {
	s := spaced(rest)
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return "", ""
	}
	return word(s)
}

// dotted reads a name with "." or "::" in it.
func dotted(rest string) string {
	s := spaced(rest)
	n := 0
	for n < len(s) && (isWord(s[n]) || s[n] == '.' || s[n] == ':' && (n+1 < len(s) && s[n+1] == ':' || n > 0 && s[n-1] == ':')) {
		n++
	}
	return strings.Trim(s[:n], ".:")
}

// typed reads the name of a type that has a body: not a use of the type, not a
// forward declaration.
func typed(rest string) string {
	name, after := identRest(rest)
	for n := 0; n < 3; n++ { // struct __attribute__((x)) name, class EXPORT_MACRO Name
		if strings.HasPrefix(after, "((") {
			k := strings.Index(after, "))")
			if k < 0 {
				return ""
			}
			after = after[k+2:]
			name, after = identRest(after)
			continue
		}
		next, more := identRest(after)
		if next == "" || next == "final" || next == "extends" || next == "implements" {
			break
		}
		name, after = next, more
	}
	t := blanks(strings.TrimPrefix(blanks(after), "final"))
	switch {
	case name == "":
		return ""
	case t == "" || t[0] == '{' || strings.HasPrefix(t, "//") || strings.HasPrefix(t, "/*"):
		return name
	case t[0] == ':' && !strings.HasPrefix(t, "::"), t[0] == '<':
		if strings.HasSuffix(t, ";") && !strings.Contains(t, "{") {
			return ""
		}
		return name
	}
	return ""
}

// unended is ident, unless the line only announces: "mod x;", "module x;".
func unended(rest string) string {
	if strings.HasSuffix(strings.TrimRight(rest, " \t"), ";") {
		return ""
	}
	return dotted(rest)
}

// assigned reads the name left of "=".
func assigned(rest string) string {
	name, after := identRest(rest)
	if t := blanks(after); strings.HasPrefix(t, "=") || strings.HasPrefix(t, ":") || strings.HasPrefix(t, "<") {
		return name
	}
	return ""
}

// quotedNames joins the quoted names of HCL: resource "a" "b" is a.b, which
// stays one name.
func quotedNames(rest string) string {
	var parts []string
	s := blanks(rest)
	for len(s) > 1 && s[0] == '"' {
		n := strings.IndexByte(s[1:], '"')
		if n < 0 {
			return ""
		}
		parts = append(parts, s[1:1+n])
		s = blanks(s[n+2:])
	}
	if !strings.HasPrefix(s, "{") {
		return ""
	}
	return strings.Join(parts, ".")
}

// generic returns s behind a leading "<…>".
func generic(s string) string {
	if !strings.HasPrefix(s, "<") {
		return s
	}
	depth := 0
	for i := 0; i < len(s) && i < 400; i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if i > 0 && (s[i-1] == '-' || s[i-1] == '=') {
				continue // "->" and "=>" close nothing
			}
			if depth--; depth == 0 {
				return blanks(s[i+1:])
			}
		}
	}
	return ""
}

// kotlinFun reads "fun <T> List<T>.name(": the last part before the bracket.
func kotlinFun(rest string) string {
	s := generic(spaced(rest))
	n := strings.IndexByte(s, '(')
	if n < 0 {
		return ""
	}
	s = s[:n]
	if k := strings.LastIndexByte(s, '.'); k >= 0 {
		s = s[k+1:]
	}
	return plain(strings.Trim(strings.TrimSpace(s), "`"))
}

// plain returns s if it is one identifier.
func plain(s string) string {
	if w, rest := word(s); rest != "" || w == "" || w[0] >= '0' && w[0] <= '9' {
		return ""
	}
	return s
}

// rustImpl reads the type of "impl<T> Trait for Type<T>".
func rustImpl(rest string) string {
	s := generic(blanks(rest))
	if n := strings.Index(s, " for "); n >= 0 {
		s = blanks(s[n+5:])
	}
	s = strings.TrimLeft(s, "&'*! \t")
	name, after := word(s)
	for strings.HasPrefix(after, "::") {
		name, after = word(after[2:])
	}
	return name
}

// rubyDef reads "def self.name?", "def name=".
func rubyDef(rest string) string {
	s := strings.TrimPrefix(spaced(rest), "self.")
	w, after := word(s)
	if w == "" || strings.HasPrefix(after, ".") {
		return ""
	}
	if after != "" && (after[0] == '?' || after[0] == '!' || after[0] == '=' && !strings.HasPrefix(after, "==")) {
		return w + after[:1]
	}
	return w
}

// called reads an identifier that a "(" follows, perhaps after type parameters.
func called(rest string) string {
	name, after := identRest(rest)
	if t := blanks(after); strings.HasPrefix(t, "(") || strings.HasPrefix(t, "<") {
		return name
	}
	return ""
}

// bracketed reads the first argument of a call: function(name ARGS).
func bracketed(rest string) string {
	s := blanks(rest)
	if !strings.HasPrefix(s, "(") {
		return ""
	}
	w, _ := word(blanks(s[1:]))
	return w
}

// goFunc reads "func (s *Server) Serve(" and "func New[T any](".
func goFunc(rest string) string {
	s := spaced(rest)
	owner := ""
	if strings.HasPrefix(s, "(") {
		n := strings.IndexByte(s, ')')
		if n < 0 {
			return ""
		}
		f := strings.Fields(strings.TrimLeft(s[1:n], " *"))
		if len(f) > 0 {
			owner, _ = word(strings.TrimLeft(f[len(f)-1], "*"))
		}
		s = blanks(s[n+1:])
	}
	name, after := word(s)
	if name == "" || !strings.HasPrefix(after, "(") && !strings.HasPrefix(after, "[") {
		return ""
	}
	if owner != "" {
		return owner + "." + name
	}
	return name
}
