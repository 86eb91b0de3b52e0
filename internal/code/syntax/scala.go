package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var scala = &spec{
	typ: scalaPlain, use: scalaType, pattern: scalaPattern,
	grammar:  "scala",
	comments: []string{"comment", "block_comment"},
	chains: chains{
		{"identifier operator_identifier", link{read: func(w *walk, n int32) (string, int32) {
			if w.text(n) == "this" {
				return "self", -1
			}
			return strings.Trim(w.text(n), "`"), -1
		}}},
		{"field_expression", link{name: "field", on: "value"}},
	},
	rules: rules{
		{"package_clause", func(w *walk, n int32) {
			if name := w.field(n, "name"); name >= 0 {
				p := w.text(name)
				if body := w.field(n, "body"); body >= 0 {
					w.declare(declaration{node: n, name: name, as: p[strings.LastIndexByte(p, '.')+1:], owners: scalaOwners(p), kind: "package", body: body}, func() { w.visit(body) })
					return
				}
				if w.out.Facts.Package != "" {
					p = w.out.Facts.Package + "." + p
				}
				w.out.Facts.Package = p
			}
		}},
		{"import_declaration", scalaImport},
		{"class_definition object_definition trait_definition enum_definition package_object " +
			"given_definition", func(w *walk, n int32) {
			kind := w.typ(n)
			k := strings.TrimSuffix(kind, "_definition")
			if kind == "package_object" || kind == "given_definition" {
				k = "object"
			}
			if kind == "given_definition" && w.field(n, "name") < 0 {
				w.children(n)
				return
			}
			name := w.field(n, "name")
			scalaDeclare(w, n, name, k, w.field(n, "body"), func() { scalaRest(w, n, name) })
		}},
		{"function_definition function_declaration", func(w *walk, n int32) {
			k := "function"
			if scalaMember(w) {
				k = "method"
			}
			name := w.field(n, "name")
			scalaDeclare(w, n, name, k, w.field(n, "body"), func() { scalaRest(w, n, name) })
		}},
		{"val_definition var_definition val_declaration var_declaration", func(w *walk, n int32) { scalaValue(w, n, w.typ(n)) }},
		{"type_definition", func(w *walk, n int32) {
			scalaDeclare(w, n, w.field(n, "name"), "type", -1, nil)
			scalaRest(w, n, w.field(n, "name"))
		}},
		{"simple_enum_case full_enum_case", all(enumerator("name"), rest("name"))},
		{"call_expression", func(w *walk, n int32) {
			args := w.field(n, "arguments")
			count := 0
			if w.typ(args) == "arguments" {
				count = w.count(args) + 1
			}
			scalaUse(w, w.field(n, "function"), kb.UseCall, count)
			w.visit(args)
		}},
		{"generic_function", func(w *walk, n int32) { scalaUse(w, n, kb.UseName, 0) }},
		{"instance_expression", all(uses(kb.UseCall, "1"), func(w *walk, n int32) { w.after(n, w.first(n)) })},
		{"type_identifier stable_type_identifier", func(w *walk, n int32) { scalaType(w, n, kb.UseType) }},
		{"extends_clause", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "type" {
					scalaType(w, c, kb.UseInherit)
				} else {
					w.visit(c)
				}
			}
		}},
		{"parameter", all(parameter("name", "type"), visits("type", "default_value"))},
		{"class_parameter", all(owns("name", "type"), visits("type", "default_value"))},
		{"lambda_expression", all(scope(patterns("parameters")), rest("parameters"))},
		{"case_clause", all(scope(patterns("pattern")), visits("guard", "body"))},
		{"enumerator", func(w *walk, n int32) {
			c := w.first(n)
			if c >= 0 && w.enclosing() != nil {
				scalaPattern(w, c, "")
				w.after(n, c)
			}
		}},
		{"type_parameters", func(w *walk, n int32) {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if w.fieldOf(c) == "name" {
					w.bindIn(w.enclosing(), w.text(c), "")
				} else {
					w.visit(c)
				}
			}
		}},
		{"annotation", all(uses(kb.UseCall, "name"), visits("arguments"))},
		{"infix_expression", func(w *walk, n int32) {
			op := w.field(n, "operator")
			if w.typ(op) == "identifier" {
				w.use(op, w.text(op), w.chain(w.field(n, "left")), kb.UseCall)
			}
			w.visitAll(w.field(n, "left"), w.field(n, "right"))
		}},
		{"field_expression", func(w *walk, n int32) { scalaUse(w, n, kb.UseName, 0) }}, // members without parentheses may be methods
	},
}

func scalaOwners(p string) []string {
	parts := strings.Split(p, ".")
	return parts[:len(parts)-1]
}

func scalaMember(w *walk) bool { return w.in("class", "object", "trait", "enum") }

func scalaDeclare(w *walk, n, name int32, kind string, body int32, inside func()) {
	if name < 0 || w.text(name) == "" {
		w.children(n)
		return
	}
	d := w.enclosing()
	end := 0
	if body >= 0 {
		from := int(w.nodes[n].Start)
		end = from + len(strings.TrimRight(w.t.Source[from:max(from, int(w.nodes[body].Start))], " \t\r\n=:"))
	}
	w.declare(declaration{sigEnd: end, node: n, name: name, as: strings.Trim(w.text(name), "`"), kind: kind, body: body, inner: d != nil && !scalaMember(w) && d.Kind != "package"}, inside)
}

func scalaRest(w *walk, n, name int32) {
	w.but(n, name)
}

// scalaImport reads "import a.b.{c, d => e, _}", several with commas.
func scalaImport(w *walk, n int32) {
	w.importing(n)
	var path []string
	var last int32 = -1
	end := func() {
		if len(path) > 0 {
			p, name := strings.Join(path[:len(path)-1], "."), path[len(path)-1]
			w.imported(last, p, name, name)
		}
		path = nil
	}
	var before uint32
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if before > 0 && strings.Contains(w.t.Source[before:w.nodes[c].Start], ",") {
			end()
		}
		before = w.nodes[c].End
		switch w.typ(c) {
		case "identifier", "operator_identifier":
			path = append(path, strings.Trim(w.text(c), "`"))
			last = c
		case "namespace_wildcard":
			w.imported(c, strings.Join(path, "."), "*", "")
			path = nil
		case "as_renamed_identifier", "arrow_renamed_identifier":
			w.imported(c, strings.Join(path, "."), w.text(w.field(c, "name")), strings.Trim(w.text(w.field(c, "alias")), "_"))
			path = nil
		case "namespace_selectors":
			p := strings.Join(path, ".")
			for s := w.first(c); s >= 0; s = w.next(c, s) {
				switch w.typ(s) {
				case "identifier":
					w.imported(s, p, w.text(s), w.text(s))
				case "namespace_wildcard":
					w.imported(s, p, "*", "")
				case "arrow_renamed_identifier", "as_renamed_identifier":
					if alias := w.text(w.field(s, "alias")); alias != "" && alias != "_" {
						w.imported(s, p, w.text(w.field(s, "name")), alias)
					}
				}
			}
			path = nil
		}
	}
	end()
}

func scalaValue(w *walk, n int32, kind string) {
	pattern := w.either(n, "pattern", "name")
	typ, value := w.field(n, "type"), w.field(n, "value")
	t := cmp.Or(scalaPlain(w, typ), scalaMade(w, value))
	d := w.enclosing()
	local := d != nil && !scalaMember(w) && d.Kind != "package"
	var inside func() = func() { w.visitAll(typ, value) }
	if w.typ(pattern) == "identifier" && !local {
		k := "const"
		if kind == "var_definition" || kind == "var_declaration" {
			k = "var"
		}
		name := w.text(pattern)
		if d != nil {
			w.bindIn(d, "self."+name, t)
		} else if t != "" {
			w.bindIn(nil, name, t)
		}
		if d == nil || d.Kind == "object" || d.Kind == "package" {
			x := declaration{node: n, name: pattern, as: strings.Trim(name, "`"), kind: k}
			if value >= 0 && strings.Contains(w.text(value), "\n") {
				x.sigEnd = int(w.nodes[value].Start)
			}
			w.declare(x, inside)
			return
		}
	} else if w.typ(pattern) == "identifier" {
		w.bindHere(w.text(pattern), t)
	} else if local {
		scalaPattern(w, pattern, "")
	}
	inside()
}

func scalaPattern(w *walk, n int32, _ string) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	switch w.typ(n) {
	case "identifier":
		switch t := w.text(n); {
		case t == "": // the parser put it in
		case t[0] >= 'A' && t[0] <= 'Z':
			w.use(n, t, "", kb.UseName)
		default:
			w.bindHere(t, "")
		}
	case "binding":
		if name := w.field(n, "name"); name >= 0 {
			w.bindHere(w.text(name), scalaPlain(w, w.field(n, "type")))
		}
		w.visit(w.field(n, "type"))
	case "typed_pattern":
		p := w.field(n, "pattern")
		if w.typ(p) == "identifier" {
			w.bindHere(w.text(p), scalaPlain(w, w.field(n, "type")))
		} else {
			scalaPattern(w, p, "")
		}
		w.visit(w.field(n, "type"))
	case "type_identifier", "stable_type_identifier", "generic_type":
		scalaType(w, n, kb.UseName)
	case "field_expression", "stable_identifier":
		scalaUse(w, n, kb.UseName, 0)
	default:
		w.each(n, func(c int32) { scalaPattern(w, c, "") })
	}
}

func scalaType(w *walk, n int32, kind kb.UseKind) {
	switch w.typ(n) {
	case "":
	case "type_identifier":
		w.use(n, w.text(n), "", kind)
	case "stable_type_identifier":
		q := plainType(w.text(n))
		i := strings.LastIndexByte(q, '.')
		w.use(n, q[i+1:], strings.TrimSpace(q[:max(i, 0)]), kind)
	case "generic_type":
		scalaType(w, w.field(n, "type"), kind)
		w.visit(w.field(n, "type_arguments"))
	case "compound_type", "annotated_type":
		w.each(n, func(c int32) { scalaType(w, c, kind) })
	default:
		w.visit(n)
	}
}

func scalaUse(w *walk, n int32, kind kb.UseKind, args int) {
	switch w.typ(n) {
	case "":
	case "identifier":
		w.use(n, strings.Trim(w.text(n), "`"), "", kind, args)
	case "field_expression":
		value := w.field(n, "value")
		q := w.chain(value)
		if f := w.field(n, "field"); f >= 0 {
			w.use(f, strings.Trim(w.text(f), "`"), q, kind, args)
		}
		if q == noChain {
			w.visit(value)
		}
	case "stable_identifier":
		q := strings.Join(strings.Fields(w.text(n)), "")
		i := strings.LastIndexByte(q, '.')
		w.use(n, q[i+1:], q[:max(i, 0)], kind)
	case "generic_function":
		scalaUse(w, w.field(n, "function"), kind, args)
		w.visit(w.field(n, "type_arguments"))
	default:
		w.visit(n)
	}
}

func scalaPlain(w *walk, n int32) string {
	switch w.typ(n) {
	case "type_identifier", "stable_type_identifier":
		return plainType(w.text(n))
	case "generic_type":
		if t := w.field(n, "type"); w.text(t) == "Option" {
			if a := w.field(n, "type_arguments"); a >= 0 {
				return scalaPlain(w, w.first(a))
			}
		}
		return plainType(w.text(n))
	}
	return ""
}

func scalaMade(w *walk, n int32) string {
	switch w.typ(n) {
	case "instance_expression":
		return scalaPlain(w, w.first(n))
	case "call_expression":
		f := w.field(n, "function")
		if w.typ(f) == "generic_function" {
			f = w.field(f, "function")
		}
		q := strings.TrimSuffix(w.chain(f), ".apply")
		if last := q[strings.LastIndexByte(q, '.')+1:]; last != "" && last[0] >= 'A' && last[0] <= 'Z' {
			return q
		}
	}
	return ""
}
