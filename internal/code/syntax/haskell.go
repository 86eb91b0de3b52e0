package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var haskell = &spec{
	grammar:  "haskell",
	comments: []string{"comment", "haddock"},
	rules: rules{
		{"header", func(w *walk, n int32) { w.out.Facts.Package = w.text(w.field(n, "module")) }},
		{"import", haskellImport},
		{"data_type newtype type_synomym type_family data_family", func(w *walk, n int32) {
			kind := w.typ(n)
			name := haskellName(w, n)
			if name < 0 {
				w.children(n)
				return
			}
			body := w.field(n, "constructors")
			k := "type"
			if kind == "data_type" || kind == "newtype" {
				k = strings.TrimSuffix(kind, "_type")
				body = -1 // constructors belong to the signature
			}
			w.declare(declaration{node: n, name: name, kind: k, body: body}, func() { haskellRest(w, n, name) })
		}},
		{"class", func(w *walk, n int32) {
			name, body := haskellName(w, n), w.field(n, "declarations")
			if name < 0 {
				w.children(n)
				return
			}
			w.declare(declaration{node: n, name: name, kind: "class", body: body}, func() {
				w.visitAll(w.field(n, "context"))
				haskellGroup(w, body, "method", false)
			})
		}},
		{"instance", func(w *walk, n int32) {
			name := haskellName(w, n)
			body := w.field(n, "declarations")
			if name < 0 {
				w.children(n)
				return
			}
			// Its name is that of the class and the types: "Show Tree".
			as := w.text(name)
			if p := w.field(n, "patterns"); p >= 0 {
				as += " " + strings.Join(strings.Fields(w.text(p)), " ")
			}
			w.declare(declaration{node: n, name: name, as: strings.ReplaceAll(as, ".", "_"), kind: "instance", body: body}, func() {
				w.use(name, w.text(name), "", kb.UseInherit)
				w.visitAll(w.field(n, "context"), w.field(n, "patterns"))
				haskellGroup(w, body, "method", true)
			})
		}},
		{"deriving_instance", func(w *walk, n int32) {
			name := haskellName(w, n)
			if name >= 0 {
				w.use(name, w.text(name), "", kb.UseType)
			}
			w.visit(w.field(n, "patterns"))
		}},
		{"declarations", func(w *walk, n int32) { haskellGroup(w, n, "function", false) }},
		{"class_declarations", func(w *walk, n int32) { haskellGroup(w, n, "method", false) }},
		{"instance_declarations", func(w *walk, n int32) { haskellGroup(w, n, "method", true) }},
		{"local_binds", func(w *walk, n int32) {
			// Local declarations bind their names for the one around.
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "function", "bind":
					if name, as := haskellBound(w, c); name >= 0 && w.enclosing() != nil {
						w.bindIn(w.enclosing(), as, "")
					}
				}
			}
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "function", "bind":
					haskellBody(w, c)
				default:
					w.visit(c)
				}
			}
		}},
		{"signature", func(w *walk, n int32) { w.visit(w.field(n, "type")) }},
		{"function bind", func(w *walk, n int32) {
			// A bind in "do", or a declaration where none is looked for.
			if p := w.field(n, "pattern"); p >= 0 {
				haskellPattern(w, p)
				w.visit(w.field(n, "expression"))
				return
			}
			haskellBody(w, n)
		}},
		{"foreign_import", func(w *walk, n int32) {
			if s := w.field(n, "signature"); s >= 0 {
				if name := w.field(s, "name"); name >= 0 {
					w.declare(declaration{node: n, name: name, kind: "function"}, func() { w.visit(w.field(s, "type")) })
				}
			}
		}},
		{"pattern_synonym", func(w *walk, n int32) {
			if e := w.child(n, "equation"); e >= 0 {
				f := w.field(e, "synonym")
				for range 16 {
					if w.typ(f) != "apply" {
						break
					}
					f = w.field(f, "function")
				}
				if w.typ(f) == "constructor" {
					w.declare(declaration{node: n, name: f, kind: "function"}, nil)
				}
				w.visit(w.field(e, "pattern"))
			}
		}},
		{"data_constructor newtype_constructor gadt_constructor", haskellConstructor},
		{"field", func(w *walk, n int32) {
			if name := w.child(n, "field_name"); name >= 0 {
				haskellBeside(w, n, name, "var")
			}
			w.visit(w.field(n, "type"))
		}},
		{"name", func(w *walk, n int32) { w.use(n, w.text(n), "", kb.UseType) }},
		{"constructor", func(w *walk, n int32) { w.use(n, w.text(n), "", kb.UseCall) }},
		{"variable", haskellVariable},
		{"qualified", func(w *walk, n int32) {
			id := w.field(n, "id")
			q := strings.TrimSuffix(w.text(w.field(n, "module")), ".")
			k := kb.UseCall
			if w.typ(id) == "name" {
				k = kb.UseType
			}
			if id >= 0 {
				w.use(id, w.text(id), q, k)
			}
		}},
		{"patterns", haskellPattern},
	},
}

// haskellVariable records a use: a function that is named is called, sooner or
// later; what is local is bound.
func haskellVariable(w *walk, n int32) {
	t := w.text(n)
	d := w.enclosing()
	if d == nil || len(t) < 2 && t < "A" {
		return
	}
	b := w.out.Facts.Bindings
	for i := len(b) - 1; i >= 0 && b[i].From >= d.Start+1; i-- {
		if b[i].Name == t {
			return
		}
	}
	if d.Kind == "type" || d.Kind == "data" || d.Kind == "newtype" || d.Kind == "class" {
		return // a type variable
	}
	w.use(n, t, "", kb.UseCall)
}

func haskellName(w *walk, n int32) int32 {
	name := w.field(n, "name")
	if w.typ(name) == "qualified" {
		name = w.field(name, "id")
	}
	if w.text(name) == "" {
		return -1
	}
	return name
}

func haskellRest(w *walk, n, name int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if c != name && w.fieldOf(c) != "patterns" {
			w.visit(c)
		}
	}
}

func haskellImport(w *walk, n int32) {
	w.importing(n)
	path := w.text(w.field(n, "module"))
	alias := w.text(w.field(n, "alias"))
	names := w.field(n, "names")
	head := w.text(n)
	if names >= 0 {
		head = w.t.Source[w.nodes[n].Start:w.nodes[names].Start]
	}
	words := strings.Fields(head)
	qualified, hiding := false, false
	for _, s := range words {
		qualified = qualified || s == "qualified"
		hiding = hiding || s == "hiding"
	}
	local := alias
	if local == "" {
		local = path
	}
	w.imported(n, path, "", local)
	if qualified {
		return
	}
	if names < 0 || hiding {
		w.imported(n, path, "*", "")
		return
	}
	for c := w.first(names); c >= 0; c = w.next(names, c) {
		if w.typ(c) != "import_name" {
			continue
		}
		x := w.either(c, "variable", "type")
		if x < 0 {
			x = w.first(c)
		}
		if s := strings.Trim(w.text(x), noChain); s != "" {
			w.imported(c, path, s, s)
		}
	}
}

// haskellBound returns the node and text of the name that an equation defines.
func haskellBound(w *walk, n int32) (int32, string) {
	if name := w.field(n, "name"); name >= 0 {
		return name, strings.Trim(w.text(name), "()` ")
	}
	if in := w.child(n, "infix"); in >= 0 {
		if op := w.field(in, "operator"); op >= 0 {
			return op, strings.Trim(w.text(op), "()` ")
		}
	}
	return -1, ""
}

// haskellGroup declares the functions of a group of declarations: a signature
// and the equations of its name that follow are one.
func haskellGroup(w *walk, n int32, kind string, inner bool) {
	if n < 0 {
		return
	}
	for c := w.first(n); c >= 0; {
		k := w.typ(c)
		if k != "signature" && k != "function" && k != "bind" {
			w.visit(c)
			c = w.next(n, c)
			continue
		}
		name, as := haskellBound(w, c)
		if name < 0 || as == "" {
			haskellBody(w, c)
			c = w.next(n, c)
			continue
		}
		parts := []int32{c}
		last := c
		for d := w.next(n, c); d >= 0; d = w.next(n, d) {
			if dk := w.typ(d); dk == "function" || dk == "bind" {
				if _, s := haskellBound(w, d); s == as {
					parts = append(parts, d)
					last = d
					continue
				}
			} else if w.nodes[d].Symbol != 0xffff && w.mark[w.nodes[d].Symbol] != 0 || w.typ(d) == "pragma" {
				continue // between equations
			}
			break
		}
		// The equations are one node as far as lines go.
		end := w.nodes[last].End
		saved := w.nodes[c].End
		w.nodes[c].End = end
		d := declaration{node: c, name: name, as: as, kind: kind, inner: inner, sigEnd: int(saved)}
		if k != "signature" {
			if m := w.field(c, "match"); m >= 0 {
				d.sigEnd = int(w.nodes[m].Start)
			}
		}
		w.declare(d, func() {
			for _, p := range parts {
				if w.typ(p) == "signature" {
					w.visit(w.field(p, "type"))
				} else {
					haskellBody(w, p)
				}
			}
		})
		w.nodes[c].End = saved
		c = w.next(n, last)
	}
}

// haskellBody visits an equation: its patterns bind.
func haskellBody(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch {
		case w.fieldOf(c) == "name":
		case w.typ(c) == "infix":
			haskellPattern(w, w.field(c, "left_operand"))
			haskellPattern(w, w.field(c, "right_operand"))
		case w.fieldOf(c) == "pattern":
			haskellPattern(w, c)
		case w.fieldOf(c) == "binds":
		default:
			if b := w.field(n, "binds"); b >= 0 && w.typ(c) == "match" {
				w.visit(b) // names first
				b = -1
			}
			w.visit(c)
		}
	}
}

func haskellPattern(w *walk, n int32) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	switch w.typ(n) {
	case "variable":
		if w.enclosing() != nil {
			w.bindIn(w.enclosing(), w.text(n), "")
		}
	case "constructor":
		w.use(n, w.text(n), "", kb.UseName)
	default:
		w.each(n, func(c int32) { haskellPattern(w, c) })
	}
}

// haskellBeside declares a constructor or field, whose names are beside that
// of their type.
func haskellBeside(w *walk, n, name int32, kind string) {
	path := w.path
	w.path = nil
	w.declare(declaration{node: n, name: name, kind: kind, inner: true}, nil)
	w.path = path
}

func haskellConstructor(w *walk, n int32) {
	in := n
	if w.typ(n) == "data_constructor" {
		if c := w.field(n, "constructor"); c >= 0 {
			in = c
		}
	}
	name := w.field(in, "name")
	if name < 0 {
		name = w.child(in, "constructor")
	}
	if name >= 0 && w.text(name) != "" {
		haskellBeside(w, n, name, "enumerator")
	}
	w.but(in, name)
}
