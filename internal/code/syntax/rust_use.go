package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// rustUse records the use that a path or an expression makes of a name.
func rustUse(w *walk, n int32, kind kb.UseKind, args int) {
	use := func(name int32, q string) {
		t := w.text(name)
		if t == "Self" || t == "self" || q == "" && slices.Contains(rustPrelude, t) {
			return
		}
		w.use(name, strings.TrimPrefix(t, "r#"), q, kind, args)
	}
	switch w.typ(n) {
	case "":
	case "identifier", "type_identifier":
		use(n, "")
	case "scoped_identifier", "scoped_type_identifier":
		path := w.field(n, "path")
		q := w.chain(path)
		if path < 0 {
			q = "" // ::name
		}
		if name := w.field(n, "name"); name >= 0 {
			use(name, q)
		}
		if q == noChain {
			w.visit(path)
		} else {
			rustArguments(w, path)
		}
	case "field_expression":
		value, field := w.field(n, "value"), w.field(n, "field")
		q := w.chain(value)
		if w.typ(field) == "field_identifier" {
			use(field, q)
		}
		if q == noChain {
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

func rustNames(w *walk, n int32, kind kb.UseKind) { rustUse(w, n, kind, 0) }

func rustPattern(w *walk, n int32, typ string) { rustBind(w, n, -1, typ) }

// rustPrelude are variants that every file knows.
var rustPrelude = []string{"Some", "None", "Ok", "Err"}

// rustPointers are types through which the members of their argument are reached.
var rustPointers = []string{"Box", "Rc", "Arc", "Option", "Pin", "Cow"}

// rustPlain returns a type as a kb.Binding has it.
func rustPlain(w *walk, n int32) string {
	switch w.typ(n) {
	case "type_identifier", "scoped_type_identifier", "primitive_type", "generic_type_with_turbofish":
		if q := w.chain(n); q != noChain {
			return q
		}
	case "generic_type":
		q := w.chain(w.field(n, "type"))
		if args := w.field(n, "type_arguments"); args >= 0 && slices.Contains(rustPointers, q[strings.LastIndexByte(q, '.')+1:]) {
			for c := w.first(args); c >= 0; c = w.next(args, c) {
				if w.typ(c) != "lifetime" {
					return rustPlain(w, c)
				}
			}
		}
		if q != noChain {
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
			if q := w.chain(w.field(n, "name")); q != noChain {
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
				q := w.chain(w.field(f, "path"))
				last := q[strings.LastIndexByte(q, '.')+1:]
				if q == noChain || last == "" || last[0] < 'A' || last[0] > 'Z' {
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
		w.each(n, func(c int32) { rustBind(w, c, within, typ) })
	case "range_pattern", "macro_invocation", "const_block":
		w.visit(n)
	default:
		w.each(n, func(c int32) { rustBind(w, c, within, "") })
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

// rustBefore returns the chain of names before a name in tokens.
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
			return noChain
		}
		parts = append(parts, src[j:i])
		at = j
	}
}

// count returns how many nodes, comments aside, are right in one.
func (w *walk) count(n int32) (count int) {
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
