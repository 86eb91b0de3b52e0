package tstype

import (
	"slices"
	"strings"
)

// everywhere are members of all objects, and of all functions.
var (
	everywhere = []string{"toString", "hasOwnProperty", "valueOf", "constructor", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"}
	plain      = strings.Fields("at charAt charCodeAt codePointAt concat endsWith includes indexOf isWellFormed lastIndexOf length localeCompare match matchAll " +
		"normalize padEnd padStart repeat replace replaceAll search slice split startsWith substr substring toLowerCase toUpperCase toLocaleLowerCase " +
		"toLocaleUpperCase toWellFormed trim trimEnd trimStart trimLeft trimRight anchor link toFixed toExponential toPrecision")
	callable = []string{"call", "apply", "bind", "length", "name", "prototype", "arguments", "caller"}
)

// property returns the type of a member of a value, and whether there is one.
func (w *World) property(t *Type, name string) (*Type, look) {
	up, ok := w.deeper()
	defer up()
	if !ok {
		return unknown, maybe
	}
	t = w.apparent(t)
	switch t.Kind {
	case Error, Any:
		return t, yes
	case Ref:
		return w.member(t, name, t)
	case String, Number, Boolean, Literal, BigInt:
		if slices.Contains(everywhere, name) || slices.Contains(plain, name) {
			return unknown, maybe
		}
		return failed, no
	case Object:
		return w.closed(w.within(t.env.file, t.node, t.env, name))
	case Mapped:
		return w.mappedTo(t, name)
	case Made:
		if p := t.props[name]; p != nil {
			return p, yes
		}
		if t.open {
			return unknown, maybe
		}
		return w.common(name)
	case Func, Class, EnumValue, Space:
		return w.static(t, name)
	case Tuple:
		return w.property(w.array(union(t.parts...)), name)
	case Union:
		return w.ofUnion(t, name)
	case Inter:
		found := no
		for _, p := range t.parts {
			got, ok := w.property(p, name)
			if ok == yes {
				return got, yes
			}
			if ok == maybe {
				found = maybe
			}
		}
		return unknown, found
	case Without:
		switch w.isKey(t.parts[1], name) {
		case yes:
			return failed, no
		case maybe:
			return unknown, maybe
		}
		return w.property(t.parts[0], name)
	case Opaque:
		return failed, no
	}
	return unknown, maybe
}

// closed turns nothing into what all objects have.
func (w *World) closed(t *Type, found look, name string) (*Type, look) {
	if found == no {
		return w.common(name)
	}
	return t, found
}

func (w *World) common(name string) (*Type, look) {
	if slices.Contains(everywhere, name) {
		return unknown, maybe
	}
	return failed, no
}

// ofUnion has what all of its parts have; where a part lacks it, the others may be meant.
func (w *World) ofUnion(t *Type, name string) (*Type, look) {
	var have []*Type
	found := no
	for _, p := range t.parts {
		got, ok := w.property(p, name)
		switch ok {
		case yes:
			have = append(have, got)
			found = yes
		case maybe:
			return unknown, maybe
		}
	}
	if found == no {
		return failed, no
	}
	if len(have) < len(t.parts) {
		return union(have...), maybe
	}
	return union(have...), yes
}

// mappedTo finds a property of { [K in keys]: type }.
func (w *World) mappedTo(t *Type, name string) (*Type, look) {
	f := t.env.file
	clause := f.child(t.node, "mapped_type_clause")
	if f.field(clause, "alias") >= 0 {
		return unknown, maybe
	}
	keys := w.eval(f.field(clause, "type"), t.env)
	found := w.isKey(keys, name)
	if found == no {
		return w.common(name)
	}
	in := t.env.inner()
	in.types = map[string]*Type{f.text(f.field(clause, "name")): {Kind: Literal, Text: `"` + name + `"`}}
	typ := f.field(t.node, "type")
	if typ < 0 {
		return unknown, found
	}
	return w.eval(typ, in), found
}

// isKey reports whether a name is one of a type of keys.
func (w *World) isKey(keys *Type, name string) look {
	switch keys.Kind {
	case String:
		return yes
	case Number:
		return no
	case Literal:
		if keys.Text == `"`+name+`"` {
			return yes
		}
		return no
	case Keys:
		_, found := w.property(keys.parts[0], name)
		return found
	case Union:
		found := no
		for _, p := range keys.parts {
			switch w.isKey(p, name) {
			case yes:
				return yes
			case maybe:
				found = maybe
			}
		}
		return found
	}
	return maybe
}

// whole are the types of the language that lib states with all that they have.
var whole = []string{"Error", "ErrorConstructor"}

// member finds a member of an interface or an instance, for a value of type this.
func (w *World) member(t *Type, name string, this *Type) (*Type, look) {
	found := no
	var got *Type
	for _, d := range t.sym.decls {
		f := d.env.file
		k := f.typ(d.node)
		if k != "interface_declaration" && k != "class_declaration" && k != "abstract_class_declaration" && k != "class" {
			continue
		}
		e := w.bound(d, t.args)
		e.this = this
		p, ok, _ := w.within(f, f.field(d.node, "body"), e, name)
		if ok == yes {
			if got != nil && got.Kind == Func && p.Kind == Func { // overloads of merged interfaces
				p = &Type{Kind: Func, sigs: append(slices.Clone(got.sigs), p.sigs...)}
			}
			got, found = p, yes
		} else if ok == maybe && found == no {
			found = maybe
		}
	}
	if got != nil {
		return got, yes
	}
	for _, b := range w.bases(t) {
		var p *Type
		var ok look
		if b.Kind == Error {
			continue // the compiler goes on without it
		}
		if b.Kind == Ref {
			up, more := w.deeper()
			if more {
				p, ok = w.member(b, name, this)
			}
			up()
		} else {
			p, ok = w.property(b, name)
		}
		if ok == yes {
			return p, yes
		}
		if ok == maybe {
			found = maybe
		}
	}
	if found == no && w.lib != nil && len(t.sym.decls) > 0 && t.sym.decls[0].env == w.lib.env && !slices.Contains(whole, t.sym.name) {
		return unknown, maybe // the language has more than is stated here
	}
	if found == no {
		return w.common(name)
	}
	return unknown, found
}

// bases are what an interface or a class extends.
func (w *World) bases(t *Type) (out []*Type) {
	for _, d := range t.sym.decls {
		f := d.env.file
		e := w.bound(d, t.args)
		switch f.typ(d.node) {
		case "interface_declaration":
			for c := range f.each(f.child(d.node, "extends_type_clause", "extends_clause")) {
				out = append(out, w.eval(c, e))
			}
		case "class_declaration", "abstract_class_declaration", "class":
			h := f.child(d.node, "class_heritage")
			if h < 0 {
				continue
			}
			x := f.child(h, "extends_clause")
			if x < 0 {
				if f.child(h, "implements_clause") < 0 {
					out = append(out, unknown)
				}
				continue
			}
			out = append(out, w.extended(x, e))
		}
	}
	return out
}

// extended is the instance type of a class's base.
func (w *World) extended(x int32, e *env) *Type {
	f := e.file
	v := f.field(x, "value")
	var args []*Type
	for c := range f.each(f.child(x, "type_arguments")) {
		args = append(args, w.eval(c, e))
	}
	if s, found := w.entity(v, e); found != maybe {
		if t := w.typeOf(s, found, args); t.Kind != Unknown {
			return t
		}
	}
	return w.instance(w.infer(v, e), args)
}

// instance is what new makes of a class as a value.
func (w *World) instance(t *Type, args []*Type) *Type {
	switch t.Kind {
	case Error, Any:
		return t
	case Class:
		for _, d := range t.sym.decls {
			if strings.Contains(d.env.file.typ(d.node), "class") {
				return &Type{Kind: Ref, sym: t.sym, args: w.filled(d, args)}
			}
		}
	}
	for _, s := range w.signatures(t) {
		if s.newing {
			return w.returns(s, nil)
		}
	}
	return unknown
}

// within finds a member in a body of a class, an interface or a type in braces.
// The name comes back for closed.
func (w *World) within(f *file, body int32, e *env, name string) (*Type, look, string) {
	found := no
	var sigs []sig
	for c := range f.each(body) {
		switch f.typ(c) {
		case "property_signature", "public_field_definition", "method_signature", "abstract_method_signature", "method_definition":
			key, ok := f.unquoted(f.field(c, "name"))
			if !ok {
				continue // a symbol, mostly
			}
			if key == "constructor" {
				if t := w.made(f, c, e, name); t != nil {
					return t, yes, name
				}
				continue
			}
			if key != name || stated(f, c, "static") {
				continue
			}
			if t := w.held(f, c, e); t != nil {
				return t, yes, name
			}
			sigs = append(sigs, w.signature(c, e))
		case "index_signature":
			if f.child(c, "mapped_type_clause") >= 0 {
				return unknown, maybe, name
			}
			if k := f.field(c, "index_type"); k < 0 || f.text(k) != "number" && f.text(k) != "symbol" {
				if t := f.field(c, "type"); t >= 0 && found == no && len(sigs) == 0 {
					found = yes
					sigs = append(sigs, sig{made: w.eval(t, e), node: -1})
				} else {
					return unknown, maybe, name
				}
			}
		case "ERROR":
			found = maybe
		}
	}
	if len(sigs) > 0 && sigs[0].node < 0 {
		if len(sigs) == 1 {
			return sigs[0].made, yes, name
		}
		sigs = sigs[1:]
	}
	if len(sigs) > 0 {
		return &Type{Kind: Func, sigs: sigs}, yes, name
	}
	return unknown, found, name
}

// held is the type of a member that is no method; nil for methods.
func (w *World) held(f *file, c int32, e *env) *Type {
	switch f.typ(c) {
	case "property_signature", "public_field_definition":
		if t := f.field(c, "type"); t >= 0 {
			return w.eval(t, e)
		}
		if v := f.field(c, "value"); v >= 0 {
			return widened(w.infer(v, e))
		}
		return unknown
	}
	if stated(f, c, "get") {
		if r := returned(f, c); r >= 0 {
			return w.eval(r, e)
		}
		return unknown
	}
	if stated(f, c, "set") {
		return unknown
	}
	return nil
}

// stated reports whether a word stands before the name of a member.
func stated(f *file, c int32, word string) bool {
	name := f.field(c, "name")
	return name >= 0 && slices.Contains(strings.Fields(f.src[f.nodes[c].Start:f.nodes[name].Start]), word)
}

// made is a property that a constructor declares by its parameters.
func (w *World) made(f *file, c int32, e *env, name string) *Type {
	for p := range f.each(f.field(c, "parameters")) {
		head := f.src[f.nodes[p].Start:f.nodes[max(f.field(p, "pattern"), p)].Start]
		if f.text(f.field(p, "pattern")) == name && strings.TrimSpace(head) != "" {
			if t := f.field(p, "type"); t >= 0 {
				return w.eval(t, e)
			}
			return unknown
		}
	}
	return nil
}
