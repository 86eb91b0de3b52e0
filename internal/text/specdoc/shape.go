package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// shapes are kinds of documents that are told by their headings, where neither
// front matter nor title says what they are: decisions after Nygard, MADR and
// Tyree, proposals, requirements of OpenSpec, arc42. A document has a shape when it has
// one of the heads that it must have, and as many of the others as are asked for.
var shapes = []struct {
	kind   string
	must   map[string]bool
	others map[string]bool
	least  int
}{
	{"adr",
		kb.WordsOf("decision decision-outcome decisions"),
		kb.WordsOf(`status estado context contexto context-and-problem-statement contexto-y-problema consequences consecuencias
			considered-options opciones-consideradas decision-drivers implications alternatives alternatives-considered positions
			issue argument background reasoning rationale pros-and-cons-of-the-options`), 1},
	{"architecture",
		kb.WordsOf(`building-block-view vista-de-bloques introduction-and-goals introduccion-y-metas introduccion-y-objetivos
			context-and-scope alcance-y-contexto contexto-y-alcance solution-strategy estrategia-de-solucion`),
		kb.WordsOf(`context-and-scope context contexto alcance-y-contexto building-block-view vista-de-bloques bloques building-blocks runtime-view
			vista-de-ejecucion deployment-view deployment vista-de-despliegue despliegue solution-strategy estrategia-de-solucion
			quality-requirements quality-scenarios requerimientos-de-calidad risks-and-technical-debts risks riesgos
			crosscutting-concepts cross-cutting-concepts cross-cutting architecture-constraints constraints restricciones`), 2},
	{"proposal",
		kb.WordsOf("motivation motivacion summary resumen proposal propuesta why"),
		kb.WordsOf(`motivation motivacion proposal propuesta detailed-design drawbacks alternatives unresolved-questions goals
			non-goals what-changes how-we-teach-this adoption-strategy basic-example internal-details trade-offs-and-mitigations
			prior-art-and-alternatives prior-art open-questions future-possibilities explanation rationale use-cases
			guide-level-explanation reference-level-explanation implementation-details security-considerations`), 3},
}

// shape returns the kind that a document's headings show, "" for none.
func (x *extractor) shape() string {
	title := Anchor(x.doc.Title)
	switch {
	case strings.HasPrefix(title, "decision-record-") || strings.HasPrefix(title, "architecture-decision-record-"):
		return "adr"
	case strings.Contains("-"+title+"-", "-arc42-"):
		return "architecture"
	}
	heads := map[string]bool{}
	for i := range x.headings {
		a := Anchor(x.headings[i].text)
		for len(a) > 0 && (a[0] >= '0' && a[0] <= '9' || a[0] == '-') {
			a = a[1:] // "3. Decisión"
		}
		if strings.HasPrefix(a, "requirement-") && x.headings[i].level == 3 {
			return "requirement"
		}
		heads[a] = true
	}
	for i := range shapes {
		s := &shapes[i]
		must, others := false, 0
		for h := range heads {
			must = must || s.must[h]
			if s.others[h] {
				others++
			}
		}
		if must && others >= s.least {
			return s.kind
		}
	}
	return ""
}
