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

// rubyVisibility are words that are alone in a class and no calls to look for.
var rubyVisibility = []string{"private", "protected", "public", "module_function", "private_class_method", "public_class_method", "private_constant"}

// rubyInType reports whether the walk is directly inside of a class, a module or
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

// rubyMacros are the calls that declare methods named by their symbols, and the
// kinds of what they make.
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
