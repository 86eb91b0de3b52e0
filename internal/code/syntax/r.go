package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var rlang = &spec{
	grammar:  "r",
	comments: []string{"comment"},
	brittle:  true, // R Markdown is prose with R in it
	chains: chains{
		{"identifier", link{read: func(w *walk, n int32) (string, int32) {
			if w.text(n) == "private" { // as members of R6 call the others
				return "self", -1
			}
			return strings.Trim(w.text(n), "`"), -1
		}}},
		{"namespace_operator extract_operator", link{name: "rhs", on: "lhs"}},
	},
	rules: rules{
		{"binary_operator", rAssign},
		{"function_definition", scoped},
		{"parameter", func(w *walk, n int32) {
			w.bindHere(w.text(w.field(n, "name")), "")
			w.visit(w.field(n, "default"))
		}},
		{"for_statement", func(w *walk, n int32) {
			w.bind(n, w.text(w.field(n, "variable")), "")
			w.butField(n, "variable")
		}},
		{"call", rCall},
	},
}

// rAssign reads "name <- value" and its other spellings.
func rAssign(w *walk, n int32) {
	name, value := w.field(n, "lhs"), w.field(n, "rhs")
	switch w.between(name, value) {
	case "->", "->>":
		name, value = value, name
	case "<-", "<<-", "=", ":=":
	default:
		w.children(n)
		return
	}
	as := strings.Trim(w.text(name), "`\"'")
	if t := w.typ(name); t != "identifier" && t != "string" || as == "" {
		w.children(n)
		return
	}
	f := w.field(value, "function")
	switch {
	case w.typ(value) == "function_definition":
		rFunction(w, n, name, value, as, "function", nil)
	case !w.top():
		w.bindHere(as, "")
		w.visit(value)
	case strings.HasSuffix(w.chain(f), "R6Class"):
		rClass(w, n, name, value, as)
	default:
		kind := "var"
		if strings.ToUpper(as) == as && strings.ToLower(as) != as {
			kind = "const"
		}
		w.declare(declaration{node: n, name: name, as: as, kind: kind, inner: w.start(n) == w.end(n)},
			func() { w.visit(value) })
	}
}

// rFunction declares the function value: whole is the statement around it.
func rFunction(w *walk, whole, name, value int32, as, kind string, owners []string) {
	d := declaration{node: whole, name: name, as: as, kind: kind, owners: owners, body: w.field(value, "body")}
	around := w.enclosing()
	d.inner = around != nil && around.Kind != "class"
	w.declare(d, func() { w.children(value) })
}

// rArgument returns the value of an argument called name, or else of the one
// at a place among those without names; -1 when there is none.
func rArgument(w *walk, call int32, name string, at int) int32 {
	args := w.field(call, "arguments")
	for c := w.first(args); c >= 0; c = w.next(args, c) {
		switch n := w.field(c, "name"); {
		case w.typ(c) != "argument":
		case n >= 0 && w.text(n) == name:
			return w.field(c, "value")
		case n < 0:
			if at--; at == -1 {
				return w.field(c, "value")
			}
		}
	}
	return -1
}

// rString returns the text of a string, "" for anything else.
func rString(w *walk, n int32) string {
	if w.typ(n) != "string" {
		return ""
	}
	return w.text(w.field(n, "content"))
}

// rClass declares a class of R6, whose members are in lists.
func rClass(w *walk, whole, name, call int32, as string) {
	w.declare(declaration{node: whole, name: name, as: as, kind: "class", body: w.field(call, "arguments")}, func() {
		if base := rArgument(w, call, "inherit", 9); base >= 0 {
			q, last := splitQualified(w.chain(base))
			w.use(base, last, q, kb.UseInherit)
		}
		for _, list := range []string{"public", "private", "active"} {
			args := w.field(rArgument(w, call, list, 9), "arguments")
			for c := w.first(args); c >= 0; c = w.next(args, c) {
				member, value := w.field(c, "name"), w.field(c, "value")
				if member >= 0 && w.typ(value) == "function_definition" {
					rFunction(w, c, member, value, w.text(member), "method", nil)
					continue
				}
				if member >= 0 {
					w.bindHere("self."+w.text(member), "")
				}
				w.visit(value)
			}
		}
	})
}

// rCall reads a call: of what loads files and packages, of what declares
// classes and methods of S4, or of a function.
func rCall(w *walk, n int32) {
	f := w.field(n, "function")
	first, second := rArgument(w, n, "Class", 0), rArgument(w, n, "signature", 1)
	switch name := rString(w, first); w.text(f) {
	case "library", "require", "requireNamespace", "source":
		if name == "" && w.typ(first) == "identifier" && w.text(f) != "source" {
			name = w.text(first)
		}
		if name != "" {
			if w.top() {
				w.importing(n)
			}
			w.imported(n, name, "", "")
			return
		}
	case "setClass", "setRefClass", "setGeneric":
		if kind := map[bool]string{true: "function", false: "class"}[w.text(f) == "setGeneric"]; name != "" {
			w.declare(declaration{node: n, name: first, as: name, kind: kind}, func() {
				if base := rArgument(w, n, "contains", 9); rString(w, base) != "" {
					w.use(base, rString(w, base), "", kb.UseInherit)
				}
				w.visit(w.field(n, "arguments"))
			})
			return
		}
	case "setMethod":
		if value := rArgument(w, n, "definition", 2); name != "" && w.typ(value) == "function_definition" {
			var owners []string
			if s := rString(w, second); s != "" {
				owners = []string{s}
			}
			rFunction(w, n, first, value, name, "method", owners)
			return
		}
	}
	switch q := w.chain(f); q {
	case noChain:
		w.visit(f)
	default:
		i := len(w.out.Facts.References)
		q, last := splitQualified(q)
		w.use(f, last, q, kb.UseCall)
		w.argued(i, w.field(n, "arguments"), 0)
	}
	w.visit(w.field(n, "arguments"))
}
