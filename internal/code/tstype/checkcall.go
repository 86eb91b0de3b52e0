package tstype

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// call checks a call, or what new constructs.
func (c *checker) call(n int32, e *env) {
	f := c.f
	fn := f.field(n, "function")
	if fn < 0 {
		fn = f.field(n, "constructor")
	}
	c.visit(fn, e, nil)
	c.visit(f.field(n, "type_arguments"), e, nil)
	args, whole := arguments(f, n)
	t := c.w.apparent(c.w.infer(fn, e))
	var sigs []sig
	for _, s := range c.w.signatures(t) {
		if s.newing == (f.typ(n) == "new_expression") {
			sigs = append(sigs, s)
		}
	}
	if len(sigs) == 0 {
		c.usedCall(fn, e, sig{}, false)
		c.uncallable(n, fn, t)
		var want *Type
		if t.Kind == Error || t.Kind == Any {
			want = failed
		}
		for _, a := range args {
			c.visit(a, e, want)
		}
		if !whole {
			c.visit(f.field(n, "arguments"), e, nil)
		}
		return
	}
	s, bound, ok := c.w.choose(sigs, n, e)
	c.usedCall(fn, e, s, ok)
	if !ok {
		if whole {
			c.refused(n, fn, sigs, args)
		}
		for _, a := range args {
			c.visit(a, e, nil)
		}
		return
	}
	ps := c.w.takes(s)
	for i, a := range args {
		want := c.w.wanted(s, ps, i, bound)
		c.visit(a, e, want)
		if want != nil && len(sigs) == 1 {
			c.given(a, a, e, want)
		}
	}
	if !whole {
		for a := range f.each(f.field(n, "arguments")) {
			if f.typ(a) == "spread_element" {
				c.visit(a, e, nil)
			}
		}
	}
}

// uncallable says that what is called is no function.
func (c *checker) uncallable(n, fn int32, t *Type) {
	if c.f.typ(n) != "call_expression" {
		return
	}
	switch {
	case t.Kind == Space && t.files != nil, t.Kind == Class, t.Kind == EnumValue, primitive(t.Kind) && t.Kind != Void:
		c.add(fn, strings.TrimSuffix(typeName(t), "."), "%s is no function", kb.Clip(c.f.text(fn), 60))
	}
}

// refused says why no signature takes a call.
func (c *checker) refused(n, fn int32, sigs []sig, args []int32) {
	f := c.f
	name := f.text(fn)
	if p := f.field(fn, "property"); p >= 0 {
		name = f.text(p)
	}
	most := 0
	for _, s := range sigs {
		least, m := c.w.arity(s)
		if len(args) >= least && (m < 0 || len(args) <= m) {
			// The number is right for one, so an argument is wrong.
			at := fn
			if len(args) == 1 {
				at = args[0]
			}
			c.add(at, name, "%s does not take these arguments", name)
			return
		}
		if m < 0 {
			m = 1 << 20
		}
		most = max(most, m)
	}
	at := fn
	if p := f.field(fn, "property"); p >= 0 {
		at = p
	}
	if len(args) > most {
		at = args[most]
	}
	c.add(at, name, "%s does not take %s", name, kb.Count(len(args), "argument"))
}

// given checks that a value fits what its place expects. at is where the compiler
// says so, unless it is of a part of a literal.
func (c *checker) given(at, v int32, e *env, want *Type) {
	f := c.f
	switch f.typ(v) {
	case "arrow_function", "function_expression":
		have := &Type{Kind: Func, sigs: []sig{{env: e, node: v, ret: -1, made: unknown}}}
		if c.w.assignable(have, want) == no {
			c.add(at, typeName(want), "it does not fit %s", kb.Clip(c.name(want), 60))
		}
		return
	case "object":
		c.literal(at, v, e, want)
		return
	case "call_expression", "new_expression", "await_expression":
		if have := c.w.infer(v, e); have.Kind == Made {
			return
		}
	case "ternary_expression":
		return
	}
	have := c.w.infer(v, e)
	if have.Kind == Made || have.Kind == Tuple {
		return
	}
	if c.w.assignable(have, want) == no {
		c.add(at, strings.TrimSuffix(typeName(want), "."), "%s does not fit %s", kb.Clip(f.text(v), 60), kb.Clip(c.name(want), 60))
	}
}

func (c *checker) name(t *Type) string {
	if n := strings.TrimSuffix(typeName(t), "."); n != "" {
		return n
	}
	if t.Text != "" {
		return t.Text
	}
	return "what is expected"
}

// literal checks an object that is written out: what it lacks, and what is not known.
func (c *checker) literal(at, v int32, e *env, want *Type) {
	f := c.f
	want = solid(want)
	if !shaped(want.Kind) && want.Kind != Inter {
		return
	}
	have := c.w.infer(v, e)
	for p := range f.each(v) {
		key := p
		switch f.typ(p) {
		case "pair":
			key = f.field(p, "key")
		case "method_definition":
			key = f.field(p, "name")
		case "shorthand_property_identifier":
		default:
			continue
		}
		name, ok := f.unquoted(key)
		if !ok {
			continue
		}
		if _, found := c.w.property(want, name); found == no && want.Kind != Mapped {
			c.add(key, typeName(want)+name, "%s takes no %s", kb.Clip(c.name(want), 60), name)
			return
		}
		if value := f.field(p, "value"); f.typ(value) == "object" {
			if t, found := c.w.property(want, name); found == yes {
				c.literal(key, value, e, t)
			}
		}
	}
	needs, _ := c.w.needs(want)
	for _, n := range needs {
		p, found := c.w.property(have, n.name)
		if found == no && !n.optional {
			c.add(at, typeName(want)+n.name, "%s needs %s", kb.Clip(c.name(want), 60), n.name)
			return
		}
		if found == yes && p.Kind != Func && p.Kind != Made {
			to := n.typ()
			if n.optional {
				to = union(to, simple["undefined"])
			}
			if c.w.assignable(p, to) == no && c.w.assignable(c.narrowest(v, n.name, e), to) == no {
				c.add(c.key(v, n.name), typeName(want)+n.name, "%s of %s is of another type", n.name, kb.Clip(c.name(want), 60))
			}
		}
	}
}

// narrowest is the type of what a literal gives a name, without widening.
func (c *checker) narrowest(v int32, name string, e *env) *Type {
	f := c.f
	for p := range f.each(v) {
		if key, ok := f.unquoted(f.field(p, "key")); ok && key == name {
			return c.w.infer(f.field(p, "value"), e)
		}
	}
	t, _ := c.w.property(c.w.infer(v, e), name)
	return t
}

// key is the node of a name in a literal, the literal where it is not found.
func (c *checker) key(v int32, name string) int32 {
	f := c.f
	for p := range f.each(v) {
		key := f.field(p, "key")
		if f.typ(p) == "shorthand_property_identifier" {
			key = p
		}
		if k, ok := f.unquoted(key); ok && k == name {
			return key
		}
	}
	return v
}

// object checks what is in an object that is written out.
func (c *checker) object(n int32, e *env, want *Type) {
	f := c.f
	for p := range f.each(n) {
		key, v := f.field(p, "key"), f.field(p, "value")
		switch f.typ(p) {
		case "method_definition":
			key, v = f.field(p, "name"), p
		case "pair":
		default:
			c.visit(p, e, nil)
			continue
		}
		var to *Type
		if name, ok := f.unquoted(key); ok && want != nil {
			t, found := c.w.property(want, name)
			switch {
			case want.Kind == Error:
				to = failed
			case found == yes:
				to = t
			case found == no && shaped(want.Kind):
				to = failed // nothing is expected of it
			}
		} else if !ok {
			c.visit(key, e, nil)
		}
		c.visit(v, e, to)
	}
}
