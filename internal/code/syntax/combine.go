package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The functions of this file make rules of what a node is made of. A part of a
// node is the name of a field, "#a b" for its first child of one of the types,
// "1" for its first child, "." for itself.

// part returns a part of a node, -1 when it has none.
func (w *walk) part(n int32, part string) int32 {
	switch {
	case part == "1":
		return w.first(n)
	case part == ".":
		return n
	case strings.HasPrefix(part, "#"):
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			for t := range strings.FieldsSeq(part[1:]) {
				if w.typ(c) == t {
					return c
				}
			}
		}
		return -1
	}
	return w.field(n, part)
}

// either returns the first of two parts that a node has, -1 for neither.
func (w *walk) either(n int32, a, b string) int32 {
	if x := w.part(n, a); x >= 0 {
		return x
	}
	return w.part(n, b)
}

// all is rules one after the other, scope the same with a region of their own.
func all(rules ...rule) rule {
	return func(w *walk, n int32) {
		for _, r := range rules {
			r(w, n)
		}
	}
}

func scope(rules ...rule) rule {
	in := all(rules...)
	return func(w *walk, n int32) { w.within(n, func() { in(w, n) }) }
}

func children(w *walk, n int32) { w.children(n) }

// visits visits parts, rest what is in a node but for fields.
func visits(parts ...string) rule {
	return func(w *walk, n int32) {
		for _, p := range parts {
			w.visit(w.part(n, p))
		}
	}
}

func rest(fields ...string) rule {
	return func(w *walk, n int32) { w.butField(n, fields...) }
}

// binds binds the name that is a part, with the type that is another, "" for none.
func binds(name, typ string) rule {
	return func(w *walk, n int32) {
		if x := w.part(n, name); x >= 0 {
			w.bindHere(w.text(x), w.typeOf(n, typ))
		}
	}
}

// owns is binds for a field of the declaration around; parameter for one of it
// if it has a body; hides for a name that hides others in all of it.
func owns(name, typ string) rule {
	return func(w *walk, n int32) {
		w.bindIn(w.enclosing(), "self."+w.text(w.part(n, name)), w.typeOf(n, typ))
	}
}

func parameter(name, typ string) rule {
	return func(w *walk, n int32) {
		if d := w.enclosing(); d != nil && d.Body >= 0 {
			w.bindIn(d, w.text(w.part(n, name)), w.typeOf(n, typ))
		}
	}
}

func hides(name string) rule {
	return func(w *walk, n int32) { w.bindIn(w.enclosing(), w.text(w.part(n, name)), "") }
}

// typeOf returns the type that a part names, in the language's own way.
func (w *walk) typeOf(n int32, part string) string {
	if part == "" {
		return ""
	}
	return w.s.typ(w, w.part(n, part))
}

// patterns binds what a part assigns to, in the language's own way; takes gives
// it a type that is written, assigns that of what a value is made of.
func patterns(part string) rule { return takes(part, "") }

func takes(part, typ string) rule {
	return func(w *walk, n int32) { w.s.pattern(w, w.part(n, part), w.typeOf(n, typ)) }
}

func assigns(part, value string) rule {
	return func(w *walk, n int32) { w.s.pattern(w, w.part(n, part), w.s.made(w, w.part(n, value))) }
}

// uses records what a part uses, in the language's own way; eachUses what each
// child does.
func uses(kind kb.UseKind, part string) rule {
	return func(w *walk, n int32) { w.s.use(w, w.part(n, part), kind) }
}

func eachUses(kind kb.UseKind) rule {
	return func(w *walk, n int32) {
		w.each(n, func(c int32) { w.s.use(w, c, kind) })
	}
}

// enumerator declares one by the part that is its name.
func enumerator(name string) rule {
	return func(w *walk, n int32) {
		if x := w.part(n, name); w.text(x) != "" {
			w.declare(declaration{node: n, name: x, kind: "enumerator", inner: true}, nil)
		}
	}
}

// imports records the lines on which a node imports something.
func imports(w *walk, n int32) { w.importing(n) }

// atTop is imports at the top level only.
func atTop(w *walk, n int32) {
	if w.top() {
		w.importing(n)
	}
}
