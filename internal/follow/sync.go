package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/job/schedule"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// SyncRequest says how far a sync goes.
type SyncRequest struct {
	DryRun  bool // report what would be done, and do nothing
	Prune   bool // remove stores that are defined no more
	Reindex bool // read every document of every defined store again
	Agent   bool // asked by an agent, to whom no command that vouches is shown
}

// Synced is the reply of stores:sync and store:update. The lists hold names;
// each name is in one of them.
type Synced struct {
	Created []string `json:"created"`
	Updated []string `json:"updated"`
	Skipped []string `json:"skipped"` // as they should be
	Orphans []string `json:"orphans,omitempty"`
	Pruned  []string `json:"pruned,omitempty"`
	Failed  []Failed `json:"failed"`
	// Untrusted says what a person must vouch for before anything is done.
	Untrusted []string `json:"untrusted,omitempty"`
	// Changes says what was different, "react: tag:v18.2.0 → tag:v18.3.1".
	Changes []string      `json:"changes,omitempty"`
	Jobs    []app.Started `json:"jobs"`
	DryRun  bool          `json:"dryRun,omitempty"`
	Note    string        `json:"note,omitempty"`
}

// Failed is a store of which nothing could be made.
type Failed struct {
	Name  string `json:"name"`
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// Started returns the jobs that were started.
func (s Synced) Started() []app.Started { return s.Jobs }

func newSynced(dry bool) Synced {
	return Synced{Created: []string{}, Updated: []string{}, Skipped: []string{}, Failed: []Failed{}, Jobs: []app.Started{}, DryRun: dry}
}

func (s *Synced) fail(name string, err error) {
	s.Failed = append(s.Failed, Failed{Name: name, Error: err.Error(), Hint: kb.HintOf(err)})
}

// Sync makes the project's stores what its definitions say: new ones are
// created and indexed, changed ones moved to their new source, ref or options,
// and those that are defined no more are listed, or removed when pruning.
// Nothing is done of an entry that asks for what a person must vouch for.
func Sync(ctx context.Context, a *app.App, r SyncRequest) (Synced, error) {
	out := newSynced(r.DryRun)
	c, p, err := inProject(ctx, a, "definitions belong to a project, and there is none here")
	if err != nil {
		if p.None && exists(filepath.Join(a.Config.Dir, filepath.FromSlash(DefinitionsFile))) {
			err = kb.Errorf(kb.Invalid, "%s is here, but its folder is no repository, so no project", DefinitionsFile).WithHint("make it one: git init; or name it as one: knowledge sync --project .")
		}
		return out, err
	}
	files, err := loadDefinitions(ctx, a, c, p)
	if err != nil {
		return out, err
	}
	if len(files) == 0 {
		out.Note = "nothing is defined: there is no " + DefinitionsFile + "; store:create with save writes it"
	}
	run := syncRun{a: a, c: c, p: p, r: r, out: &out, named: map[string]bool{}}
	if err := run.load(ctx); err != nil {
		return out, err
	}
	for _, f := range files {
		run.refuse(f)
		for i := range f.entries {
			d := &f.entries[i]
			run.named[d.Name] = true
			if d.risk != "" && !f.trusted {
				continue
			}
			if err := run.entry(ctx, d); err != nil {
				if ctx.Err() != nil {
					return out, err
				}
				out.fail(d.Name, err)
			}
		}
	}
	return out, run.orphans(ctx)
}

// inProject opens the core for what only a project has.
func inProject(ctx context.Context, a *app.App, why string) (*app.Core, project.Project, error) {
	p, err := a.Where()
	if err != nil {
		return nil, p, err
	}
	if p.None {
		return nil, p, kb.Errorf(kb.Invalid, "%s", why).WithHint("run it inside a repository, or name a folder with --project")
	}
	c, err := a.Open(ctx)
	return c, p, err
}

// syncRun is one sync.
type syncRun struct {
	a     *app.App
	c     *app.Core
	p     project.Project
	r     SyncRequest
	out   *Synced
	have  map[string]kb.Store        // what the project names
	by    map[string]catalog.Defined // how it came by the names
	named map[string]bool            // what the definitions name
	locks *locks
}

func (s *syncRun) load(ctx context.Context) error {
	s.have, s.by = map[string]kb.Store{}, map[string]catalog.Defined{}
	entries, err := s.c.Catalog.List(ctx, s.p.ID)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Scope == catalog.ScopeProject {
			s.have[e.Name] = e.Store
		}
	}
	list, err := s.c.Catalog.Defined(ctx, s.p.ID)
	for _, d := range list {
		s.by[d.Name] = d
	}
	s.locks = &locks{root: s.p.Root}
	return err
}

// refuse reports what a person must vouch for. Such a name is defined all the
// same, so it is no orphan.
func (s *syncRun) refuse(f *definitions) {
	var names []string
	for _, d := range f.entries {
		if d.risk != "" && !f.trusted {
			names = append(names, d.Name)
			s.out.Untrusted = append(s.out.Untrusted, fmt.Sprintf("%s in %s: %s", d.Name, f.name, d.risk))
		}
	}
	if len(names) > 0 {
		what := fmt.Sprintf("nothing was done of %s in %s: ", strings.Join(names, ", "), f.name)
		if s.r.Agent {
			s.out.remark(what + "show your user what the file asks for; only a person can vouch for it, or name it in trust.paths of the user's configuration")
		} else {
			s.out.remark(what + "read it, and if you agree, run in a terminal: knowledge trust " + f.name)
		}
	}
}

// remark adds to what is said of the whole.
func (s *Synced) remark(text string) { s.Note = strings.TrimPrefix(s.Note+"; "+text, "; ") }

// entry makes one store what its definition says.
func (s *syncRun) entry(ctx context.Context, d *defined) error {
	if d.err != nil {
		return d.err
	}
	if err := catalog.CheckName(d.Name); err != nil {
		return err
	}
	if d.Schedule != "" {
		if err := schedule.Check(d.Schedule); err != nil {
			return err
		}
	}
	spec := d.spec
	if d.Follows != "" {
		if err := s.locks.pin(ctx, &spec, d.Follows); err != nil {
			return err
		}
	}
	old, there := s.have[d.Name]
	switch {
	case there && old.ID == spec.ID():
		return s.same(ctx, d, old)
	case there && !s.by[d.Name].ByFile:
		return kb.Errorf(kb.Exists, "the name %q means %s here, and was not made from the definitions", d.Name, old.Spec.Source).
			WithHint("remove it with: store:delete %s, or give the definition another name", d.Name)
	}
	if err := app.RefuseLarge(ctx, spec); err != nil {
		return err
	}
	if err := s.c.CheckAddress(spec); err != nil {
		return err
	}
	if there {
		s.out.Changes = append(s.out.Changes, d.Name+": "+difference(old.Spec, spec))
	}
	if s.r.DryRun {
		s.done(there, d.Name)
		return nil
	}
	if err := s.c.Catalog.NoteProject(ctx, s.p.ID, s.p.Root); err != nil {
		return err
	}
	var st kb.Store
	var err error
	if there {
		st, err = move(ctx, s.c, s.p.ID, old, spec, d.Description, d.Tags)
	} else {
		st, _, err = s.c.Catalog.Add(ctx, s.p.ID, d.Name, spec, d.Description, d.Tags)
	}
	if err == nil {
		err = s.c.Catalog.SetDefined(ctx, s.p.ID, catalog.Defined{Name: d.Name, Store: st.ID, ByFile: true, Follows: d.Follows})
	}
	if err == nil {
		err = s.schedule(ctx, d, st.ID)
	}
	if err == nil {
		err = s.index(ctx, st, d.Name)
	}
	if err == nil {
		s.done(there, d.Name)
	}
	return err
}

// same is for a store that is what its definition says.
func (s *syncRun) same(ctx context.Context, d *defined, st kb.Store) error {
	// A store that was never indexed, or not to the end, is.
	ready := st.Head != nil && !st.Head.Partial && st.LastError == ""
	said := (d.Description == "" || d.Description == st.Description) && (d.Tags == nil || slices.Equal(d.Tags, st.Tags))
	if ready && said && !s.r.Reindex {
		s.out.Skipped = append(s.out.Skipped, d.Name)
	} else {
		s.out.Updated = append(s.out.Updated, d.Name)
	}
	if s.r.DryRun {
		return nil
	}
	if !said {
		if _, err := s.c.Catalog.Attach(ctx, s.p.ID, d.Name, st.ID, d.Description, d.Tags); err != nil {
			return err
		}
	}
	if by := s.by[d.Name]; !by.ByFile || by.Follows != d.Follows {
		if err := s.c.Catalog.SetDefined(ctx, s.p.ID, catalog.Defined{Name: d.Name, Store: st.ID, ByFile: true, Follows: d.Follows}); err != nil {
			return err
		}
	}
	if err := s.schedule(ctx, d, st.ID); err != nil {
		return err
	}
	if !ready || s.r.Reindex {
		return s.index(ctx, st, d.Name)
	}
	return nil
}

// schedule lets a store be brought up to date when its definition says. One
// that the definition gave it before and does not name any more ends.
func (s *syncRun) schedule(ctx context.Context, d *defined, id kb.StoreID) error {
	if d.Schedule != "" {
		return SchedulesOf(s.c).Set(ctx, id, d.Schedule, s.p.ID, time.Now())
	}
	list, err := SchedulesOf(s.c).List(ctx)
	for _, e := range list {
		if e.Store == id && e.By == s.p.ID && e.By != "" {
			_, err = SchedulesOf(s.c).Unset(ctx, id)
		}
	}
	return err
}

func (s *syncRun) done(there bool, name string) {
	if there {
		s.out.Updated = append(s.out.Updated, name)
	} else {
		s.out.Created = append(s.out.Created, name)
	}
}

func (s *syncRun) index(ctx context.Context, st kb.Store, name string) error {
	started, err := s.c.Start(ctx, st, name, s.r.Reindex)
	if err == nil {
		s.out.Jobs = append(s.out.Jobs, started)
	}
	return err
}

// orphans lists the stores that were defined and are no more, or removes them.
func (s *syncRun) orphans(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.by)) {
		by := s.by[name]
		if !by.ByFile || s.named[by.Name] {
			continue
		}
		if !s.r.Prune || s.r.DryRun {
			s.out.Orphans = append(s.out.Orphans, by.Name)
			continue
		}
		if _, err := s.a.DeleteStore(ctx, by.Name, false); err != nil {
			s.out.fail(by.Name, err)
			continue
		}
		if err := s.c.Catalog.UnsetDefined(ctx, s.p.ID, by.Name); err != nil {
			return err
		}
		s.out.Pruned = append(s.out.Pruned, by.Name)
	}
	return nil
}

// move lets a name of a project mean another spec. A job of the store that
// has no name any more is cancelled first, its files go.
func move(ctx context.Context, c *app.Core, projectID string, old kb.Store, spec kb.Spec, description string, tags []string) (kb.Store, error) {
	holders, err := c.Catalog.Holders(ctx, old.ID)
	if err != nil {
		return kb.Store{}, err
	}
	if len(holders) <= 1 {
		j, ok, err := c.Jobs.Active(ctx, old.ID)
		if err == nil && ok {
			_, err = c.Jobs.Cancel(ctx, j.ID)
		}
		if err == nil || kb.CodeOf(err) == kb.Invalid { // it has just ended
			err = c.Leaving(ctx, old.ID)
		}
		if err != nil {
			return kb.Store{}, err
		}
	}
	st, gone, err := c.Catalog.Move(ctx, projectID, old.Name, spec, description, tags)
	if err != nil || !gone {
		return st, err
	}
	c.Library.Forget(old.ID)
	// Nothing is swept yet: the job of the new store finds there what the two
	// versions share, and sweeps when it ends.
	return st, nil
}

// difference says what is not the same in two specs.
func difference(old, spec kb.Spec) string {
	var parts []string
	add := func(what, a, b string) {
		if a != b {
			parts = append(parts, strings.TrimSpace(what+" "+a+" → "+b))
		}
	}
	add("type", string(old.Kind), string(spec.Kind))
	add("", old.Source, spec.Source)
	add("", old.Ref.String(), spec.Ref.String())
	add("options", options(old.Selection), options(spec.Selection))
	return strings.Join(parts, ", ")
}

// options writes a selection for a reader.
func options(sel kb.Selection) string {
	b, err := json.Marshal(sel)
	if err != nil {
		return fmt.Sprint(sel)
	}
	return string(b)
}

// stillDefined warns that the next sync makes a deleted store again.
func stillDefined(a *app.App, name string) string {
	p, err := a.Where()
	if err != nil || p.None || name == "" {
		return ""
	}
	raw, err := app.ReadProjectFile(filepath.Join(p.Root, filepath.FromSlash(DefinitionsFile)))
	if err != nil {
		return ""
	}
	entries, err := parseDefinitions(DefinitionsFile, raw, false)
	if err != nil || !slices.ContainsFunc(entries, func(d defined) bool { return d.Name == name }) {
		return ""
	}
	return "it is still defined in " + DefinitionsFile + ": the next stores:sync makes it again"
}
