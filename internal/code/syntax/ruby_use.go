package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// rubyMacro reads a call that declares methods. It reports false when no name
// is written in it.
func rubyMacro(w *walk, n, args, block int32, name, kind string) bool {
	found := false
	i := -1
	for c := w.first(args); c >= 0; c = w.next(args, c) {
		i++
		t := w.typ(c)
		if t != "simple_symbol" && (t != "string" || w.child(c, "interpolation") >= 0) {
			w.visit(c)
			continue
		}
		as := strings.Trim(w.text(c), `:"'`)
		first := name == "scope" || name == "alias_method" || strings.HasPrefix(name, "define_") || strings.HasPrefix(name, "has_") || name == "belongs_to"
		switch {
		case as == "" || first && i > 0:
			continue
		case strings.HasPrefix(name, "def_delegator") && (i == 0 || name == "def_delegator" && i > 1):
			continue
		}
		found = true
		d := declaration{node: n, name: c, as: as, kind: kind, inner: true}
		if block >= 0 && strings.HasPrefix(name, "define_") {
			d.inner, d.body = w.start(block) == w.end(block), block
			w.declare(d, func() { w.visit(block) })
			block = -1
			continue
		}
		w.declare(d, nil)
	}
	if found {
		w.visit(block)
	}
	return found
}

// rubyBound reports whether a name was given a value that holds on a line.
func rubyBound(w *walk, name string, line int) bool {
	const far = 256
	b := w.out.Facts.Bindings
	for i := len(b) - 1; i >= 0 && i >= len(b)-far; i-- {
		if b[i].Name == name && b[i].From <= line && line <= b[i].To {
			return true
		}
	}
	return false
}

// rubyConstant records the use of "A::B::C", whose last name is meant.
func rubyConstant(w *walk, n int32, kind kb.UseKind) {
	q := w.chain(n)
	if q == noChain {
		w.use(w.field(n, "name"), w.text(w.field(n, "name")), noChain, kind)
		w.visit(w.field(n, "scope"))
		return
	}
	q, name := splitQualified(q)
	if kind == kb.UseType && strings.ToUpper(name) == name && len(name) > 1 {
		kind = kb.UseName
	}
	w.use(n, name, q, kind)
}

func rubyParameters(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "identifier":
			w.bindHere(w.text(c), "")
		case "destructured_parameter":
			rubyParameters(w, c)
		default:
			w.bindHere(w.text(w.field(c, "name")), rubyMade(w, w.field(c, "value")))
			w.visit(w.field(c, "value"))
		}
	}
}

// rubyMade returns the class that an expression makes a value of.
func rubyMade(w *walk, n int32) string {
	if w.typ(n) == "call" && w.text(w.field(n, "method")) == "new" {
		if r := w.field(n, "receiver"); w.typ(r) == "constant" || w.typ(r) == "scope_resolution" {
			if q := w.chain(r); q != noChain {
				return q
			}
		}
	}
	return ""
}

// rubyTarget binds what is assigned to.
func rubyTarget(w *walk, n int32, typ string) {
	switch w.typ(n) {
	case "identifier":
		if !w.top() || typ != "" {
			w.bindHere(w.text(n), typ)
		}
	case "instance_variable", "class_variable":
		w.bindIn(w.enclosingKind("class", "module"), "self."+strings.TrimLeft(w.text(n), "@"), typ)
	case "left_assignment_list", "destructured_left_assignment", "rest_assignment":
		w.each(n, func(c int32) { rubyTarget(w, c, "") })
	case "call":
		// x.y = z calls y=.
		q, r := noChain, w.field(n, "receiver")
		if r >= 0 {
			q = w.chain(r)
			if t := w.typ(r); t != "self" && t != "instance_variable" {
				w.visit(r)
			}
		}
		if m := w.field(n, "method"); w.typ(m) == "identifier" {
			w.use(m, w.text(m)+"=", q, kb.UseCall)
		}
	case "constant", "scope_resolution":
	default:
		w.visit(n)
	}
}

func rubyAssignment(w *walk, n int32) {
	left, right := w.field(n, "left"), w.field(n, "right")
	around := w.enclosing()
	if t := w.typ(left); (t == "constant" || t == "scope_resolution") && (around == nil || rubyInType(w)) && w.region == 0 {
		names := strings.Split(w.chain(left), ".")
		if names[0] != noChain {
			d := declaration{node: n, name: left, as: names[len(names)-1], owners: names[:len(names)-1], kind: "const", inner: true}
			if made := rubyMade(w, right); made == "Struct" || made == "Class" || made == "Module" || rubyData(w, right) {
				// X = Struct.new(:a) do … end
				block, args := w.field(right, "block"), w.field(right, "arguments")
				d.kind = "class"
				if made == "Module" {
					d.kind = "module"
				}
				d.inner = w.start(n) == w.end(n)
				if block >= 0 {
					d.body = block
				}
				w.declare(d, func() {
					if made == "Class" && args >= 0 {
						if c := w.first(args); w.typ(c) == "constant" || w.typ(c) == "scope_resolution" {
							rubyConstant(w, c, kb.UseInherit)
						}
					} else {
						w.visit(args)
					}
					w.within(0, func() { w.children(block) })
				})
				return
			}
			w.declare(d, nil)
		}
	}
	rubyTarget(w, left, rubyMade(w, right))
	w.visit(right)
}

// rubyData reports whether an expression is Data.define(…).
func rubyData(w *walk, n int32) bool {
	return w.typ(n) == "call" && w.text(w.field(n, "receiver")) == "Data" && w.text(w.field(n, "method")) == "define"
}
