package search

import (
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Target is one store to search.
type Target struct {
	Store kb.Store
	Label string // as hits cite it: name, with @ and seven digits of the commit
	Own   bool   // the folder of the project that asks
	Rev   string // the commit, in short, where it is searched as it was then: places name it
	Index kb.Index
	// View has the resolved references of the store, as they stand for the
	// documents of Index; nil when they are not resolved yet.
	View *graph.View
	// Across finds what this store and others in scope use of each other; nil
	// where nobody can tell.
	Across Across
	// Fresh says how a document stands to its source now: "" when it is as
	// indexed or nobody can tell cheaply.
	Fresh func(path string, stamp uint64) string
	// Page tells of documents that are pages of the web; nil where there are none.
	Page func(path string) (Page, bool)
	// Status says of documents that are specifications whether they are drafts,
	// deprecated and so on: "" for approved ones. Nil where there are none.
	Status func(path string) string
	// Extras tell what features add to hits in a document.
	Extras []func(path string) (kb.Extra, bool)
}

// TargetError is the failure of one target, so that the others can be asked
// without it.
type TargetError struct {
	Target int // its number
	Err    error
}

func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap returns the failure itself.
func (e *TargetError) Unwrap() error { return e.Err }

// of says whose failure err is.
func of(target int, err error) error {
	if err == nil {
		return nil
	}
	return &TargetError{target, err}
}

// Request is a query with its options; see the parameters of the command.
type Request struct {
	Query        string
	Mode         string
	Intent       string
	Detail       string
	Limit        int
	Threshold    *float64
	MinRelevance *float64
	Under        string
	// Marks says how much feedback on similar questions speaks against a chunk,
	// by its store and id, in [0,1]; nil for nothing.
	Marks   func(store kb.StoreID, id string) float64
	Explain bool
	// Lines, when it is not 0, is how many lines of each hit are shown, whatever
	// they cost, with kind and language: for readers who look and do not pay.
	Lines int
	// Packed is that the reply is read as text, of which its reader pays every
	// line: at most Budget tokens, PackedTokens when that is 0, in the form that
	// costs least in the end, see Reply.Text. No Detail is given then. Notes are
	// what the caller adds to those of the reply.
	Packed  bool
	Budget  int
	Notes   []string
	Without []string // parts of the ranking that do not count, see rank.Parts
	// Only, when it is not nil, holds the parts of each target, by its number,
	// in which hits may lie.
	Only [][]kb.Part
	// Tuning is Fitted's when it is nil.
	Tuning *Tuning

	complete bool // see Complete
	listed   bool // a limit is given
	cut      bool // Complete cut the query
}

// Reply answers a Request.
type Reply struct {
	Hits       []Hit    `json:"hits"`
	Count      int      `json:"count"`
	Confidence string   `json:"confidence"` // high, medium, low, none
	Tokens     int      `json:"tokens"`     // of the reply, by the estimator of package tokens
	Ms         float64  `json:"ms"`
	Notes      []string `json:"notes,omitempty"`
	// Probability is what Confidence names, There that of there being an answer at
	// all, and Signs what they follow from; where the parts of scores are asked for.
	Probability float64            `json:"probability,omitempty"`
	There       float64            `json:"there,omitempty"`
	Signs       map[string]float64 `json:"signs,omitempty"`
	Sure        float64            `json:"-"` // the probability before it is rounded
	Absent      bool               `json:"-"` // nothing here is likely to answer

	Words  []string `json:"-"` // of the query, those that tell what is looked for
	Packed bool     `json:"-"` // it is made to be read as text
	Shown  string   `json:"-"` // that text, without what is noted below it
}

// Text is the reply as an agent gets it: plain text where it is packed, else
// compact JSON with what all hits share said once.
func (r Reply) Text() string {
	if r.Packed {
		return strings.TrimSuffix(r.Shown+foot(r.Notes, r.Confidence), "\n")
	}
	type compact Reply
	c := struct {
		Store string `json:"store,omitempty"`
		compact
	}{compact: compact(r)}
	if len(r.Hits) > 0 {
		c.Store = r.Hits[0].Store
		for _, h := range r.Hits {
			if h.Store != c.Store {
				c.Store = ""
			}
		}
	}
	if c.Store != "" {
		c.Hits = append([]Hit(nil), r.Hits...)
		for i := range c.Hits {
			c.Hits[i].Store = ""
		}
	}
	return marshal(c)
}

// Text is the place as an agent gets it.
func (c Context) Text() string {
	if c.Plain {
		return c.plain()
	}
	return marshal(c)
}

// marshal writes JSON without escaping <, > and &, which code is full of, and
// with what cannot be seen escaped, since that costs a reader tokens too.
func marshal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "{}"
	}
	return visible.Escape(strings.TrimSuffix(b.String(), "\n"))
}

// Intents and modes that a request may name.
var (
	Intents = rank.Intents()
	Modes   = []string{rank.Hybrid, rank.Vector, rank.FTS}
	Details = []string{"minimal", "contextual", "full"}
)

// Hit is one place that answers.
type Hit struct {
	ID     string  `json:"id"`
	Store  string  `json:"store,omitempty"` // name, with @ and seven digits of the commit for repositories
	At     string  `json:"at"`              // path:Lstart-Lend, path:L12:c0-4000 for a part of a long line, or the URL of a page with the anchor of a heading
	Symbol string  `json:"symbol,omitempty"`
	Score  float64 `json:"score"`          // calibrated, in [0,1]
	Line   int     `json:"line,omitempty"` // number of the first line in Code
	Code   string  `json:"code,omitempty"` // the lines that answer best
	Note   string  `json:"note,omitempty"` // "changed since indexing", …
	// Places are further functions of its document that have a part in what a
	// question asks about, the best first: "Server.Serve L12-40".
	Places []string `json:"places,omitempty"`

	Extras kb.Extras `json:"extras,omitempty"` // inlined, see MarshalJSON

	Where Where `json:"-"`

	// Added by detail contextual and full.
	Kind      string             `json:"kind,omitempty"`
	Language  string             `json:"language,omitempty"`
	Signature string             `json:"signature,omitempty"`
	Doc       string             `json:"doc,omitempty"`
	Why       []string           `json:"why,omitempty"`
	Imports   []string           `json:"imports,omitempty"`  // of its document, those that it uses
	CalledBy  []string           `json:"calledBy,omitempty"` // "Symbol path:Lline"
	Calls     []string           `json:"calls,omitempty"`
	Related   []Related          `json:"related,omitempty"`
	Explain   map[string]float64 `json:"explain,omitempty"`
	*Page                        // of detail full, where the document is a page of the web
}

// MarshalJSON implements json.Marshaler: extras are members of the hit.
func (h Hit) MarshalJSON() ([]byte, error) {
	type plain Hit
	return kb.Inlined(plain(h), h.Extras)
}

// MarshalJSON implements json.Marshaler: extras are members of the place.
func (c Context) MarshalJSON() ([]byte, error) {
	type plain Context
	return kb.Inlined(plain(c), c.Extras)
}

// Where is the place of a hit, for callers within the program.
type Where struct {
	Target     int // number of the target
	Path       string
	Start, End int     // lines of the chunk
	Line       int     // the one that answers best
	Excerpt    string  // of that line, at most ExcerptRunes
	Score      float64 // before it is rounded
}

// Related points at another place.
type Related struct {
	ID     string `json:"id"`
	At     string `json:"at"`
	Symbol string `json:"symbol,omitempty"`
	Why    string `json:"why"` // "same declaration", "same file", …
}

// Context is the answer of get_full_context.
type Context struct {
	ID          string    `json:"id"`
	Store       string    `json:"store"`
	Commit      string    `json:"commit,omitempty"`
	At          string    `json:"at"`
	Path        string    `json:"path"`
	Start       int       `json:"start"`
	End         int       `json:"end"`
	Symbol      string    `json:"symbol,omitempty"`
	Kind        string    `json:"kind,omitempty"`
	Language    string    `json:"language,omitempty"`
	Signature   string    `json:"signature,omitempty"`
	Doc         string    `json:"doc,omitempty"`
	Code        string    `json:"code"`              // the lines Start to End of the text, joined with \n
	Imports     []string  `json:"imports,omitempty"` // lines that import what is used here
	Inherits    []string  `json:"inherits,omitempty"`
	Callers     []Link    `json:"callers,omitempty"`
	MoreCallers int       `json:"moreCallers,omitempty"` // not shown; code:callers has them
	Callees     []Link    `json:"callees,omitempty"`
	MoreCallees int       `json:"moreCallees,omitempty"`
	Types       []Link    `json:"types,omitempty"`   // that it uses
	Tests       []Link    `json:"tests,omitempty"`   // that reach it over calls
	Members     []Member  `json:"members,omitempty"` // of a type
	Note        string    `json:"note,omitempty"`
	*Page                 // where the document is a page of the web
	Others      []Context `json:"others,omitempty"` // further places that share the id
	Related     []Related `json:"related,omitempty"`

	Extras kb.Extras `json:"extras,omitempty"` // inlined, see MarshalJSON

	// Of names the declaration whose bases, callers and callees these are, where
	// several stand here; one of its lines as "path:line" means another.
	Plain bool   `json:"-"` // it is made to be read as text
	rev   string // see Target.Rev
	Of    string `json:"of,omitempty"`
	Next  string `json:"next,omitempty"` // a value for resultId that continues a long reply
}
