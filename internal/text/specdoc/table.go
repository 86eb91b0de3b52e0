package specdoc

import "strings"

// table takes the rows of a table on lines [from,to) in a section whose role
// says what the rows are.
func (x *extractor) table(from, to int, role string, buf []name) []name {
	head := cells(x.lines[from])
	rows := from + 1
	if rows < to && ruler(x.lines[rows]) {
		rows++
	}
	named, typed, toward, much := 0, -1, -1, -1
	for i, h := range head {
		switch Anchor(Plain(h)) {
		case "name", "nombre", "attribute", "atributo", "campo", "field", "property", "propiedad", "relation", "relacion", "relationship", "state", "estado", "event", "evento":
			if named == 0 {
				named = i
			}
		case "type", "tipo":
			typed = i
		case "target", "destino", "entity", "entidad", "related-entity", "entidad-relacionada", "to", "hacia", "con", "with":
			if toward < 0 {
				toward = i
			}
		case "cardinality", "cardinalidad", "multiplicity", "multiplicidad":
			much = i
		}
	}
	cell := func(row []string, i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	for i := rows; i < to; i++ {
		row := cells(x.lines[i])
		name := strings.Trim(Plain(cell(row, named)), "` ")
		done := -1
		switch role {
		case "attributes":
			if name == "" || x.doc.Kind != "" && x.doc.Kind != "entity" || x.name == "" {
				break
			}
			full := x.name + "." + name
			x.node("concept", full, i, sureTable)
			x.edge("", full, "CONTAINS", "table", "", i, sureTable)
			done = typed
			for _, n := range names(cell(row, typed), nil) {
				if n.kind == nameWiki {
					x.edge("", n.text, "REFERENCES", "table", name, i, sureLink)
				}
			}
		case "relations":
			label := strings.TrimSpace(name + " " + Plain(cell(row, much)))
			done = toward
			where := cell(row, toward)
			if toward < 0 {
				break
			}
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
		case "states", "lifecycle":
			if name != "" && x.name != "" && (x.doc.Kind == "" || x.doc.Kind == "entity") && len(name) < 60 {
				full := x.name + "::" + name
				x.node("concept", full, i, sureTable)
				x.edge("", full, "CONTAINS", "table", "", i, sureTable)
			}
		default: // events
			if ns := names(cell(row, named), nil); len(ns) > 0 {
				x.event(ns[0], eventType(role, x.lines[i]), i)
			} else if isName(name) {
				x.node("event", name, i, sureLink)
				x.edge("", name, eventType(role, x.lines[i]), "table", "", i, sureLink)
			}
			done = named
		}
		for k, c := range row {
			if k != done {
				buf = x.line(c, i, role, buf)
			}
		}
	}
	return buf
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
