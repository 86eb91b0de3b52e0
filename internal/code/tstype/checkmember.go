package tstype

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// taken checks what a pattern takes out of a value.
func (c *checker) taken(pattern int32, t *Type) {
	f := c.f
	for p := range f.each(pattern) {
		key := p
		switch f.typ(p) {
		case "pair_pattern":
			key = f.field(p, "key")
		case "object_assignment_pattern":
			key = f.field(p, "left")
		case "shorthand_property_identifier_pattern":
		default:
			continue
		}
		if name, ok := f.unquoted(key); ok {
			if _, found := c.w.property(t, name); found == no && t.Kind != Opaque {
				c.add(key, typeName(t)+name, "there is no %s%s", typeName(t), name)
			}
		}
	}
}

// typeName is what a type is called, with a dot behind it; "" for one without a name.
func typeName(t *Type) string {
	switch {
	case t.sym != nil:
		return t.sym.name + "."
	case t.files != nil:
		return ""
	}
	return ""
}

// member checks a.b.
func (c *checker) member(n int32, e *env) {
	f := c.f
	object, property := f.field(n, "object"), f.field(n, "property")
	c.visit(object, e, nil)
	t := c.w.infer(object, e)
	if t.Kind == Opaque {
		c.add(object, "", "%s is unknown", kb.Clip(f.text(object), 60))
		return
	}
	if f.typ(property) == "private_property_identifier" {
		return
	}
	if _, found := c.w.property(t, f.text(property)); found == no {
		owner := typeName(c.w.apparent(t))
		c.add(property, owner+f.text(property), "%s has no member %s", cmp.Or(strings.TrimSuffix(owner, "."), kb.Clip(f.text(object), 60)), f.text(property))
	}
}

// nested checks the type a.b.
func (c *checker) nested(n int32, e *env) {
	f := c.f
	s, found := c.w.entity(f.field(n, "module"), e)
	if found != yes {
		return
	}
	if _, found := c.w.part(s, f.text(f.field(n, "name"))); found == no {
		name := f.text(f.field(n, "name"))
		c.add(n, name, "%s has no member %s", path.Base(f.text(f.field(n, "module"))), name)
	}
}
