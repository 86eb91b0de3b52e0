package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	rsFunction = iota + 1
	rsFunctionSignature
	rsStruct
	rsUnion
	rsEnum
	rsTrait
	rsImpl
	rsMod
	rsType
	rsAssociatedType
	rsConst
	rsStatic
	rsMacro
	rsUse
	rsExternCrate
	rsCall
	rsMacroCall
	rsStructExpression
	rsLet
	rsLetCondition
	rsFor
	rsClosure
	rsArm
	rsScoped
	rsScopedType
	rsTypeName
	rsForeign
	rsVariant
	rsField
	rsAttribute
	rsInnerAttribute
	rsConstParameter
	rsTypeParameter
)

var rust = &spec{
	grammar: "rust",
	nodes: []string{"function_item", "function_signature_item", "struct_item", "union_item", "enum_item", "trait_item", "impl_item", "mod_item", "type_item", "associated_type", "const_item", "static_item", "macro_definition",
		"use_declaration", "extern_crate_declaration", "call_expression", "macro_invocation", "struct_expression", "let_declaration", "let_condition", "for_expression", "closure_expression", "match_arm",
		"scoped_identifier", "scoped_type_identifier", "type_identifier", "foreign_mod_item", "enum_variant", "field_declaration", "attribute_item", "inner_attribute_item", "const_parameter", "type_parameter"},
	comments:   []string{"line_comment", "block_comment"},
	attributes: []string{"attribute_item"},
	visit:      visitRust,
}

func visitRust(w *walk, n int32, kind int) {
	switch kind {
	case rsFunction, rsFunctionSignature:
		rustFunction(w, n, "function")
	case rsStruct, rsUnion, rsEnum, rsTrait:
		rustTypeItem(w, n, [...]string{"struct", "union", "enum", "trait"}[kind-rsStruct])
	case rsImpl:
		rustImpl(w, n)
	case rsMod:
		name, body := w.field(n, "name"), w.field(n, "body")
		if body < 0 {
			// "mod x;" brings in a file.
			w.importing(n)
			w.imported(n, "self::"+w.text(name), "", w.text(name))
			return
		}
		rustDeclare(w, n, name, "module", body, func() { w.visit(body) })
	case rsType, rsAssociatedType:
		rustDeclare(w, n, w.field(n, "name"), "type", -1, func() { rustRest(w, n) })
	case rsConst, rsStatic:
		name := w.field(n, "name")
		k := "const"
		if kind == rsStatic {
			k = "var"
		}
		if w.text(name) == "_" {
			rustRest(w, n)
			return
		}
		rustDeclare(w, n, name, k, -1, nil)
		rustRest(w, n)
	case rsMacro:
		if name := w.field(n, "name"); name >= 0 {
			w.declare(declaration{node: n, name: name, kind: "macro", body: w.child(n, "macro_rule"), outer: -1, doc: -1, sigEnd: int(w.nodes[name].End), inner: w.enclosingKind("function", "method") != nil}, nil)
		}
	case rsUse:
		w.importing(n)
		rustUseTree(w, w.field(n, "argument"), "")
	case rsExternCrate:
		w.importing(n)
		local := w.field(n, "alias")
		if local < 0 {
			local = w.field(n, "name")
		}
		w.imported(n, w.text(w.field(n, "name")), "", w.text(local))
	case rsCall:
		args := w.field(n, "arguments")
		rustCall(w, w.field(n, "function"), children(w, args))
		w.visit(args)
	case rsMacroCall:
		rustUse(w, w.field(n, "macro"), kb.UseCall, 0)
		tokens := w.child(n, "token_tree")
		if m := w.text(w.field(n, "macro")); m == "lazy_static" || m == "thread_local" {
			rustStatics(w, tokens)
		}
		rustTokens(w, tokens)
	case rsStructExpression:
		rustUse(w, w.field(n, "name"), kb.UseCall, 0)
		w.visit(w.field(n, "body"))
	case rsLet:
		rustLet(w, n, -1)
	case rsLetCondition:
		rustBind(w, w.field(n, "pattern"), -1, "")
		w.visit(w.field(n, "value"))
	case rsFor:
		rustBind(w, w.field(n, "pattern"), n, "")
		w.visitAll(w.field(n, "value"), w.field(n, "body"))
	case rsClosure:
		if p := w.field(n, "parameters"); p >= 0 {
			for c := w.first(p); c >= 0; c = w.next(p, c) {
				if w.typ(c) == "parameter" {
					rustBind(w, w.field(c, "pattern"), n, rustPlain(w, w.field(c, "type")))
					w.visit(w.field(c, "type"))
				} else {
					rustBind(w, c, n, "")
				}
			}
		}
		w.visitAll(w.field(n, "return_type"), w.field(n, "body"))
	case rsArm:
		if p := w.field(n, "pattern"); p >= 0 {
			for c := w.first(p); c >= 0; c = w.next(p, c) {
				if w.fieldOf(c) == "condition" {
					w.visit(c)
				} else {
					rustBind(w, c, n, "")
				}
			}
		}
		w.visit(w.field(n, "value"))
	case rsScoped:
		rustUse(w, n, kb.UseName, 0)
	case rsScopedType:
		rustUse(w, n, kb.UseType, 0)
	case rsTypeName:
		if t := w.text(n); t != "Self" && t != "_" {
			w.use(n, t, "", kb.UseType)
		}
	case rsForeign:
		w.visit(w.field(n, "body"))
	case rsVariant:
		d := declaration{node: n, name: w.field(n, "name"), kind: "enumerator", body: -1, outer: -1, doc: -1, inner: true}
		if d.name >= 0 {
			w.declare(d, nil)
		}
		w.visitAll(w.field(n, "body"), w.field(n, "value"))
	case rsField:
		typ := w.field(n, "type")
		if d := w.enclosing(); d != nil && d.Kind != "enum" {
			w.bindIn(d, "self."+w.text(w.field(n, "name")), rustPlain(w, typ))
		}
		w.visit(typ)
	case rsAttribute, rsInnerAttribute:
	case rsConstParameter:
		w.bindIn(w.enclosing(), w.text(w.field(n, "name")), "")
		w.visit(w.field(n, "type"))
	case rsTypeParameter:
		// A type parameter hides types of its name.
		w.bindIn(w.enclosing(), w.text(w.field(n, "name")), "")
		w.visitAll(w.field(n, "bounds"), w.field(n, "default_type"))
	default:
		w.children(n)
	}
}

// rustDeclare declares an item; one within a function is inner.
func rustDeclare(w *walk, n, name int32, kind string, body int32, inside func()) {
	if name < 0 || w.text(name) == "" {
		w.children(n)
		return
	}
	w.declare(declaration{node: n, name: name, as: strings.TrimPrefix(w.text(name), "r#"), kind: kind, body: body, outer: -1, doc: -1, inner: w.enclosingKind("function", "method") != nil}, inside)
}

// rustRest visits what is in an item besides its name.
func rustRest(w *walk, n int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.fieldOf(c) != "name" {
			w.visit(c)
		}
	}
}

func rustFunction(w *walk, n int32, kind string) {
	body := w.field(n, "body")
	rustDeclare(w, n, w.field(n, "name"), kind, body, func() {
		d := w.enclosing()
		w.visit(w.field(n, "type_parameters"))
		if p := w.field(n, "parameters"); p >= 0 {
			for c := w.first(p); c >= 0; c = w.next(p, c) {
				if w.typ(c) == "parameter" {
					typ := w.field(c, "type")
					if x := w.field(c, "pattern"); w.typ(x) == "identifier" {
						w.bindIn(d, w.text(x), rustPlain(w, typ))
					} else {
						rustBind(w, x, -1, "")
					}
					w.visit(typ)
				}
			}
		}
		w.visitAll(w.field(n, "return_type"), w.child(n, "where_clause"), body)
	})
}

func rustTypeItem(w *walk, n int32, kind string) {
	body := w.field(n, "body")
	at := body
	if w.typ(body) == "ordered_field_declaration_list" {
		at = -1 // a part of what one wants to see
	}
	rustDeclare(w, n, w.field(n, "name"), kind, at, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch {
			case w.fieldOf(c) == "name":
			case w.fieldOf(c) == "bounds":
				for b := w.first(c); b >= 0; b = w.next(c, b) {
					rustUse(w, b, kb.UseInherit, 0)
				}
			case c == body && kind == "trait":
				rustMembers(w, body)
			default:
				w.visit(c)
			}
		}
	})
}

// rustImpl reads a block that adds to a type declared elsewhere: no
// declaration, but its members are of that type.
func rustImpl(w *walk, n int32) {
	typ, trait, body := w.field(n, "type"), w.field(n, "trait"), w.field(n, "body")
	if trait >= 0 {
		rustUse(w, trait, kb.UseInherit, 0)
	}
	if rustChain(w, typ) != "()" {
		rustUse(w, typ, kb.UseType, 0)
	} else {
		w.visit(typ)
	}
	owner := rustOwner(w, typ)
	around := len(w.path)
	if owner != "" {
		w.path = append(w.path, owner)
	}
	w.visit(w.child(n, "where_clause"))
	rustMembers(w, body)
	w.path = w.path[:around]
}

// rustOwner returns the name that members of an impl go by: that of the type
// behind pointers. Types without a name are called as their documentation does.
func rustOwner(w *walk, n int32) string {
	for range 8 {
		switch w.typ(n) {
		case "reference_type", "pointer_type":
			n = w.field(n, "type")
		case "dynamic_type", "abstract_type":
			n = w.field(n, "trait")
		case "bounded_type", "higher_ranked_trait_bound":
			if t := w.field(n, "type"); t >= 0 {
				n = t
			} else {
				n = w.first(n)
			}
		case "array_type":
			if w.field(n, "length") >= 0 {
				return "array"
			}
			return "slice"
		case "tuple_type", "unit_type":
			return "tuple"
		case "function_type":
			return "fn"
		case "never_type":
			return "never"
		default:
			q := rustChain(w, n)
			return strings.Trim(q[strings.LastIndexByte(q, '.')+1:], "()")
		}
	}
	return ""
}

// rustMembers visits what is in a trait or an impl; its functions are methods.
func rustMembers(w *walk, body int32) {
	if body < 0 {
		return
	}
	for c := w.first(body); c >= 0; c = w.next(body, c) {
		if k := w.kind(c); k == rsFunction || k == rsFunctionSignature {
			rustFunction(w, c, "method")
		} else {
			w.visit(c)
		}
	}
}

// rustUseTree records what a use declaration brings in. Paths are as written.
func rustUseTree(w *walk, n int32, prefix string) {
	join := func(n int32) string {
		s := strings.Join(strings.Fields(w.text(n)), "")
		if prefix == "" || n < 0 {
			return prefix + s
		}
		return prefix + "::" + s
	}
	last := func(p string) string { return p[strings.LastIndexByte(p, ':')+1:] }
	switch w.typ(n) {
	case "":
	case "use_list":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			rustUseTree(w, c, prefix)
		}
	case "scoped_use_list":
		rustUseTree(w, w.field(n, "list"), join(w.field(n, "path")))
	case "use_as_clause":
		p := w.field(n, "path")
		path := join(p)
		if w.typ(p) == "self" && prefix != "" {
			path = prefix
		}
		local := w.text(w.field(n, "alias"))
		if local == "_" {
			local = ""
		}
		w.imported(n, path, "", local)
	case "use_wildcard":
		path := prefix
		if c := w.first(n); c >= 0 {
			path = join(c)
		}
		w.imported(n, path, "*", "")
	case "self":
		if prefix != "" {
			w.imported(n, prefix, "", last(prefix))
		}
	case "identifier", "scoped_identifier", "crate", "super":
		path := join(n)
		w.imported(n, path, "", last(path))
	}
}

// rustUse records the use that a path or an expression makes of a name.
func rustUse(w *walk, n int32, kind kb.UseKind, args int) {
	use := func(name int32, q string) {
		t := w.text(name)
		if t == "Self" || t == "self" || q == "" && slices.Contains(rustPrelude, t) {
			return
		}
		w.use(name, strings.TrimPrefix(t, "r#"), q, kind)
		if args > 0 {
			refs := w.out.Facts.References
			refs[len(refs)-1].Args = args
		}
	}
	switch w.typ(n) {
	case "":
	case "identifier", "type_identifier":
		use(n, "")
	case "scoped_identifier", "scoped_type_identifier":
		path := w.field(n, "path")
		q := rustChain(w, path)
		if path < 0 {
			q = "" // ::name
		}
		if name := w.field(n, "name"); name >= 0 {
			use(name, q)
		}
		if q == "()" {
			w.visit(path)
		} else {
			rustArguments(w, path)
		}
	case "field_expression":
		value, field := w.field(n, "value"), w.field(n, "field")
		q := rustChain(w, value)
		if w.typ(field) == "field_identifier" {
			use(field, q)
		}
		if q == "()" {
			w.visit(value)
		}
	case "generic_type", "generic_type_with_turbofish":
		rustUse(w, w.field(n, "type"), kind, args)
		w.visit(w.field(n, "type_arguments"))
	case "generic_function":
		rustUse(w, w.field(n, "function"), kind, args)
		w.visit(w.field(n, "type_arguments"))
	case "higher_ranked_trait_bound":
		rustUse(w, w.field(n, "type"), kind, args)
	default:
		w.visit(n)
	}
}

// rustArguments visits the generic arguments in a path.
func rustArguments(w *walk, n int32) {
	if n < 0 {
		return
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == "type_arguments" {
			w.visit(c)
		} else {
			rustArguments(w, c)
		}
	}
}

func rustCall(w *walk, f int32, args int) {
	rustUse(w, f, kb.UseCall, args+1)
}

// rustChain returns a plain chain of names joined with ".", "()" for anything
// else.
func rustChain(w *walk, n int32) string {
	switch w.typ(n) {
	case "identifier", "type_identifier", "self", "super", "crate", "primitive_type", "field_identifier", "metavariable":
		return w.text(n)
	case "scoped_identifier", "scoped_type_identifier":
		path, name := w.field(n, "path"), w.text(w.field(n, "name"))
		if path < 0 {
			return name
		}
		if q := rustChain(w, path); q != "()" {
			return q + "." + name
		}
	case "field_expression":
		if f := w.field(n, "field"); w.typ(f) == "field_identifier" {
			if q := rustChain(w, w.field(n, "value")); q != "()" {
				return q + "." + w.text(f)
			}
		}
	case "generic_type", "generic_type_with_turbofish":
		return rustChain(w, w.field(n, "type"))
	case "bracketed_type":
		if c := w.first(n); c >= 0 {
			if w.typ(c) != "qualified_type" {
				return rustChain(w, c)
			}
			if t := w.field(c, "type"); rustChain(w, t) == "Self" {
				return "Self"
			}
			return rustChain(w, w.field(c, "alias"))
		}
	}
	return "()"
}

// rustPrelude are variants that every file knows.
var rustPrelude = []string{"Some", "None", "Ok", "Err"}

// rustPointers are types through which the members of their argument are reached.
var rustPointers = []string{"Box", "Rc", "Arc", "Option", "Pin", "Cow"}

// rustPlain returns a type as a kb.Binding has it.
func rustPlain(w *walk, n int32) string {
	switch w.typ(n) {
	case "type_identifier", "scoped_type_identifier", "primitive_type", "generic_type_with_turbofish":
		if q := rustChain(w, n); q != "()" {
			return q
		}
	case "generic_type":
		q := rustChain(w, w.field(n, "type"))
		if args := w.field(n, "type_arguments"); args >= 0 && slices.Contains(rustPointers, q[strings.LastIndexByte(q, '.')+1:]) {
			for c := w.first(args); c >= 0; c = w.next(args, c) {
				if w.typ(c) != "lifetime" {
					return rustPlain(w, c)
				}
			}
		}
		if q != "()" {
			return q
		}
	case "reference_type", "pointer_type":
		return rustPlain(w, w.field(n, "type"))
	case "dynamic_type", "abstract_type":
		return rustPlain(w, w.field(n, "trait"))
	case "bounded_type":
		return rustPlain(w, w.first(n))
	}
	return ""
}

func rustLet(w *walk, n int32, within int32) {
	typ, value := w.field(n, "type"), w.field(n, "value")
	t := rustPlain(w, typ)
	if t == "" && typ < 0 {
		t = rustMade(w, value)
	}
	rustBind(w, w.field(n, "pattern"), within, t)
	w.visitAll(typ, value, w.field(n, "alternative"))
}

// rustMade returns the type that an expression makes a value of: a struct, or
// what a constructor by one of the usual names returns.
func rustMade(w *walk, n int32) string {
	for range 8 {
		switch w.typ(n) {
		case "try_expression", "await_expression":
			n = w.first(n)
		case "reference_expression":
			n = w.field(n, "value")
		case "struct_expression":
			if q := rustChain(w, w.field(n, "name")); q != "()" {
				return q
			}
			return ""
		case "call_expression":
			f := w.field(n, "function")
			switch w.typ(f) {
			case "field_expression":
				m := w.text(w.field(f, "field"))
				if m != "unwrap" && m != "expect" && m != "clone" {
					return ""
				}
				n = w.field(f, "value")
			case "scoped_identifier":
				name := w.text(w.field(f, "name"))
				q := rustChain(w, w.field(f, "path"))
				last := q[strings.LastIndexByte(q, '.')+1:]
				if q == "()" || last == "" || last[0] < 'A' || last[0] > 'Z' {
					return ""
				}
				if slices.Contains(rustPointers, last) && name == "new" {
					if args := w.field(n, "arguments"); args >= 0 {
						n = w.first(args)
						continue
					}
				}
				if name == "new" || name == "default" || name == "from" || strings.HasPrefix(name, "with_") || strings.HasPrefix(name, "new_") || strings.HasPrefix(name, "from_") {
					return q
				}
				return ""
			default:
				return ""
			}
		default:
			return ""
		}
	}
	return ""
}

// rustBind binds the names in a pattern: for the lines of within, or of the
// declaration around for -1; typ is that of the whole.
func rustBind(w *walk, n int32, within int32, typ string) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	bind := func(name string) {
		// Constants and variants are written as names are, in upper case.
		if name == "" || name[0] >= 'A' && name[0] <= 'Z' {
			return
		}
		if within >= 0 {
			w.bind(within, name, typ)
		} else if w.enclosing() != nil {
			w.bindHere(name, typ)
		}
	}
	w.depth++
	defer func() { w.depth-- }()
	switch w.typ(n) {
	case "identifier":
		if t := w.text(n); t != "" && t[0] >= 'A' && t[0] <= 'Z' {
			w.use(n, t, "", kb.UseName)
			return
		}
		bind(w.text(n))
	case "shorthand_field_identifier":
		bind(w.text(n))
	case "scoped_identifier":
		rustUse(w, n, kb.UseName, 0)
	case "tuple_struct_pattern", "struct_pattern":
		t := w.field(n, "type")
		rustUse(w, t, kb.UseName, 0)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != t {
				rustBind(w, c, within, "")
			}
		}
	case "field_pattern":
		if p := w.field(n, "pattern"); p >= 0 {
			rustBind(w, p, within, "")
		} else {
			rustBind(w, w.field(n, "name"), within, "")
		}
	case "mut_pattern", "ref_pattern", "reference_pattern":
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			rustBind(w, c, within, typ)
		}
	case "range_pattern", "macro_invocation", "const_block":
		w.visit(n)
	default:
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			rustBind(w, c, within, "")
		}
	}
}

// rustTokens reads what is given to a macro, of which nothing is known but its
// tokens: a name before parentheses is a call, one before "!" a macro.
func rustTokens(w *walk, n int32) {
	if n < 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	src := w.t.Source
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		switch w.typ(c) {
		case "token_tree":
			rustTokens(w, c)
		case "identifier":
			end := int(w.nodes[c].End)
			next := w.next(n, c)
			switch {
			case end < len(src) && src[end] == '!' && next >= 0 && w.typ(next) == "token_tree":
				w.use(c, w.text(c), rustBefore(src, int(w.nodes[c].Start)), kb.UseCall)
			case next >= 0 && w.typ(next) == "token_tree" && int(w.nodes[next].Start) == end && src[end] == '(':
				w.use(c, w.text(c), rustBefore(src, int(w.nodes[c].Start)), kb.UseCall)
			}
		}
	}
}

// rustStatics declares the variables in lazy_static! and thread_local!.
func rustStatics(w *walk, n int32) {
	if n < 0 {
		return
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		before := strings.TrimRight(w.t.Source[w.nodes[n].Start:w.nodes[c].Start], " \t\r\n")
		if w.typ(c) == "identifier" && w.text(c) != "ref" && (strings.HasSuffix(before, "static") || strings.HasSuffix(before, "static ref")) {
			rustDeclare(w, c, c, "var", -1, nil)
		}
	}
}

// rustBefore returns the chain of names that stands before a name in tokens.
func rustBefore(src string, at int) string {
	var parts []string
	for {
		i := at
		switch {
		case strings.HasSuffix(src[:i], "::"):
			i -= 2
		case strings.HasSuffix(src[:i], ".") && !strings.HasSuffix(src[:i], ".."):
			i--
		default:
			slices.Reverse(parts)
			return strings.Join(parts, ".")
		}
		j := i
		for j > 0 && (src[j-1] == '_' || src[j-1] >= '0' && src[j-1] <= '9' || src[j-1]|0x20 >= 'a' && src[j-1]|0x20 <= 'z') {
			j--
		}
		if j == i {
			return "()"
		}
		parts = append(parts, src[j:i])
		at = j
	}
}

// children returns how many nodes, comments aside, are right in one.
func children(w *walk, n int32) (count int) {
	if n < 0 {
		return 0
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.nodes[c].Symbol != grammar.ErrorSymbol && w.mark[w.nodes[c].Symbol]&isComment == 0 {
			count++
		}
	}
	return count
}
