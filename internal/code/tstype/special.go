package tstype

// special evaluates the types of the language that no declaration says; nil for others.
func (w *World) special(name string, args []*Type) *Type {
	if len(args) == 0 {
		return nil
	}
	t := args[0]
	switch name {
	case "Omit":
		if len(args) == 2 {
			return &Type{Kind: Without, parts: args}
		}
	case "NonNullable":
		return solid(t)
	case "Awaited":
		return w.awaited(t)
	case "ReturnType":
		if s := w.signatures(w.apparent(t)); len(s) > 0 {
			return w.returns(s[len(s)-1], nil)
		}
		return unknown
	case "InstanceType":
		return w.instance(t, nil)
	case "Parameters":
		s := w.signatures(w.apparent(t))
		if len(s) == 0 {
			return unknown
		}
		out := &Type{Kind: Tuple}
		for _, p := range w.takes(s[len(s)-1]) {
			if p.rest {
				out.open = true
				break
			}
			out.parts = append(out.parts, w.parameterType(s[len(s)-1], p, nil))
		}
		return out
	case "Extract", "Exclude":
		if len(args) < 2 {
			return unknown
		}
		return w.filter(t, args[1], name == "Extract")
	}
	return nil
}

// filter keeps the parts of a union that fit another type, or those that do not.
func (w *World) filter(t, by *Type, keep bool) *Type {
	if t.Kind == Keys {
		return unknown
	}
	parts := []*Type{t}
	if t.Kind == Union {
		parts = t.parts
	}
	var out []*Type
	for _, p := range parts {
		switch w.assignable(p, by) {
		case maybe:
			return unknown
		case yes:
			if keep {
				out = append(out, p)
			}
		case no:
			if !keep {
				out = append(out, p)
			}
		}
	}
	return union(out...)
}

// awaited is what await makes of a value.
func (w *World) awaited(t *Type) *Type {
	switch {
	case t.Kind == Union:
		var parts []*Type
		for _, p := range t.parts {
			parts = append(parts, w.awaited(p))
		}
		return union(parts...)
	case w.isBuiltin(t, "Promise", "PromiseLike") && len(t.args) == 1:
		return w.awaited(t.args[0])
	case t.Kind == Ref || t.Kind == Object || t.Kind == Inter || t.Kind == Mapped || t.Kind == Param:
		for b, i := t, 0; b.Kind == Ref && i < maxBasesDeep; i++ {
			bases := w.bases(b)
			if len(bases) != 1 {
				break
			}
			if b = bases[0]; w.isBuiltin(b, "Promise", "PromiseLike") && len(b.args) == 1 {
				return w.awaited(b.args[0])
			}
		}
		if _, found := w.property(t, "then"); found != no {
			return unknown
		}
	}
	return t
}

// indexed is T[K].
func (w *World) indexed(t, k *Type) *Type {
	switch {
	case t.Kind == Error || t.Kind == Any:
		return t
	case k.Kind == Literal && base(k) == String:
		p, found := w.property(t, k.Text[1:len(k.Text)-1])
		if found != yes {
			return unknown
		}
		return p
	case k.Kind == Literal && base(k) == Number && t.Kind == Tuple && len(k.Text) == 1:
		return w.element(t, int(k.Text[0]-'0'))
	case k.Kind == Number:
		return w.element(t, -1)
	case k.Kind == Union:
		var parts []*Type
		for _, p := range k.parts {
			parts = append(parts, w.indexed(t, p))
		}
		return union(parts...)
	}
	return unknown
}

// conditional is T extends U ? X : Y where that is sure.
func (w *World) conditional(n int32, e *env) *Type {
	f := e.file
	left, right := f.field(n, "left"), f.field(n, "right")
	if holds(f, right, "infer_type") {
		return unknown
	}
	t := w.eval(left, e)
	if t.Kind == Union || t.Kind == Param || t.Kind == Any || t.Kind == Never {
		return unknown // it distributes, or waits
	}
	switch w.assignable(t, w.eval(right, e)) {
	case yes:
		return w.eval(f.field(n, "consequence"), e)
	case no:
		return w.eval(f.field(n, "alternative"), e)
	}
	return unknown
}

// holds reports whether there is a node of a type in n.
func holds(f *file, n int32, typ string) bool {
	if n < 0 {
		return false
	}
	for c := n; c < int32(f.nodes[n].Next); c++ {
		if f.typ(c) == typ {
			return true
		}
	}
	return false
}

// query is typeof x, of a value or of what an import of a module gives.
func (w *World) query(n int32, e *env) *Type {
	f := e.file
	switch f.typ(n) {
	case "identifier":
		if s := e.value(f.text(n)); s != nil {
			return w.valueOf(s)
		}
	case "nested_identifier", "member_expression":
		object, name := f.field(n, "object"), f.field(n, "property")
		p, found := w.property(w.query(object, e), f.text(name))
		if found != maybe {
			return p
		}
	case "instantiation_expression":
		return w.query(f.first(n), e)
	}
	return unknown
}
