package tstype

import "slices"

// static finds a member of a function, a class, an enum or a namespace as a value.
func (w *World) static(t *Type, name string) (*Type, look) {
	if t.files != nil || t.sym != nil && t.sym.within != nil {
		s := t.sym
		if t.files != nil {
			s = &symbol{typ: t}
		}
		m, found := w.part(s, name)
		if found == yes {
			return w.valueOf(m), yes
		}
		if found == maybe {
			return unknown, maybe
		}
	}
	if t.Kind == Space || t.Kind == EnumValue {
		return failed, no
	}
	if slices.Contains(callable, name) || slices.Contains(everywhere, name) {
		return unknown, maybe
	}
	if t.Kind == Func && t.sym != nil && len(t.sym.decls) > 0 && !declares(t.sym.decls[0].env.file.path) {
		return unknown, maybe // it may be given members
	}
	if t.Kind != Class {
		return failed, no
	}
	for _, d := range t.sym.decls {
		f := d.env.file
		var sigs []sig
		for c := range f.each(f.field(d.node, "body")) {
			key, ok := f.unquoted(f.field(c, "name"))
			if !ok || key != name || !stated(f, c, "static") {
				continue
			}
			if h := w.held(f, c, d.env); h != nil {
				return h, yes
			}
			sigs = append(sigs, w.signature(c, d.env))
		}
		if len(sigs) > 0 {
			return &Type{Kind: Func, sigs: sigs}, yes
		}
		if h := f.child(d.node, "class_heritage"); h >= 0 {
			x := f.child(h, "extends_clause")
			if x < 0 {
				if f.child(h, "implements_clause") < 0 {
					return unknown, maybe
				}
				continue
			}
			return w.property(w.infer(f.field(x, "value"), d.env), name)
		}
	}
	return failed, no
}
