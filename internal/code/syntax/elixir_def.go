package syntax

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func elixirOf(w *walk) *elixirState {
	st, ok := w.state.(*elixirState)
	if !ok {
		st = &elixirState{arity: map[int]int{}}
		w.state = st
	}
	return st
}

// elixirTypes records the modules in a type.
func elixirTypes(w *walk, n int32) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	if w.typ(n) == "alias" {
		w.visit(n)
	}
	w.each(n, func(c int32) { elixirTypes(w, c) })
	w.depth--
}

// elixirDef reads a clause of a function. Clauses of one name and number of
// parameters that follow each other are one declaration.
func elixirDef(w *walk, n int32, kind string, args, block int32) bool {
	head := w.first(args)
	sigEnd := 0
	if head >= 0 {
		sigEnd = int(w.nodes[head].End)
	}
	if w.typ(head) == "binary_operator" && w.between(w.field(head, "left"), w.field(head, "right")) == "when" {
		head = w.field(head, "left")
	}
	name, params := int32(-1), int32(-1)
	arity := 0
	switch w.typ(head) {
	case "identifier":
		name = head
	case "call":
		if name = w.field(head, "target"); w.typ(name) != "identifier" {
			return false // def unquote(name)(…)
		}
		if w.text(name) == "unquote" {
			return false
		}
		params = w.child(head, "arguments")
		w.each(params, func(c int32) { arity++ })
	case "binary_operator":
		params, arity = head, 2
	default:
		return false
	}
	d := declaration{node: n, name: name, kind: kind, body: block, sigEnd: sigEnd}
	if name >= 0 && w.text(name) == "" {
		return false
	}
	if name < 0 {
		if d.as = w.between(w.field(head, "left"), w.field(head, "right")); d.as == "" {
			return false
		}
	}
	around := w.enclosing()
	d.inner = around != nil && around.Kind != "module" && around.Kind != "interface" && around.Kind != "impl"
	st := elixirOf(w)
	if st.doc > 0 {
		d.doc, st.doc = st.doc, 0
	}
	body := func() {
		w.within(n, func() {
			w.each(params, func(c int32) { elixirPattern(w, c, "") })
			for c := w.first(args); c >= 0; c = w.next(args, c) {
				if c != head || params >= 0 {
					elixirHead(w, c, name)
				}
			}
			w.children(block)
		})
	}
	if around != nil && elixirAgain(w, &d, arity, body) {
		return true
	}
	st.arity[len(w.out.Decls)] = arity
	w.declare(d, body)
	return true
}

// elixirAgain reads one more clause of the declaration above, and reports
// whether it is one.
func elixirAgain(w *walk, d *declaration, arity int, body func()) bool {
	text := cmp.Or(d.as, w.text(d.name))
	i := len(w.out.Decls) - 1
	// Declarations inside of it lie between.
	for i > 0 && len(w.out.Decls[i].Path) > len(w.path) {
		i--
	}
	if i < 0 {
		return false
	}
	x := &w.out.Decls[i]
	if a, ok := elixirOf(w).arity[i]; !ok || a != arity || x.Name != text || x.Kind != d.kind || !slices.Equal(x.Path, w.path) {
		return false
	}
	x.End = w.end(d.node)
	w.scope, w.path = append(w.scope, i), append(w.path, text)
	body()
	w.scope, w.path = w.scope[:len(w.scope)-1], w.path[:len(w.path)-1]
	return true
}

// elixirHead visits the head of a function but for its name.
func elixirHead(w *walk, n, name int32) {
	if w.typ(n) == "call" && w.field(n, "target") == name {
		w.visit(w.child(n, "arguments"))
		return
	}
	if w.typ(n) == "binary_operator" {
		elixirHead(w, w.field(n, "left"), name)
		w.visit(w.field(n, "right"))
		return
	}
	if n != name {
		w.visit(n)
	}
}

// elixirStruct returns User of %User{…}.
func elixirStruct(w *walk, n int32) string {
	if w.typ(n) == "map" {
		return elixirModule(w, w.first(w.child(n, "struct")))
	}
	return ""
}

// elixirPattern binds the variables of a pattern.
func elixirPattern(w *walk, n int32, typ string) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	switch w.typ(n) {
	case "identifier":
		if s := w.text(n); !strings.HasPrefix(s, "_") && (!w.top()) {
			w.bindHere(s, typ)
		}
	case "binary_operator":
		left, right := w.field(n, "left"), w.field(n, "right")
		switch w.between(left, right) {
		case "=":
			t := cmp.Or(elixirStruct(w, left), elixirStruct(w, right))
			elixirPattern(w, left, t)
			elixirPattern(w, right, t)
		case "when", `\\`:
			elixirPattern(w, left, typ)
		default:
			elixirPattern(w, left, "")
			elixirPattern(w, right, "")
		}
	case "call", "unary_operator", "struct", "dot", "anonymous_function":
	case "pair":
		elixirPattern(w, w.field(n, "value"), "")
	default:
		w.each(n, func(c int32) { elixirPattern(w, c, "") })
	}
}

// elixirImport reads alias, import, require and use.
func elixirImport(w *walk, n int32, form string, args int32) bool {
	a := w.first(args)
	if a < 0 {
		return false
	}
	if w.enclosing() == nil {
		w.importing(n)
	}
	one := func(at int32, path string) {
		q, last := splitQualified(path)
		switch form {
		case "alias":
			if as := elixirOption(w, args, "as"); as >= 0 {
				last = w.text(as)
			}
			w.imported(at, path, "", last)
		case "import":
			w.imported(at, path, "*", "")
		case "require":
			local := path // says nothing new
			if as := elixirOption(w, args, "as"); as >= 0 {
				local = w.text(as)
			}
			w.imported(at, path, "", local)
		case "use":
			w.use(at, last, q, kb.UseInherit)
		}
	}
	if path := elixirModule(w, a); path != "" {
		one(n, path)
		if form == "use" {
			w.visit(w.child(args, "keywords"))
		}
		return true
	}
	// alias App.{User, Repo}
	dot := a
	if w.typ(dot) == "call" {
		dot = w.field(dot, "target")
	}
	group := w.field(dot, "right")
	if w.typ(dot) != "dot" || w.typ(group) != "tuple" {
		return false
	}
	prefix := elixirModule(w, w.field(dot, "left"))
	for c := w.first(group); c >= 0 && prefix != ""; c = w.next(group, c) {
		if m := elixirModule(w, c); m != "" {
			one(c, prefix+"."+m)
		}
	}
	return true
}
