package kdd

import "github.com/seed-4f2d999b/knowledge/internal/platform/findings"

// Names of the rules of the linter.
const (
	FrontOpen     = "front-matter-open"
	FrontList     = "front-matter-list"
	UnknownKind   = "unknown-kind"
	UnknownStatus = "unknown-status"
	DuplicateID   = "duplicate-id"
	TitleNoID     = "title-without-id"
	SelfReference = "self-reference"
	Circular      = "circular-dependency"
	LayerUpwards  = "layer-violation"
	DanglingLink  = "dangling-link"
	DanglingPlace = "dangling-anchor"
	Unverified    = "unverified-requirement"
	Unnamed       = "unnamed-rule"
	SuspectLink   = "suspect-link"
	Incomplete    = "incomplete"
)

// Rules are what the linter looks for, with the severity that each has unless
// it is configured. An error is a mistake in any team; a warning is one where
// the team works in that way; a note is no mistake.
var Rules = []findings.Rule{
	{Name: FrontOpen, Text: "front matter that does not close", Severity: findings.Error},
	{Name: FrontList, Text: "front matter that is a list", Severity: findings.Error},
	{Name: UnknownKind, Text: "a kind that nearly is one", Severity: findings.Error},
	{Name: UnknownStatus, Text: "a status that is none", Severity: findings.Error},
	{Name: DuplicateID, Text: "an id that two documents have", Severity: findings.Error},
	{Name: TitleNoID, Text: "a document without an id where others of its kind have one", Severity: findings.Warning},
	{Name: SelfReference, Text: "a document that depends on itself", Severity: findings.Error},
	{Name: Circular, Text: "documents that depend on one another in a circle", Severity: findings.Error},
	{Name: LayerUpwards, Text: "a relation from a lower layer to a higher one", Severity: findings.Error},
	{Name: DanglingLink, Text: "a relation whose target nothing is called", Severity: findings.Error},
	{Name: DanglingPlace, Text: "a link to a heading that is not there", Severity: findings.Error},
	{Name: Unverified, Text: "a requirement that nothing verifies", Severity: findings.Warning},
	{Name: Unnamed, Text: "a rule that no code names", Severity: findings.Warning},
	{Name: SuspectLink, Text: "a relation with what changed after it was last looked at", Severity: findings.Note},
	{Name: Incomplete, Text: "a document without a part that its kind asks for", Severity: findings.Note},
}

// Problem is something wrong with a document as a specification, or with a
// few of them together.
type Problem struct {
	Rule string
	Doc  *Doc
	Line int    // 1-based; 0 where Key says it, or for the document as a whole
	Key  string // of the front matter, at whose line the problem is
	Text string // one clause, which does not name the document
	Mend string // what mends it
}
