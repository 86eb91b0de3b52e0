package tstype

// inherits notes what an interface extends or a class implements.
func (c *checker) inherits(n int32, e *env) {
	f := c.f
	for x := range f.each(n) {
		name := x
		if f.typ(x) == "generic_type" {
			name = f.first(x)
			for a := range f.each(f.child(x, "type_arguments")) {
				c.visit(a, e, nil)
			}
		}
		c.usedType(name, e, Inherited)
	}
}

// imports checks that a module and what is imported of it, or passed on, are there.
func (c *checker) imports(n int32, list, item string) {
	f := c.f
	source := f.field(n, "source")
	spec, ok := f.unquoted(source)
	if !ok {
		return
	}
	of, found := c.w.module(f, spec)
	if found == no {
		c.add(source, spec, "there are no declarations of %s", spec)
	}
	if found != yes {
		return
	}
	names := f.child(n, list)
	if names < 0 {
		names = f.child(f.child(n, "import_clause"), list)
	}
	for s := range f.each(names) {
		name, ok := f.unquoted(f.field(s, "name"))
		if !ok || f.typ(s) != item {
			continue
		}
		if _, found := c.w.export(of, name, map[*file]bool{}); found == no {
			c.add(s, name, "%s has no export %s", spec, name)
		}
	}
}
