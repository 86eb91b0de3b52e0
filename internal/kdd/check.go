package kdd

// Stats counts what a graph holds.
type Stats struct {
	Documents  int            `json:"documents"`
	Nodes      int            `json:"nodes"`
	Edges      int            `json:"edges"`
	Orphans    int            `json:"orphanEdges"`
	Kinds      map[string]int `json:"kinds"`
	NodeTypes  map[string]int `json:"nodeTypes"`
	EdgeTypes  map[string]int `json:"edgeTypes"`
	Methods    map[string]int `json:"methods"`
	Lifecycles map[string]int `json:"lifecycles"`
	Layers     map[string]int `json:"layers"`
	Domains    map[string]int `json:"domains"`
}

// Stats counts the graph.
func (g *Graph) Stats() Stats { return Stats{} }

// Orphan is a stated relation whose target nothing is called.
type Orphan struct {
	At     Spot
	Target string // as written
	Type   string
	Method string
	Reason string // "nothing has this id, name, alias or title", "the file is not indexed", …
	// Near is a name close to the target, "" without any.
	Near string
}

// Coverage says how much of what its kind asks for a document has.
type Coverage struct {
	Doc     *Doc
	Percent int
	Missing []string // "section Attributes (Atributos)", "a link to an entity"
}

// Report is the reply of Check.
type Report struct {
	Documents  int        // of a kind of specification that were looked at
	Percent    int        // mean of their coverage
	Coverage   []Coverage // of the incomplete ones, least covered first
	Violations []Edge
	// EdgesBetween is how many edges between documents were looked at for violations.
	EdgesBetween int
	Orphans      []Orphan
	// References is how many edges name a target: OrphanRate is the share of
	// Orphans in them, in [0,1].
	References int
	OrphanRate float64
	Hidden     map[string]int
}

// Check looks at the documents that a filter selects (its limit is not used)
// for what is missing in them.
func (g *Graph) Check(f Filter) Report { return Report{} }

// CheckNode checks one document.
func (g *Graph) CheckNode(n *Node) Report { return Report{} }
