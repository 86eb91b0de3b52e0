package find

import "github.com/seed-4f2d999b/knowledge/internal/search"

// The replies of search and get_full_context are the search flow's.
type (
	SearchReply = search.Reply
	Hit         = search.Hit
	Related     = search.Related
	Context     = search.Context
)

// FileText is the reply of read.
type FileText struct {
	Store  string `json:"store"`
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path"`
	URL    string `json:"url,omitempty"` // of a page of the web
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Lines  int    `json:"lines"` // lines of the whole document
	Text   string `json:"text"`
	Note   string `json:"note,omitempty"`
}

// FileList is the reply of files.
type FileList struct {
	Store string   `json:"store"`
	Files []string `json:"files"`
	Total int      `json:"total"` // how many match; Files may hold fewer
	Note  string   `json:"note,omitempty"`
}

// GrepReply is the reply of grep.
type GrepReply struct {
	Store   string      `json:"store"`
	Matches []GrepMatch `json:"matches"`
	Total   int         `json:"total"`
	Note    string      `json:"note,omitempty"`

	Marks func(line string) [][]int `json:"-"` // where a line matches
}

// GrepMatch is one matching line.
type GrepMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}
