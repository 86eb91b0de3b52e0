// Package catalog is being written.
package catalog

import (
	"context"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// Catalog knows the stores. It is safe for concurrent use, also by several
// processes over one database.
type Catalog struct{}

// New returns a catalog over an open database. now is the clock; nil means time.Now.
func New(d *db.DB, now func() time.Time) *Catalog { return nil }

// Scope says through whom a store is in a list.
type Scope string

// The scopes.
const (
	ScopeProject Scope = "project" // named by the project
	ScopeUser    Scope = "user"    // named by the user for every project
	ScopeOwn     Scope = "own"     // a work tree's own folder, without a name
	ScopeNone    Scope = ""        // held by nobody
)

// Entry is one line of a list.
type Entry struct {
	kb.Store
	Scope   Scope
	Project string // the project's id for ScopeProject and ScopeOwn
}

// CheckName returns kb.Invalid with the rule when name cannot name a store.
func CheckName(name string) error { return errStub }

// Put makes the store of a spec, or returns the one that exists.
func (c *Catalog) Put(ctx context.Context, spec kb.Spec) (kb.Store, error) {
	return kb.Store{}, errStub
}

// Attach lets name mean the store id in a project ("" is the user). Attaching
// the same again updates description and tags. kb.Exists when the name means
// another store here, kb.NotFound when there is no such store.
func (c *Catalog) Attach(ctx context.Context, projectID, name string, id kb.StoreID, description string, tags []string) (kb.Store, error) {
	return kb.Store{}, errStub
}

// Add is Put and Attach in one transaction; use it to create a named store.
// created reports whether the store is new.
func (c *Catalog) Add(ctx context.Context, projectID, name string, spec kb.Spec, description string, tags []string) (st kb.Store, created bool, err error) {
	return kb.Store{}, false, errStub
}

// Detach takes name away from a project and returns the store it meant and who still holds that.
func (c *Catalog) Detach(ctx context.Context, projectID, name string) (id kb.StoreID, holders []string, err error) {
	return "", nil, errStub
}

// Holders names, for a reader, who holds a store: "project /src/app as \"react\"",
// "user as \"react\"", "own folder of /src/app".
func (c *Catalog) Holders(ctx context.Context, id kb.StoreID) ([]string, error) { return nil, errStub }

// Drop deletes the store if nobody holds it.
func (c *Catalog) Drop(ctx context.Context, id kb.StoreID) (removed bool, err error) {
	return false, errStub
}

// Delete deletes the store whoever holds it: names, head and segment
// references go. Its files go with the next Garbage.
func (c *Catalog) Delete(ctx context.Context, id kb.StoreID) error { return errStub }

// NoteProject records the directory of a project, for Holders to show.
func (c *Catalog) NoteProject(ctx context.Context, projectID, dir string) error { return errStub }

// Get returns the store by its full id; Name is "".
func (c *Catalog) Get(ctx context.Context, id kb.StoreID) (kb.Store, error) {
	return kb.Store{}, errStub
}

// Lookup returns the store that nameOrID means in a project: the project's
// names first, then the user's, then full ids and unique prefixes of at least
// 4 characters. kb.NotFound hints at the nearest names.
func (c *Catalog) Lookup(ctx context.Context, projectID, nameOrID string) (kb.Store, error) {
	return kb.Store{}, errStub
}

// List returns what the project and the user name, by name; a store that both
// name is listed once, as the project's. Own folders are not listed.
func (c *Catalog) List(ctx context.Context, projectID string) ([]Entry, error) { return nil, errStub }

// All returns every store once, own folders and unheld ones included.
func (c *Catalog) All(ctx context.Context) ([]Entry, error) { return nil, errStub }

// SetOwn makes the store of spec the unlisted own folder of the work tree at root.
func (c *Catalog) SetOwn(ctx context.Context, projectID, root string, spec kb.Spec) (kb.Store, error) {
	return kb.Store{}, errStub
}

// Own returns the own folder's store of the work tree at root, or kb.NotFound.
func (c *Catalog) Own(ctx context.Context, root string) (kb.Store, error) {
	return kb.Store{}, errStub
}

// Head returns the live head of a store, nil before the first generation.
func (c *Catalog) Head(ctx context.Context, id kb.StoreID) (*kb.Head, error) { return nil, errStub }

// Publish makes head the live one, in one durable transaction, if the live
// generation is still expectGeneration (0: none yet): kb.Busy otherwise,
// kb.NotFound when the store was deleted meanwhile. head.Generation must be
// expectGeneration+1. It clears the store's last error. The files that head
// names must be durable before; its segments replace the previous
// generation's references.
func (c *Catalog) Publish(ctx context.Context, id kb.StoreID, expectGeneration int64, head kb.Head) error {
	return errStub
}

// SetError records why the last run failed; "" clears it.
func (c *Catalog) SetError(ctx context.Context, id kb.StoreID, msg string) error { return errStub }

// UseSegments keeps segments (and manifests) from being deleted until
// ReleaseUses(job). Call it before a file of that name is looked for or made
// visible: a file found after UseSegments stays.
func (c *Catalog) UseSegments(ctx context.Context, job string, names ...string) error {
	return errStub
}

// ReleaseUses gives up all uses of a job.
func (c *Catalog) ReleaseUses(ctx context.Context, job string) error { return errStub }

// Users returns the jobs that use segments. Release those that have ended.
func (c *Catalog) Users(ctx context.Context) ([]string, error) { return nil, errStub }

// File is one segment or manifest as found on disk, by the name that kb.Head knows it by.
type File struct {
	Name    string
	ModTime time.Time
}

// Garbage calls remove for each file that no head and no use names and that is
// older than grace, while holding the database's write lock, so that nobody
// begins to rely on a file while it goes. remove deletes the file and its
// siblings (vectors); names whose removal fails are left for the next time.
func (c *Catalog) Garbage(ctx context.Context, files []File, grace time.Duration, remove func(name string) error) (removed int, err error) {
	return 0, errStub
}

// Trust records that a person vouches for the file at path with that hash.
func (c *Catalog) Trust(ctx context.Context, path, hash string) error { return errStub }

// Trusted reports whether a person vouched for the file at path as hash tells it.
func (c *Catalog) Trusted(ctx context.Context, path, hash string) (bool, error) {
	return false, errStub
}
