package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var jsComments = []string{"comment", "html_comment"}

var jsChains = chains{
	{"identifier", itself},
	{"this", meaning("self")},
	{"super", meaning("super")},
	{"member_expression", link{name: "property", on: "object"}},
}

// tsChains: the part before "." is the object of a member or the module of a type.
var tsChains = slices.Concat(jsChains, chains{
	{"type_identifier", itself},
	{"non_null_expression", inside("1")},
	{"nested_type_identifier nested_identifier", link{read: func(w *walk, n int32) (string, int32) {
		object, property := jsMember(w, n)
		return w.text(property), object
	}}},
})

// jsMember returns the parts of "object.property", of types and of expressions.
func jsMember(w *walk, n int32) (object, property int32) {
	if object = w.field(n, "object"); object >= 0 {
		return object, w.field(n, "property")
	}
	return w.field(n, "module"), w.field(n, "name")
}

var (
	javascript = &spec{
		grammar: "javascript", rules: slices.Concat(jsRules, jsxRules, rules{{"field_definition", jsFieldDef}}), chains: jsChains, use: jsUse, comments: jsComments, prepare: prepareJSX,
	}
	// TypeScript and TSX are JavaScript's rules with more types of nodes.
	typescript = &spec{grammar: "typescript", rules: slices.Concat(jsRules, tsRules), chains: tsChains, use: jsUse, comments: jsComments}
	tsx        = &spec{grammar: "tsx", rules: slices.Concat(jsRules, tsRules, jsxRules), chains: tsChains, use: jsUse, comments: jsComments}
	// Components of Vue and Svelte are read by their scripts, as TypeScript.
	component = &spec{grammar: "typescript", rules: typescript.rules, chains: tsChains, use: jsUse, comments: jsComments, prepare: scriptOnly}
)

// prepareJSX renames the attributes "class" and "for" of elements, which the
// grammar takes for keywords. These words are nowhere else before "=".
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

// The types of nodes that declare something.
const (
	jsDeclarations = "class_declaration function_declaration generator_function_declaration lexical_declaration variable_declaration"
	tsDeclarations = "interface_declaration type_alias_declaration enum_declaration internal_module module " +
		"abstract_class_declaration function_signature ambient_declaration"
)

func jsDeclare(w *walk, n int32) { jsDeclaration(w, n, n, w.typ(n)) }
func jsMethod(w *walk, n int32)  { jsMethodDecl(w, n, w.typ(n), nil) }

var jsRules = rules{
	{"import_statement", jsImports},
	{"export_statement", jsExports},
	{jsDeclarations, jsDeclare},
	{"class", func(w *walk, n int32) {
		// One without a declaration: what is in it is found by its own name.
		if name := w.field(n, "name"); name >= 0 {
			jsClassDecl(w, declaration{node: n, name: name, body: w.field(n, "body"), kind: "class"}, n)
			return
		}
		w.children(n)
	}},
	{"function_expression generator_function arrow_function", func(w *walk, n int32) { w.within(n, func() { jsFunctionParts(w, n) }) }},
	{"method_definition", jsMethod},
	{"call_expression", jsCallOf},
	{"new_expression", all(uses(kb.UseCall, "constructor"), visits("type_arguments", "arguments"))},
	{"assignment_expression", jsAssign},
	{"statement_block switch_body class_static_block for_statement", scoped},
	{"for_in_statement", func(w *walk, n int32) {
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
	}},
	{"catch_clause", func(w *walk, n int32) {
		w.within(n, func() {
			jsBindPattern(w, w.field(n, "parameter"), jsType(w, w.field(n, "type")))
			w.visit(w.field(n, "body"))
		})
	}},
	{"decorator", func(w *walk, n int32) {
		if c := w.first(n); c >= 0 {
			if t := w.typ(c); t == "identifier" || t == "member_expression" {
				jsUse(w, c, kb.UseCall)
			} else {
				w.visit(c)
			}
		}
	}},
}

var tsRules = rules{
	{tsDeclarations, jsDeclare},
	{"method_signature abstract_method_signature", jsMethod},
	{"public_field_definition", jsFieldDef},
	{"property_signature", func(w *walk, n int32) {
		if d := w.enclosing(); d != nil && w.region == 0 && jsIsType(d) {
			w.bindIn(d, "self."+jsKey(w, w.field(n, "name")), jsType(w, w.field(n, "type")))
		}
		w.within(n, func() { w.children(n) })
	}},
	{"object_type", scoped},
	{"import_alias", func(w *walk, n int32) {
		w.importing(n)
		if name := w.first(n); name >= 0 {
			if of := w.next(n, name); of >= 0 {
				q := w.text(of)
				w.imported(n, "", strings.Join(strings.Fields(q), ""), w.text(name))
			}
		}
	}},
	{"type_identifier", func(w *walk, n int32) { w.use(n, w.text(n), "", kb.UseType) }},
	{"nested_type_identifier", func(w *walk, n int32) { jsUse(w, n, kb.UseType) }},
	{"type_parameter", func(w *walk, n int32) {
		if name := w.field(n, "name"); name >= 0 {
			w.bindHere(w.text(name), "")
			w.but(n, name)
		}
	}},
}

var jsxRules = rules{
	{"jsx_opening_element jsx_self_closing_element", func(w *walk, n int32) {
		name := w.field(n, "name")
		if t := w.text(name); t != "" && (t[0] < 'a' || t[0] > 'z' || w.typ(name) == "member_expression") && w.typ(name) != "jsx_namespace_name" {
			jsUse(w, name, kb.UseCall)
		}
		w.but(n, name)
	}},
}
