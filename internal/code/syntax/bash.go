package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var bash = &spec{
	grammar:  "bash",
	comments: []string{"comment"},
	brittle:  true,
	rules: rules{
		{"function_definition", func(w *walk, n int32) {
			name := w.field(n, "name")
			if w.text(name) == "" {
				w.children(n)
				return
			}
			d := declaration{node: n, name: name, kind: "function", body: w.field(n, "body"), inner: w.enclosing() != nil}
			w.declare(d, func() { w.visit(d.body) })
		}},
		{"command", bashCommand},
		{"declaration_command", func(w *walk, n int32) {
			constant := strings.HasPrefix(w.text(n), "readonly")
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "word":
					if s := w.text(c); strings.HasPrefix(s, "-") && strings.Contains(s, "r") {
						constant = true
					}
				case "variable_assignment":
					bashVariable(w, n, c, constant)
				case "variable_name":
					if d := w.enclosing(); d != nil {
						w.bindIn(d, w.text(c), "")
					}
				default:
					w.visit(c)
				}
			}
		}},
		{"variable_assignment", func(w *walk, n int32) { bashVariable(w, n, n, false) }},
		{"if_statement for_statement c_style_for_statement while_statement case_statement subshell", scoped},
	},
}

// bashVariable reads an assignment a. At top level, the first of a name is a
// declaration: what a script can be set up with.
func bashVariable(w *walk, n, a int32, constant bool) {
	const far = 300
	name := w.field(a, "name")
	s := w.text(name)
	if w.typ(name) == "variable_name" && w.top() && s != "" {
		known := strings.ToUpper(s) != s || len(s) < 2
		for i := len(w.out.Decls) - 1; i >= 0 && i > len(w.out.Decls)-far && !known; i-- {
			known = w.out.Decls[i].Name == s
		}
		kind := "var"
		if constant {
			kind = "const"
		}
		if constant || !known {
			w.declare(declaration{node: n, name: name, kind: kind, inner: true}, nil)
		}
	}
	w.visit(w.field(a, "value"))
}

func bashCommand(w *walk, n int32) {
	name := w.field(n, "name")
	word := w.first(name)
	arg := w.field(n, "argument")
	s := w.text(word)
	if w.typ(word) == "word" {
		switch {
		case s == "source" || s == ".":
			if path := bashPath(w, arg); path != "" {
				if w.top() {
					w.importing(n)
				}
				w.imported(n, path, "", "")
				return
			}
		case s == "trap":
			if w.typ(arg) == "word" {
				w.use(n, w.text(arg), "", kb.UseCall)
			}
		case !shellBuiltins[s] && bashName(s):
			w.use(name, s, "", kb.UseCall)
		}
	}
	w.children(n)
}

// bashPath returns the path that is sourced, without a variable folder before it.
func bashPath(w *walk, n int32) string {
	s := w.text(n)
	switch w.typ(n) {
	case "word", "raw_string":
	case "string", "concatenation":
		at := -1
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if t := w.typ(c); t != "string_content" && t != "word" && t != "raw_string" {
				if t == "string" && w.child(c, "expansion", "simple_expansion", "command_substitution") < 0 {
					continue
				}
				at = int(w.nodes[c].End) - int(w.nodes[n].Start)
			}
		}
		if at >= 0 {
			s = strings.TrimLeft(s[at:], `"'/}`)
		}
	default:
		return ""
	}
	s = strings.NewReplacer(`"`, "", "'", "").Replace(s)
	if strings.ContainsAny(s, "$`*") {
		return ""
	}
	return s
}

func bashName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || strings.IndexByte("$`\"'\\/=*?[]{}()<>|&;", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// shellBuiltins are what every shell has.
var shellBuiltins = func() map[string]bool {
	m := map[string]bool{}
	for s := range strings.FieldsSeq(`: . [ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval
exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return
set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait autoload zmodload zstyle setopt unsetopt
cat grep sed awk cut sort head tail tr rm cp mv mkdir ls chmod ln touch basename dirname date sleep uname wc xargs find tee mktemp`) {
		m[s] = true
	}
	return m
}()
