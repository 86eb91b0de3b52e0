package app

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Member is one of several users of a server. The functions are asked at each
// use, so that what they answer may change at any time.
type Member struct {
	Name string
	// Reads and Writes report what the member may do with a store by what the
	// machine calls it.
	Reads, Writes func(store string) bool
	// Sources are what the member may make stores of: an address, or the beginning
	// of one that ends in "/" or ":".
	Sources func() []string
	// Stores and Jobs are how many the member may have at once; 0 is none.
	Stores, Jobs func() int
}

// For returns an App for a member: it shares everything with a but what is
// somebody's own. What the member may not read is not there, by whatever it is
// asked for; there is no project and no folder; stores that the member makes are
// the member's alone. Close it before a.
func (a *App) For(m Member) *App {
	b := &App{Config: a.Config, base: a, member: &m}
	b.Config.Dir, b.Config.Project = string(filepath.Separator), ""
	b.projectOnce.Do(func() { b.project = project.Project{ID: NamesOf(m.Name), None: true} })
	return b
}

// IsMember reports whether it acts on behalf of one of several users.
func (a *App) IsMember() bool { return a.member != nil }

// NamesOf is under which project the catalog holds the names that a member gave.
func NamesOf(member string) string { return memberPrefix + member }

// memberPrefix begins the id of the project that holds a member's names.
const memberPrefix = "member:"

// openFor is Open for a member. a.mu is held.
func (a *App) openFor(ctx context.Context) (*Core, error) {
	base, err := a.base.Open(ctx)
	if err != nil {
		return nil, err
	}
	if a.Core != nil && a.Core.base == base {
		return a.Core, nil
	}
	if a.Core != nil {
		_ = a.Core.close() // what it kept is of a data directory that is gone
	}
	a.Core = &Core{
		Dir: base.Dir, Db: base.Db, file: base.file, Gone: base.Gone, Jobs: base.Jobs, Pool: base.Pool, Indexes: base.Indexes,
		Indexer: base.Indexer, Opener: base.Opener, Embedder: base.Embedder, Words: base.Words, Web: base.Web, Env: base.Env, Library: base.Library,
		Settings: base.Settings, rooms: base.rooms, AtOnce: base.AtOnce, base: base,
		Catalog: base.Catalog.For(catalog.View{Project: a.project.ID, Reads: a.member.Reads}),
	}
	a.Core.Library.join(a.Core)
	return a.Core, nil
}

// noneForMember is what a member can do who may read no store.
const noneForMember = "ask who runs this server for the right to read one, or make one of your own with store:create"

// refused is what a member is told who may read a store and not change it.
func refused(store string) error {
	return kb.Errorf(kb.Denied, "you may read %q and not change it", store).WithHint("ask who runs this server")
}

// own reports whether a store is the member's own.
func (a *App) own(st kb.Store) bool { return st.Spec.Owner != "" && st.Spec.Owner == a.member.Name }

// mayChange refuses a member who has no right to write a store.
func (a *App) mayChange(st kb.Store) error {
	if a.member == nil || a.own(st) || st.Spec.Owner == "" && a.member.Writes(st.Name) {
		return nil
	}
	return refused(st.Label())
}

// mayRemove refuses a member whose own a store is not.
func (a *App) mayRemove(st kb.Store) error {
	if a.member == nil || a.own(st) {
		return nil
	}
	return kb.Errorf(kb.Denied, "store %q is shared, and only who runs this server renames or removes it", st.Label()).
		WithHint("ask them; your own stores are those of scope project in: stores")
}

// mayCreate refuses what a member may not have indexed, and more than the member may have.
func (a *App) mayCreate(ctx context.Context, c *Core, spec kb.Spec) error {
	if a.member == nil {
		return nil
	}
	if !admits(a.member.Sources(), spec) {
		return kb.Errorf(kb.Denied, "this server makes no stores of %q", kb.Clip(spec.Source, 200)).
			WithHint("ask who runs it to make the store, or to allow its address in the rights file under sources")
	}
	own, err := a.ownStores(ctx, c)
	if err != nil || own[spec.ID()] {
		return cmp.Or(err, a.mayStart(ctx, c))
	}
	if n := len(own); n >= a.member.Stores() {
		return kb.Errorf(kb.Denied, "you have %s already, which is as many as this server lets you have", kb.Count(n, "store")).
			WithHint("remove one with: store:delete")
	}
	return a.mayStart(ctx, c)
}

// mayStart refuses a member who has as many jobs under way as may be.
func (a *App) mayStart(ctx context.Context, c *Core) error {
	if a.member == nil {
		return nil
	}
	own, err := a.ownStores(ctx, c)
	if err != nil {
		return err
	}
	jobs, err := c.Jobs.List(ctx, "", true)
	if err != nil {
		return err
	}
	n := 0
	for i := range jobs {
		if own[storeOf(&jobs[i])] {
			n++
		}
	}
	if n >= a.member.Jobs() {
		return kb.Errorf(kb.Busy, "%s of yours are under way, which is as many as this server runs for one user", kb.Count(n, "job")).
			WithHint("wait for one with: job:status; list them with: jobs {\"activeOnly\":true}")
	}
	return nil
}

// ownStores returns the member's own stores.
func (a *App) ownStores(ctx context.Context, c *Core) (map[kb.StoreID]bool, error) {
	entries, err := c.Catalog.List(ctx, a.project.ID)
	own := map[kb.StoreID]bool{}
	for _, e := range entries {
		if a.own(e.Store) {
			own[e.ID] = true
		}
	}
	return own, err
}

// admits reports whether a store may be made of a source: an address that is one
// of sources, or begins with one that ends in "/" or ":". No folder of this machine is,
// whatever sources say, and a site leads to no other host.
func admits(sources []string, spec kb.Spec) bool {
	src := spec.Source
	if filepath.IsAbs(src) || source.TraitsOf(spec.Kind).Place != "" || len(spec.Selection.Web.Hosts) > 0 {
		return false
	}
	if u, err := url.Parse(src); err != nil || strings.Contains(src, `\`) ||
		u.Path != "" && path.Clean(u.Path) != strings.TrimRight(u.Path, "/") && u.Path != "/" {
		return false
	}
	for _, s := range sources {
		if src == s || src+"/" == s || strings.HasPrefix(src, s) && (strings.HasSuffix(s, "/") || strings.HasSuffix(s, ":")) {
			return true
		}
	}
	return false
}

// seesJob reports whether a job is one of the App's user: of a store that is
// shown, or started by that user.
func (a *App) seesJob(ctx context.Context, c *Core, j *kb.Job) bool {
	if a.member == nil {
		return true
	}
	if who, _ := j.Details["project"].(string); who == a.project.ID {
		return true
	}
	ok, err := c.Catalog.Shows(ctx, storeOf(j))
	return ok && err == nil && j.Store != ""
}

// job returns a job of the App's user. That of another is as one that is not there.
func (a *App) job(ctx context.Context, c *Core, id string) (kb.Job, error) {
	j, err := c.Jobs.Get(ctx, id)
	if err == nil && !a.seesJob(ctx, c, &j) {
		return kb.Job{}, job.None(id)
	}
	return j, err
}

// mayCancel refuses a member who may not change the store that a job is about.
func (a *App) mayCancel(ctx context.Context, c *Core, j *kb.Job) error {
	if a.member == nil {
		return nil
	}
	entries, err := c.Catalog.List(ctx, a.project.ID)
	if err != nil {
		return err
	}
	for _, e := range entries { // a store may have several names, and a right belongs to a name
		if e.ID == storeOf(j) && a.mayChange(e.Store) == nil {
			return nil
		}
	}
	return refused(j.ID)
}

// hasDefinitions reports whether a project may keep its stores in a file of its own.
func (a *App) hasDefinitions(projectID string) bool { return projectID != "" && a.member == nil }

// localRefused refuses what is read from this machine before anything of it is looked at.
func localRefused(r CreateStore, dir string) error {
	if source.LocalPath(r.Kind, r.Source, dir) == "" && r.Source != "" {
		return nil
	}
	return kb.Errorf(kb.Denied, "stores of folders and archives are made by who runs this server").WithHint("give the address of a repository, a site or a package")
}

// concealPlace takes from a row where on this machine a store lies, which is
// nothing to a member.
func (a *App) concealPlace(row *StoreRow) {
	if a.member != nil && filepath.IsAbs(row.Source) {
		row.Source = ""
	}
}

// concealWork takes from a job what shows a member whether others have indexed
// the same text: how much of the work was done already.
func (a *App) concealWork(j *kb.Job) {
	if a.member == nil || j == nil {
		return
	}
	documents, ok := j.Details["documents"]
	if j.State == kb.JobCompleted {
		j.Message = ""
	}
	if j.Details = nil; ok {
		j.Details = map[string]any{"documents": documents}
	}
}
