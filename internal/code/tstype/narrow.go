package tstype

import "strings"

// narrow is an env in which a condition holds, or does not.
func (w *World) narrow(n int32, e *env, holds bool) *env {
	f := e.file
	switch f.typ(n) {
	case "parenthesized_expression":
		return w.narrow(f.first(n), e, holds)
	case "unary_expression":
		if strings.HasPrefix(f.text(n), "!") {
			return w.narrow(f.first(n), e, !holds)
		}
	case "binary_expression":
		l, r := f.field(n, "left"), f.field(n, "right")
		switch op := strings.TrimSpace(f.between(n, l, r)); {
		case op == "&&" && holds, op == "||" && !holds:
			return w.narrow(r, w.narrow(l, e, holds), holds)
		case op == "instanceof":
			return w.instanceOf(l, r, e, holds)
		case op == "in":
			return w.with(l, r, e, holds)
		case (op == "===" || op == "==" || op == "!==" || op == "!=") && f.typ(l) == "unary_expression" && strings.HasPrefix(f.text(l), "typeof"):
			return w.kindOf(f.first(l), f.text(r), e, holds == (op[0] == '='))
		case op == "===" || op == "!==" || op == "==" || op == "!=":
			return w.forget(l, e)
		}
	case "call_expression":
		return w.predicate(n, e, holds)
	case "identifier":
		if holds {
			return w.as(n, e, func(t *Type) *Type { return solid(t) })
		}
	}
	return e
}

// as is an env in which a variable has another type.
func (w *World) as(n int32, e *env, to func(*Type) *Type) *env {
	f := e.file
	name := f.text(n)
	if f.typ(n) != "identifier" || e.value(name) == nil {
		return e
	}
	in := e.inner()
	in.names[name] = &symbol{name: name, lazy: func() *Type { return to(w.variable(name, e)) }}
	return in
}

// forget is for conditions on a member of a union, which may tell its parts apart.
func (w *World) forget(n int32, e *env) *env {
	f := e.file
	for f.typ(n) == "member_expression" || f.typ(n) == "non_null_expression" {
		n = f.first(n)
	}
	return w.as(n, e, func(t *Type) *Type {
		if t.Kind == Union || t.Kind == Opaque {
			return unknown
		}
		return t
	})
}

func (w *World) instanceOf(l, r int32, e *env, holds bool) *env {
	if !holds {
		return w.forget(l, e)
	}
	return w.as(l, e, func(t *Type) *Type {
		to := w.instance(w.infer(r, e), nil)
		if to.Kind == Error || to.Kind == Any {
			return t
		}
		return to
	})
}

// with is for 'name' in value.
func (w *World) with(l, r int32, e *env, holds bool) *env {
	name, ok := e.file.unquoted(l)
	if e.file.typ(l) != "string" || !ok {
		return e
	}
	return w.as(r, e, func(t *Type) *Type {
		parts := []*Type{t}
		if t.Kind == Union {
			parts = t.parts
		}
		var have []*Type
		for _, p := range parts {
			switch _, found := w.property(p, name); found {
			case maybe:
				return unknown
			case yes:
				have = append(have, p)
			}
		}
		switch {
		case !holds && len(have) == 0:
			return t
		case !holds:
			return unknown
		case len(have) > 0:
			return union(have...)
		case t.Kind == Opaque:
			return unknown
		}
		return &Type{Kind: Inter, parts: []*Type{t, {Kind: Made, props: map[string]*Type{name: simple["unknown"]}}}}
	})
}

// kindOf is for typeof value === "…".
func (w *World) kindOf(n int32, word string, e *env, holds bool) *env {
	word = strings.Trim(word, `"'`+"`")
	return w.as(n, e, func(t *Type) *Type {
		if word == "undefined" && !holds {
			return solid(t)
		}
		if holds && (word == "string" || word == "number" || word == "boolean") {
			return simple[word]
		}
		if t.Kind != Union {
			if t.Kind == Opaque && holds {
				return unknown
			}
			return t
		}
		var parts []*Type
		for _, p := range t.parts {
			is := primitive(base(p)) && map[Kind]string{String: "string", Number: "number", Boolean: "boolean", Undefined: "undefined"}[base(p)] == word
			switch {
			case word == "object" || word == "function":
				if p.Kind == Func == (word == "function") && !primitive(p.Kind) == holds {
					parts = append(parts, p)
				} else if !holds && primitive(p.Kind) {
					parts = append(parts, p)
				}
			case is == holds:
				parts = append(parts, p)
			}
		}
		if len(parts) == 0 {
			return unknown
		}
		return union(parts...)
	})
}

// predicate is for calls of functions that say what type an argument has.
func (w *World) predicate(n int32, e *env, holds bool) *env {
	f := e.file
	args, ok := arguments(f, n)
	if !ok || len(args) == 0 {
		return e
	}
	arg := args[0]
	if f.typ(arg) != "identifier" {
		return w.forget(arg, e)
	}
	return w.as(arg, e, func(t *Type) *Type {
		fn := w.apparent(w.infer(f.field(n, "function"), e))
		if fn.Kind == Error {
			return t
		}
		s, bound, ok := w.choose(w.signatures(fn), n, e)
		if !ok || s.ret < 0 || s.env == nil {
			return unknown // it may say what the value is
		}
		sf := s.env.file
		p := s.ret
		if sf.typ(p) == "type_predicate_annotation" {
			p = sf.first(p)
		}
		if sf.typ(p) != "type_predicate" {
			return t
		}
		to := w.eval(sf.field(p, "type"), w.bind(s, bound))
		switch {
		case !holds && t.Kind == Union:
			return w.filter(t, to, false)
		case !holds:
			return t
		case to.Kind == Unknown:
			return unknown
		case to.Kind == Error:
			return to
		case t.Kind == Union:
			if kept := w.filter(t, to, true); kept.Kind != Never {
				return kept
			}
			return to
		case t.Kind == Ref && w.assignable(t, to) == yes:
			return t
		}
		return to
	})
}
