package main

import (
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
)

// Types of nodes, over all grammars: names, and texts that hold words. What is
// neither (keywords, numbers, types of the language) is left alone.
var (
	nameTypes = set(`identifier type_identifier field_identifier property_identifier shorthand_property_identifier
		shorthand_property_identifier_pattern private_property_identifier statement_identifier shorthand_field_identifier
		namespace_identifier constant instance_variable class_variable global_variable simple_symbol hash_key_symbol name
		variable_name simple_identifier label_name operator_name delimited_symbol`)
	proseTypes = set(`comment line_comment block_comment multiline_comment documentation_comment doc_comment string_content
		string_fragment multiline_string_fragment heredoc_content string_value escaped_string line_str_text multi_line_str_text
		text preproc_arg`)
	importTypes = set(`import_statement import_from_statement future_import_statement import_declaration use_declaration
		extern_crate_declaration package_declaration import_header using_directive namespace_use_declaration preproc_include`)
	callFields = set("function method macro name")
	callTypes  = set(`call call_expression method_invocation macro_invocation function_call_expression
		invocation_expression new_expression object_creation_expression decorator annotation marker_annotation attribute_item`)
	ownBefore = regexp.MustCompile(`(?:self|this|cls|Self|super|crate|@)\s*(?:\.|->|::|\?\.)\s*$`)
	ownerRE   = regexp.MustCompile(`([A-Za-z_]\w*)?\s*(?:\.|->|::|\?\.|&\.)\s*$`)
)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// walker takes the tokens out of one tree.
type walker struct {
	p *project
	f *file
	t *grammar.Tree
}

type level struct {
	kind, field string
	end         uint32 // index behind its subtree
	node        *grammar.Node
	outside     bool // an import from elsewhere
}

func (w *walker) walk() {
	var up []level
	for i := range w.t.Nodes {
		n := &w.t.Nodes[i]
		for len(up) > 0 && uint32(i) >= up[len(up)-1].end {
			up = up[:len(up)-1]
		}
		kind := "ERROR"
		if int(n.Symbol) < len(w.t.Symbols) {
			kind = w.t.Symbols[n.Symbol]
		}
		here := level{kind: kind, field: w.t.Fields[n.Field], end: n.Next, node: n}
		if len(up) > 0 {
			here.outside = up[len(up)-1].outside
		}
		if importTypes[kind] {
			here.outside = w.outside(kind, n)
		}
		leaf := n.Next == uint32(i+1)
		switch {
		case proseTypes[kind]:
			w.prose(i, up, here)
		case leaf && nameTypes[kind]:
			w.name(n, up, here)
		}
		up = append(up, here)
	}
}

// prose adds the gaps between the children of a text: an escape is a child.
func (w *walker) prose(i int, up []level, here level) {
	if here.outside || w.required(up) {
		return
	}
	n := here.node
	at := n.Start
	for c := i + 1; c < int(n.Next); c = int(w.t.Nodes[c].Next) {
		w.add(token{from: int(at), to: int(w.t.Nodes[c].Start), kind: prose})
		at = w.t.Nodes[c].End
	}
	w.add(token{from: int(at), to: int(n.End), kind: prose})
}

func (w *walker) add(k token) {
	if k.from < k.to {
		w.f.tokens = append(w.f.tokens, k)
	}
}

// required reports whether a text names a module from elsewhere: the argument
// of require in Ruby and JavaScript.
func (w *walker) required(up []level) bool {
	for i := len(up) - 1; i >= 0 && i >= len(up)-4; i-- {
		if !callTypes[up[i].kind] {
			continue
		}
		text := w.t.Text(up[i].node)
		for _, f := range []string{"require ", "require(", "import("} {
			if rest, ok := strings.CutPrefix(text, f); ok {
				return !w.p.ownModule(strings.Trim(rest, "'\"()` "))
			}
		}
	}
	return false
}

// ownModule reports whether a written module is of the checkout: relative, or
// named as one of its folders or files is.
func (p *project) ownModule(at string) bool {
	if strings.HasPrefix(at, ".") || strings.HasPrefix(at, "@/") || strings.HasPrefix(at, "~/") {
		return true
	}
	first, _, _ := strings.Cut(at, "/")
	return p.own[first]
}

var stringRE = regexp.MustCompile("[\"'`<]([^\"'`>]+)[\"'`>]")

// outside reports whether an import is of something from elsewhere.
func (w *walker) outside(kind string, n *grammar.Node) bool {
	text := w.t.Text(n)
	if kind == "preproc_include" {
		return strings.Contains(text, "<")
	}
	if w.f.language == "typescript" || w.f.language == "tsx" || w.f.language == "javascript" {
		m := stringRE.FindStringSubmatch(text[max(0, strings.LastIndex(text, "from")):])
		return m != nil && !w.p.ownModule(m[1])
	}
	names := wordRE.FindAllString(text, -1)
	names = names[min(1, len(names)):] // import, from, use, package
	for len(names) > 0 && (names[0] == "static" || names[0] == "crate" && kind == "extern_crate_declaration") {
		names = names[1:]
	}
	if len(names) == 0 {
		return false
	}
	switch w.f.language {
	case "java", "kotlin", "scala", "csharp":
		return !w.p.packages[strings.Join(names[:min(2, len(names))], ".")]
	case "python":
		return !strings.Contains(text, "from .") && !w.p.own[names[0]]
	case "rust":
		return names[0] != "crate" && names[0] != "self" && names[0] != "super" && !w.p.own[names[0]]
	case "php":
		return !w.p.own[names[0]]
	}
	return false
}

// name adds a name, with what can be said of where it is from.
func (w *walker) name(n *grammar.Node, up []level, here level) {
	k := token{from: int(n.Start), to: int(n.End), kind: name, imported: here.outside, outside: here.outside}
	before := w.f.text[max(0, k.from-80):k.from]
	parent := level{}
	if len(up) > 0 {
		parent = up[len(up)-1]
	}
	switch m := ownerRE.FindStringSubmatch(before); {
	case ownBefore.MatchString(before):
	case m != nil:
		k.foreign, k.owner = true, m[1] // "" behind a bracket
	case here.field == "name" && !callTypes[parent.kind] && !strings.Contains(parent.kind, "scoped"):
	default:
		k.foreign = callTypes[parent.kind] && callFields[here.field] || here.kind == "type_identifier" ||
			here.kind == "constant" && here.field != "left"
	}
	w.add(k)
}
