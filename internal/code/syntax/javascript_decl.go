package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// jsDeclaration reads a statement that declares something; outer is the export
// statement around it, or itself.
func jsDeclaration(w *walk, n, outer int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), outer: outer, inner: jsInner(w)}
	// "export default" is worth reading in a signature, decorators are not.
	d.node, d.sigStart = outer, w.behind(outer, "", "decorator")
	switch kind {
	case "function_declaration", "generator_function_declaration", "function_signature":
		d.kind = "function"
		jsFunctionDecl(w, d, n)
	case "class_declaration", "abstract_class_declaration":
		d.kind = "class"
		jsClassDecl(w, d, n)
	case "interface_declaration":
		d.kind = "interface"
		jsClassDecl(w, d, n)
	case "type_alias_declaration":
		jsAlias(w, d, n)
	case "enum_declaration":
		jsEnum(w, d, n)
	case "internal_module", "module":
		jsNamespace(w, d, n)
	case "ambient_declaration":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch k := w.typ(c); {
			case k != "ambient_declaration" && jsDeclares[k]:
				jsDeclaration(w, c, outer, k)
			case k == "statement_block": // declare global
				w.children(c)
			default:
				w.visit(c)
			}
		}
	default:
		jsVariables(w, n, outer)
	}
}

var jsDeclares = wordSet(jsDeclarations + " " + tsDeclarations)

func jsAlias(w *walk, d declaration, n int32) {
	d.kind, d.body = "type", -1
	if d.name < 0 {
		w.children(n)
		return
	}
	value := w.field(n, "value")
	if w.typ(value) == "object_type" {
		d.body = value
	}
	w.declare(d, func() {
		w.visit(w.field(n, "type_parameters"))
		if d.body >= 0 {
			w.children(value)
		} else {
			w.visit(value)
		}
	})
}

func jsEnum(w *walk, d declaration, n int32) {
	d.kind = "enum"
	if d.name < 0 {
		w.children(n)
		return
	}
	w.declare(d, func() {
		for c := w.first(d.body); c >= 0; c = w.next(d.body, c) {
			name := c
			if w.typ(c) == "enum_assignment" {
				name = w.field(c, "name")
			} else if w.fieldOf(c) != "name" {
				continue
			}
			if key := jsKey(w, name); key != "" {
				w.declare(declaration{node: c, name: name, as: key, kind: "enumerator", inner: true}, nil)
			}
			if c != name {
				w.visit(w.field(c, "value"))
			}
		}
	})
}

func jsNamespace(w *walk, d declaration, n int32) {
	d.kind = "namespace"
	if w.typ(d.name) == "string" {
		d.as = strings.Trim(w.text(d.name), "\"'`")
		d.kind = "module"
	}
	if d.name < 0 || d.as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	if d.as == "" && w.typ(d.name) == "nested_identifier" {
		// "namespace A.B": B in A.
		parts := strings.Split(strings.Join(strings.Fields(w.text(d.name)), ""), ".")
		d.owners, d.as = parts[:len(parts)-1], parts[len(parts)-1]
	}
	w.declare(d, func() { w.children(d.body) })
}

func jsIsType(d *Decl) bool {
	return d.Kind == "class" || d.Kind == "interface" || d.Kind == "type"
}

// jsInner reports whether what stands here is inside of a function.
func jsInner(w *walk) bool {
	d := w.enclosing()
	return d != nil && !jsIsType(d) && d.Kind != "namespace" && d.Kind != "module" && d.Kind != "const" && d.Kind != "var"
}

// jsTop reports whether a variable here is one of the module or a namespace.
func jsTop(w *walk) bool {
	d := w.enclosing()
	return w.region == 0 && (d == nil || d.Kind == "namespace" || d.Kind == "module")
}

// jsFunctionDecl declares function n, or visits it when it has no name.
func jsFunctionDecl(w *walk, d declaration, n int32) {
	if d.as == "" && w.text(d.name) == "" {
		w.within(n, func() { jsFunctionParts(w, n) })
		return
	}
	w.declare(d, func() { jsFunctionParts(w, n) })
}

// jsFunctionParts visits what a function is made of and binds its parameters.
func jsFunctionParts(w *walk, n int32) {
	w.visit(w.field(n, "type_parameters"))
	if p := w.field(n, "parameter"); p >= 0 {
		jsBindPattern(w, p, "")
	}
	jsParameters(w, w.field(n, "parameters"), false)
	w.visitAll(w.field(n, "return_type"), w.field(n, "body"))
}

func jsParameters(w *walk, p int32, constructor bool) {
	if p < 0 {
		return
	}
	for c := w.first(p); c >= 0; c = w.next(p, c) {
		switch w.typ(c) {
		case "required_parameter", "optional_parameter":
			pattern, value := w.field(c, "pattern"), w.field(c, "value")
			typ := cmp.Or(jsType(w, w.field(c, "type")), jsMade(w, value))
			jsBindPattern(w, pattern, typ)
			if constructor && w.typ(pattern) == "identifier" && (w.child(c, "accessibility_modifier", "override_modifier") >= 0 ||
				strings.Contains(w.t.Source[w.nodes[c].Start:w.nodes[pattern].Start], "readonly ")) {
				w.bindIn(w.enclosingKind("class"), "self."+w.text(pattern), typ)
			}
			for x := w.first(c); x >= 0; x = w.next(c, x) {
				if x != pattern {
					w.visit(x)
				}
			}
		default:
			jsBindPattern(w, c, "")
		}
	}
}

// jsClassDecl declares class or interface n, or visits it when it has no name.
func jsClassDecl(w *walk, d declaration, n int32) {
	if d.as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	w.declare(d, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch w.typ(c) {
			case "class_heritage", "extends_type_clause":
				jsHeritage(w, c)
			default:
				if w.fieldOf(c) == "body" {
					w.children(c)
				} else if w.fieldOf(c) != "name" {
					w.visit(c)
				}
			}
		}
	})
}

func jsHeritage(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "extends_clause", "implements_clause":
			jsHeritage(w, c)
		case "identifier", "member_expression", "type_identifier", "nested_type_identifier":
			jsUse(w, c, kb.UseInherit)
		case "generic_type":
			name := w.field(c, "name")
			jsUse(w, name, kb.UseInherit)
			w.visit(w.field(c, "type_arguments"))
		default:
			w.visit(c)
		}
	}
}

// jsKey returns the name of a member: "" when it is computed.
func jsKey(w *walk, n int32) string {
	switch w.typ(n) {
	case "property_identifier", "private_property_identifier", "identifier", "shorthand_property_identifier", "number":
		return w.text(n)
	case "string":
		return strings.Trim(w.text(n), `"'`)
	case "computed_property_name":
		// [Symbol.iterator] is a name like any other, [f(x)] is none.
		if c := w.first(n); c >= 0 {
			if t := w.typ(c); t == "member_expression" && w.chain(c) != noChain || t == "identifier" {
				return "[" + w.text(c) + "]"
			}
			if w.typ(c) == "string" {
				return strings.Trim(w.text(c), `"'`)
			}
		}
	}
	return ""
}

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
