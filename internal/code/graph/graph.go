package graph

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Entry is one document of the generation that is linked.
type Entry struct {
	Path     string // slash-separated, as the index has it
	Hash     kb.DocHash
	Language string // "go", "python", …
	Size     int64  // bytes of text; 0 when unknown
}

// Document is one document as the linker sees it.
type Document struct {
	Path     string
	Hash     kb.DocHash
	Language string
	Symbols  []kb.Symbol
	Facts    kb.Facts
	// Body returns the document's text. It is called for Go files and manifests
	// only, at most three times, from several goroutines for different documents.
	Body func() (string, error)
}

// Source gives the documents of one generation.
type Source interface {
	// Entries lists every document in ascending byte order of the paths.
	Entries() []Entry
	// Load returns the documents at paths, in that order. Those of Go need no
	// symbols and no facts. It is safe for concurrent use; a document that
	// cannot be read is left out, an error ends the link.
	Load(ctx context.Context, paths []string) ([]Document, error)
}

// Stats says what a link did.
type Stats struct {
	Documents    int   // in the view
	Declarations int   //
	Edges        int   // one per line, declaration and kind of use
	Packages     int   // of Go
	Checked      int   // of those, type-checked in this run
	Copied       int   // of those, taken over from the previous view
	Failed       int   // of those, given up: too slow, too deep, or a defect of the checker
	Bytes        int64 // of the view file
}

// Decl is one declaration of a view.
type Decl struct {
	Path string
	Name string // "Serve"
	// Qualified is the name with those of the enclosing declarations: "Server.Serve".
	Qualified string
	// Kind is "function", "method", "type", "field", "const", "var", "class", …
	Kind  string
	Line  int // where the name stands, 1-based
	Start int // first line
	End   int // last line
}

// Spot returns the place of the declaration.
func (d Decl) Spot() kb.Spot { return kb.Spot{Path: d.Path, Line: d.Line, Decl: d.Qualified} }

// Call is one step of a chain of callers.
type Call struct {
	Edge  kb.Edge
	Depth int // 1: From calls the declaration asked about
}
