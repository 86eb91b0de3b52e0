package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var ruby = &spec{
	pattern: rubyTarget, made: rubyMade,
	grammar:  "ruby",
	comments: []string{"comment"},
	chains: chains{
		{"identifier constant self super", itself},
		{"scope_resolution", link{name: "name", on: "scope"}},
		{"instance_variable class_variable", link{read: func(w *walk, n int32) (string, int32) {
			return "self." + strings.TrimLeft(w.text(n), "@"), -1
		}}},
		{"call", link{read: func(w *walk, n int32) (string, int32) {
			m, r := w.field(n, "method"), w.field(n, "receiver")
			switch {
			case r < 0 || w.typ(m) != "identifier" || w.field(n, "arguments") >= 0 || w.field(n, "block") >= 0:
				return noChain, -1
			case w.text(m) == "class" && w.typ(r) == "self": // self.class.make is self.make
				return "self", -1
			}
			return w.text(m), r
		}}},
	},
	rules: rules{
		{"method singleton_method", rubyMethod},
		{"class module", func(w *walk, n int32) { rubyClass(w, n, w.typ(n)) }},
		{"singleton_class", func(w *walk, n int32) { w.visit(w.field(n, "body")) }},
		{"call", rubyCall},
		{"assignment", rubyAssignment},
		{"operator_assignment", all(assigns("left", "right"), visits("right"))},
		{"identifier", func(w *walk, n int32) {
			// A word that nothing here gave a value is a call.
			if name := w.text(n); !rubyBound(w, name, w.start(n)+1) && !slices.Contains(rubyVisibility, name) {
				w.use(n, name, "", kb.UseCall)
			}
		}},
		{"constant scope_resolution", func(w *walk, n int32) { rubyConstant(w, n, kb.UseType) }},
		{"block do_block lambda", scoped},
		{"block_parameters method_parameters lambda_parameters", rubyParameters},
		{"rescue", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "variable" {
					typ := ""
					if x := w.field(n, "exceptions"); x >= 0 {
						if one := w.first(x); one >= 0 && w.next(x, one) < 0 {
							typ = w.chain(one)
						}
					}
					w.bindHere(w.text(w.first(c)), strings.Trim(typ, noChain))
					continue
				}
				w.visit(c)
			}
		}},
		{"for", all(patterns("pattern"), visits("value", "body"))},
		{"alias", func(w *walk, n int32) {
			if name := w.field(n, "name"); strings.Trim(w.text(name), ":") != "" && rubyInType(w) {
				w.declare(declaration{node: n, name: name, as: strings.TrimPrefix(w.text(name), ":"), kind: "method", inner: true}, nil)
			}
		}},
		{"undef", skip},
		{"super", func(w *walk, n int32) {
			if d := w.enclosingKind("method", "function"); d != nil {
				w.use(n, d.Name, "super", kb.UseCall)
			}
		}},
		{"pair keyword_pattern", func(w *walk, n int32) {
			kind := w.typ(n)
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.typ(c) != "hash_key_symbol" {
					w.visit(c)
				} else if kind == "keyword_pattern" && w.next(n, c) < 0 {
					w.bindHere(w.text(c), "") // in {name:}
				}
			}
		}},
	},
}

// Words that stand alone in a class and are no calls to look for.
var rubyVisibility = []string{"private", "protected", "public", "module_function", "private_class_method", "public_class_method", "private_constant"}

// rubyInType reports whether what stands here belongs to a class, a module or
// the file rather than to a method.
func rubyInType(w *walk) bool { return w.in("class", "module") }

func rubyMethod(w *walk, n int32) {
	name, params := w.field(n, "name"), w.field(n, "parameters")
	around := w.enclosing()
	d := declaration{node: n, name: name, kind: "function", body: w.field(n, "body")}
	if w.text(name) == "" {
		w.children(n)
		return
	}
	if around != nil {
		d.kind, d.inner = "method", around.Kind == "method" || around.Kind == "function"
	}
	if o := w.field(n, "object"); o >= 0 {
		d.kind = "method"
		if q := w.chain(o); q != "" && q[0] >= 'A' && q[0] <= 'Z' && (around == nil || around.Name != q) {
			d.owners = strings.Split(q, ".")
		}
	}
	d.sigEnd = int(w.nodes[name].End)
	if params >= 0 {
		d.sigEnd = int(w.nodes[params].End)
	}
	w.declare(d, func() { w.visitAll(params, d.body) })
}

func rubyClass(w *walk, n int32, kind string) {
	name := w.field(n, "name")
	d := declaration{node: n, name: name, kind: "class", body: w.field(n, "body")}
	if kind == "module" {
		d.kind = "module"
	}
	q := w.chain(name)
	if q == noChain || q == "" {
		w.children(n)
		return
	}
	names := strings.Split(q, ".")
	d.as, d.owners = names[len(names)-1], names[:len(names)-1]
	d.inner = w.enclosingKind("method", "function") != nil
	super := w.field(n, "superclass")
	d.sigEnd = int(w.nodes[name].End)
	if super >= 0 {
		d.sigEnd = int(w.nodes[super].End)
	}
	w.declare(d, func() {
		if super >= 0 {
			if c := w.first(super); w.typ(c) == "constant" || w.typ(c) == "scope_resolution" {
				rubyConstant(w, c, kb.UseInherit)
			} else {
				w.visit(c)
			}
		}
		w.visit(d.body)
	})
}

// The calls that declare methods named by their symbols, and what they make.
var rubyMacros = map[string]string{
	"attr_accessor": "property", "attr_reader": "property", "attr_writer": "property", "attr": "property",
	"mattr_accessor": "property", "mattr_reader": "property", "mattr_writer": "property", "cattr_accessor": "property", "cattr_reader": "property",
	"cattr_writer": "property", "class_attribute": "property", "thread_mattr_accessor": "property", "attr_internal": "property",
	"has_many": "property", "has_one": "property", "belongs_to": "property", "has_and_belongs_to_many": "property", "has_one_attached": "property",
	"has_many_attached": "property", "scope": "method", "define_method": "method", "define_singleton_method": "method", "alias_method": "method",
	"delegate": "method", "def_delegator": "method", "def_delegators": "method",
}

func rubyCall(w *walk, n int32) {
	receiver, method, args, block := w.field(n, "receiver"), w.field(n, "method"), w.field(n, "arguments"), w.field(n, "block")
	name := w.text(method)
	if receiver < 0 {
		switch name {
		case "require", "require_relative", "load", "autoload":
			if s := w.child(args, "string"); s >= 0 && w.child(s, "interpolation") < 0 {
				path := w.text(w.child(s, "string_content"))
				if name == "require_relative" && !strings.HasPrefix(path, ".") {
					path = "./" + path
				}
				w.imported(n, path, "", "")
				if w.top() {
					w.importing(n)
				}
				return
			}
		case "include", "extend", "prepend":
			if rubyInType(w) && w.region == 0 && args >= 0 {
				for c := w.first(args); c >= 0; c = w.next(args, c) {
					if t := w.typ(c); t == "constant" || t == "scope_resolution" {
						rubyConstant(w, c, kb.UseInherit)
					} else {
						w.visit(c)
					}
				}
				return
			}
		}
		if kind := rubyMacros[name]; kind != "" && rubyInType(w) && args >= 0 {
			if rubyMacro(w, n, args, block, name, kind) {
				return
			}
		}
	}
	q := ""
	if receiver < 0 && name == "new" {
		q = "self"
	} else if receiver >= 0 {
		q = w.chain(receiver)
		switch t := w.typ(receiver); {
		case t == "constant" || t == "scope_resolution":
			if name != "new" { // what new means says it
				rubyConstant(w, receiver, kb.UseType)
			}
		case t != "self" && t != "instance_variable" && t != "class_variable":
			w.visit(receiver)
		}
	}
	switch {
	case w.typ(method) == "super":
		if d := w.enclosingKind("method", "function"); d != nil {
			w.use(n, d.Name, "super", kb.UseCall)
		}
	case name != "" && !slices.Contains(rubyVisibility, name) && (receiver < 0 || w.typ(method) != "constant" || args >= 0):
		if t := w.typ(method); t == "identifier" || t == "constant" || t == "operator" {
			w.use(method, name, q, kb.UseCall)
		}
	}
	w.visit(args)
	w.visit(block)
}

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
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			rubyTarget(w, c, "")
		}
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
