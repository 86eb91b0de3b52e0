package specdoc

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// Confidences, as the original's.
const (
	sureFront   = 1.0
	sureTable   = 0.95
	sureLink    = 0.9
	sureList    = 0.85
	surePattern = 0.75
	sureName    = 0.7
)

// edge adds an edge, or raises the confidence of the one there is.
func (x *extractor) edge(from, target, typ, method, label string, line int, confidence float64) {
	if from == target || from != "" && x.own(from) && target == "" || target != "" && x.own(target) && from == "" {
		if method == "frontmatter" {
			x.selves = append(x.selves, kb.SpecEdge{From: from, Target: target, Type: typ, Method: method, Line: line + 1, Confidence: confidence})
		}
		return
	}
	k := edgeKey{Anchor(from), strings.ToLower(target), typ}
	if i, ok := x.edges[k]; ok {
		e := &x.doc.Edges[i]
		if e.Confidence < confidence {
			e.Confidence, e.Method, e.Line, e.Label = confidence, method, line+1, label
		}
		return
	}
	if len(x.doc.Edges) >= maxEdges {
		return
	}
	x.edges[k] = len(x.doc.Edges)
	x.doc.Edges = append(x.doc.Edges, kb.SpecEdge{From: strings.Clone(from), Target: strings.Clone(target), Type: typ,
		Method: method, Label: strings.Clone(label), Line: line + 1, Confidence: confidence})
}

// own reports whether a name is what the document calls itself.
func (x *extractor) own(s string) bool {
	return strings.EqualFold(s, x.doc.ID) || strings.EqualFold(s, x.name) || strings.EqualFold(s, x.doc.Title)
}

func (x *extractor) node(typ, name string, line int, confidence float64) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxName {
		return
	}
	k := nodeKey{typ, Anchor(name)}
	if i, ok := x.nodes[k]; ok {
		n := &x.doc.Nodes[i]
		n.Confidence = max(n.Confidence, confidence)
		return
	}
	if len(x.doc.Nodes) >= maxNodes {
		return
	}
	x.nodes[k] = len(x.doc.Nodes)
	x.doc.Nodes = append(x.doc.Nodes, kb.SpecNode{Type: typ, Name: strings.Clone(name), Line: line + 1, Confidence: confidence})
}

func (x *extractor) mention(s string, line int) {
	if x.mentions[s] || len(x.doc.Mentions) >= maxMentions {
		return
	}
	s = strings.Clone(s)
	x.mentions[s] = true
	x.doc.Mentions = append(x.doc.Mentions, kb.SpecMention{Text: s, Line: line + 1})
}

// body goes through the lines of text.
func (x *extractor) body() {
	type open struct {
		level int
		role  string
	}
	var path []open
	role := ""
	h := 0
	var buf []name
	for i := 0; i < len(x.lines); i++ {
		for h < len(x.headings) && x.headings[h].first == i {
			g := &x.headings[h]
			for len(path) > 0 && path[len(path)-1].level >= g.level {
				path = path[:len(path)-1]
			}
			role = Role(g.text)
			if role == "" && len(path) > 0 {
				role = path[len(path)-1].role
			}
			path = append(path, open{g.level, role})
			x.headingNode(g)
			h++
		}
		switch x.class[i] {
		case markdown.Heading:
			buf = x.line(x.lines[i], i, "", buf)
		case markdown.Text:
			if t := strings.TrimSpace(x.lines[i]); strings.HasPrefix(t, "|") {
				switch role {
				case "attributes", "relations", "states", "lifecycle", "events", "emits", "consumes":
					end := i
					for end < len(x.lines) && x.class[end] == markdown.Text && strings.HasPrefix(strings.TrimSpace(x.lines[end]), "|") {
						end++
					}
					buf = x.table(i, end, role, buf)
					i = end - 1
					continue
				}
			}
			buf = x.line(x.lines[i], i, role, buf)
		}
	}
}

// headingNode takes a heading that names something: "Entity: User".
func (x *extractor) headingNode(h *heading) {
	label, rest, ok := strings.Cut(h.text, ":")
	if !ok || len(label) > 20 {
		return
	}
	if typ := labels[Anchor(label)]; typ != "" {
		x.labelled(typ, rest, h.first, sureList)
	}
}

// affected are the labels before what a change touches, as OpenSpec has them.
var affected = kb.WordsOf("affected affected-specs affected-capabilities affects afecta afecta-a especificaciones-afectadas")

// labels are the words before a colon that say what follows.
var labels = byWord(map[string]string{
	"actor":    "actor actors actores actor-principal primary-actor main-actor actores-secundarios",
	"system":   "system systems sistema sistemas external-system sistema-externo",
	"entity":   "entity entities entidad entidades",
	"event":    "event evento",
	"use_case": "use-case caso-de-uso",
	"rule":     "rule regla business-rule",
})

// labelled takes what follows a label: names between commas.
func (x *extractor) labelled(typ, s string, line int, confidence float64) {
	if strings.ContainsAny(s, ".;") || len(s) > 200 {
		return // a sentence
	}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '/' }) {
		for _, sep := range [...]string{" and ", " y ", " e "} {
			if a, b, ok := strings.Cut(part, sep); ok {
				x.labelledOne(typ, a, line, confidence)
				part = b
			}
		}
		x.labelledOne(typ, part, line, confidence)
	}
}

func (x *extractor) labelledOne(typ, s string, line int, confidence float64) {
	s = strings.TrimSpace(s)
	link := strings.HasPrefix(s, "[[")
	if s = target(strings.Trim(Plain(s), "*_ ")); s == "" {
		return
	}
	if !link && (strings.Count(s, " ") > 3 || !(s[0] >= 'A' && s[0] <= 'Z') && s[0] < 0x80) {
		return
	}
	if x.own(s) {
		return
	}
	x.node(typ, s, line, confidence)
	switch typ {
	case "actor":
		x.edge(s, "", "PERFORMS", "pattern", "", line, confidence)
	case "system":
		x.edge("", s, "USES", "pattern", "", line, confidence)
	default:
		x.edge("", s, "MENTIONS", "pattern", "", line, confidence)
	}
}

// line takes one line of text in a section of a role.
func (x *extractor) line(s string, i int, role string, buf []name) []name {
	buf = names(s, buf)
	if x.plain { // a composite of StrictDoc, the text of a role
		buf = slices.DeleteFunc(buf, func(n name) bool { return n.kind == nameWiki && !KnownID(n.text) })
	}
	ns := buf
	states := true // relations in prose
	text := strings.TrimSpace(s)
	text = text[markdown.ItemMark(text):]
	if label, rest, ok := strings.Cut(text, ":"); ok && len(label) < 30 && role != "attributes" {
		if typ := labels[Anchor(label)]; typ != "" {
			x.labelled(typ, strings.Trim(rest, "* "), i, 0.8)
		}
	}
	if label, rest, ok := strings.Cut(text, ":"); ok && affected[Anchor(strings.Trim(label, "*"))] {
		for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ';' }) {
			part, _, _ = strings.Cut(part, "(")
			if t := strings.Trim(part, " `*."); t != "" && len(t) <= 60 {
				x.edge("", t, "REFERENCES", "pattern", "", i, surePattern)
			}
		}
	}
	if role == "actors" && markdown.ItemMark(strings.TrimSpace(s)) > 0 {
		if n := actorOf(text); n != "" {
			x.node("actor", n, i, sureList)
			x.edge(n, "", "PERFORMS", "table", "", i, sureList)
		}
	}
	if (role == "events" || role == "emits" || role == "consumes") && markdown.ItemMark(strings.TrimSpace(s)) > 0 && len(ns) > 0 {
		x.event(ns[0], eventType(role, text), i)
		states = false
	}
	for k := range ns {
		n := &ns[k]
		switch n.kind {
		case nameWiki, nameID:
			if k > 0 && (role == "producers" || role == "consumers") {
				role = "" // the first one does it, the rest are what with
			}
			x.points(n, i, role)
		case nameLink:
			if x.superseding(n.text, "link", role, i) {
				continue
			}
			x.edge("", n.text, "REFERENCES", "link", "", i, sureLink)
		case nameFile:
			x.mention(n.text, i)
		}
	}
	if states && len(ns) > 0 {
		x.patterns(s, ns, i)
	}
	return buf
}

// points makes the edge of a wiki link or an id, typed by its section.
func (x *extractor) points(n *name, line int, role string) {
	method := "wiki_link"
	if n.kind == nameID {
		method = "id"
	}
	kind, known := idKind(n.text)
	typ := "MENTIONS"
	switch role {
	case "rules", "commands":
		typ = "INVOKES"
	case "declaration":
		if n.kind == nameWiki && (!known || kind.Name == "entity") {
			typ = "VALIDATES"
		}
	case "postconditions", "lifecycle", "states", "emits":
		if kind.Name == "event" {
			typ = "EMITS"
		}
	case "events":
		if kind.Name == "event" {
			typ = "PRODUCES"
		}
	case "consumes":
		if kind.Name == "event" {
			typ = "CONSUMES"
		}
	case "producers", "consumers":
		if n.kind == nameWiki && !(known && kind.Name == "requirement") {
			typ := map[string]string{"producers": "PRODUCES", "consumers": "CONSUMES"}[role]
			x.edge(n.text, "", typ, method, "", line, sureLink)
			return
		}
	case "dependencies":
		typ = "DEPENDS_ON"
	case "trace", "related":
		typ = "REFERENCES"
	}
	if x.superseding(n.text, method, role, line) {
		return
	}
	x.edge("", n.text, typ, method, "", line, sureLink)
}

// superseding makes the edge of a link in a section or line "Status" of a
// decision that replaces another or is replaced.
func (x *extractor) superseding(target, method, role string, line int) bool {
	low := x.lines[line]
	low = strings.ToLower(strings.TrimLeft(low[:min(len(low), 300)], "*_- ")) // once for every link of the line
	if role != "status" && !strings.HasPrefix(low, "status") && !strings.HasPrefix(low, "estado") && !strings.HasPrefix(low, "supersede") {
		return false
	}
	if quoted(low, strings.ToLower(target)) {
		return false // `the status "superseded by ADR-7"` is said of no document
	}
	switch {
	case strings.Contains(low, "superseded") || strings.Contains(low, "superceded") || strings.Contains(low, "reemplazad") || strings.Contains(low, "replaced") || strings.Contains(low, "sustituid"):
		x.edge(target, "", "SUPERSEDES", method, "", line, sureLink)
	case strings.Contains(low, "supersedes") || strings.Contains(low, "supercedes") || strings.Contains(low, "reemplaza a") || strings.Contains(low, "sustituye") || strings.Contains(low, "replaces"):
		x.edge("", target, "SUPERSEDES", method, "", line, sureLink)
	default:
		return false
	}
	return true
}

// quoted reports whether a name stands in quotation marks together with other words.
func quoted(line, name string) bool {
	line = strings.NewReplacer("“", `"`, "”", `"`, "«", `"`, "»", `"`).Replace(line)
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 && strings.Contains(part, name) && strings.TrimSpace(part) != name {
			return true
		}
	}
	return false
}

// actorOf returns whom an item of a list of actors names: "**Developer**: …".
func actorOf(s string) string {
	s, _, _ = strings.Cut(s, ":")
	s, _, _ = strings.Cut(s, " — ")
	s, _, _ = strings.Cut(s, " - ")
	s = target(strings.Trim(Plain(s), "*_ "))
	if s == "" || strings.Count(s, " ") > 3 || strings.ContainsAny(s, ".,;") {
		return ""
	}
	return s
}

// eventType returns the type of the edge to an event that a section or line names.
func eventType(role, text string) string {
	low := strings.ToLower(text)
	for _, w := range [...]string{"consum", "listens", "escucha", "subscribes"} {
		if strings.Contains(low, w) {
			return "CONSUMES"
		}
	}
	if role == "consumes" {
		return "CONSUMES"
	}
	return "PRODUCES"
}

func (x *extractor) event(n name, typ string, line int) {
	if n.kind == nameLink || n.kind == nameFile && !isSymbol(n.text) {
		return
	}
	if n.kind != nameWiki && n.kind != nameID {
		x.node("event", n.text, line, sureLink)
	}
	x.edge("", n.text, typ, "table", "", line, sureLink)
}

// isSymbol reports whether a name in code is one identifier in capitals and
// small letters.
func isSymbol(s string) bool {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return true
}
