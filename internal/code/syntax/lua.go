package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var lua = &spec{
	grammar:  "lua",
	comments: []string{"comment"},
	chains: chains{
		{"identifier", itself},
		{"dot_index_expression", link{name: "field", on: "table"}},
		{"method_index_expression", link{name: "method", on: "table"}},
		{"bracket_index_expression", link{read: func(w *walk, n int32) (string, int32) {
			if s := strings.Trim(w.text(w.field(n, "field")), `"'`); w.typ(w.field(n, "field")) == "string" && luaName(s) {
				return s, w.field(n, "table")
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"function_declaration", luaFunctionDecl},
		{"function_definition", scope(visits("parameters", "body"))},
		{"parameters", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.typ(c) == "identifier" {
					w.bindHere(w.text(c), "")
				}
			}
		}},
		{"variable_declaration", func(w *walk, n int32) {
			if a := w.child(n, "assignment_statement"); a >= 0 {
				luaAssign(w, n, a, true)
				return
			}
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.typ(c) == "variable_list" {
					for v := w.first(c); v >= 0; v = w.next(c, v) {
						luaLocal(w, v, "")
					}
				} else {
					luaLocal(w, c, "")
				}
			}
		}},
		{"assignment_statement", func(w *walk, n int32) { luaAssign(w, n, n, false) }},
		{"function_call", luaUse},
		{"for_statement", func(w *walk, n int32) {
			w.within(n, func() {
				clause := w.field(n, "clause")
				names := w.child(clause, "variable_list")
				if names < 0 {
					names = clause
				}
				for c := w.first(names); c >= 0; c = w.next(names, c) {
					if w.fieldOf(c) == "name" {
						w.bindHere(w.text(c), "")
					}
				}
				w.children(n)
			})
		}},
		{"return_statement", func(w *walk, n int32) {
			// return { run = function() … end } is what a module offers.
			if w.top() {
				list := w.first(n)
				if c := w.first(list); w.typ(c) == "table_constructor" && w.next(list, c) < 0 {
					luaTable(w, c, nil, 0)
					return
				}
			}
			w.children(n)
		}},
	},
}

func luaFunctionDecl(w *walk, n int32) {
	name := w.field(n, "name")
	q := w.chain(name)
	if q == noChain || q == "" {
		w.within(n, func() { w.visitAll(w.field(n, "parameters"), w.field(n, "body")) })
		return
	}
	luaDeclare(w, n, n, name, strings.Split(q, "."))
}

// luaDeclare records a function by the names that lead to it: whole is the
// statement, value the function.
func luaDeclare(w *walk, whole, value, name int32, names []string) {
	d := declaration{node: whole, name: name, as: names[len(names)-1], kind: "function", body: w.field(value, "body")}
	params := w.field(value, "parameters")
	if params >= 0 {
		d.sigEnd = int(w.nodes[params].End)
	}
	if owners := names[:len(names)-1]; len(owners) > 0 {
		d.kind = "method"
		if owners[0] != "self" {
			d.owners = owners
		}
	}
	d.inner = !w.top()
	w.declare(d, func() { w.visitAll(params, d.body) })
}

// luaAssign reads an assignment a; n is the statement around it.
func luaAssign(w *walk, n, a int32, local bool) {
	left, right := w.child(a, "variable_list"), w.child(a, "expression_list")
	value := w.first(right)
	for c := w.first(left); c >= 0; c = w.next(left, c) {
		if w.fieldOf(c) != "name" {
			continue
		}
		luaAssignOne(w, n, c, value, local)
		if value >= 0 {
			value = w.next(right, value)
		}
	}
	for ; value >= 0; value = w.next(right, value) {
		w.visit(value)
	}
}

func luaAssignOne(w *walk, n, name, value int32, local bool) {
	q := w.chain(name)
	names := strings.Split(q, ".")
	top := w.top()
	if q == noChain {
		w.visitAll(name, value)
		return
	}
	if module := luaRequired(w, value); module != "" && len(names) == 1 {
		if top {
			w.importing(n)
		}
		w.imported(n, module, "", names[0])
		return
	}
	switch w.typ(value) {
	case "function_definition":
		if local && !top {
			luaLocal(w, name, "")
		}
		luaDeclare(w, n, value, name, names)
		return
	case "table_constructor":
		if top {
			luaVariable(w, n, name, names)
			luaTable(w, value, names, 0)
			return
		}
	default:
		if top {
			luaVariable(w, n, name, names)
		}
	}
	made := luaMade(w, value)
	switch {
	case len(names) == 1 && (local || made != ""):
		luaLocal(w, name, made)
	case len(names) == 2 && names[0] == "self":
		if d := w.enclosing(); d != nil {
			w.bindIn(d, q, made)
		}
	}
	w.visit(value)
}

// luaVariable declares a variable of the file, or a field of its table.
func luaVariable(w *walk, n, name int32, names []string) {
	if len(names) > 3 || names[0] == "vim" || names[0] == "_G" {
		return
	}
	kind := "var"
	if s := names[len(names)-1]; strings.ToUpper(s) == s && strings.ToLower(s) != s && len(s) > 1 {
		kind = "const"
	}
	w.declare(declaration{node: n, name: name, as: names[len(names)-1], owners: names[:len(names)-1], kind: kind, inner: true}, nil)
}

// luaTable declares the functions in a table of the file.
func luaTable(w *walk, table int32, names []string, depth int) {
	const deep = 3
	for c := w.first(table); c >= 0; c = w.next(table, c) {
		name, value := w.field(c, "name"), w.field(c, "value")
		key := strings.Trim(w.text(name), `"'`)
		if w.typ(c) != "field" || name < 0 || !luaName(key) && w.typ(name) != "string" || key == "" {
			w.visit(c)
			continue
		}
		path := append(slices.Clone(names), key)
		switch t := w.typ(value); {
		case t == "function_definition":
			luaDeclare(w, c, value, name, path)
		case t == "table_constructor" && depth < deep:
			luaTable(w, value, path, depth+1)
		default:
			w.visit(value)
		}
	}
}

func luaName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}

// luaLocal binds a local variable.
func luaLocal(w *walk, n int32, typ string) {
	if w.typ(n) == "identifier" && (typ != "" || !w.top()) {
		w.bindHere(w.text(n), typ)
	}
}

// luaRequired returns the module of require("a.b"), also of what is taken out
// of it at once.
func luaRequired(w *walk, n int32) string {
	for w.typ(n) == "dot_index_expression" {
		n = w.field(n, "table")
	}
	if w.typ(n) != "function_call" {
		return ""
	}
	args := w.field(n, "arguments")
	a := w.first(args)
	if w.text(w.field(n, "name")) == "pcall" && w.text(a) == "require" {
		a = w.next(args, a)
	} else if w.text(w.field(n, "name")) != "require" {
		return ""
	}
	if w.typ(a) != "string" {
		return ""
	}
	return w.text(w.field(a, "content"))
}

// luaUse records a call.
func luaUse(w *walk, n int32) {
	name, args := w.field(n, "name"), w.field(n, "arguments")
	if module := luaRequired(w, n); module != "" {
		if w.top() && w.text(name) == "require" {
			w.importing(n)
		}
		w.imported(n, module, "", "")
		return
	}
	switch w.typ(name) {
	case "identifier":
		w.use(name, w.text(name), "", kb.UseCall)
	case "dot_index_expression", "method_index_expression":
		field := w.either(name, "field", "method")
		table := w.field(name, "table")
		q := w.chain(table)
		if q == "self" {
			// self is the table of the function around it.
			if d := w.enclosingKind("method"); d != nil && len(d.Path) > 0 {
				q = strings.Join(d.Path, ".")
			}
		}
		w.use(field, w.text(field), q, kb.UseCall)
		if q == noChain {
			w.visit(table)
		}
	default:
		w.visit(name)
	}
	w.visit(args)
}

// luaMade returns the table that an expression makes an object of: Foo of
// Foo.new() and Foo:new().
func luaMade(w *walk, n int32) string {
	if w.typ(n) != "function_call" {
		return ""
	}
	q := w.chain(w.field(n, "name"))
	if t, last := splitQualified(q); t != "" && (last == "new" || last == "New" || last == "create") {
		return t
	}
	return ""
}
