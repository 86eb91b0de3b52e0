package kdd

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// newDoc makes the document of an entry of a store.
func newDoc(source int, src *Source, e *kb.SpecEntry) *Doc {
	s := e.Spec
	kind := specdoc.KindOf(s.Kind, e.Path)
	d := &Doc{
		Source: source, Store: src.Store.ID, Label: src.Label, Path: e.Path,
		Title: s.Title, Kind: kind, ID: s.ID, NodeID: specdoc.NodeID(kind, s.ID, e.Path),
		Domain: s.Domain, Tags: s.Tags, Aliases: s.Aliases, Status: s.Status, Lifecycle: Lifecycle(s.Status), Version: s.Version,
		Layer: layerOf(e.Path), Sections: s.Sections, Chunks: e.Chunks, Stamp: e.Stamp,
	}
	if name, open := specdoc.OpenSpecName(e.Path); name != "" {
		d.Title = openSpecTitle(name, d.Title)
		d.Aliases = append(slices.Clone(d.Aliases), name)
		if open && d.Status == "" { // not in force until it is archived
			d.Lifecycle = "proposed"
		}
	}
	if d.Title == "" {
		d.Title = specdoc.Stem(e.Path)
	}
	for i := range d.Sections {
		d.Sections[i].Type = specdoc.TypeOf(kind, d.Sections[i].Type)
	}
	return d
}

// openSpecTitle returns the title of a document of OpenSpec, whose first
// heading says what any has: it is named by its folder.
func openSpecTitle(name, title string) string {
	name = strings.TrimLeft(name, "0123456789-") // the date of an archived change
	if title == "" || strings.EqualFold(title, "specification") {
		return strings.ReplaceAll(name, "-", " ")
	}
	return strings.ReplaceAll(name, "-", " ") + ": " + title
}

// layers are the folders of the five layers, in Spanish and English.
var layers = map[string]int{
	"00-requirements": 0, "00-requisitos": 0, "01-domain": 1, "01-dominio": 1, "02-behavior": 2, "02-behaviour": 2, "02-comportamiento": 2,
	"03-experience": 3, "03-experiencia": 3, "04-verification": 4, "04-verificacion": 4,
}

// layerOf returns the layer of a path by the innermost folder that is one, -1 for none.
func layerOf(p string) int {
	layer := -1
	for i := strings.IndexByte(p, '/'); i >= 0; i = strings.IndexByte(p, '/') {
		if n, ok := layers[strings.ToLower(p[:i])]; ok {
			layer = n
		}
		p = p[i+1:]
	}
	return layer
}

// LayerName returns the folder of a layer: "01-domain"; "" for none.
func LayerName(layer int) string {
	names := [...]string{"00-requirements", "01-domain", "02-behavior", "03-experience", "04-verification"}
	if layer < 0 || layer >= len(names) {
		return ""
	}
	return names[layer]
}

// typeOfKind returns the type of the node of a document.
func typeOfKind(kind string) string {
	if t := specdoc.Known(kind).Type; t != "DEFAULT" {
		return t
	}
	return "DOCUMENT"
}
