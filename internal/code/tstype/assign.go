package tstype

import "strings"

// assignable reports whether a value of one type fits another. It is no only where
// that is sure.
func (w *World) assignable(a, b *Type) look {
	up, ok := w.deeper()
	defer up()
	switch {
	case !ok || a.Kind == Unknown || b.Kind == Unknown || a.Kind == Error || b.Kind == Error:
		return maybe
	case b.Kind == Any || b.Kind == Opaque || a.Kind == Any || a.Kind == Never || a == b:
		return yes
	case a.Kind == Union:
		return w.allOf(a.parts, func(p *Type) look { return w.assignable(p, b) })
	case b.Kind == Union:
		found := no
		for _, p := range b.parts {
			switch w.assignable(a, p) {
			case yes:
				return yes
			case maybe:
				found = maybe
			}
		}
		if a.Kind == Boolean && found == no {
			return maybe // it may be both literals
		}
		return found
	case b.Kind == Inter:
		return w.allOf(b.parts, func(p *Type) look { return w.assignable(a, p) })
	case a.Kind == Inter:
		for _, p := range a.parts {
			if w.assignable(p, b) == yes {
				return yes
			}
		}
		return maybe
	case b.Kind == Param:
		if a.Kind == Param && a.Text == b.Text && a.node == b.node {
			return yes
		}
		return maybe
	case a.Kind == Param:
		return w.fromParam(a, b)
	}
	return w.fitsPlain(a, b)
}

func (w *World) allOf(parts []*Type, f func(*Type) look) look {
	found := yes
	for _, p := range parts {
		switch f(p) {
		case no:
			return no
		case maybe:
			found = maybe
		}
	}
	return found
}

// fromParam is for a type parameter: what its constraint is, it is.
func (w *World) fromParam(a, b *Type) look {
	c := w.constraint(a)
	if c == nil {
		c = simple["unknown"]
	}
	if c.Kind == Opaque && (b.Kind == Object || b.Kind == Ref || primitive(b.Kind) || b.Kind == Func) {
		return no
	}
	if w.assignable(c, b) == yes {
		return yes
	}
	return maybe
}

func primitive(k Kind) bool {
	switch k {
	case String, Number, Boolean, BigInt, Symbol, Literal, Undefined, Null, Void:
		return true
	}
	return false
}

// shaped reports whether a type is of objects whose members are known.
func shaped(k Kind) bool {
	return k == Ref || k == Object || k == Made || k == Mapped || k == Without
}

// fitsPlain compares types of one part each.
func (w *World) fitsPlain(a, b *Type) look {
	switch {
	case a.Kind == Opaque:
		return no // b is neither any nor unknown
	case b.Kind == Never:
		return no
	case b.Kind == Enum || a.Kind == Enum || a.Kind == Keys || b.Kind == Keys:
		if a.Kind == b.Kind && a.sym == b.sym && (b.Text == "" || a.Text == b.Text) {
			return yes
		}
		return maybe
	case b.Kind == Literal:
		if a.Kind == Literal && trimQuotes(a.Text) == trimQuotes(b.Text) && base(a) == base(b) {
			return yes
		}
		if a.Kind == Literal || primitive(a.Kind) && base(b) != a.Kind || shaped(a.Kind) || a.Kind == Func {
			return no
		}
		if primitive(a.Kind) {
			return no // of the same base, but wider
		}
		return maybe
	case primitive(a.Kind) && primitive(b.Kind):
		if base(a) == b.Kind || a.Kind == Undefined && b.Kind == Void {
			return yes
		}
		return no
	case primitive(b.Kind):
		if shaped(a.Kind) || a.Kind == Func || a.Kind == Tuple || a.Kind == Class || a.Kind == Space {
			return no
		}
		return maybe
	case a.Kind == Undefined || a.Kind == Null || a.Kind == Void:
		return no
	case b.Kind == NonPrimitive:
		if primitive(a.Kind) {
			return no
		}
		return yes
	case primitive(a.Kind):
		if b.Kind == Func || w.isBuiltin(b, "Array", "ReadonlyArray", "Promise", "Map", "Set", "Date", "RegExp", "Uint8Array") && !(w.isBuiltin(b, "Uint8Array")) {
			return no
		}
		return w.empty(b)
	}
	return w.structural(a, b)
}

func trimQuotes(s string) string { return strings.Trim(s, `"'`) }

// empty reports whether a type of objects asks for nothing, so that all but null fits.
func (w *World) empty(t *Type) look {
	if t.Kind == Object && t.env.file.first(t.node) < 0 {
		return yes
	}
	return maybe
}

// structural compares objects by what the second asks for.
func (w *World) structural(a, b *Type) look {
	if a.Kind == Ref && b.Kind == Ref && a.sym == b.sym {
		found := yes
		for i := range min(len(a.args), len(b.args)) {
			if w.assignable(a.args[i], b.args[i]) != yes {
				found = maybe
			}
		}
		return found
	}
	if b.Kind == Func || len(w.signatures(b)) > 0 {
		return w.fitsFunc(a, b)
	}
	if !shaped(b.Kind) {
		return maybe
	}
	if w.depth > maxDepth/3 {
		return maybe
	}
	needs, whole := w.needs(b)
	found := yes
	if !whole {
		found = maybe
	}
	for _, n := range needs {
		p, has := w.property(a, n.name)
		switch {
		case has == no && !n.optional && (shaped(a.Kind) || a.Kind == Func || a.Kind == Class):
			return no
		case has == no && n.optional:
			continue
		case has != yes:
			found = maybe
			continue
		}
		if primitive(p.Kind) || a.Kind == Made {
			want := n.typ()
			if n.optional {
				want = union(want, simple["undefined"])
			}
			switch w.assignable(p, want) {
			case no:
				return no
			case maybe:
				found = maybe
			}
		} else {
			found = maybe
		}
	}
	return found
}

// fitsFunc compares a value with a type that is called.
func (w *World) fitsFunc(a, b *Type) look {
	to := w.signatures(b)
	from := w.signatures(a)
	if a.Kind == Made && !a.open || a.Kind == Tuple || a.Kind == Space || w.isBuiltin(a, "Array", "Promise", "Map", "Set") {
		return no
	}
	if len(from) == 0 && (a.Kind == Object || a.Kind == Ref && !w.openBase(a)) {
		return no
	}
	if len(to) == 1 && len(from) == 1 && to[0].newing == from[0].newing {
		least, _ := w.arity(from[0])
		if _, most := w.arity(to[0]); most >= 0 && least > most {
			return no
		}
	}
	return maybe
}

// openBase reports whether a type extends what is not known.
func (w *World) openBase(t *Type) bool {
	up, ok := w.deeper()
	defer up()
	if !ok {
		return true
	}
	for _, b := range w.bases(t) {
		if b.Kind != Ref || w.openBase(b) {
			return true
		}
	}
	return false
}

// need is a member that a type of objects asks for.
type need struct {
	name     string
	optional bool
	typ      func() *Type
}

// needs lists the members of a type; whole is false where there may be more.
func (w *World) needs(t *Type) (out []need, whole bool) {
	up, ok := w.deeper()
	defer up()
	if !ok {
		return nil, false
	}
	switch t.Kind {
	case Object:
		return w.stated(t.env.file, t.node, t.env)
	case Made:
		for name, p := range t.props {
			out = append(out, need{name: name, typ: func() *Type { return p }})
		}
		return out, !t.open
	case Ref:
		whole = true
		for _, d := range t.sym.decls {
			f := d.env.file
			k := f.typ(d.node)
			if k != "interface_declaration" && !strings.Contains(k, "class") {
				continue
			}
			e := w.bound(d, t.args)
			e.this = t
			more, all := w.stated(f, f.field(d.node, "body"), e)
			out, whole = append(out, more...), whole && all
		}
		for _, b := range w.bases(t) {
			if b.Kind == Error {
				continue
			}
			more, all := w.needs(b)
			out, whole = append(out, more...), whole && all
		}
		if w.lib != nil && len(t.sym.decls) > 0 && t.sym.decls[0].env == w.lib.env {
			return nil, false
		}
		return out, whole
	case Inter:
		whole = true
		for _, p := range t.parts {
			more, all := w.needs(p)
			out, whole = append(out, more...), whole && all
		}
		return out, whole
	}
	return nil, false
}

// stated lists the members of a body.
func (w *World) stated(f *file, body int32, e *env) (out []need, whole bool) {
	whole = true
	for c := range f.each(body) {
		switch k := f.typ(c); k {
		case "property_signature", "public_field_definition", "method_signature", "abstract_method_signature", "method_definition":
			name, ok := f.unquoted(f.field(c, "name"))
			if !ok {
				whole = false
				continue
			}
			if name == "constructor" || stated(f, c, "static") {
				continue
			}
			typ := f.field(c, "type")
			stop := typ
			if p := f.field(c, "parameters"); p >= 0 {
				stop = p
			} else if v := f.field(c, "value"); stop < 0 && v >= 0 {
				stop = v
			}
			n := need{name: name, optional: strings.Contains(f.between(c, f.field(c, "name"), stop), "?") && (stop >= 0 || strings.HasSuffix(strings.TrimRight(f.text(c), ";, \n"), "?")), typ: func() *Type { return unknown }}
			if typ >= 0 && k != "method_signature" && k != "method_definition" {
				n.typ = func() *Type { return w.eval(typ, e) }
			}
			if strings.HasPrefix(name, "#") || stated(f, c, "private") || stated(f, c, "protected") {
				whole = false
				continue
			}
			out = append(out, n)
		case "call_signature", "construct_signature", "index_signature", "ERROR":
			whole = false
		}
	}
	return out, whole
}
