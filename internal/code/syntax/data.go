package syntax

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxData bytes are what a file of a data format may have to be parsed: what
// is larger was written by a program, and its keys are not looked for.
const maxData = 256 << 10

// Of a mapping, keys over several lines are declarations; those one level
// below as well in one of manyLines or more; no more than maxKeys in all.
const (
	manyLines = 20
	maxKeys   = 400
	// A text of fewer lines is read as a whole.
	wholeLines = 50
)

var jsonRules = &spec{
	grammar:  "json",
	comments: []string{"comment"},
	data:     true,
	rules: rules{{"document", func(w *walk, n int32) {
		root := w.child(n, "object")
		if root < 0 || w.next(n, root) >= 0 && w.child(n, "array", "string", "number") >= 0 {
			return
		}
		dataKeys(w, root, 0, "pair", func(value int32) int32 {
			if w.typ(value) == "object" {
				return value
			}
			return -1
		})
	}}},
}

var yaml = &spec{
	grammar:  "yaml",
	comments: []string{"comment"},
	data:     true,
	rules: rules{{"block_mapping", func(w *walk, n int32) {
		dataKeys(w, n, 0, "block_mapping_pair", func(value int32) int32 {
			return w.child(value, "block_mapping")
		})
	}}},
}

// dataKeys declares the keys of a mapping; inside returns the mapping that is
// a key's value, -1 when it is something else.
func dataKeys(w *walk, mapping int32, depth int, pair string, inside func(value int32) int32) {
	for c := w.first(mapping); c >= 0; c = w.next(mapping, c) {
		key, value := w.field(c, "key"), w.field(c, "value")
		if w.typ(c) != pair || key < 0 || value < 0 {
			continue
		}
		end := dataEnd(w, c)
		lines := end - w.start(c)
		name := strings.Trim(w.text(key), `"'`)
		if lines < 2 || len(w.out.Decls) >= maxKeys || name == "" || len(name) > 100 || strings.Contains(name, "\n") {
			continue
		}
		d := declaration{node: c, name: key, as: name, kind: "key", body: value, inner: depth > 0 && lines < manyLines || len(w.at) < wholeLines}
		w.declare(d, func() {
			w.enclosing().End = end
			if in := inside(value); in >= 0 && depth == 0 && lines >= manyLines {
				dataKeys(w, in, depth+1, pair, inside)
			}
		})
	}
}

// dataEnd returns the last line of a node, without the comments at its end
// that some grammars count in.
func dataEnd(w *walk, n int32) int {
	from, to := w.start(n), w.end(n)
	for ; to > from; to-- {
		s := w.t.Source[w.at[to]:]
		s, _, _ = strings.Cut(s, "\n")
		if s = strings.TrimSpace(s); s != "" && s[0] != '#' {
			break
		}
	}
	return to
}

var toml = &spec{
	grammar:  "toml",
	comments: []string{"comment"},
	data:     true,
	rules: rules{{"table table_array_element pair", func(w *walk, n int32) {
		key := w.child(n, "bare_key", "dotted_key", "quoted_key")
		if w.text(key) == "" || len(w.out.Decls) >= maxKeys {
			return
		}
		d := declaration{node: n, name: key, kind: "section", sigEnd: int(w.nodes[key].End) + 1}
		end := dataEnd(w, n)
		switch w.typ(n) {
		case "table_array_element":
			d.sigEnd++
		case "pair":
			if end == w.start(n) {
				return
			}
			d.kind, d.sigEnd = "key", int(w.nodes[key].End)
		}
		d.sigEnd = min(d.sigEnd, int(w.nodes[n].End))
		w.out.Decls[w.declare(d, nil)].End = end
	}}},
}

var css = &spec{
	grammar:  "css",
	comments: []string{"comment"},
	data:     true,
	rules: rules{
		{"import_statement", func(w *walk, n int32) {
			w.importing(n)
			if c := w.first(n); c >= 0 {
				path := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(w.text(c), "url("), ")"), `"' `)
				w.imported(n, path, "", "")
			}
		}},
		{"declaration", func(w *walk, n int32) { // --name: a custom property
			if name := w.first(n); strings.HasPrefix(w.text(name), "--") && len(w.out.Decls) < maxKeys {
				w.declare(declaration{node: n, name: name, kind: "var", inner: true}, nil)
			}
		}},
		{"keyframes_statement rule_set media_statement supports_statement at_rule", cssRule},
	},
}

// cssRule declares a block by the selectors before it.
func cssRule(w *walk, n int32) {
	body := w.child(n, "block", "keyframe_block_list")
	if body < 0 {
		return
	}
	name := strings.Join(strings.Fields(w.t.Source[w.nodes[n].Start:w.nodes[body].Start]), " ")
	if name == "" || len(name) > 120 || len(w.scope) > 2 || len(w.out.Decls) >= maxKeys {
		w.visit(body)
		return
	}
	d := declaration{node: n, name: -1, as: name, kind: "rule", body: body, inner: len(w.scope) > 0}
	w.declare(d, func() {
		if w.typ(n) != "keyframes_statement" {
			w.visit(body)
		}
	})
}

var hcl = &spec{
	grammar:  "hcl",
	comments: []string{"comment"},
	data:     true,
	rules: rules{{"block attribute", func(w *walk, n int32) {
		around := w.enclosing()
		if w.typ(n) == "attribute" {
			if around == nil || around.Kind == "locals" && len(w.scope) == 1 {
				if name := w.child(n, "identifier"); w.text(name) != "" && (around != nil || w.start(n) != w.end(n)) {
					w.declare(declaration{node: n, name: name, kind: "var", body: w.child(n, "expression"), inner: around != nil}, nil)
				}
			}
			return
		}
		if around != nil {
			return
		}
		typ := w.child(n, "identifier")
		form := w.text(typ)
		var labels []string
		at := typ
		for c := w.first(n); c >= 0 && w.typ(c) != "block_start"; c = w.next(n, c) {
			if c != typ {
				labels = append(labels, strings.Trim(w.text(c), `"`))
				at = c
			}
		}
		kinds := map[string]string{"variable": "var"}
		d := declaration{node: n, name: at, as: strings.Join(labels, "."), kind: form, body: w.child(n, "block_start")}
		if k := kinds[form]; k != "" {
			d.kind = k
		}
		if len(labels) == 0 {
			d.as = form
		}
		if d.as == "" || len(w.out.Decls) >= maxKeys {
			return
		}
		w.declare(d, func() { w.visit(w.child(n, "body")) })
		if form == "locals" { // its names are known without it
			for i := len(w.out.Decls) - 1; i >= 0 && len(w.out.Decls[i].Path) > 0; i-- {
				w.out.Decls[i].Path = nil
			}
		}
	}}},
}

var makefile = &spec{
	grammar:  "makefile",
	comments: []string{"comment"},
	data:     true,
	brittle:  true, // BSD's, justfiles, templates
	rules: rules{
		{"rule", func(w *walk, n int32) {
			targets := w.child(n, "targets")
			var found []int32
			for c := w.first(targets); c >= 0; c = w.next(targets, c) {
				if s := w.text(c); w.typ(c) == "word" && s != "" && s[0] != '.' && !strings.ContainsAny(s, "%$*") {
					found = append(found, c)
				}
			}
			i := -1
			for k, c := range found {
				d := declaration{node: n, name: c, kind: "target", body: w.child(n, "recipe"), inner: k > 0}
				d.sigEnd = int(w.nodes[n].Start) + strings.IndexByte(w.text(n)+"\n", '\n')
				at := w.declare(d, nil)
				w.out.Decls[at].End = dataEnd(w, n)
				if k == 0 {
					i = at
				}
			}
			if i >= 0 {
				w.scope, w.path = append(w.scope, i), append(w.path, w.out.Decls[i].Name)
			}
			if p := w.field(n, "normal"); p >= 0 && i >= 0 {
				w.over(p, "word", func(c int32) { w.use(c, w.text(c), "", kb.UseCall) })
			}
			w.visit(w.child(n, "recipe"))
			if i >= 0 {
				w.scope, w.path = w.scope[:len(w.scope)-1], w.path[:len(w.path)-1]
			}
		}},
		{"variable_assignment define_directive", func(w *walk, n int32) {
			kind := w.typ(n)
			name := w.field(n, "name")
			if s := w.text(name); w.typ(name) == "word" && s != "" && len(w.scope) == 0 && !strings.ContainsAny(s, "%$") && !makeKnown(w, s) {
				d := declaration{node: n, name: name, kind: "var", inner: true}
				if kind == "define_directive" {
					d.kind, d.inner = "macro", false
					d.sigEnd = int(w.nodes[name].End)
				}
				w.declare(d, nil)
			}
			w.visit(w.field(n, "value"))
		}},
		{"include_directive", func(w *walk, n int32) {
			w.importing(n)
			files := w.field(n, "filenames")
			for c := w.first(files); c >= 0; c = w.next(files, c) {
				if s := w.text(c); !strings.ContainsAny(s, "$*") {
					w.imported(n, s, "", "")
				}
			}
		}},
		{"variable_reference", func(w *walk, n int32) {
			if c := w.child(n, "word"); c >= 0 {
				w.use(c, w.text(c), "", kb.UseName)
			}
		}},
	},
}

// makeKnown reports whether a variable was declared above.
func makeKnown(w *walk, name string) bool {
	const far = 200
	for i := len(w.out.Decls) - 1; i >= 0 && i > len(w.out.Decls)-far; i-- {
		if w.out.Decls[i].Name == name {
			return true
		}
	}
	return false
}

var sql = &spec{
	grammar:  "sql",
	comments: []string{"comment", "marginalia"},
	data:     true,
	brittle:  true, // dialects, procedures, templates
	rules: rules{
		{"object_reference", func(w *walk, n int32) {
			if name := sqlName(w, w.field(n, "name")); name != "" && w.enclosing() != nil {
				w.use(n, name, sqlName(w, w.field(n, "schema")), kb.UseType)
			}
		}},
		{"create_table create_view create_materialized_view create_function create_index create_trigger create_type " +
			"create_schema create_sequence create_extension create_database create_role", sqlCreate},
	},
}

var sqlKinds = map[string]string{"create_materialized_view": "view"}

func sqlCreate(w *walk, n int32) {
	kind := w.typ(n)
	name, owner := int32(-1), ""
	if ref := w.child(n, "object_reference"); ref >= 0 && kind != "create_index" {
		name, owner = w.field(ref, "name"), sqlName(w, w.field(ref, "schema"))
	} else {
		name = w.child(n, "identifier")
	}
	as := sqlName(w, name)
	if as == "" {
		w.children(n)
		return
	}
	d := declaration{node: n, name: name, as: as, kind: cmp.Or(sqlKinds[kind], strings.TrimPrefix(kind, "create_")), body: w.child(n, "column_definitions", "function_body", "create_query")}
	if owner != "" {
		d.owners = []string{owner}
	}
	own := true
	w.declare(d, func() {
		for c := w.first(n); c >= 0; c = w.next(n, c) {
			if own && w.typ(c) == "object_reference" && kind != "create_index" {
				own = false
				continue
			}
			w.visit(c)
		}
	})
}

// sqlName returns a name without its quotes.
func sqlName(w *walk, n int32) string { return strings.Trim(w.text(n), "\"`[]") }
