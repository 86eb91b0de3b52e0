// Package kdd joins what single specifications say (kb.SpecDoc) into one
// graph over the stores in scope, and answers questions about it: what is
// related to what, what a change touches, what there is and what is missing.
// A Graph is made anew when a store has a new generation; it is immutable and
// safe for concurrent use.
package kdd

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Source gives the specifications of one store's live generation.
type Source struct {
	Store kb.Store
	Label string // how the store is cited
	// Docs calls yield for every document that has facts of a specification,
	// in ascending order of the paths. An error of yield ends it.
	Docs func(ctx context.Context, yield func(kb.SpecEntry) error) error
}

// Doc is one document of the graph.
type Doc struct {
	Source  int // index into the sources that were joined
	Store   kb.StoreID
	Label   string // of the store
	Path    string
	Title   string // of front matter or first heading, else the file's stem
	Kind    string // "adr", …; "" for a document of no kind of specification
	ID      string // as the document says it; "" for none
	NodeID  string // "ADR:ADR-0004", "Doc:README"
	Domain  string
	Tags    []string
	Aliases []string
	Status  string // as written, lower case
	// Lifecycle is what Status means: approved, draft, proposed, review,
	// deprecated or superseded.
	Lifecycle string
	Version   string
	Layer     int // 0 to 4, -1 for none
	Sections  []kb.SpecSection
	Chunks    int
	Stamp     uint64 // when it was indexed, see kb.StampHash
	Entities  int    // nodes that it names, its own included
	// Linked is set for a document that a specification names in a wiki link, or
	// that names one: a note of the same vault.
	Linked bool
}

// Node is something that specifications are about: a document, or what
// documents name without one being about it.
type Node struct {
	Name string // a document's id or, without one, title; the name of the rest
	Type string // ENTITY, USE_CASE, RULE, PROCESS, EVENT, DOCUMENT, ACTOR, SYSTEM, CONCEPT
	ID   string // "BR:BR-LAYER-001", "Concept:security"
	Doc  *Doc   // nil unless the node is a document
	// In are the documents that name the node, the first 20, in order of store and path.
	In         []Spot
	Confidence float64 // 1 for documents
}

// Spot is a place in a document.
type Spot struct {
	Doc     *Doc
	Line    int    // 1-based
	Section string // the heading above it, "" for none
	Anchor  string // of that heading
}

// Edge is a relation between two nodes.
type Edge struct {
	From, To   *Node
	Type       string
	Method     string // frontmatter, wiki_link, link, id, table, pattern
	Label      string
	Confidence float64
	At         Spot // where it is stated
	// Violation is set when a document of a lower layer points at one of a
	// higher layer.
	Violation bool
}

// Seen says which documents a question sees. The zero value sees what is
// approved or superseded; the rest is hidden and counted.
type Seen struct {
	Statuses []string // lifecycles, or words for them, that are seen as well
	All      bool
}

// Suggestion is a name close to one that was not found.
type Suggestion struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Type string `json:"type"`
}

// MaxDepth bounds how far Related and Impact go.
const MaxDepth = 3

// Query asks what is related to an entity.
type Query struct {
	Entity string
	Depth  int // 0 is 1; more than MaxDepth is MaxDepth, and said by Reply.Depth
	Types  []string
	Limit  int // 0 is 20
	Seen   Seen
}

// Reply answers a Query.
type Reply struct {
	Node        *Node // nil when nothing has the name
	Also        []*Node
	Related     []Related
	Total       int            // without the limit
	Depth       int            // that was used
	Hidden      map[string]int // related documents that are hidden, by lifecycle
	Suggestions []Suggestion   // when Node is nil
}

// Related is one related node.
type Related struct {
	Node     *Node
	Edge     Edge  // the one that was followed to it
	Outgoing bool  // Edge points away from where the question began
	Distance int   // 1 to Depth
	Via      *Node // the node before it; the asked one at distance 1
}

// ImpactReply says what a change of a node touches.
type ImpactReply struct {
	Node        *Node
	Direct      []Impacted
	Transitive  []Impacted
	Depth       int
	Hidden      map[string]int
	Suggestions []Suggestion
}

// Impacted is one node that depends on the asked one, itself or through others.
type Impacted struct {
	Node *Node
	Path []Edge // from this node to the asked one; each edge's From depends on its To
}

// Filter selects documents of List and nodes of Find.
type Filter struct {
	Kind   string // a kind's name, word or prefix; "" is all
	Domain string
	Tag    string
	Status string // a lifecycle or a word for one; its documents are then seen
	Limit  int    // 0 is 20
	Seen   Seen
	// OnlySpecs leaves out documents without a kind.
	OnlySpecs bool
}

// Listing is the reply of List.
type Listing struct {
	Docs   []*Doc
	Total  int            // without the limit
	Hidden map[string]int // by lifecycle, of those that the other filters let through
}
