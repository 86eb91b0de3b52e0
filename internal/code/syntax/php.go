package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var php = &spec{
	typ: phpType, use: phpNamed, pattern: phpTarget, made: phpMade,
	grammar:  "php",
	tokens:   []string{"instanceof"},
	comments: []string{"comment"},
	chains: chains{
		{"name qualified_name relative_name", link{read: func(w *walk, n int32) (string, int32) { return phpDotted(w.text(n)), -1 }}},
		{"relative_scope", link{read: func(w *walk, n int32) (string, int32) {
			if w.text(n) == "parent" {
				return "super", -1
			}
			return "self", -1
		}}},
		{"variable_name", link{read: func(w *walk, n int32) (string, int32) {
			if s := phpVariable(w, n); s != "this" {
				return s, -1
			}
			return "self", -1
		}}},
		{"member_access_expression nullsafe_member_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			return phpName(w, w.field(n, "name")), w.field(n, "object")
		}}},
		{"scoped_property_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			return phpVariable(w, w.field(n, "name")), w.field(n, "scope")
		}}},
		{"class_constant_access_expression", link{read: func(w *walk, n int32) (string, int32) {
			scope := w.first(n)
			if scope < 0 || w.text(w.next(n, scope)) == "class" {
				return noChain, -1
			}
			return phpName(w, w.next(n, scope)), scope
		}}},
	},
	rules: rules{
		{"namespace_definition", func(w *walk, n int32) {
			w.out.Facts.Package = w.text(w.field(n, "name"))
			if body := w.field(n, "body"); body >= 0 {
				w.children(body)
			} else {
				w.importing(n)
			}
		}},
		{"namespace_use_declaration", all(imports, phpImports)},
		{"require_expression require_once_expression include_expression include_once_expression", all(atTop, phpIncluded)},
		{"const_declaration", func(w *walk, n int32) {
			w.over(n, "const_element", func(c int32) {
				name := w.first(c)
				if name >= 0 && w.text(name) != "" {
					w.declare(declaration{node: n, name: name, kind: "const", inner: true, sigEnd: int(w.nodes[c].End)}, nil)
					for v := w.next(c, name); v >= 0; v = w.next(c, v) {
						w.visit(v)
					}
				}
			})
		}},
		{"class_declaration interface_declaration trait_declaration enum_declaration", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			if w.text(name) == "" {
				w.children(n)
				return
			}
			d := declaration{node: n, name: name, kind: phpKinds[kind], body: w.field(n, "body"), inner: phpInFunction(w)}
			d.sigStart = w.behind(n, "", "attribute_list")
			w.visit(w.field(n, "attributes"))
			w.declare(d, func() { phpRest(w, n) })
		}},
		{"enum_case", all(enumerator("name"), visits("value"))},
		{"method_declaration function_definition", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			if w.text(name) == "" {
				w.children(n)
				return
			}
			d := declaration{node: n, name: name, kind: "function", body: w.field(n, "body"), inner: phpInFunction(w)}
			if kind == "method_declaration" {
				d.kind = "method"
			}
			if d.body < 0 {
				d.sigEnd = int(w.nodes[n].Start) + len(strings.TrimRight(w.text(n), "; \t\r\n"))
			}
			d.sigStart = w.behind(n, "", "attribute_list")
			w.visit(w.field(n, "attributes"))
			w.declare(d, func() { phpRest(w, n) })
		}},
		{"property_declaration", func(w *walk, n int32) {
			typ := w.field(n, "type")
			w.over(n, "property_element", func(c int32) {
				phpBindField(w, w.field(c, "name"), phpType(w, typ))
				w.visit(w.field(c, "default_value"))
			})
			w.visit(w.field(n, "hooks"))
		}},
		{"property_promotion_parameter", func(w *walk, n int32) {
			typ := phpType(w, w.field(n, "type"))
			name := w.field(n, "name")
			w.bindHere(phpVariable(w, name), typ)
			phpBindField(w, name, typ)
			w.visitAll(w.field(n, "attributes"), w.field(n, "type"), w.field(n, "default_value"))
		}},
		{"simple_parameter variadic_parameter", func(w *walk, n int32) {
			kind := w.typ(n)
			typ := w.field(n, "type")
			made := phpType(w, typ)
			if kind == "variadic_parameter" {
				made = "" // an array of them
			}
			w.bindHere(phpVariable(w, w.field(n, "name")), made)
			w.visitAll(w.field(n, "attributes"), typ, w.field(n, "default_value"))
		}},
		{"use_declaration base_clause class_interface_clause", func(w *walk, n int32) {
			as := kb.UseInherit
			if w.region != 0 { // of a class without a name
				as = kb.UseType
			}
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				phpNamed(w, c, as)
			}
		}},
		{"function_call_expression", phpFunctionCall},
		{"scoped_call_expression", func(w *walk, n int32) {
			scope, name := w.field(n, "scope"), w.field(n, "name")
			if q := w.chain(scope); w.typ(name) == "name" {
				w.use(name, w.text(name), q, kb.UseCall)
			} else {
				w.visit(name)
			}
			phpScope(w, scope)
			w.visit(w.field(n, "arguments"))
		}},
		{"member_call_expression nullsafe_member_call_expression", func(w *walk, n int32) {
			object, name := w.field(n, "object"), w.field(n, "name")
			q := w.chain(object)
			if q == noChain {
				w.visit(object)
			}
			if w.typ(name) == "name" {
				w.use(name, w.text(name), q, kb.UseCall)
			} else {
				w.visit(name)
			}
			w.visit(w.field(n, "arguments"))
		}},
		{"object_creation_expression", func(w *walk, n int32) {
			i := 0
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if i == 0 {
					phpNamed(w, c, kb.UseCall)
				} else {
					w.visit(c)
				}
				i++
			}
		}},
		{"class_constant_access_expression", func(w *walk, n int32) {
			scope := w.first(n)
			if scope < 0 {
				return
			}
			phpScope(w, scope)
			if name := w.next(n, scope); w.typ(name) == "name" && w.text(name) != "class" {
				w.use(name, w.text(name), w.chain(scope), kb.UseName)
			}
		}},
		{"scoped_property_access_expression", func(w *walk, n int32) { phpScope(w, w.field(n, "scope")) }},
		{"named_type", eachUses(kb.UseType)},
		{"assignment_expression", all(assigns("left", "right"), visits("right"))},
		{"anonymous_function arrow_function", scoped},
		{"catch_clause", func(w *walk, n int32) {
			typ := ""
			if t := w.first(w.field(n, "type")); t >= 0 && w.next(w.field(n, "type"), t) < 0 {
				typ = phpType(w, t)
			}
			w.bindHere(phpVariable(w, w.field(n, "name")), typ)
			w.children(n)
		}},
		{"foreach_statement", func(w *walk, n int32) {
			body := w.field(n, "body")
			i := 0
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if i == 0 || c == body {
					w.visit(c)
				} else {
					phpTarget(w, c, "")
				}
				i++
			}
		}},
		{"binary_expression", func(w *walk, n int32) {
			right := w.field(n, "right")
			if w.child(n, "instanceof") >= 0 && right >= 0 {
				w.visit(w.field(n, "left"))
				phpNamed(w, right, kb.UseType)
				return
			}
			w.children(n)
		}},
		{"attribute", all(uses(kb.UseType, "1"), visits("parameters"))},
		{"anonymous_class", scoped},
		{"global_declaration static_variable_declaration", func(w *walk, n int32) {
			w.over(n, "variable_name", func(c int32) { w.bindHere(phpVariable(w, c), "") })
		}},
		{"qualified_name", func(w *walk, n int32) { phpNamed(w, n, kb.UseName) }},
	},
}

var phpKinds = map[string]string{"class_declaration": "class", "interface_declaration": "interface", "trait_declaration": "trait", "enum_declaration": "enum"}

// phpInFunction reports whether what stands here is inside of a function.
func phpInFunction(w *walk) bool { return w.enclosingKind("function", "method") != nil }

// phpRest visits a declaration but for its attributes.
func phpRest(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "attributes" && w.fieldOf(c) != "name" {
			w.visit(c)
		}
	}
}

// phpImports reads "use A\B as C, D;", "use A\{B, C as D};", "use function A\f;".
func phpImports(w *walk, n int32) {
	prefix := ""
	if p := w.child(n, "namespace_name"); p >= 0 {
		prefix = strings.Trim(w.text(p), `\`) + `\`
	}
	in := n
	if group := w.field(n, "body"); group >= 0 {
		in = group
	}
	for c := w.first(in); c >= 0; c = w.next(in, c) {
		name := w.child(c, "qualified_name", "name")
		if w.typ(c) != "namespace_use_clause" || name < 0 {
			continue
		}
		path := prefix + strings.TrimPrefix(w.text(name), `\`)
		local := path[strings.LastIndexByte(path, '\\')+1:]
		if alias := w.field(c, "alias"); alias >= 0 {
			local = w.text(alias)
		}
		w.imported(c, path, "", local)
	}
}

// phpIncluded records the file of require and include when it is written out.
func phpIncluded(w *walk, n int32) {
	c := w.first(n)
	if w.typ(c) == "parenthesized_expression" {
		c = w.first(c)
	}
	here := false
	if w.typ(c) == "binary_expression" {
		if l := w.field(c, "left"); w.text(l) == "__DIR__" || strings.HasPrefix(w.text(l), "dirname(") {
			here, c = true, w.field(c, "right")
		}
	}
	if t := w.typ(c); t == "string" || t == "encapsed_string" {
		path := strings.Trim(w.text(c), `'"`)
		if here {
			path = "." + path
		}
		if path != "" && !strings.Contains(path, "$") {
			w.imported(n, path, "", "")
			return
		}
	}
	w.children(n)
}

func phpFunctionCall(w *walk, n int32) {
	f, args := w.field(n, "function"), w.field(n, "arguments")
	switch w.typ(f) {
	case "name", "qualified_name", "relative_name":
		if w.text(f) == "define" && w.enclosing() == nil && args >= 0 {
			if s := w.child(w.first(args), "string", "encapsed_string"); s >= 0 {
				if name := strings.Trim(w.text(s), `'"`); name != "" && !strings.ContainsAny(name, "$ {") {
					w.declare(declaration{node: n, name: s, as: name, kind: "const", inner: true}, nil)
				}
			}
		}
		phpNamed(w, f, kb.UseCall)
	default:
		w.visit(f)
	}
	w.visit(args)
}

// phpDotted returns "A\B" as "A.B".
func phpDotted(s string) string {
	return strings.ReplaceAll(strings.Trim(strings.TrimPrefix(s, `namespace\`), `\ `), `\`, ".")
}

// phpNamed records the use of a name that is written out.
func phpNamed(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "name", "relative_scope":
		name := w.text(n)
		switch name {
		case "self", "static":
			if d := w.enclosingKind("class", "trait", "enum", "interface"); d != nil && kind == kb.UseCall {
				w.use(n, d.Name, "", kind)
			}
			return
		case "parent", "null", "true", "false", "mixed", "void", "never":
			return
		}
		w.use(n, name, "", kind)
	case "qualified_name", "relative_name":
		q, name := splitQualified(phpDotted(w.text(n)))
		w.use(n, name, q, kind)
	default:
		w.visit(n)
	}
}

// phpScope records what stands before "::".
func phpScope(w *walk, n int32) {
	switch w.typ(n) {
	case "name", "qualified_name":
		phpNamed(w, n, kb.UseType)
	case "relative_scope", "variable_name", "":
	default:
		w.visit(n)
	}
}

// phpName returns the text of a name that is written out, noChain for another one.
func phpName(w *walk, n int32) string {
	if w.typ(n) != "name" {
		return noChain
	}
	return w.text(n)
}

// phpVariable returns "x" of $x, "" for a variable without a fixed name.
func phpVariable(w *walk, n int32) string {
	for n >= 0 && (w.typ(n) == "by_ref" || w.typ(n) == "reference_modifier") {
		n = w.first(n)
	}
	if w.typ(n) != "variable_name" {
		return ""
	}
	return strings.TrimPrefix(w.text(n), "$")
}

// phpType returns a declared type as a kb.Binding has it.
func phpType(w *walk, n int32) string {
	switch w.typ(n) {
	case "optional_type":
		return phpType(w, w.first(n))
	case "named_type":
		switch s := phpDotted(w.text(n)); s {
		case "self", "static":
			if d := w.enclosingKind("class", "trait", "enum", "interface"); d != nil {
				return d.Name
			}
			return ""
		default:
			return s
		}
	case "primitive_type":
		return w.text(n)
	case "union_type":
		// T|null is T.
		only := ""
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if t := phpType(w, c); t != "null" {
				if only != "" {
					return ""
				}
				only = t
			}
		}
		return only
	}
	return ""
}

// phpMade returns the class that an expression makes a value of.
func phpMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "parenthesized_expression":
		return phpMade(w, w.first(n))
	case "object_creation_expression":
		switch c := w.first(n); w.typ(c) {
		case "name", "qualified_name":
			s := phpDotted(w.text(c))
			if s != "self" && s != "static" {
				return s
			}
			if d := w.enclosingKind("class", "trait", "enum"); d != nil {
				return d.Name
			}
		}
	}
	return ""
}

func phpBindField(w *walk, name int32, typ string) {
	if s := phpVariable(w, name); s != "" {
		w.bindIn(w.enclosingKind("class", "trait", "enum", "interface"), "self."+s, typ)
	}
}

// phpTarget binds what is assigned to.
func phpTarget(w *walk, n int32, typ string) {
	switch w.typ(n) {
	case "variable_name":
		if s := phpVariable(w, n); s != "this" && (typ != "" || !w.top()) {
			w.bindHere(s, typ)
		}
	case "member_access_expression":
		if q := w.chain(n); strings.HasPrefix(q, "self.") && strings.Count(q, ".") == 1 {
			if typ != "" {
				w.bindIn(w.enclosingKind("class", "trait", "enum"), q, typ)
			}
			return
		}
		w.children(n)
	case "pair", "list_literal", "array_creation_expression", "array_element_initializer", "by_ref":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			phpTarget(w, c, "")
		}
	default:
		w.visit(n)
	}
}
