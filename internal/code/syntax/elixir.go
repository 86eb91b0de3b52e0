package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var elixir = &spec{
	grammar:  "elixir",
	comments: []string{"comment"},
	// "@doc", "@spec" and "@impl" are operators.
	attributes: []string{"unary_operator"},
	rules: rules{
		{"call", elixirCall},
		{"unary_operator", elixirAttribute},
		{"binary_operator", func(w *walk, n int32) {
			left, right := w.field(n, "left"), w.field(n, "right")
			switch w.between(left, right) {
			case "=":
				elixirPattern(w, left, elixirStruct(w, right))
				if s := elixirStruct(w, left); s != "" && w.typ(right) == "identifier" {
					w.bindHere(w.text(right), s)
				}
				w.visit(left)
				w.visit(right)
			case "<-":
				elixirPattern(w, left, "")
				w.children(n)
			case "|>":
				w.visit(left)
				if w.typ(right) == "identifier" {
					w.use(right, w.text(right), "", kb.UseCall)
				}
				w.visit(right)
			default:
				w.children(n)
			}
		}},
		{"alias", func(w *walk, n int32) {
			q, name := splitQualified(w.text(n))
			w.use(n, name, q, kb.UseType)
		}},
		{"stab_clause", func(w *walk, n int32) {
			w.within(n, func() {
				if l := w.field(n, "left"); l >= 0 {
					w.each(l, func(c int32) { elixirPattern(w, c, "") })
				}
				w.children(n)
			})
		}},
	},
}

// elixirState is what the rules remember between declarations.
type elixirState struct {
	doc   int32 // string of the last @doc that no function had yet, 0 for none
	arity map[int]int
}

var elixirDefs = map[string]string{"def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro", "defguard": "macro", "defguardp": "macro",
	"defdelegate": "function", "defn": "function", "defnp": "function"}

// elixirForms look like calls and are syntax.
var elixirForms = func() map[string]bool {
	m := map[string]bool{}
	for s := range strings.FieldsSeq(`case cond if unless with for quote unquote unquote_splicing receive try raise reraise throw fn super import alias require use
when and or not in is_nil is_map is_list is_binary is_atom is_integer is_tuple is_function is_float is_number is_boolean is_pid is_struct is_map_key is_exception
to_string inspect hd tl length elem put_elem map_size tuple_size byte_size send self spawn spawn_link exit apply assert refute describe test setup setup_all doctest assert_raise`) {
		m[s] = true
	}
	return m
}()

func elixirCall(w *walk, n int32) {
	target := w.field(n, "target")
	args, block := w.child(n, "arguments"), w.child(n, "do_block")
	if w.typ(target) == "dot" {
		left, right := w.field(target, "left"), w.field(target, "right")
		name := w.text(right)
		switch w.typ(left) {
		case "alias":
			if w.typ(right) == "identifier" {
				w.use(right, name, w.text(left), kb.UseCall)
			}
		case "identifier":
			q := w.text(left)
			if q == "__MODULE__" {
				w.use(right, name, elixirModule(w, left), kb.UseCall)
			} else if args >= 0 && w.typ(right) == "identifier" {
				w.use(right, name, q, kb.UseCall)
			}
		case "atom":
		case "dot", "call", "unary_operator":
			if q := elixirModule(w, left); q != "" {
				w.use(right, name, q, kb.UseCall)
			} else {
				w.visit(left)
			}
		default:
			w.visit(left)
		}
		w.visitAll(args, block)
		return
	}
	if w.typ(target) != "identifier" {
		w.children(n)
		return
	}
	name := w.text(target)
	switch name {
	case "defmodule", "defprotocol", "defimpl":
		if elixirModuleDecl(w, n, name, args, block) {
			return
		}
	case "alias", "import", "require", "use":
		if elixirImport(w, n, name, args) {
			return
		}
	case "defstruct", "defexception":
		if m := w.enclosing(); m != nil && m.Kind == "module" {
			i := w.declare(declaration{node: n, name: target, as: "__struct__", kind: "struct", inner: true}, nil)
			w.out.Decls[i].Start = w.start(n)
		}
	}
	if kind := elixirDefs[name]; kind != "" && elixirDef(w, n, kind, args, block) {
		return
	}
	if !elixirForms[name] && !strings.HasPrefix(name, "def") {
		w.use(target, name, "", kb.UseCall)
	}
	if block >= 0 && w.enclosing() != nil {
		w.visit(args)
		w.within(block, func() { w.children(block) })
		return
	}
	w.visitAll(args, block)
}

// elixirModule returns the name of a module that is written out, "" for
// anything else.
func elixirModule(w *walk, n int32) string {
	switch w.typ(n) {
	case "alias":
		return w.text(n)
	case "identifier":
		if w.text(n) == "__MODULE__" {
			if d := w.enclosingKind("module", "interface", "impl"); d != nil {
				return strings.Join(append(append([]string(nil), d.Path...), d.Name), ".")
			}
		}
	case "dot":
		if l, r := elixirModule(w, w.field(n, "left")), w.field(n, "right"); l != "" && w.typ(r) == "alias" {
			return l + "." + w.text(r)
		}
	case "call":
		if w.child(n, "arguments") < 0 {
			return elixirModule(w, w.field(n, "target"))
		}
	}
	return ""
}

// elixirOption returns the value of "key: value" in arguments, -1 when there
// is none.
func elixirOption(w *walk, args int32, key string) int32 {
	k := w.child(args, "keywords")
	for c := w.first(k); c >= 0; c = w.next(k, c) {
		if strings.TrimRight(w.text(w.field(c, "key")), ": \t\n") == key {
			return w.field(c, "value")
		}
	}
	return -1
}

func elixirModuleDecl(w *walk, n int32, form string, args, block int32) bool {
	a := w.first(args)
	name := elixirModule(w, a)
	if name == "" {
		return false
	}
	d := declaration{node: n, name: a, as: w.text(a), kind: "module", body: block}
	d.as = strings.TrimPrefix(d.as, "__MODULE__.")
	if i := strings.LastIndexByte(d.as, '.'); i >= 0 {
		d.owners, d.as = strings.Split(d.as[:i], "."), d.as[i+1:]
	}
	if d.as == "" {
		return false
	}
	var of int32 = -1
	switch form {
	case "defprotocol":
		d.kind = "interface"
	case "defimpl":
		d.kind = "impl"
		of = elixirOption(w, args, "for")
		if t := elixirModule(w, of); t != "" {
			d.as += "." + t
		}
	}
	d.inner = w.enclosingKind("function", "macro") != nil
	for c := w.first(block); c >= 0; c = w.next(block, c) {
		if attr, value := elixirAttr(w, c); attr == "moduledoc" {
			if t := w.typ(value); t == "string" || t == "sigil" {
				d.doc = value
			}
			break
		}
	}
	w.declare(d, func() {
		if form == "defimpl" {
			q, last := splitQualified(name)
			w.use(a, last, q, kb.UseInherit)
			w.visit(of)
		}
		w.children(block)
		if block < 0 {
			w.visit(elixirOption(w, args, "do"))
		}
	})
	return true
}

// elixirAttr returns name and value of "@name value".
func elixirAttr(w *walk, n int32) (name string, value int32) {
	if w.typ(n) != "unary_operator" || !strings.HasPrefix(w.text(n), "@") {
		return "", -1
	}
	c := w.field(n, "operand")
	if w.typ(c) != "call" {
		return w.text(c), -1
	}
	return w.text(w.field(c, "target")), w.first(w.child(c, "arguments"))
}

func elixirAttribute(w *walk, n int32) {
	name, value := elixirAttr(w, n)
	operand := w.field(n, "operand")
	if name == "" {
		// &helper/1
		if w.typ(operand) == "binary_operator" && strings.HasPrefix(w.text(n), "&") {
			if l := w.field(operand, "left"); w.typ(l) == "identifier" && w.typ(w.field(operand, "right")) == "integer" {
				w.use(l, w.text(l), "", kb.UseCall)
			}
		}
		w.children(n)
		return
	}
	if value < 0 {
		return // @name is read
	}
	switch name {
	case "doc":
		if t := w.typ(value); t == "string" || t == "sigil" {
			elixirOf(w).doc = value
		}
	case "moduledoc", "typedoc", "impl", "deprecated", "since", "dialyzer", "external_resource", "compile", "on_load", "before_compile", "after_compile":
		w.visit(value)
	case "behaviour", "behavior":
		if q := elixirModule(w, value); q != "" {
			q, last := splitQualified(q)
			w.use(value, last, q, kb.UseInherit)
		}
	case "spec":
		elixirTypes(w, value)
	case "type", "typep", "opaque", "callback", "macrocallback":
		left := value
		for w.typ(left) == "binary_operator" {
			left = w.field(left, "left")
		}
		if w.typ(left) == "call" {
			left = w.field(left, "target")
		}
		if w.typ(left) == "identifier" && w.text(left) != "" && w.enclosing() != nil {
			d := declaration{node: n, name: left, kind: "type", inner: true}
			if strings.HasSuffix(name, "callback") {
				d.kind = "callback"
				if st := elixirOf(w); st.doc > 0 {
					d.doc, st.doc = st.doc, 0
				}
			}
			// A comment above it is no part of it.
			w.out.Decls[w.declare(d, nil)].Start = w.start(n)
		}
		elixirTypes(w, value)
	default:
		if d := w.enclosing(); d != nil && (d.Kind == "module" || d.Kind == "interface" || d.Kind == "impl") && w.region == 0 {
			known := false
			for i := len(w.out.Decls) - 1; i >= 0 && i > len(w.out.Decls)-100 && !known; i-- {
				x := &w.out.Decls[i]
				known = x.Kind == "const" && x.Name == name && slices.Equal(x.Path, w.path) // it can be set again
			}
			if !known {
				i := w.declare(declaration{node: n, name: w.field(operand, "target"), kind: "const", inner: true}, nil)
				w.out.Decls[i].Start = w.start(n)
			}
		}
		w.visit(w.child(operand, "arguments"))
	}
}
