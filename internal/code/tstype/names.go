package tstype

import "strings"

// hoist adds what the statements in a node declare.
func (w *World) hoist(e *env, n int32) {
	f := e.file
	for c := range f.each(n) {
		w.statement(e, c)
	}
}

func (w *World) statement(e *env, c int32) {
	f := e.file
	switch f.typ(c) {
	case "import_statement":
		w.imports(e, c)
	case "import_alias":
		if name := f.first(c); name >= 0 {
			if of := f.next(c, name); of >= 0 {
				e.names[f.text(name)] = &symbol{name: f.text(name), see: func() (*symbol, look) { return w.entity(of, e) }}
			}
		}
	case "export_statement":
		if d := f.field(c, "declaration"); d >= 0 {
			w.statement(e, d)
		} else if v := f.field(c, "value"); v >= 0 && f.field(v, "name") >= 0 {
			w.statement(e, v)
		} else {
			for d := range f.each(c) {
				switch f.typ(d) {
				case "internal_module", "module", "import_alias":
					w.statement(e, d)
				}
			}
		}
	case "ambient_declaration":
		for d := range f.each(c) {
			if f.typ(d) == "statement_block" { // declare global
				w.hoist(e, d)
			} else {
				w.statement(e, d)
			}
		}
	case "expression_statement":
		if d := f.child(c, "internal_module"); d >= 0 {
			w.statement(e, d)
		}
	case "lexical_declaration", "variable_declaration":
		for d := range f.each(c) {
			if f.typ(d) == "variable_declarator" {
				w.declarator(e, d)
			}
		}
	case "function_declaration", "generator_function_declaration", "function_signature", "class_declaration",
		"abstract_class_declaration", "interface_declaration", "type_alias_declaration", "class":
		if name := f.field(c, "name"); name >= 0 {
			e.add(f.text(name), c)
		}
	case "enum_declaration":
		s := e.add(f.text(f.field(c, "name")), c)
		if s.within == nil {
			s.within = map[string]*symbol{}
		}
		for m := range f.each(f.field(c, "body")) {
			key := m
			if f.typ(m) == "enum_assignment" {
				key = f.field(m, "name")
			}
			if name, ok := f.unquoted(key); ok {
				s.within[name] = &symbol{name: name, typ: &Type{Kind: Enum, sym: s, Text: name}}
			}
		}
	case "internal_module", "module":
		w.namespace(e, c)
	}
}

// declarator adds the names of one variable, or of a pattern.
func (w *World) declarator(e *env, d int32) {
	f := e.file
	name := f.field(d, "name")
	if f.typ(name) == "identifier" {
		e.add(f.text(name), d)
		return
	}
	w.pattern(e, name, func() *Type {
		if t := f.field(d, "type"); t >= 0 {
			return w.eval(t, e)
		}
		return w.infer(f.field(d, "value"), e)
	})
}

// pattern adds the names that a pattern takes out of a value.
func (w *World) pattern(e *env, n int32, of func() *Type) {
	f := e.file
	switch f.typ(n) {
	case "identifier", "shorthand_property_identifier_pattern":
		e.names[f.text(n)] = &symbol{name: f.text(n), lazy: of}
	case "object_pattern":
		for c := range f.each(n) {
			switch f.typ(c) {
			case "shorthand_property_identifier_pattern":
				name := f.text(c)
				w.pattern(e, c, func() *Type { return w.taken(of(), name) })
			case "object_assignment_pattern":
				left := f.field(c, "left")
				name := f.text(left)
				w.pattern(e, left, func() *Type { return w.taken(of(), name) })
			case "pair_pattern":
				name, ok := f.unquoted(f.field(c, "key"))
				w.pattern(e, f.field(c, "value"), func() *Type {
					if !ok {
						return unknown
					}
					return w.taken(of(), name)
				})
			case "rest_pattern":
				w.pattern(e, f.first(c), func() *Type { return unknown })
			}
		}
	case "array_pattern":
		holes := strings.Contains(strings.Join(strings.Fields(f.text(n)), ""), ",,") || strings.HasPrefix(f.text(n), "[,")
		i := 0
		for c := range f.each(n) {
			at := i
			if holes || f.typ(c) == "rest_pattern" {
				if f.typ(c) == "rest_pattern" {
					c = f.first(c)
				}
				w.pattern(e, c, func() *Type { return unknown })
			} else {
				w.pattern(e, c, func() *Type { return w.element(of(), at) })
			}
			i++
		}
	case "assignment_pattern":
		w.pattern(e, f.field(n, "left"), of)
	}
}

// taken is the type of a property, without what it is where it is absent.
func (w *World) taken(t *Type, name string) *Type {
	p, _ := w.property(t, name)
	return p
}

// imports adds the names of an import statement.
func (w *World) imports(e *env, n int32) {
	f := e.file
	put := func(local, spec, name string) {
		e.names[local] = &symbol{name: local, alias: &alias{f, spec, name}}
	}
	if r := f.child(n, "import_require_clause"); r >= 0 {
		spec, _ := f.unquoted(f.field(r, "source"))
		put(f.text(f.child(r, "identifier")), spec, "=")
		return
	}
	spec, _ := f.unquoted(f.field(n, "source"))
	for c := range f.each(f.child(n, "import_clause")) {
		switch f.typ(c) {
		case "identifier":
			put(f.text(c), spec, "default")
		case "namespace_import":
			put(f.text(f.child(c, "identifier")), spec, "*")
		case "named_imports":
			for s := range f.each(c) {
				name, local := f.field(s, "name"), f.field(s, "alias")
				if local < 0 {
					local = name
				}
				if of, ok := f.unquoted(name); ok && f.typ(s) == "import_specifier" {
					put(f.text(local), spec, of)
				}
			}
		}
	}
}

// namespace adds a namespace with what it exports: in declarations, all that it has.
func (w *World) namespace(e *env, n int32) {
	f := e.file
	name := f.field(n, "name")
	if f.typ(name) == "string" {
		return // a module of another name
	}
	at := e
	path := strings.Split(f.text(name), ".")
	var s *symbol
	for i, p := range path {
		s = at.add(p, n)
		if s.within == nil {
			s.within = map[string]*symbol{}
		}
		if i < len(path)-1 {
			at = at.inner()
			s.spaces = append(s.spaces, at)
			next := at.names[path[i+1]]
			if next == nil {
				next = &symbol{name: path[i+1]}
				at.names[path[i+1]] = next
			}
			s.within[path[i+1]] = next
		}
	}
	in := at.inner()
	for _, before := range s.spaces { // declarations of one namespace see each other
		for k, v := range before.names {
			in.names[k] = v
		}
	}
	s.spaces = append(s.spaces, in)
	body := f.field(n, "body")
	w.hoist(in, body)
	list := false
	for c := range f.each(body) {
		if f.typ(c) == "export_statement" && f.child(c, "export_clause") >= 0 {
			list = true
			w.clause(in, f.child(c, "export_clause"), "", s.within)
		}
	}
	if !list {
		for k, v := range in.names {
			s.within[k] = v
		}
		return
	}
	w.marked(in, body, s.within)
}

// marked adds what statements export by the word before them.
func (w *World) marked(e *env, body int32, out map[string]*symbol) {
	f := e.file
	for c := range f.each(body) {
		if f.typ(c) != "export_statement" {
			continue
		}
		only := &env{file: f, names: map[string]*symbol{}}
		w.statement(only, c)
		for k := range only.names {
			if s := e.names[k]; s != nil {
				out[k] = s
			}
		}
	}
}

// clause adds what { a, b as c } exports, of another module where spec is not "".
func (w *World) clause(e *env, n int32, spec string, out map[string]*symbol) {
	f := e.file
	for s := range f.each(n) {
		if f.typ(s) != "export_specifier" {
			continue
		}
		name, as := f.field(s, "name"), f.field(s, "alias")
		if as < 0 {
			as = name
		}
		a, _ := f.unquoted(name)
		b, _ := f.unquoted(as)
		if spec != "" {
			out[b] = &symbol{name: b, alias: &alias{f, spec, a}}
		} else if have, _ := e.find(a); have != nil {
			out[b] = have
		} else {
			out[b] = &symbol{name: b, typ: unknown}
		}
	}
}

// exported reads what a file exports.
func (w *World) exported(f *file) {
	for c := range f.each(0) {
		if f.typ(c) != "export_statement" {
			continue
		}
		f.list = true
		spec, _ := f.unquoted(f.field(c, "source"))
		head := f.text(c)[:min(len(f.text(c)), 40)]
		rest := strings.TrimSpace(strings.TrimPrefix(head, "export"))
		switch clause := f.child(c, "export_clause"); {
		case clause >= 0:
			w.clause(f.env, clause, spec, f.exports)
		case f.child(c, "namespace_export") >= 0:
			name, _ := f.unquoted(f.first(f.child(c, "namespace_export")))
			f.exports[name] = &symbol{name: name, alias: &alias{f, spec, "*"}}
		case spec != "":
			f.stars = append(f.stars, spec)
		case strings.HasPrefix(rest, "="):
			f.assign = f.first(c)
		case strings.HasPrefix(rest, "default"):
			f.exports["default"] = w.byDefault(f, c)
		case strings.HasPrefix(rest, "as namespace"):
			f.list = len(f.exports) > 0 || f.assign >= 0
		}
	}
	if !f.list {
		for c := range f.each(0) {
			if k := f.typ(c); k == "import_statement" {
				f.list = !strings.HasSuffix(f.path, ".d.ts") // a declaration file offers all that it has
			}
		}
	}
	w.marked(f.env, 0, f.exports)
	if f.assign < 0 && (declares(f.path) && !w.hasClause(f)) {
		for k, s := range f.env.names {
			if s.alias == nil && f.exports[k] == nil {
				f.exports[k] = s
			}
		}
	}
}

// hasClause reports whether a file lists what it exports, which hides the rest.
func (w *World) hasClause(f *file) bool {
	for c := range f.each(0) {
		if f.typ(c) == "export_statement" && f.child(c, "export_clause") >= 0 && f.field(c, "source") < 0 {
			return true
		}
	}
	return false
}

func declares(path string) bool {
	return strings.HasSuffix(path, ".d.ts") || strings.HasSuffix(path, ".d.mts") || strings.HasSuffix(path, ".d.cts")
}

// byDefault is the symbol of export default.
func (w *World) byDefault(f *file, c int32) *symbol {
	v := f.field(c, "value")
	if v < 0 {
		v = f.field(c, "declaration")
	}
	if name := f.field(v, "name"); name >= 0 {
		if s := f.env.names[f.text(name)]; s != nil {
			return s
		}
	}
	if f.typ(v) == "identifier" {
		if s, _ := f.env.find(f.text(v)); s != nil {
			return s
		}
	}
	s := &symbol{name: "default"}
	switch f.typ(v) {
	case "":
		s.typ = unknown
	case "class_declaration", "abstract_class_declaration", "class", "function_declaration", "function_signature", "interface_declaration":
		s.decls = []decl{{f.env, v}}
	default:
		s.lazy = func() *Type { return w.infer(v, f.env) }
	}
	return s
}
