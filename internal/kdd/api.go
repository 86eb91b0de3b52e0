package kdd

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Graph is the join of the specifications of some stores.
type Graph struct{}

// Join reads the documents of the sources and joins them.
func Join(ctx context.Context, sources []Source) (*Graph, error) { return &Graph{}, nil }

// Docs returns all documents, in order of source and path.
func (g *Graph) Docs() []*Doc { return nil }

// Doc returns the document at a path of a store, nil without one.
func (g *Graph) Doc(store kb.StoreID, path string) *Doc { return nil }

// Find returns what a name means, best first: exact id, exact name, alias,
// title or stem, then ids that begin with it, then names that hold it. Without any
// it suggests the nearest names.
func (g *Graph) Find(name string, f Filter) ([]*Node, []Suggestion) { return nil, nil }

// Related returns what is connected with an entity, in both directions, the
// nearest first.
func (g *Graph) Related(q Query) Reply { return Reply{} }

// Impact returns what points at an entity, directly and through others.
func (g *Graph) Impact(q Query) ImpactReply { return ImpactReply{} }

// List returns documents in order of source and path.
func (g *Graph) List(f Filter) Listing { return Listing{} }

// Edges returns the edges out of and into a node, sorted.
func (g *Graph) Edges(n *Node) (out, in []Edge) { return nil, nil }

// Section returns the index into d.Sections of an anchor, folded or accented,
// or of a heading as written; -1 without one.
func (d *Doc) Section(anchor string) int { return -1 }

// SectionAt returns the index of the section that a line lies in, -1 before the first.
func (d *Doc) SectionAt(line int) int { return -1 }

// Until returns the last line of section i with all that lies below it.
func (d *Doc) Until(i int) int { return 0 }

// IDs returns what other documents and code call a document: its id, node id
// and, where they look like one, stem and aliases.
func (d *Doc) IDs() []string { return nil }

// Mention is a specification that names a file or a symbol.
type Mention struct {
	Spot
	Text string // as the specification writes it
	// Exact is set for a path, not set for a base name or a symbol.
	Exact bool
}

// Mentions returns where specifications name a file, by its path, the end of it or its
// base name, or one of the qualified symbols that it declares; the surest first.
func (g *Graph) Mentions(path string, symbols []string, seen Seen) []Mention { return nil }
