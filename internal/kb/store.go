package kb

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
	"time"
)

// Kind is what a store is made of.
type Kind string

// The kinds of stores.
const (
	KindFolder Kind = "folder"
	KindRepo   Kind = "repo"
	KindWeb    Kind = "web"
	KindZip    Kind = "zip"
)

// RefType says how a Ref names a state of a repository.
type RefType string

// The ways to name a state of a repository. RefDefault is the branch that
// the remote's HEAD points at, whichever that is at the time.
const (
	RefDefault RefType = "default"
	RefBranch  RefType = "branch"
	RefTag     RefType = "tag"
	RefCommit  RefType = "commit"
)

// Ref is the state of a repository as it was asked for, never the commit it
// resolves to. The zero value is the default branch.
type Ref struct {
	Type RefType `json:"type,omitempty"`
	Name string  `json:"name,omitempty"`
}

// String returns "default" or "branch:main", "tag:v1", "commit:abc".
func (r Ref) String() string {
	if r.Type == "" || r.Type == RefDefault {
		return string(RefDefault)
	}
	return string(r.Type) + ":" + r.Name
}

// Selection narrows which documents of a source are indexed.
type Selection struct {
	// Paths are slash-separated sub-folders or files; empty means everything.
	Paths []string `json:"paths,omitempty"`
	// MaxFileBytes overrides the limit of 1 MiB for one file when positive.
	MaxFileBytes int64 `json:"maxFileBytes,omitempty"`
	// All keeps what is left out by default as not the project's own writing:
	// vendored trees, lockfiles, minified and generated files.
	All bool `json:"all,omitempty"`
	// Web is for stores of kind web alone.
	Web Web `json:"web,omitzero"`
}

// Web narrows which pages of a site are taken, and what of them. Zero values
// are the defaults.
type Web struct {
	Depth    int      `json:"depth,omitempty"`    // links away from the start
	MaxPages int      `json:"maxPages,omitempty"` // kept pages
	Crawl    string   `json:"crawl,omitempty"`    // which pages are wanted, in plain language
	Extract  string   `json:"extract,omitempty"`  // which sections of them
	Include  []string `json:"include,omitempty"`  // globs over host and path, sorted
	Exclude  []string `json:"exclude,omitempty"`
	Hosts    []string `json:"hosts,omitempty"` // further hosts, lower case, sorted
	// Headless says when a browser makes the page: "" as needed, "always" or "never".
	Headless string `json:"headless,omitempty"`
}

// Spec is what a store is made from: everything its identity depends on.
type Spec struct {
	Kind Kind `json:"kind"`
	// Source is canonical: an absolute cleaned path with links resolved for
	// folders, archives and local repositories, a normalised URL for remote ones.
	Source    string    `json:"source"`
	Ref       Ref       `json:"ref"`
	Selection Selection `json:"selection"`
	// Owner is the one of several users whose store it is, so that two have two
	// of the same source; "" for those of the machine.
	Owner string `json:"owner,omitempty"`
}

// StoreID names a store in every process on every machine: 16 lower-case
// base32 characters.
type StoreID string

// IDEncoding is the alphabet of every identifier shown to a reader: lower-case
// base32 without padding (RFC 4648 §6, lower-cased).
var IDEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID returns the identity of the store: the hash of kind, canonical source,
// the ref as requested, the selection options, and the owner if there is one.
func (s Spec) ID() StoreID {
	if s.Ref.Type == RefDefault {
		s.Ref = Ref{}
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of strings always marshals
	}
	sum := sha256.Sum256(b)
	return StoreID(IDEncoding.EncodeToString(sum[:10]))
}

// Store is one row of the catalog, the name it goes by in the scope that
// asked, and the head of its live generation.
type Store struct {
	ID          StoreID   `json:"id"`
	Name        string    `json:"name,omitempty"` // "" for an unlisted own folder
	Spec        Spec      `json:"spec"`
	Description string    `json:"description,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Created     time.Time `json:"created"`
	Head        *Head     `json:"head,omitempty"` // nil before the first generation
	LastError   string    `json:"lastError,omitempty"`
}

// Label returns the name to show: the name, or the last element of the
// source for a store without one.
func (s Store) Label() string {
	if s.Name != "" {
		return s.Name
	}
	src := strings.TrimRight(s.Spec.Source, `/\`)
	if i := strings.LastIndexAny(src, `/\`); i >= 0 {
		src = src[i+1:]
	}
	return src
}

// ShortCommit returns a version as readers see it: seven digits of the hash of a
// commit, the version of a package whole.
func ShortCommit(commit string) string {
	if len(commit) > 7 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:7]
	}
	return commit
}

// Head is what the catalog knows of a store's live generation.
type Head struct {
	Generation int64          `json:"generation"`       // counts up from 1
	Manifest   string         `json:"manifest"`         // file name of the generation's manifest
	Commit     string         `json:"commit,omitempty"` // or the version of a package
	Embedder   string         `json:"embedder"`
	Documents  int            `json:"documents"`
	Chunks     int            `json:"chunks"`
	TextBytes  int64          `json:"textBytes"`
	IndexBytes int64          `json:"indexBytes"`          // segments may be shared with other stores
	Languages  map[string]int `json:"languages,omitempty"` // documents by language
	Skipped    map[string]int `json:"skipped,omitempty"`   // documents left out, by reason
	Unparsed   int            `json:"unparsed,omitempty"`  // documents whose grammar gave up, cut by indentation
	Masked     int            `json:"masked,omitempty"`    // documents in which secrets are masked
	Specs      int            `json:"specs,omitempty"`     // documents that are specifications of a kind, 0 before they were counted
	SpecSum    uint64         `json:"specSum,omitempty"`   // see Totals
	Rules      int            `json:"rules,omitempty"`     // secret.Version when indexed, 0 before there were such rules
	Notes      []string       `json:"notes,omitempty"`     // what a reader should know: named files that failed, fallbacks taken
	// Unread holds the stamps of documents that were walked and, for what they
	// hold, not indexed (binary files without a telling name), by path.
	Unread   map[string]uint64 `json:"unread,omitempty"`
	Segments []string          `json:"segments"`
	// Layout names the file that the manifest shares with stores of the same content.
	Layout string `json:"layout,omitempty"`
	// Base names an earlier manifest that this one says the differences from.
	Base string `json:"base,omitempty"`
	// Partial is set while a first index is being made: this is what is ready of it.
	Partial bool      `json:"partial,omitempty"`
	Indexed time.Time `json:"indexed"`
	// Walked is when the run that made this began to look at the source: what was
	// there then is in it. Older versions did not say.
	Walked time.Time `json:"walked,omitzero"`
	// Shared is set of a store that machines share on a cluster.
	Shared *Shared `json:"shared,omitempty"`
}

// Shared says which generation of a store is live on the cluster, as this machine
// knows it.
type Shared struct {
	Round    int64  `json:"round"`    // counts what any machine has published
	Manifest string `json:"manifest"` // of that generation; another than the head's is to be published
	// Afar is set where only tables of it lie on this machine: another has indexed it.
	Afar bool `json:"afar,omitempty"`
}

// Afar reports whether the files of a head are on a cluster alone.
func (h *Head) Afar() bool { return h != nil && h.Shared != nil && h.Shared.Afar }

// Skip is a document that could not be indexed, and why. Heads keep it among
// their notes, as String writes it.
type Skip struct{ Path, Reason string }

const skipped = "skipped: "

// String returns the note of a Head.
func (s Skip) String() string { return skipped + s.Path + ": " + s.Reason }

// Skips returns the documents that could not be indexed.
func (h *Head) Skips() []Skip {
	var out []Skip
	for _, n := range h.Notes {
		rest, ok := strings.CutPrefix(n, skipped)
		if path, reason, is := strings.Cut(rest, ": "); ok && is {
			out = append(out, Skip{path, reason})
		}
	}
	return out
}
