// Package source reads the documents of a store. What a store is made of, its
// kind, decides how; everything that differs between kinds is in one
// table (kinds), and the rules by which documents are left out in one file
// (rules.go).
//
// A folder is listed as it is on disk, by the rules of .gitignore. A
// repository is read straight from its objects at one commit: a remote one
// from a bare, shallow copy below Opener.ReposDir, a local one in place. Of a
// repository everything that is tracked counts, .gitignore or not. Of a site
// or package what a job has gathered below Opener.WebDir is read. An archive
// is listed by its directory and unpacked in memory, one document at a time.
package source

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// Opener opens the sources of stores. It is safe for concurrent use.
type Opener struct {
	// ReposDir holds one bare repository per URL. It is made when needed.
	ReposDir string
	// Tokens are environment variables that may be sent as passwords over
	// https, each to the one host it is named for. They are the user's own
	// configuration, never a project's.
	Tokens []Token
	// MaxFileBytes is the size above which a file is left out of stores whose
	// selection sets no limit of its own; 0 is DefaultMaxFileBytes.
	MaxFileBytes int64
	// WebDir holds one folder of kept pages per web store.
	WebDir string
	// Network says which hosts remote repositories may be on, Allow above all;
	// the zero value is those of the public network.
	Network outbound.Policy
	// Trusts says whether the user vouches for a project's file, named in full,
	// with this text; nil vouches for none.
	Trusts func(ctx context.Context, file, text string) bool
	// NoGit keeps installed git from being run: no fallback, no credential helper.
	NoGit bool

	remoteURL func(canonical string) string // tests point a URL elsewhere

	once      sync.Once
	client    *outbound.Client
	clientErr error
}

// Token names the environment variable that holds the token for a host.
type Token struct {
	Host string // "github.com", or "host:port" for ports other than 443
	Env  string // name of the variable
}

// kindRow is what differs between kinds.
type kindRow struct {
	kind    kb.Kind
	also    kb.Kind   // another name that people are shown, before kind
	aliases []kb.Kind // further names that are understood
	// canonical turns what a user wrote into kb.Spec.Source; relative paths start at dir.
	canonical func(ctx context.Context, raw, dir string) (string, error)
	open      func(ctx context.Context, o *Opener, spec kb.Spec) (kb.Snapshot, error)
	name      func(src string) string // from a canonical source; nil for the last element of it
	// path returns the place on this machine that what a user wrote names, for a
	// kind that is read nowhere else; nil for the others, see LocalPath.
	path   func(raw, dir string) string
	traits Traits
}

// Traits are what callers need to know of a kind.
type Traits struct {
	Network  bool // bringing it up to date may ask a server
	Refs     bool // it has branches, tags and commits
	Gathered bool // a job gathers its documents into PagesDir before Open finds them
	// Place is what people call the place on this machine that is compared with
	// the index at a question: "folder"; "" where nothing is compared.
	Place string
}

var kinds = []kindRow{
	{kb.KindFolder, "file", []kb.Kind{"files", "dir", "directory"}, canonicalFolder, openFolder, nil, nil, Traits{Place: "folder"}},
	{kb.KindRepo, "", []kb.Kind{"repository", "git"}, canonicalRepo, openRepo, nil, nil, Traits{Network: true, Refs: true}},
	{kb.KindWeb, "", []kb.Kind{"site", "crawl"}, canonicalWeb, openWeb, webName, nil, Traits{Network: true, Gathered: true}},
	{kb.KindZip, "", []kb.Kind{"archive"}, canonicalZip, openZip, zipName, zipPath, Traits{Place: "archive"}},
}

// TraitsOf returns the traits of a kind; none of one that there is not.
func TraitsOf(kind kb.Kind) Traits {
	if k, err := lookup(kind); err == nil {
		return k.traits
	}
	return Traits{}
}

// NameOf returns the part of a canonical source that names a store best.
func NameOf(kind kb.Kind, src string) string {
	if k, err := lookup(kind); err == nil && k.name != nil {
		return k.name(src)
	}
	return src
}

// Kinds returns the kinds.
func Kinds() []kb.Kind {
	var out []kb.Kind
	for _, k := range kinds {
		out = append(out, k.kind)
	}
	return out
}

// KindNames returns what people are shown to call the kinds.
func KindNames() []string {
	var out []string
	for _, k := range kinds {
		if k.also != "" {
			out = append(out, string(k.also))
		}
		out = append(out, string(k.kind))
	}
	return out
}

func lookup(kind kb.Kind) (*kindRow, error) {
	for i := range kinds {
		if kinds[i].kind == kind || kinds[i].also == kind && kind != "" || slices.Contains(kinds[i].aliases, kind) {
			return &kinds[i], nil
		}
	}
	var names []string
	for _, k := range kinds {
		names = append(names, string(cmp.Or(k.also, k.kind)))
	}
	return nil, kb.Errorf(kb.Invalid, "there is no kind of store named %q", string(kind)).
		WithHint("use %s or %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// Open returns a snapshot of the source as it is now. For a remote repository
// that means a fetch, which kb.Report reports in the phases "clone" (the
// first time) and "fetch"; it ends within a second of ctx.
func (o *Opener) Open(ctx context.Context, spec kb.Spec) (kb.Snapshot, error) {
	k, err := lookup(spec.Kind)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	if spec.Selection.MaxFileBytes <= 0 {
		spec.Selection.MaxFileBytes = o.MaxFileBytes
	}
	return k.open(ctx, o, spec)
}

// trusts is Trusts for the time of ctx, nil without it.
func (o *Opener) trusts(ctx context.Context) func(file, text string) bool {
	if o.Trusts == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a walk may come later
	return func(file, text string) bool { return o.Trusts(ctx, file, text) }
}

func canceled(err error) error {
	return kb.Errorf(kb.Canceled, "stopped on request: %w", err)
}
