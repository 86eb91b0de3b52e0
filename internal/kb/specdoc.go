package kb

// SpecDoc is what the text of one specification (a Markdown document with
// requirements, rules, processes, decisions, …) says about itself and about
// others, without knowing any other document. What a target refers to is
// decided when documents are joined.
type SpecDoc struct {
	// Kind is the document's kind: one of specdoc.Kinds ("entity", "use-case",
	// "business-rule", "adr", …) by its front matter, whose other words are kept
	// in lower case, or by its title ("ADR-0004: …"); "" when neither says it.
	// The path may then say it: see specdoc.KindOf.
	Kind    string
	ID      string // of the front matter, else what the title begins with; "" for none
	Title   string // of the front matter, else the first heading; "" for neither
	Status  string // of the front matter, lower-case, as written; "" for none
	Version string
	Domain  string
	Aliases []string
	Tags    []string
	// Sections are the parts between headings, in order; the part before the
	// first heading has level 0 and is left out when it is blank.
	Sections []SpecSection
	Nodes    []SpecNode // beside the document's own
	Edges    []SpecEdge
	// Mentions are inline code and link targets that look like a file or a
	// symbol: "internal/app/app.go", "app.go", "Server.Serve".
	Mentions []SpecMention
}

// SpecMention is a file or symbol that a specification names.
type SpecMention struct {
	Text string // as written
	Line int    // where first, 1-based
}

// SpecSection is one heading and the text below it up to the next heading.
type SpecSection struct {
	Path   []string // headings from the outermost to its own
	Level  int      // 1 to 6; 0 before the first heading
	Anchor string   // folded, by the algorithm of the specification; "" before the first heading
	// Type is ENTITY, USE_CASE, RULE, PROCESS or DEFAULT by heading and text
	// alone. The document's kind comes first: see specdoc.TypeOf.
	Type  string
	Start int // first line, 1-based, that of the heading
	End   int // last line, inclusive
}

// SpecNode is something that a specification names: a concept, an actor, ….
type SpecNode struct {
	Type       string // entity, use_case, rule, process, actor, system, concept, event
	Name       string
	Line       int // where it is named first
	Confidence float64
}

// SpecEdge is a relation that a specification states.
type SpecEdge struct {
	// From is "" for the document itself, else the name of a node.
	From string
	// Target is what it points at, as written: an id, a file stem, an alias,
	// a title or the name of a node.
	Target     string
	Type       string // DEPENDS_ON, IMPLEMENTS, REFERENCES, MENTIONS, …
	Method     string // how it was found: frontmatter, wiki_link, link, id, table, pattern
	Label      string // what the document calls the relation: "desde N:1"; mostly ""
	Line       int    // where it is stated, 1-based
	Confidence float64
}
