package specdoc

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// words in headings, folded. The first of a heading, or where that says more
// the last ("Authentication Flow"), says what its section holds.
var (
	entityHeads = kb.WordsOf(`entity entidad entities entidades object objeto value-object attributes atributos properties
		propiedades domain-model modelo-de-dominio fields campos`)
	useCaseHeads = lists["use case heads"]
	ruleHeads    = lists["rule heads"]
	processHeads = kb.WordsOf(`process proceso procesos workflow workflows flow flujo procedure procedimiento procedures
		procedimientos steps pasos flowchart diagrama-de-flujo`)
)

// headType returns the type that a heading gives its section, "" for none.
func headType(heading string) string {
	for i := 0; i < len(heading); i++ {
		if i == 0 || !isWordByte(heading[i-1]) && heading[i-1] != '-' {
			if n := idLength(heading[i:]); n > 0 {
				if k, ok := idKind(heading[i : i+n]); ok && k.Type != "DEFAULT" && k.Type != "EVENT" {
					return k.Type
				}
			}
		}
	}
	a := Anchor(heading)
	for len(a) > 0 && (a[0] >= '0' && a[0] <= '9' || a[0] == '-') {
		a = a[1:] // "3. Flujo"
	}
	label := ""
	if before, _, ok := strings.Cut(heading, ":"); ok {
		label = Anchor(before)
	}
	last := a[strings.LastIndexByte(a, '-')+1:]
	for _, x := range [...]struct {
		heads map[string]bool
		typ   string
		last  bool
	}{{entityHeads, "ENTITY", false}, {useCaseHeads, "USE_CASE", false}, {ruleHeads, "RULE", true}, {processHeads, "PROCESS", true}} {
		if x.heads[a] || x.heads[label] || x.last && x.heads[last] {
			return x.typ
		}
		// "Reglas de validación", "Flujo de compra", but not "Process isolation":
		// in English the first word mostly qualifies the next.
		if i := strings.Index(a, "-de-"); i > 0 && x.heads[a[:i]] {
			return x.typ
		}
		if i := strings.Index(a, "-for-"); i > 0 && x.heads[a[:i]] {
			return x.typ
		}
	}
	return ""
}

// sectionType returns the type of a section by its heading, else by its lines
// [from,to). One word never decides: a rule's "must" and a list's numbers have
// to be what the section mostly consists of.
func (x *extractor) sectionType(h *heading, from, to int) string {
	if h != nil {
		if t := headType(h.text); t != "" {
			return t
		}
	}
	g := signals{next: 1}
	for i := from; i < to; i++ {
		switch x.class[i] {
		case markdown.Fence:
			low := strings.ToLower(strings.TrimLeft(x.lines[i], " `~"))
			for _, d := range [...]string{"flowchart ", "sequencediagram", "statediagram", "activitydiagram"} {
				g.diagram = g.diagram || strings.HasPrefix(low, d)
			}
		case markdown.Text:
			if ind, t := markdown.Indent(x.lines[i]); t != "" && t[0] != '|' && t[0] != '>' {
				g.line(ind, t)
			}
		}
	}
	switch {
	case g.entity || g.fields >= 3 && 2*g.fields >= g.bullets:
		return "ENTITY"
	case g.useCase || g.gherkin >= 3:
		return "USE_CASE"
	case g.modal >= 2 && 2*g.modal >= g.statements || g.modal == 1 && g.statements <= 2:
		return "RULE"
	case g.diagram || g.numbered >= 3 && 2*g.numbered >= g.lines:
		return "PROCESS"
	}
	return "DEFAULT"
}

// signals are what the lines of a section say about its type.
type signals struct {
	entity, useCase, diagram bool
	statements, modal        int // sentences, and those that oblige
	bullets, fields          int // items, and those that describe a field
	lines, numbered, next    int // lines at the margin, steps among them, the next number
	gherkin                  int // steps of scenarios
	began                    bool
}

// sectionLabels are the labels that give a section its type.
var sectionLabels = byWord(map[string]string{
	"ENTITY": "attributes atributos properties propiedades",
	"USE_CASE": `actor actors actores preconditions precondition precondiciones postconditions postcondiciones
		main-flow flujo-principal alternative-flow flujo-alternativo`,
})

// line takes a line of text, without its indentation.
func (g *signals) line(ind int, t string) {
	n := markdown.ItemMark(t)
	text := t[n:]
	if ind < 2 {
		g.lines++
		if n > 0 && t[0] >= '0' && t[0] <= '9' {
			if k := number(t); k == g.next || k == 1 {
				g.next = k + 1
				if !linkOnly(text) {
					g.numbered++
				}
			}
		}
	}
	low := strings.ToLower(strings.Trim(text, "*_ "))
	if n > 0 {
		g.bullets++
		if fieldBullet(text) {
			g.fields++
		}
	} else if !g.began {
		g.began = true
		g.entity = g.entity || defines(low)
	}
	if label, _, ok := strings.Cut(low, ":"); ok && len(label) < 30 {
		typ := sectionLabels[Anchor(label)]
		g.entity = g.entity || typ == "ENTITY"
		g.useCase = g.useCase || typ == "USE_CASE"
	}
	g.useCase = g.useCase || story(low)
	if stepOf(low) {
		g.gherkin++
	}
	for s := range strings.SplitSeq(low, ". ") {
		if len(s) >= 8 {
			g.statements++
			if obliges(s) {
				g.modal++
			}
		}
	}
}

func number(t string) int {
	n := 0
	for i := 0; i < len(t) && t[i] >= '0' && t[i] <= '9'; i++ {
		n = 10*n + int(t[i]-'0')
	}
	return n
}

// linkOnly reports whether an item is nothing but a link: a table of contents.
func linkOnly(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "[") && strings.HasSuffix(s, ")") || strings.HasPrefix(s, "http")
}

// defines reports whether a section's first sentence says what something is.
func defines(low string) bool {
	for _, v := range [...]string{" is defined as ", " represents a ", " represents an ", " represents the ", " se define como ", " representa un ", " representa una ", " representa al ", " representa a "} {
		if i := strings.Index(low, v); i > 0 && i < 60 {
			return true
		}
	}
	return false
}

// fieldBullet reports whether an item describes a field: a name in lower case,
// bold or code, and a colon: "**email**: string".
func fieldBullet(s string) bool {
	mark := ""
	switch {
	case strings.HasPrefix(s, "**`"):
		return fieldBullet(strings.Replace(strings.TrimPrefix(s, "**"), "`**", "`", 1))
	case strings.HasPrefix(s, "**"):
		mark = "**"
	case strings.HasPrefix(s, "`"):
		mark = "`"
	default:
		return false
	}
	name, rest, ok := strings.Cut(s[len(mark):], mark)
	if !ok || name == "" || name[0] < 'a' || name[0] > 'z' || strings.ContainsAny(name, " -/") {
		return false
	}
	rest = strings.TrimLeft(rest, " ")
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "(") || strings.HasSuffix(name, ":")
}

// story reports whether a sentence is a user story.
func story(low string) bool {
	switch {
	case strings.HasPrefix(low, "as a ") || strings.HasPrefix(low, "as an "):
		return strings.Contains(low, "i want") || strings.Contains(low, "i need") || strings.Contains(low, "want to")
	case strings.HasPrefix(low, "como "):
		return strings.Contains(low, " quiero ") || strings.Contains(low, " necesito ")
	}
	return false
}

// stepOf reports whether a line is a step of a scenario.
func stepOf(low string) bool {
	word, _, ok := strings.Cut(low, " ")
	return ok && slices.Contains([]string{"given", "when", "then", "dado", "dada", "cuando", "entonces"}, word)
}

// obliging are the words that lay down what must be; those with a word before
// them in the second set do so only behind it.
var (
	obliging  = kb.WordsOf("must shall debe deben debera deberán deberan deberá")
	obligingX = map[string]map[string]bool{
		"not": kb.WordsOf("may"), "be": kb.WordsOf("cannot"), "allowed": kb.WordsOf("not"), "puede": kb.WordsOf("no"), "pueden": kb.WordsOf("no"), "permite": kb.WordsOf("se"), "rule": kb.WordsOf("business"),
		"prohibited": kb.WordsOf("is are"), "forbidden": kb.WordsOf("is are"), "mandatory": kb.WordsOf("is are"), "prohibido": kb.WordsOf("está esta"), "obligatorio": kb.WordsOf("es"), "obligatoria": kb.WordsOf("es"), "obligatorios": kb.WordsOf("son"),
	}
)

// obliges reports whether a sentence, in lower case, lays down what must or
// must not be.
func obliges(s string) bool {
	before, earlier := "", ""
	for len(s) > 0 {
		w := s
		if i := strings.IndexByte(s, ' '); i >= 0 {
			w, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		w = strings.Trim(w, "*_.,;:()")
		if obliging[w] || len(w) < 13 && obligingX[w][before] && (w != "permite" || earlier == "no") {
			return true
		}
		before, earlier = w, before
	}
	return false
}
