package kdd

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// statuses are the words for a lifecycle in Spanish and English, folded.
// Any other word counts as approved, as no status does.
var statuses = map[string]string{
	"draft": "draft", "wip": "draft", "work-in-progress": "draft", "borrador": "draft", "en-progreso": "draft", "idea": "draft",
	"proposed": "proposed", "proposal": "proposed", "propuesto": "proposed", "propuesta": "proposed", "rfc": "proposed", "provisional": "proposed", "deferred": "proposed", "postponed": "proposed", "on-hold": "proposed", "en-espera": "proposed",
	"review": "review", "in-review": "review", "under-review": "review", "revision": "review", "en-revision": "review", "pending": "review", "pendiente": "review",
	"approved": "approved", "active": "approved", "accepted": "approved", "aprobado": "approved", "aprobada": "approved", "activo": "approved", "activa": "approved", "aceptado": "approved", "aceptada": "approved", "vigente": "approved",
	// What holds and is being worked on, or was: of needs and of challenges.
	"open": "approved", "decided": "approved", "final": "approved", "implemented": "approved", "implementable": "approved", "done": "approved", "stable": "approved", "adopted": "approved", "agreed": "approved", "published": "approved", "released": "approved", "valid": "approved",
	"abierto": "approved", "abierta": "approved", "decidido": "approved", "decidida": "approved", "implementado": "approved", "implementada": "approved", "publicado": "approved", "publicada": "approved",
	"superseded": "superseded", "replaced": "superseded", "reemplazado": "superseded", "reemplazada": "superseded", "sustituido": "superseded", "sustituida": "superseded",
	"deprecated": "deprecated", "obsolete": "deprecated", "retired": "deprecated", "declined": "deprecated", "abandoned": "deprecated", "cancelled": "deprecated", "canceled": "deprecated", "descartado": "deprecated", "descartada": "deprecated", "rejected": "deprecated", "archived": "deprecated", "withdrawn": "deprecated", "obsoleto": "deprecated", "obsoleta": "deprecated", "rechazado": "deprecated", "rechazada": "deprecated", "retirado": "deprecated", "retirada": "deprecated",
}

// Lifecycles, in the order of a document's life.
var Lifecycles = []string{"draft", "proposed", "review", "approved", "superseded", "deprecated"}

// Lifecycle returns what a status as written means: one of Lifecycles. Missing
// and unknown ones are approved; "superseded by ADR-7" is superseded.
func Lifecycle(status string) string {
	k := key(status)
	if l, ok := statuses[k]; ok {
		return l
	}
	first, _, _ := strings.Cut(k, "-")
	if l, ok := statuses[strings.Trim(first, ".,:;()")]; ok {
		return l
	}
	return "approved"
}

// KnownStatus reports whether a word names a lifecycle, for refusing a filter
// that could never match.
func KnownStatus(word string) bool {
	_, ok := statuses[key(word)]
	return ok
}

// Successors returns what a document says replaces it: in front matter
// (superseded_by), or behind its status ("superseded by ADR-7").
func Successors(d *kb.SpecDoc) []string {
	var out []string
	for _, e := range d.Edges {
		if e.Type == "SUPERSEDES" && e.Target == "" && e.From != "" && !slices.Contains(out, e.From) {
			out = append(out, e.From)
		}
	}
	if len(out) > 0 || Lifecycle(d.Status) != "superseded" {
		return out
	}
	for word := range strings.FieldsFuncSeq(d.Status, func(r rune) bool { return strings.ContainsRune(" \t,;:.()[]", r) }) {
		if id := strings.ToUpper(word); specdoc.KnownID(id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// ReplacedBy returns the documents that replace one, by what either says.
func (g *Graph) ReplacedBy(d *Doc) []*Doc {
	var out []*Doc
	n := g.names.paths[d.Source][d.Path]
	for _, i := range g.inward[g.in[n]:g.in[n+1]] {
		if e := &g.edges[i]; g.strings.list[e.typ] == "SUPERSEDES" && int(e.from) < len(g.docs) {
			out = append(out, g.docs[e.from])
		}
	}
	return out
}

// hides reports whether documents of a lifecycle are hidden unless asked for.
func hides(lifecycle string) bool { return lifecycle != "approved" && lifecycle != "superseded" }

// sees reports whether documents of a lifecycle are seen.
func (s Seen) sees(lifecycle string) bool {
	return s.All || !hides(lifecycle) || slices.ContainsFunc(s.Statuses, func(w string) bool {
		return key(w) == "all" || w == "*" || Lifecycle(w) == lifecycle
	})
}

// Sees reports whether a document is seen.
func (s Seen) Sees(d *Doc) bool { return d == nil || s.sees(d.Lifecycle) }
