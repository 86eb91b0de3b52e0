package app

import (
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// StoreRow is one line of the list of stores.
type StoreRow struct {
	Name      string    `json:"name"`
	ID        string    `json:"id"`
	Kind      kb.Kind   `json:"kind"`
	Source    string    `json:"source"`
	Ref       string    `json:"ref,omitempty"`
	Commit    string    `json:"commit,omitempty"`
	Status    string    `json:"status"` // ready, empty, or the state of its running job
	Documents int       `json:"documents"`
	Chunks    int       `json:"chunks"`
	Scope     string    `json:"scope"` // project, user, or own (the unlisted folder of this project)
	Indexed   time.Time `json:"indexed,omitzero"`
}

// StoreInfo is everything known of one store.
type StoreInfo struct {
	StoreRow
	Path        string         `json:"path,omitempty"` // where the text lies on this machine, if it does
	Description string         `json:"description,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Generation  int64          `json:"generation"`
	TextBytes   int64          `json:"textBytes"`
	IndexBytes  int64          `json:"indexBytes"`
	DiskBytes   int64          `json:"diskBytes"` // the index, shared segments included, and the copy of the repository
	Segments    int            `json:"segments"`
	Web         *kb.Web        `json:"web,omitempty"`     // what narrows the pages of a site
	Follows     string         `json:"follows,omitempty"` // the dependency whose locked version it is pinned to
	Embedder    string         `json:"embedder,omitempty"`
	Engine      string         `json:"engine,omitempty"` // that searches the vectors
	Languages   map[string]int `json:"languages,omitempty"`
	Skipped     map[string]int `json:"skipped,omitempty"`
	Unparsed    int            `json:"unparsed,omitempty"` // documents whose grammar gave up
	Masked      int            `json:"masked,omitempty"`   // documents in which secrets are masked
	Notes       []string       `json:"notes,omitempty"`
	Job         *kb.Job        `json:"job,omitempty"`
	LastError   string         `json:"lastError,omitempty"`
}

// CreateStore says what store to make.
type CreateStore struct {
	Name        string
	Kind        kb.Kind
	Source      string // folder, URL or local repository as the user wrote it
	Branch      string // at most one of Branch, Tag and Commit
	Tag         string
	Commit      string
	Description string
	Tags        []string
	Paths       []string
	All         bool  // keep vendored trees, lockfiles and minified files
	MaxFile     int64 // bytes of the largest file that is indexed; 0 is 1 MiB
	Web         kb.Web
	User        bool // name it for the user in every project, not for this project
	// Follows is the dependency whose locked version Tag or Commit is, "npm:react":
	// an update moves the store when the lockfile has moved.
	Follows string
	Save    bool // write it into the project's definitions too
	Yes     bool
	// Shared puts the store on the cluster. Source "shared:NAME" is a store that
	// another machine has put there.
	Shared bool
	Paid   bool // whatever the provider of embeddings wants
	// From is where the index was published that the store begins with; "" is
	// nowhere. Key is the public key that signed it, "" the one that was vouched for
	// before; Older takes also what is older than what was taken before.
	From, Key string
	Older     bool
	// Agent says that no person at a shell asks: of what lies on this machine
	// only what admit lets through is taken.
	Agent bool
}

// Started is the reply of what starts a job.
type Started struct {
	Store  string `json:"store"`
	ID     string `json:"id"`
	Job    string `json:"jobId"`
	Status string `json:"status"`
	Note   string `json:"note,omitempty"`
}

// Deleted is the reply of store:delete.
type Deleted struct {
	Store   string   `json:"store"`
	Removed bool     `json:"indexRemoved"` // false when another project or the user still has the store
	UsedBy  []string `json:"usedBy,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// Renamed is the reply of store:rename.
type Renamed struct {
	Store   string `json:"store"` // the new name
	Was     string `json:"was"`
	ID      string `json:"id"`
	Defined bool   `json:"defined,omitempty"` // the project's definitions call it so now
	Note    string `json:"note,omitempty"`
}

// JobList is the reply of jobs.
type JobList struct {
	Jobs []kb.Job `json:"jobs"`
	Note string   `json:"note,omitempty"`
}

// StoreList is the reply of stores.
type StoreList struct {
	Stores []StoreRow `json:"stores"`
	Note   string     `json:"note,omitempty"`
}
