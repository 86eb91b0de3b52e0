package search

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// imports returns the lines with which a document names what it uses.
func imports(d *kb.DocumentText, most int) []string {
	var out []string
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if c.Kind != "imports" {
			continue
		}
		for _, l := range strings.Split(d.Body[c.From:c.To], "\n") {
			l = strings.TrimSpace(l)
			if l == "" || l == ")" || l == "import (" || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "package ") {
				continue
			}
			if out = append(out, kb.Clip(l, 80)); len(out) == most {
				return out
			}
		}
	}
	return out
}

// relatedIn returns the chunks around one: the rest of its declaration, then
// its neighbours.
func relatedIn(t *Target, d *kb.DocumentText, chunk, most int) []Related {
	var out []Related
	add := func(i int, why string) {
		if i < 0 || i >= len(d.Chunks) || i == chunk || len(out) == most || d.Chunks[i].Kind == "imports" {
			return
		}
		id := d.IDs[i]
		if slices.ContainsFunc(out, func(r Related) bool { return r.ID == id }) {
			return
		}
		out = append(out, Related{ID: id, At: t.cite(d, i), Symbol: Title(&d.Chunks[i]), Why: why})
	}
	own := d.Chunks[chunk].Decl
	for i := range d.Chunks {
		if len(own) > 0 && slices.Equal(d.Chunks[i].Decl, own) {
			add(i, "same declaration")
		}
	}
	for i := range d.Chunks {
		if len(own) > 1 && slices.Equal(d.Chunks[i].Decl, own[:len(own)-1]) {
			add(i, "encloses it")
			break // its head; the rest of it is further members
		}
	}
	add(chunk-1, "before it")
	add(chunk+1, "after it")
	return out
}
