package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// field is one key of front matter with its values.
type field struct {
	key    string // lower case, "_" between words
	values []string
	line   int // 0-based
}

// fields reads front matter line by line. It understands what specifications
// hold of YAML: scalars, lists in brackets or by items, block scalars, maps
// within, whose keys count like those outside. What it does not understand it
// leaves out, so that a bad line costs that line. first is the number of
// lines[0] in the text.
func fields(lines []string, first int, sep string) []field {
	var out []field
	var parent *field
	for i := 0; i < len(lines); i++ {
		ind, t := markdown.Indent(strings.TrimRight(lines[i], " \t\r"))
		if t == "" || t[0] == '#' {
			continue
		}
		if t == "-" || strings.HasPrefix(t, "- ") {
			if parent == nil {
				continue
			}
			item := strings.TrimSpace(t[1:])
			if k, v, ok := cutKey(item, sep); ok && !strings.HasPrefix(item, "[[") {
				switch k {
				case "id", "name", "ref", "target", "title", "rule", "event", "entity":
					item = v
				default:
					continue
				}
			}
			parent.values = appendValue(parent.values, item)
			continue
		}
		k, v, ok := cutKey(t, sep)
		if !ok {
			if parent != nil && ind > 0 && len(parent.values) == 1 && !strings.HasPrefix(t, sep) {
				parent.values[0] += " " + unquote(t) // a long scalar goes on
			}
			continue
		}
		out = append(out, field{key: k, line: first + i})
		parent = &out[len(out)-1]
		switch {
		case v == "":
		case v == "|" || v == ">" || strings.HasPrefix(v, "|-") || strings.HasPrefix(v, ">-") || v == "|+" || v == ">+":
			var b strings.Builder
			for i+1 < len(lines) {
				in, u := markdown.Indent(strings.TrimRight(lines[i+1], " \t\r"))
				if u != "" && in <= ind {
					break
				}
				if u != "" && b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(u)
				i++
			}
			parent.values = appendScalar(parent.values, b.String())
		case v[0] == '[' || v[0] == '{':
			for n := 0; n < 50 && !closed(v) && i+1 < len(lines); n++ {
				if _, _, ok := cutKey(strings.TrimSpace(lines[i+1]), sep); ok && lines[i+1][0] != ' ' && lines[i+1][0] != '\t' {
					break // never closed: the next key goes on
				}
				i++
				v += " " + strings.TrimSpace(lines[i])
			}
			if v[0] == '[' {
				for _, item := range splitList(v) {
					parent.values = appendValue(parent.values, item)
				}
			}
		default:
			parent.values = appendScalar(parent.values, v)
		}
	}
	return out
}

// cutKey parts "key: value" and folds the key.
func cutKey(s, sep string) (key, value string, ok bool) {
	if key, value, ok = markdown.CutKey(s, sep); !ok {
		return "", "", false
	}
	key = strings.ReplaceAll(Anchor(key), "-", "_")
	return key, value, key != ""
}

// closed reports whether every bracket is.
func closed(s string) bool {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:", s[i-1]) >= 0):
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '#' && i > 0 && s[i-1] == ' ' && depth == 0:
			return true
		}
	}
	return depth <= 0
}

// splitList parts "[a, 'b, c', [[D|e]]]" at the commas outside quotes. Wiki
// links, which are lists of lists to YAML, stay whole.
func splitList(s string) []string {
	if !strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "[[[") {
		s = s[1:]
	}
	var out []string
	var quote byte
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.TrimSpace(s[from:i]) == "":
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth < 0 {
				return append(out, s[from:i])
			}
		case c == ',' && depth == 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// unquote takes the quotes and a comment off a scalar.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if q := s[0]; q == '"' || q == '\'' {
		if end := strings.IndexByte(s[1:], q); end >= 0 {
			return strings.TrimSpace(s[1 : end+1])
		}
		return strings.TrimSpace(s[1:])
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

func appendScalar(list []string, s string) []string {
	if s = unquote(s); absent(s) {
		return list
	}
	return append(list, s)
}

// appendValue appends an item of a list.
func appendValue(list []string, s string) []string {
	s = unquote(s)
	if absent(s) {
		return list
	}
	return append(list, s)
}

// absent reports whether a value means none.
func absent(s string) bool {
	switch strings.ToLower(s) {
	case "", "null", "~", "none", "n/a", "na", "-", "tbd", "todo", "[]", "{}", "ninguno", "ninguna":
		return true
	}
	return false
}

// target returns what a value of front matter points at: "[[X|y]]" is X, and
// a note in brackets behind a name is none of it. "" for what is no name.
func target(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[[") {
		s, _ = cutLink(strings.Trim(s, "[]"))
	} else if strings.HasPrefix(s, "[") { // a Markdown link
		text, rest, ok := strings.Cut(s[1:], "](")
		if ok {
			s = strings.TrimSuffix(rest, ")")
			if !linksDoc(s) {
				s = text
			}
		}
	}
	s = strings.Trim(s, "`\"' ")
	if i := strings.Index(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	if len(s) > 120 || placeholder(s) {
		return ""
	}
	return strings.TrimSpace(s)
}

// placeholder reports whether a name only shows where one goes: "...",
// "ADR-XXXX", "UC-NNN", "{Entity}", "<name>".
func placeholder(s string) bool {
	if strings.ContainsAny(s, "{}<>*…") || strings.Contains(s, "...") || !hasWord(s) {
		return true
	}
	s, _, _ = strings.Cut(s, "@")
	for rest, n := s, 0; rest != ""; n++ {
		var part string
		part, rest, _ = strings.Cut(rest, "-")
		if n > 0 && len(part) >= 2 && strings.Trim(part, part[:1]) == "" && strings.IndexByte("XYZN#?", part[0]) >= 0 {
			return true
		}
	}
	return false
}

// byWord turns lists of words around: what each is listed under.
func byWord(lists map[string]string) map[string]string {
	out := map[string]string{}
	for what, list := range lists {
		for word := range strings.FieldsSeq(list) {
			out[word] = what
		}
	}
	return out
}

// fieldEdges are the types of the edges that fields of front matter state.
// A "<" says that the edge points at the document.
var fieldEdges = byWord(map[string]string{
	"RELATED_TO":  "related relates_to related_to relacionado relacionados see_also links adrs adr stories",
	"INVOKES":     "invokes invokes_rules rules applies applies_rules commands executes reglas comandos invoca",
	"PRODUCES":    "produces produces_events produce outputs",
	"CONSUMES":    "consumes consumes_events consume listens",
	"EMITS":       "emits emits_events emite events eventos",
	"<EMITS":      "emitted_by emitido_por",
	"<PRODUCES":   "produced_by producido_por",
	"<CONSUMES":   "consumed_by consumido_por",
	"<IMPLEMENTS": "implemented_by implementado_por",
	"<VALIDATES":  "verified_by tested_by verificado_por",
	"VALIDATES":   "validates valida verifies verifica tests",
	"IMPLEMENTS":  "implements implementa realizes satisfies fulfills",
	"DEPENDS_ON":  "depends_on depends dependencies depende_de requires dependencias requiere blocked_by",
	"USES":        "uses usa system systems sistema sistemas",
	"TRIGGERS":    "triggers dispara",
	"<TRIGGERS":   "triggered_by trigger",
	"REFERENCES":  "references referencias refs traces_to trace traceability entity entities entidad entidades",
	"EXTENDS":     "extends extiende",
	"CONTRADICTS": "contradicts",
	"CONTAINS":    "contains contiene",
	"PART_OF":     "part_of parent parte_de epic",
	"BELONGS_TO":  "belongs_to",
	"SUPERSEDES":  "supersedes replaces reemplaza",
	"<SUPERSEDES": "superseded_by replaced_by reemplazado_por",
	"<PERFORMS":   "actor actors actores",
})

// frontEdges makes the edges that front matter states.
func (x *extractor) frontEdges() {
	d := x.doc
	for _, f := range x.front {
		typ := fieldEdges[f.key]
		if typ == "" && strings.HasPrefix(f.key, "related_") {
			typ = "RELATED_TO"
		}
		for _, v := range f.values {
			if isFile(v) && !linksDoc(v) {
				x.mention(v, f.line)
				continue
			}
			t := target(v)
			if t == "" || f.key == "id" || f.key == "title" || f.key == "aliases" {
				continue
			}
			typ := typ
			if typ == "" {
				// In any field, an id or a link is meant to point somewhere.
				if !strings.HasPrefix(v, "[[") && (!KnownID(t) || strings.Contains(v, " ")) {
					continue
				}
				typ = "REFERENCES"
			}
			node := ""
			switch f.key {
			case "actor", "actors", "actores":
				node = "actor"
			case "system", "systems", "sistema", "sistemas":
				node = "system"
			}
			if node != "" {
				if strings.Contains(t, ",") || len(t) > 60 {
					continue
				}
				x.node(node, t, f.line, sureFront)
			}
			if back, ok := strings.CutPrefix(typ, "<"); ok {
				x.edge(t, "", back, "frontmatter", "", f.line, sureFront)
			} else {
				x.edge("", t, typ, "frontmatter", "", f.line, sureFront)
			}
		}
	}
	line := 0
	for _, f := range x.front {
		if f.key == "tags" || f.key == "etiquetas" || f.key == "keywords" {
			line = f.line
		}
	}
	for _, t := range d.Tags {
		x.node("concept", t, line, sureFront)
		x.edge("", t, "RELATED_TO", "frontmatter", "tag", line, sureFront)
	}
	if d.Domain != "" {
		x.node("concept", d.Domain, line, sureFront)
		x.edge("", d.Domain, "RELATED_TO", "frontmatter", "domain", line, sureFront)
	}
}
