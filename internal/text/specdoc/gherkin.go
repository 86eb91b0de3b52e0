package specdoc

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// featureWords begin the parts of a feature, in English and Spanish, with the
// level of their headings; a rule's scenarios lie below it.
var featureWords = []struct {
	word  string
	level int
}{
	{"Feature", 1}, {"Business Need", 1}, {"Ability", 1}, {"Característica", 1}, {"Necesidad del negocio", 1}, {"Requisito", 1},
	{"Rule", 2}, {"Regla de negocio", 2}, {"Regla", 2},
	{"Background", 3}, {"Antecedentes", 3},
	{"Scenario Outline", 3}, {"Scenario Template", 3}, {"Scenario", 3}, {"Esquema del escenario", 3}, {"Escenario", 3},
	{"Example", 3}, {"Ejemplo", 3},
}

// quotedText are the values within steps: they are examples, whatever they name.
var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"|'[^']*'`) })

// scanGherkin reads a feature: its name is the title, its scenarios are the
// sections, and tags that are ids say what it verifies.
func scanGherkin(body string) *page {
	p := newPage(body)
	p.front = []field{{key: "kind", values: []string{"feature"}}}
	f := feature{page: p}
	for i, raw := range p.lines {
		f.line(i, strings.TrimSpace(raw))
	}
	if len(f.tags) > 0 {
		p.front = append(p.front, field{key: "tags", values: f.tags})
	}
	return p
}

type feature struct {
	*page
	text string // the mark that ends a text of several lines, "" outside
	rule bool   // below a rule
	tags []string
}

func (f *feature) line(i int, s string) {
	switch {
	case f.text != "":
		f.class[i] = markdown.Fence
		if s == f.text {
			f.text = ""
		}
		return
	case strings.HasPrefix(s, `"""`) || strings.HasPrefix(s, "```"):
		f.class[i], f.text = markdown.Fence, s[:3]
		return
	case strings.HasPrefix(s, "#"):
		f.class[i] = markdown.Fence
		f.verified(i, s)
		return
	case strings.HasPrefix(s, "@"):
		f.class[i] = markdown.Fence
		f.tagged(i, s)
		return
	}
	for _, w := range featureWords {
		rest, ok := strings.CutPrefix(s, w.word)
		if rest, ok = cutColon(rest, ok); !ok {
			continue
		}
		level := w.level
		if level == 2 {
			f.rule = true
		}
		if level == 3 && !f.rule {
			level = 2
		}
		name := rest
		if name == "" {
			name = w.word
		}
		f.head(i, i, level, name)
		if id, _ := titleID(rest); id != "" && level > 1 {
			f.needs = append(f.needs, need{id: id, typ: "use_case", line: i})
		}
		return
	}
	if strings.Contains(s, `"`) || strings.Contains(s, "'") {
		f.lines[i] = quotedText().ReplaceAllString(f.lines[i], `""`)
	}
}

func cutColon(s string, ok bool) (string, bool) {
	s, colon := strings.CutPrefix(s, ":")
	return strings.TrimSpace(s), ok && colon
}

// verifying are words of comments that say what a feature verifies.
var verifying = list("verif valida covers cubre prueba tests")

// verified takes a comment: the ids in one that says so are what is verified.
func (f *feature) verified(i int, s string) {
	low := strings.ToLower(s)
	if !slices.ContainsFunc(verifying, func(w string) bool { return strings.Contains(low, w) }) {
		return
	}
	for _, n := range names(s, nil) {
		if n.kind == nameID {
			f.links = append(f.links, needLink{target: strings.Clone(n.text), typ: "VALIDATES", line: i, method: "id"})
		}
	}
}

// tagged takes a line of tags: ids are what is verified.
func (f *feature) tagged(i int, s string) {
	for tag := range strings.FieldsSeq(s) {
		tag, ok := strings.CutPrefix(tag, "@")
		if !ok {
			return // a comment
		}
		if id := strings.ReplaceAll(tag, "_", "-"); idLength(id) == len(id) && id != "" {
			f.links = append(f.links, needLink{target: strings.Clone(id), typ: "VALIDATES", line: i, method: "id"})
		} else if len(f.tags) < 20 && len(tag) <= 40 && tag != "" && !kb.WordsOf("wip skip ignore focus only")[tag] {
			f.tags = append(f.tags, strings.Clone(tag))
		}
	}
}
