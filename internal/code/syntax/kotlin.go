package syntax

import (
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var kotlin = &spec{
	typ: ktTypeName, use: ktType, pattern: ktBind,
	grammar:  "kotlin",
	comments: []string{"line_comment", "multiline_comment"},
	prepare:  prepareKotlin,
	chains: chains{
		{"simple_identifier type_identifier", unticked},
		{"this_expression", meaning("self")},
		{"super_expression", meaning("super")},
		{"user_type", link{read: func(w *walk, n int32) (string, int32) { return ktJoined(w, n), -1 }}},
		{"postfix_expression", link{read: func(w *walk, n int32) (string, int32) {
			if !strings.HasSuffix(w.text(n), "!!") {
				return noChain, -1
			}
			return w.chain(w.first(n)), -1
		}}},
		{"navigation_expression", link{read: func(w *walk, n int32) (string, int32) {
			if id := w.child(w.child(n, "navigation_suffix"), "simple_identifier"); id >= 0 {
				return w.text(id), w.first(n)
			}
			return noChain, -1
		}}},
	},
	rules: rules{
		{"package_header", func(w *walk, n int32) { w.out.Facts.Package = unspaced(w.text(w.child(n, "identifier"))) }},
		{"import_header", func(w *walk, n int32) {
			name := w.child(n, "identifier")
			if name < 0 {
				return
			}
			w.importing(name) // the node may hold comments behind it
			path := unspaced(w.text(name))
			of, last := splitQualified(path)
			switch alias := w.child(n, "import_alias"); {
			case w.child(n, "wildcard_import") >= 0:
				w.imported(n, path, "*", "")
			case alias >= 0:
				w.imported(n, of, last, w.text(w.child(alias, "type_identifier", "simple_identifier")))
			default:
				w.imported(n, of, last, last)
			}
		}},
		{"class_declaration object_declaration companion_object", func(w *walk, n int32) { ktTypeDecl(w, n, w.typ(n)) }},
		{"function_declaration secondary_constructor", func(w *walk, n int32) { ktFunctionDecl(w, n, w.typ(n)) }},
		{"property_declaration", ktPropertyDecl},
		{"getter setter anonymous_initializer statements anonymous_function for_statement when_expression", func(w *walk, n int32) {
			kind := w.typ(n)
			w.within(n, func() {
				if kind == "for_statement" {
					ktBindAll(w, n)
				}
				w.children(n)
			})
		}},
		{"type_alias", func(w *walk, n int32) {
			if name := w.child(n, "type_identifier"); name >= 0 {
				w.declare(declaration{node: n, name: name, kind: "type", inner: javaInner(w)}, func() { w.children(n) })
			}
		}},
		{"enum_entry", func(w *walk, n int32) {
			if name := w.child(n, "simple_identifier"); name >= 0 {
				body := w.child(n, "class_body")
				w.declare(declaration{node: n, name: name, kind: "enumerator", body: body, inner: true}, func() { w.children(n) })
			}
		}},
		{"parameter parameter_with_optional_type", all(binds("#simple_identifier", ktTypes), children)},
		{"class_parameter", func(w *walk, n int32) {
			if name := w.child(n, "simple_identifier"); name >= 0 {
				typ := ktTypeName(w, ktTypeOf(w, n))
				w.bindHere(w.text(name), typ)
				if w.child(n, "binding_pattern_kind") >= 0 {
					w.bindHere("self."+w.text(name), typ)
				}
			}
			w.children(n)
		}},
		{"lambda_literal", scoped},
		{"lambda_parameters", all(ktBindAll, children)},
		{"object_literal", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "delegation_specifier":
					ktInherits(w, c)
				case "class_body":
					w.within(c, func() { w.children(c) })
				default:
					w.visit(c)
				}
			}
		}},
		{"catch_block", scope(binds("#simple_identifier", ktTypes), children)},
		{"when_subject", all(patterns("#variable_declaration"), children)},
		{"call_expression", func(w *walk, n int32) { ktCallOf(w, n, 0) }},
		{"constructor_delegation_call", func(w *walk, n int32) {
			delegates(w, n, !strings.HasPrefix(w.text(n), "super"), w.child(n, "value_arguments"))
			w.children(n)
		}},
		{"infix_expression", func(w *walk, n int32) {
			left := w.first(n)
			for c := left; c >= 0; c = w.next(n, c) {
				if c != left && w.typ(c) == "simple_identifier" && w.next(n, c) >= 0 {
					q := w.chain(left)
					w.use(c, w.text(c), q, kb.UseCall)
					break
				}
			}
			w.children(n)
		}},
		{"constructor_invocation", all(uses(kb.UseType, "#user_type"), visits("#value_arguments"))},
		{"callable_reference", func(w *walk, n int32) {
			first := w.first(n)
			if first < 0 {
				return
			}
			if name := w.next(n, first); name >= 0 && w.typ(name) == "simple_identifier" {
				q := w.chain(first)
				w.use(name, w.text(name), q, kb.UseCall)
				if q == noChain {
					w.visit(first)
				}
			} else if w.typ(first) == "type_identifier" {
				w.use(first, w.text(first), "", kb.UseType) // T::class
			} else if w.typ(first) == "simple_identifier" && strings.HasPrefix(w.text(n), "::") {
				w.use(first, w.text(first), "", kb.UseCall)
			} else {
				w.children(n)
			}
		}},
		{"user_type", func(w *walk, n int32) { ktType(w, n, kb.UseType) }},
		{"type_parameter", all(binds("#type_identifier", ""), children)},
		{"assignment", func(w *walk, n int32) {
			if left := w.child(n, "directly_assignable_expression"); left >= 0 {
				if w.child(left, "indexing_suffix", "call_expression", "navigation_expression") >= 0 {
					w.children(left)
				}
				w.after(n, left)
				return
			}
			w.children(n)
		}},
	},
}

var ktFunInterface = regexp.MustCompile(`(?m)^[^"/*\n]*\bfun[ \t]+interface\b`)

// prepareKotlin takes the "fun" from "fun interface", which the grammar does
// not know.
func prepareKotlin(text string) string {
	if !strings.Contains(text, "fun ") {
		return text
	}
	return ktFunInterface.ReplaceAllStringFunc(text, func(s string) string {
		i := strings.LastIndex(s, "fun")
		return s[:i] + "   " + s[i+3:]
	})
}

func ktBindAll(w *walk, n int32) {
	w.each(n, func(c int32) { ktBind(w, c, "") })
}

// ktBind binds what a declaration of variables names.
func ktBind(w *walk, n int32, typ string) {
	switch w.typ(n) {
	case "variable_declaration":
		if t := ktTypeName(w, ktTypeOf(w, n)); t != "" {
			typ = t
		}
		w.bindHere(w.text(w.child(n, "simple_identifier")), typ)
	case "multi_variable_declaration":
		ktBindAll(w, n)
	}
}

func ktTypeDecl(w *walk, n int32, kind string) {
	body := w.child(n, "class_body", "enum_class_body")
	d := declaration{node: n, name: w.child(n, "type_identifier"), body: body, kind: "class", inner: javaInner(w), sigStart: w.behind(n, "modifiers", "annotation")}
	base := ""
	if s := w.child(n, "delegation_specifier"); s >= 0 {
		if c := w.child(s, "constructor_invocation"); c >= 0 {
			s = c
		}
		base = ktTypeName(w, w.child(s, "user_type"))
	}
	inside := func() {
		extending(w, base, func() {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch {
				case c == d.name || w.typ(c) == "modifiers":
				case w.typ(c) == "delegation_specifier":
					ktInherits(w, c)
				case w.typ(c) == "primary_constructor" && w.child(body, "secondary_constructor") >= 0:
					// One of several: the others are declarations too.
					w.declare(declaration{node: c, name: -1, as: "constructor", kind: "constructor", inner: true}, nil)
					w.visit(c)
				default:
					w.visit(c)
				}
			}
		})
	}
	w.visit(w.child(n, "modifiers"))
	if d.name < 0 {
		// A companion without a name: its members are called by the class's.
		inside()
		return
	}
	head := w.t.Source[w.nodes[n].Start:w.nodes[d.name].Start]
	switch m := " " + strings.Join(strings.Fields(head), " ") + " "; {
	case kind != "class_declaration":
		d.kind = "object"
	case strings.HasSuffix(m, " interface "):
		d.kind = "interface"
	case strings.HasSuffix(m, " enum class "):
		d.kind = "enum"
	case strings.Contains(m, " annotation "):
		d.kind = "annotation"
	}
	w.declare(d, inside)
}

func ktFunctionDecl(w *walk, n int32, kind string) {
	d := declaration{node: n, name: w.child(n, "simple_identifier"), body: w.child(n, "function_body"), kind: "function", inner: javaInner(w), sigStart: w.behind(n, "modifiers", "annotation")}
	if around := w.enclosing(); around != nil && (isTypeKind(around.Kind) || around.Kind == "enumerator") {
		d.kind = "method"
	}
	if kind == "secondary_constructor" {
		d.kind, d.as, d.name = "constructor", "constructor", -1
		if d.body = w.child(n, "statements"); d.body >= 0 {
			from := int(w.nodes[n].Start)
			d.sigEnd = from + len(strings.TrimRight(w.t.Source[from:w.nodes[d.body].Start], " \t\r\n{"))
		}
	} else if d.name < 0 {
		w.children(n)
		return
	}
	if r := ktTypeName(w, ktTypeOf(w, n)); kind != "secondary_constructor" && r != "" && ktTypeOf(w, n) < d.name {
		d.owners = []string{r} // an extension
		d.kind = "method"
	}
	w.visit(w.child(n, "modifiers"))
	w.declare(d, func() {
		w.butType(n, "modifiers")
	})
}

// ktPropertyDecl reads a property: a variable in a function; a declaration at
// top level or with code of its own; else a field.
func ktPropertyDecl(w *walk, n int32) {
	around := w.enclosing()
	v := w.child(n, "variable_declaration", "multi_variable_declaration")
	if v < 0 {
		w.children(n)
		return
	}
	value := int32(-1)
	for c := w.next(n, v); c >= 0; c = w.next(n, c) {
		if t := w.typ(c); t != "getter" && t != "setter" && t != "type_constraints" && t != "property_delegate" {
			value = c
			break
		}
	}
	made := ktMade(w, value)
	// Getters and setters on lines of their own are behind it.
	last := int32(w.nodes[n].Next)
	end := int32(-1)
	code := w.child(n, "getter", "setter")
	for last < int32(len(w.nodes)) && (w.typ(last) == "getter" || w.typ(last) == "setter") {
		code, end = last, last
		last = int32(w.nodes[last].Next)
	}
	top := around == nil && w.region == 0
	member := !top && w.region == 0 && (isTypeKind(around.Kind) || around.Kind == "enumerator")
	name := w.child(v, "simple_identifier")
	if member && name >= 0 {
		typ := ktTypeName(w, ktTypeOf(w, v))
		if typ == "" {
			typ = made
		}
		w.bindHere("self."+w.text(name), typ)
	} else if !top {
		ktBind(w, v, made)
	} else if made != "" || ktTypeOf(w, v) >= 0 {
		ktBind(w, v, made)
	}
	constant := member && strings.Contains(w.t.Source[w.nodes[n].Start:w.nodes[v].Start], "const ")
	if name < 0 || !top && !(member && code >= 0) && !constant {
		if member {
			w.within(n, func() { w.children(n) })
		} else {
			w.children(n)
		}
		return
	}
	d := declaration{node: n, name: name, kind: "property", sigStart: w.behind(n, "modifiers", "annotation")}
	d.inner = w.start(n) == w.end(n) && end < 0
	if g := w.child(n, "getter", "setter"); g >= 0 {
		d.sigEnd = int(w.nodes[g].Start)
	} else if value >= 0 && w.start(value) != w.end(value) {
		d.sigEnd = int(w.nodes[value].Start)
	}
	if code < 0 {
		d.kind = "const"
		if w.text(w.child(n, "binding_pattern_kind")) == "var" {
			d.kind = "var"
		}
	}
	if r := ktTypeOf(w, n); r >= 0 && r < v {
		if t := ktTypeName(w, r); t != "" {
			d.owners = []string{t}
		}
	}
	i := w.declare(d, func() { w.within(n, func() { w.children(n) }) })
	if end >= 0 {
		w.out.Decls[i].End = w.end(end)
	}
}
