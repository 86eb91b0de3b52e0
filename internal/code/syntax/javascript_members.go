package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// jsMethodDecl declares a method of a class, an interface or an object.
func jsMethodDecl(w *walk, n int32, kind string, owners []string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), kind: "method", owners: owners, inner: jsInner(w)}
	around := w.enclosing()
	d.as = jsKey(w, d.name)
	member := around != nil && jsIsType(around) && w.region == 0
	if !member && (kind != "method_definition" || d.as == "constructor") || d.as == "" {
		// Of a type without a name, or computed.
		w.visit(d.name)
		w.within(n, func() { jsFunctionParts(w, n) })
		return
	}
	for word := range strings.FieldsSeq(w.t.Source[w.nodes[n].Start:w.nodes[d.name].Start]) {
		switch word {
		case "get":
			d.kind = "getter"
		case "set":
			d.kind = "setter"
		}
	}
	if member && d.as == "constructor" {
		d.kind = "constructor"
	}
	w.declare(d, func() {
		w.visit(w.field(n, "type_parameters"))
		jsParameters(w, w.field(n, "parameters"), d.kind == "constructor")
		w.visitAll(w.field(n, "return_type"), d.body)
	})
}

// jsFieldDef reads a field of a class; one that holds a function is a method.
func jsFieldDef(w *walk, n int32) {
	name := w.either(n, "property", "name")
	value, typ := w.field(n, "value"), w.field(n, "type")
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "decorator" {
			w.visit(c)
		}
	}
	w.visit(typ)
	key := jsKey(w, name)
	if key == "" {
		w.visitAll(name, value)
		return
	}
	switch k := w.typ(value); k {
	case "arrow_function", "function_expression", "generator_function":
		jsFunctionDecl(w, declaration{node: n, name: name, as: key, body: w.field(value, "body"), kind: "method", inner: jsInner(w)}, value)
		return
	}
	made := cmp.Or(jsType(w, typ), jsMade(w, value))
	w.bindIn(w.enclosingKind("class"), "self."+key, made)
	w.within(n, func() { w.visit(value) })
}

// jsVariables reads "const", "let" and "var".
func jsVariables(w *walk, n, outer int32) {
	kind := "var"
	if strings.HasPrefix(w.text(n), "const") {
		kind = "const"
	}
	count := 0
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "variable_declarator" {
			count++
		}
	}
	w.over(n, "variable_declarator", func(c int32) {
		d := declaration{node: c, name: w.field(c, "name"), kind: kind, inner: jsInner(w)}
		if count == 1 {
			d.node, d.outer = outer, outer
		}
		jsVariableDecl(w, d, c)
	})
}

func jsVariableDecl(w *walk, d declaration, n int32) {
	typ, value := w.field(n, "type"), jsPlain(w, w.field(n, "value"))
	if jsRequire(w, d.name, value) {
		w.importing(n)
		return
	}
	if w.typ(d.name) == "identifier" && value >= 0 {
		switch w.typ(value) {
		case "arrow_function", "function_expression", "generator_function":
			d.kind, d.body = "function", w.field(value, "body")
			w.visit(typ)
			jsFunctionDecl(w, d, value)
			return
		case "class":
			d.kind, d.body = "class", w.field(value, "body")
			jsClassDecl(w, d, value)
			return
		}
	}
	if !jsTop(w) {
		made := cmp.Or(jsType(w, typ), jsMade(w, value))
		jsBindPattern(w, d.name, made)
		w.visitAll(typ, value)
		return
	}
	if w.typ(d.name) != "identifier" {
		d.inner = true
		jsEachName(w, d.name, 0, func(name, fallback int32) {
			if name >= 0 {
				x := d
				x.name = name
				w.declare(x, nil)
			}
			w.visit(fallback)
		})
		w.visitAll(typ, value)
		return
	}
	made := cmp.Or(jsType(w, typ), jsMade(w, value))
	if made != "" {
		w.bindIn(nil, w.text(d.name), made)
	}
	d.inner = w.start(d.node) == w.end(d.node)
	if value >= 0 && w.start(value) != w.end(value) {
		d.sigEnd = int(w.nodes[value].Start)
	}
	w.declare(d, func() {
		w.visit(typ)
		jsValue(w, value)
	})
}

// jsPlain takes parentheses and casts off an expression.
func jsPlain(w *walk, n int32) int32 {
	for n >= 0 {
		switch w.typ(n) {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			// Only around what declares: types in casts are visited otherwise.
			c := w.first(n)
			if c < 0 {
				return n
			}
			switch w.typ(jsPlain(w, c)) {
			case "arrow_function", "function_expression", "generator_function", "class", "object":
				for x := w.next(n, c); x >= 0; x = w.next(n, x) {
					w.visit(x)
				}
				n = c
				continue
			}
			return n
		}
		return n
	}
	return n
}

// jsValue visits what is assigned to a name that others see: the functions of
// an object, of one handed to a call too, are declared under it.
func jsValue(w *walk, value int32) {
	switch w.typ(value) {
	case "object":
		jsMembers(w, value, nil, 0)
	case "call_expression", "new_expression":
		args := w.field(value, "arguments")
		if args < 0 || w.child(args, "object") < 0 {
			w.visit(value)
			return
		}
		if w.typ(value) == "call_expression" {
			jsUse(w, w.field(value, "function"), kb.UseCall)
		} else {
			jsUse(w, w.field(value, "constructor"), kb.UseCall)
		}
		w.visit(w.field(value, "type_arguments"))
		w.over(args, "object", func(c int32) { jsMembers(w, c, nil, 0) })
	default:
		w.visit(value)
	}
}

// jsMembers declares the functions of an object.
func jsMembers(w *walk, n int32, owners []string, deep int) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "method_definition":
			jsMethodDecl(w, c, "method_definition", owners)
		case "pair":
			key, value := w.field(c, "key"), jsPlain(w, w.field(c, "value"))
			name := jsKey(w, key)
			k := w.typ(value)
			switch {
			case name == "":
				w.children(c)
			case k == "arrow_function" || k == "function_expression" || k == "generator_function":
				jsFunctionDecl(w, declaration{node: c, name: key, as: name, body: w.field(value, "body"), kind: "method", owners: owners, inner: jsInner(w)}, value)
			case k == "object" && deep < 4:
				jsMembers(w, value, append(owners[:len(owners):len(owners)], name), deep+1)
			default:
				w.visit(value)
			}
		default:
			w.visit(c)
		}
	}
}
