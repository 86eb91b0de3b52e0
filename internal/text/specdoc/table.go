package specdoc

import "strings"

// columnWords are the heads of the columns that a table is read by.
var columnWords = byWord(map[string]string{
	"name": `name nombre attribute atributo campo field property propiedad relation relacion relationship state estado
		event evento`,
	"type":  "type tipo",
	"to":    "target destino entity entidad related-entity entidad-relacionada to hacia con with",
	"count": "cardinality cardinalidad multiplicity multiplicidad",
})

// row is a row of a table: its cells and the columns by what they hold, -1
// without one.
type row struct {
	cells               []string
	named, typed, to, n int
}

func (r *row) cell(i int) string {
	if i < 0 || i >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// table takes the rows of a table on lines [from,to) in a section whose role
// says what the rows are.
func (x *extractor) table(from, to int, role string, buf []name) []name {
	r := row{typed: -1, to: -1, n: -1}
	for i, h := range cells(x.lines[from]) {
		switch columnWords[Anchor(Plain(h))] {
		case "name":
			if r.named == 0 {
				r.named = i
			}
		case "type":
			r.typed = i
		case "to":
			if r.to < 0 {
				r.to = i
			}
		case "count":
			r.n = i
		}
	}
	rows := from + 1
	if rows < to && ruler(x.lines[rows]) {
		rows++
	}
	for i := rows; i < to; i++ {
		r.cells = cells(x.lines[i])
		done := x.row(&r, i, role)
		for k, c := range r.cells {
			if k != done {
				buf = x.line(c, i, role, buf)
			}
		}
	}
	return buf
}

// row takes what a row on line i states, and returns the column that is done
// with, or -1.
func (x *extractor) row(r *row, i int, role string) int {
	name := strings.Trim(Plain(r.cell(r.named)), "` ")
	ofEntity := name != "" && x.name != "" && (x.doc.Kind == "" || x.doc.Kind == "entity")
	concept := func(full string) {
		x.node("concept", full, i, sureTable)
		x.edge("", full, "CONTAINS", "table", "", i, sureTable)
	}
	switch role {
	case "attributes":
		if !ofEntity {
			return -1
		}
		concept(x.name + "." + name)
		for _, n := range names(r.cell(r.typed), nil) {
			if n.kind == nameWiki {
				x.edge("", n.text, "REFERENCES", "table", name, i, sureLink)
			}
		}
		return r.typed
	case "relations":
		where := r.cell(r.to)
		label := strings.TrimSpace(name + " " + Plain(r.cell(r.n)))
		linked := false
		for _, n := range names(where, nil) {
			if n.kind == nameWiki || n.kind == nameID {
				x.edge("", n.text, "REFERENCES", "table", label, i, sureTable)
				linked = true
			}
		}
		if t := target(Plain(where)); !linked && t != "" && isName(t) {
			x.node("entity", t, i, sureName)
			x.edge("", t, "REFERENCES", "table", label, i, sureTable)
		}
		return r.to
	case "states", "lifecycle":
		if ofEntity && len(name) < 60 {
			concept(x.name + "::" + name)
		}
		return -1
	}
	if ns := names(r.cell(r.named), nil); len(ns) > 0 { // events
		x.event(ns[0], eventType(role, x.lines[i]), i)
	} else if isName(name) {
		x.node("event", name, i, sureLink)
		x.edge("", name, eventType(role, x.lines[i]), "table", "", i, sureLink)
	}
	return r.named
}

// cells parts a row of a table at its bars, those in code and wiki links and
// those behind a backslash left alone.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var out []string
	from := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '`':
			if end := within(line[i+1:], "`"); end >= 0 {
				i += end + 1
			}
		case strings.HasPrefix(line[i:], "[["):
			if end := within(line[i:], "]]"); end >= 0 {
				i += end + 1
			}
		case line[i] == '|':
			out = append(out, line[from:i])
			from = i + 1
		}
	}
	return append(out, line[from:])
}

// ruler reports whether a row is the line between head and rows.
func ruler(s string) bool {
	return strings.Trim(s, "|-: \t") == "" && strings.Contains(s, "-")
}
