package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	csUsing = iota + 1
	csNamespace
	csFileNamespace
	csClass
	csInterface
	csStruct
	csRecord
	csEnum
	csEnumMember
	csDelegate
	csMethod
	csConstructor
	csDestructor
	csOperator
	csConversion
	csIndexer
	csProperty
	csEvent
	csEventField
	csField
	csLocalFunction
	csVariables
	csBlock
	csSwitchBody
	csSwitchExpression
	csFor
	csForEach
	csUsingStatement
	csCatch
	csCatchDeclaration
	csParameter
	csParameters
	csLambda
	csAnonymousMethod
	csImplicitParameter
	csDeclarationPattern
	csRecursivePattern
	csDeclarationExpression
	csCall
	csNew
	csConstructorInitializer
	csAttribute
	csTypeParameter
	csCast
	csAs
	csAssignment
	csTypeOf
	csDefault
	csArgument
	csTypeArguments
	csConstraint
	csIs
	csAccessor
	csArrayNew
	csFrom
)

var csharp = &spec{
	grammar: "csharp",
	nodes: []string{"using_directive", "namespace_declaration", "file_scoped_namespace_declaration", "class_declaration", "interface_declaration",
		"struct_declaration", "record_declaration", "enum_declaration", "enum_member_declaration", "delegate_declaration", "method_declaration",
		"constructor_declaration", "destructor_declaration", "operator_declaration", "conversion_operator_declaration", "indexer_declaration",
		"property_declaration", "event_declaration", "event_field_declaration", "field_declaration", "local_function_statement", "variable_declaration",
		"block", "switch_body", "switch_expression", "for_statement", "foreach_statement", "using_statement", "catch_clause", "catch_declaration",
		"parameter", "parameter_list", "lambda_expression", "anonymous_method_expression", "implicit_parameter", "declaration_pattern", "recursive_pattern",
		"declaration_expression", "invocation_expression", "object_creation_expression", "constructor_initializer", "attribute", "type_parameter",
		"cast_expression", "as_expression", "assignment_expression", "typeof_expression", "default_expression", "argument", "type_argument_list",
		"type_parameter_constraint", "is_expression", "accessor_declaration", "array_creation_expression", "from_clause"},
	comments: []string{"comment"},
	visit:    visitCSharp,
}

var csKinds = map[int]string{csClass: "class", csInterface: "interface", csStruct: "struct", csRecord: "record", csEnum: "enum"}

func visitCSharp(w *walk, n int32, kind int) {
	switch kind {
	case csUsing:
		w.importing(n)
		alias := w.field(n, "name")
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c == alias {
				continue
			}
			path := csPath(w, c)
			head := w.t.Source[w.nodes[n].Start:w.nodes[c].Start]
			switch {
			case alias >= 0:
				w.imported(n, path, "", w.text(alias))
			case strings.Contains(head, "static"):
				w.imported(n, path, "*", "")
			default:
				w.imported(n, path, "", "")
			}
			return
		}
	case csNamespace, csFileNamespace:
		name := csPath(w, w.field(n, "name"))
		if around := w.enclosing(); around != nil || csNamespaces(w) > 1 || w.out.Facts.Package != "" {
			// One of several, or one in another, is a declaration around its own.
			w.declare(declaration{node: n, name: w.field(n, "name"), as: name, kind: "namespace", body: w.field(n, "body"), outer: -1, doc: -1}, func() { w.visit(w.field(n, "body")) })
			return
		}
		w.out.Facts.Package = name
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.fieldOf(c) != "name" {
				w.visit(c)
			}
		}
	case csClass, csInterface, csStruct, csRecord, csEnum:
		csTypeDecl(w, n, csKinds[kind])
	case csEnumMember:
		if name := w.field(n, "name"); name >= 0 && w.text(name) != "" {
			w.declare(declaration{node: n, name: name, kind: "enumerator", body: -1, outer: -1, doc: -1, inner: true}, nil)
		}
		w.visit(w.field(n, "value"))
	case csDelegate:
		csMember(w, n, "delegate", "")
	case csMethod:
		csMember(w, n, "method", "")
	case csLocalFunction:
		csMember(w, n, "function", "")
	case csConstructor:
		csMember(w, n, "constructor", "")
	case csDestructor:
		csMember(w, n, "destructor", "~"+w.text(w.field(n, "name")))
	case csOperator, csConversion:
		// The operator stands before the parameters: "operator +(…)".
		head := w.text(n)
		if p := w.field(n, "parameters"); p >= 0 {
			head = w.t.Source[w.nodes[n].Start:w.nodes[p].Start]
		}
		name := "operator"
		if i := strings.Index(head, "operator"); i >= 0 {
			name = "operator " + strings.Join(strings.Fields(head[i+len("operator"):]), " ")
		}
		csMember(w, n, "operator", strings.TrimSpace(name))
	case csIndexer:
		csMember(w, n, "property", "this[]")
	case csProperty, csEvent:
		name := w.field(n, "name")
		w.bindIn(w.enclosing(), "self."+w.text(name), csTypeName(w, w.field(n, "type")))
		csMember(w, n, "property", "")
	case csEventField, csField:
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.typ(c) == "variable_declaration" {
				csVariablesOf(w, c, "self.")
			} else {
				w.visit(c)
			}
		}
	case csVariables:
		csVariablesOf(w, n, "")
	case csBlock, csSwitchBody, csSwitchExpression, csFor, csUsingStatement, csCatch, csLambda, csAnonymousMethod, csAccessor:
		w.within(n, func() {
			if p := w.field(n, "parameters"); kind == csLambda && w.typ(p) == "identifier" {
				w.bindHere(w.text(p), "")
			}
			w.children(n)
		})
	case csForEach:
		w.within(n, func() {
			csBind(w, w.field(n, "left"), csTypeName(w, w.field(n, "type")))
			csType(w, w.field(n, "type"), kb.UseType)
			w.visitAll(w.field(n, "right"), w.field(n, "body"))
		})
	case csCatchDeclaration, csDeclarationPattern, csDeclarationExpression, csRecursivePattern:
		typ := w.field(n, "type")
		if name := w.field(n, "name"); name >= 0 {
			csBind(w, name, csTypeName(w, typ))
		}
		csType(w, typ, kb.UseType)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if f := w.fieldOf(c); f != "type" && f != "name" {
				w.visit(c)
			}
		}
	case csParameter:
		typ := w.field(n, "type")
		w.bindHere(w.text(w.field(n, "name")), csTypeName(w, typ))
		csType(w, typ, kb.UseType)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != typ {
				w.visit(c)
			}
		}
	case csParameters:
		// "params int[] sizes" has no node of its own.
		typ := int32(-1)
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			switch w.fieldOf(c) {
			case "type":
				typ = c
				csType(w, c, kb.UseType)
			case "name":
				w.bindHere(w.text(c), csTypeName(w, typ))
			default:
				w.visit(c)
			}
		}
	case csImplicitParameter:
		w.bindHere(w.text(n), "")
	case csCall:
		i, f := len(w.out.Facts.References), w.field(n, "function")
		csUse(w, f, kb.UseCall)
		if t := w.typ(f); t == "identifier" && w.text(f) != "nameof" || t == "generic_name" || t == "member_access_expression" {
			w.argued(i, w.field(n, "arguments"), 0)
		}
		w.visit(w.field(n, "arguments"))
	case csNew:
		i := len(w.out.Facts.References)
		csType(w, w.field(n, "type"), kb.UseCall)
		if args := w.field(n, "arguments"); args >= 0 {
			w.argued(i, args, 0)
		}
		w.visitAll(w.field(n, "arguments"), w.field(n, "initializer"))
	case csConstructorInitializer:
		own := !strings.HasPrefix(strings.TrimLeft(w.text(n), ": \t\r\n"), "base")
		delegates(w, n, own, w.child(n, "argument_list"))
		w.children(n)
	case csAttribute:
		csType(w, w.field(n, "name"), kb.UseType)
		w.visit(w.child(n, "attribute_argument_list"))
	case csTypeParameter:
		w.bindHere(w.text(w.field(n, "name")), "")
	case csConstraint, csTypeOf, csDefault, csCast, csArrayNew, csFrom:
		csType(w, w.field(n, "type"), kb.UseType)
		if kind == csFrom {
			w.bindHere(w.text(w.field(n, "name")), csTypeName(w, w.field(n, "type")))
		}
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if w.fieldOf(c) != "type" {
				w.visit(c)
			}
		}
	case csAs, csIs:
		w.visit(w.field(n, "left"))
		csType(w, w.field(n, "right"), kb.UseType)
	case csTypeArguments:
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			csType(w, c, kb.UseType)
		}
	case csAssignment:
		left := w.field(n, "left")
		if csChain(w, left) == "()" {
			w.visit(left)
		}
		w.visit(w.field(n, "right"))
	default: // csArgument
		w.children(n)
	}
}

// csNamespaces counts the namespaces at the top of a file.
func csNamespaces(w *walk) int {
	n := 0
	for c := w.first(0); c >= 0; c = w.next(0, c) {
		if k := w.kind(c); k == csNamespace || k == csFileNamespace {
			n++
		}
	}
	return n
}

func csTypeDecl(w *walk, n int32, kind string) {
	d := declaration{node: n, name: w.field(n, "name"), body: w.field(n, "body"), outer: -1, doc: -1, kind: kind, inner: javaInner(w), sigStart: w.behind(n, "", "attribute_list")}
	if w.text(d.name) == "" {
		w.children(n)
		return
	}
	for c := w.first(n); c >= 0 && w.typ(c) == "attribute_list"; c = w.next(n, c) {
		w.visit(c)
	}
	base := ""
	if l := w.child(n, "base_list"); l >= 0 {
		first := w.first(l)
		if w.typ(first) == "primary_constructor_base_type" {
			first = w.field(first, "type")
		}
		base = csTypeName(w, first)
	}
	w.declare(d, func() {
		extending(w, base, func() {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch w.typ(c) {
				case "attribute_list":
				case "base_list":
					for b := w.first(c); b >= 0; b = w.next(c, b) {
						if w.typ(b) == "argument_list" {
							w.visit(b)
						} else if w.typ(b) == "primary_constructor_base_type" {
							csType(w, w.field(b, "type"), kb.UseInherit)
							w.visit(w.child(b, "argument_list"))
						} else {
							csType(w, b, kb.UseInherit)
						}
					}
				case "parameter_list":
					for p := w.first(c); p >= 0 && kind == "record"; p = w.next(c, p) {
						if name := w.field(p, "name"); name >= 0 {
							w.bindHere("self."+w.text(name), csTypeName(w, w.field(p, "type")))
						}
					}
					w.visit(c)
				default:
					if w.fieldOf(c) != "name" {
						w.visit(c)
					}
				}
			}
		})
	})
}

// csMember declares a member called as, or by its field "name".
func csMember(w *walk, n int32, kind, as string) {
	d := declaration{node: n, name: w.field(n, "name"), as: as, body: w.field(n, "body"), outer: -1, doc: -1, kind: kind, inner: javaInner(w), sigStart: w.behind(n, "", "attribute_list")}
	if as == "" && w.text(d.name) == "" {
		w.children(n)
		return
	}
	if kind == "function" {
		d.inner = true
	}
	// A property ends its signature at its accessors or its arrow.
	if d.body < 0 {
		d.body = w.field(n, "accessors")
	}
	if v := w.field(n, "value"); d.body < 0 && w.typ(v) == "arrow_expression_clause" {
		d.body = v
	}
	for c := w.first(n); c >= 0 && w.typ(c) == "attribute_list"; c = w.next(n, c) {
		w.visit(c)
	}
	w.declare(d, func() {
		w.within(0, func() {
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				switch f := w.fieldOf(c); {
				case w.typ(c) == "attribute_list" || f == "name":
				case f == "type" || f == "returns":
					csType(w, c, kb.UseType)
				case w.typ(c) == "explicit_interface_specifier":
					csType(w, w.first(c), kb.UseType)
				default:
					w.visit(c)
				}
			}
		})
	})
}

// csVariablesOf binds variables, or fields with prefix "self.".
func csVariablesOf(w *walk, n int32, prefix string) {
	typ := w.field(n, "type")
	name := csTypeName(w, typ)
	csType(w, typ, kb.UseType)
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) != "variable_declarator" {
			continue
		}
		id := w.field(c, "name")
		t := name
		for v := w.first(c); v >= 0; v = w.next(c, v) {
			if v == id {
				continue
			}
			if t == "" {
				t = csMade(w, v)
			}
		}
		if id >= 0 {
			w.bindHere(prefix+w.text(id), t)
		} else if p := w.child(c, "tuple_pattern"); p >= 0 {
			csBind(w, p, "")
		}
		if prefix != "" {
			w.within(c, func() { w.children(c) })
		} else {
			w.children(c)
		}
	}
}
