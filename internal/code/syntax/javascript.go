package syntax

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	jsImport = iota + 1
	jsExport
	jsClass
	jsClassExpression
	jsFunction
	jsGenerator
	jsFunctionExpression
	jsGeneratorExpression
	jsArrow
	jsMethod
	jsLexical
	jsVariable
	jsCall
	jsNew
	jsAssignment
	jsBlock
	jsFor
	jsForIn
	jsCatch
	jsSwitch
	jsStatic
	jsDecorator
	jsObject
	jsField
	tsInterface
	tsAlias
	tsEnum
	tsNamespace
	tsModule
	tsAbstractClass
	tsAbstractMethod
	tsMethod
	tsFunction
	tsProperty
	tsAmbient
	tsImportAlias
	tsType
	tsNestedType
	tsTypeParameter
	tsTypeLiteral
	jsxOpening
	jsxSelfClosing
)

var (
	jsNodes = []string{"import_statement", "export_statement", "class_declaration", "class", "function_declaration", "generator_function_declaration",
		"function_expression", "generator_function", "arrow_function", "method_definition", "lexical_declaration", "variable_declaration", "call_expression",
		"new_expression", "assignment_expression", "statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body", "class_static_block", "decorator", "object"}
	tsNodes = []string{"public_field_definition", "interface_declaration", "type_alias_declaration", "enum_declaration", "internal_module", "module",
		"abstract_class_declaration", "abstract_method_signature", "method_signature", "function_signature", "property_signature", "ambient_declaration",
		"import_alias", "type_identifier", "nested_type_identifier", "type_parameter", "object_type"}
	jsxNodes = []string{"jsx_opening_element", "jsx_self_closing_element"}
)

var javascript = &spec{
	grammar:  "javascript",
	nodes:    concat(jsNodes, []string{"field_definition"}, jsxNodes),
	comments: []string{"comment", "html_comment"},
	prepare:  prepareJSX,
	visit: func(w *walk, n int32, kind int) {
		if kind > jsField {
			kind += jsxOpening - jsField - 1
		}
		visitJavaScript(w, n, kind)
	},
}

func concat(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func visitJavaScript(w *walk, n int32, kind int) {
	switch kind {
	case jsImport:
		jsImports(w, n)
	case jsExport:
		jsExports(w, n)
	case jsClass, jsFunction, jsGenerator, jsLexical, jsVariable, tsInterface, tsAlias, tsEnum, tsNamespace, tsModule, tsAbstractClass, tsFunction, tsAmbient:
		jsDeclaration(w, n, n, kind)
	case jsClassExpression:
		// One without a declaration: what is in it is found by its own name.
		if name := w.field(n, "name"); name >= 0 {
			jsClassDecl(w, declaration{node: n, name: name, body: w.field(n, "body"), outer: -1, doc: -1, kind: "class"}, n)
			return
		}
		w.children(n)
	case jsFunctionExpression, jsGeneratorExpression, jsArrow:
		w.within(n, func() { jsFunctionParts(w, n) })
	case jsMethod, tsMethod, tsAbstractMethod:
		jsMethodDecl(w, n, kind, nil)
	case jsField:
		jsFieldDef(w, n)
	case jsCall:
		jsCallOf(w, n)
	case jsNew:
		jsUse(w, w.field(n, "constructor"), kb.UseCall)
		w.visitAll(w.field(n, "type_arguments"), w.field(n, "arguments"))
	case jsAssignment:
		jsAssign(w, n)
	case jsBlock, jsSwitch, jsStatic:
		w.within(n, func() { w.children(n) })
	case jsFor:
		w.within(n, func() { w.children(n) })
	case jsForIn:
		w.within(n, func() {
			// Only with "const", "let" or "var" before it is something new.
			left := w.field(n, "left")
			if before := w.t.Source[w.nodes[n].Start:w.nodes[max(left, n)].Start]; strings.Contains(before, "t ") || strings.Contains(before, "var") || strings.Contains(before, "using") {
				jsBindPattern(w, left, "")
			} else {
				w.visit(left)
			}
			w.visitAll(w.field(n, "right"), w.field(n, "body"))
		})
	case jsCatch:
		w.within(n, func() {
			jsBindPattern(w, w.field(n, "parameter"), jsType(w, w.field(n, "type")))
			w.visit(w.field(n, "body"))
		})
	case jsDecorator:
		if c := w.first(n); c >= 0 {
			if t := w.typ(c); t == "identifier" || t == "member_expression" {
				jsUse(w, c, kb.UseCall)
			} else {
				w.visit(c)
			}
		}
	case tsProperty:
		if d := w.enclosing(); d != nil && w.region == 0 && jsIsType(d) {
			w.bindIn(d, "self."+jsKey(w, w.field(n, "name")), jsType(w, w.field(n, "type")))
		}
		w.within(n, func() { w.children(n) })
	case tsTypeLiteral:
		w.within(n, func() { w.children(n) })
	case tsImportAlias:
		w.importing(n)
		if name := w.first(n); name >= 0 {
			if of := w.next(n, name); of >= 0 {
				q := w.text(of)
				w.imported(n, "", strings.Join(strings.Fields(q), ""), w.text(name))
			}
		}
	case tsType:
		w.use(n, w.text(n), "", kb.UseType)
	case tsNestedType:
		jsUse(w, n, kb.UseType)
	case tsTypeParameter:
		if name := w.field(n, "name"); name >= 0 {
			w.bindHere(w.text(name), "")
			for c := w.first(n); c >= 0; c = w.next(n, c) {
				if c != name {
					w.visit(c)
				}
			}
		}
	case jsxOpening, jsxSelfClosing:
		name := w.field(n, "name")
		if t := w.text(name); t != "" && (t[0] < 'a' || t[0] > 'z' || w.typ(name) == "member_expression") && w.typ(name) != "jsx_namespace_name" {
			jsUse(w, name, kb.UseCall)
		}
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if c != name {
				w.visit(c)
			}
		}
	default: // jsObject
		w.children(n)
	}
}

// prepareJSX renames the attributes "class" and "for" of elements, which the
// grammar takes for keywords. Nowhere else do these words stand before "=".
func prepareJSX(text string) string {
	var b []byte
	for _, word := range []string{"class=", "for="} {
		for i := 0; ; {
			k := strings.Index(text[i:], word)
			if k < 0 {
				break
			}
			i += k + len(word)
			at := i - len(word)
			if at == 0 || i >= len(text) || strings.IndexByte(" \t\r\n", text[at-1]) < 0 || strings.IndexByte("\"'{", text[i]) < 0 {
				continue
			}
			if b == nil {
				b = []byte(text)
			}
			b[i-2] = '_'
		}
	}
	if b == nil {
		return text
	}
	return string(b)
}
