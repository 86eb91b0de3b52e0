package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// CreateStore names a store and starts indexing it. Everything that can be
// checked of the request is checked before anything is made; when the first job
// fails, what was made is taken back, see undo.
//
// Agents have what lies outside of the project and what it depends on refused,
// see admit, unless it is a store of theirs already.
func (a *App) CreateStore(ctx context.Context, r CreateStore) (Started, error) {
	if name, ok := strings.CutPrefix(r.Source, sharedScheme); ok {
		return a.adoptShared(ctx, r, name)
	}
	if r.Shared {
		if err := a.mayShare(ctx, r.Agent); err != nil {
			return Started{}, err
		}
	}
	if r.From != "" {
		if err := a.mayPull(ctx, r); err != nil {
			return Started{}, err
		}
		return a.pull(ctx, r)
	}
	return a.createStore(ctx, r)
}

// createStore is CreateStore of a source.
func (a *App) createStore(ctx context.Context, r CreateStore) (Started, error) {
	spec, err := a.specFor(ctx, r)
	if err != nil {
		return Started{}, err
	}
	if r.Name == "" {
		r.Name = NameFrom(source.NameOf(spec.Kind, spec.Source))
	}
	if err := catalog.CheckName(r.Name); err != nil {
		return Started{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Started{}, err
	}
	projectID := p.ID
	if r.User && a.member == nil {
		projectID = ""
	}
	if r.Save && projectID == "" {
		return Started{}, kb.Errorf(kb.Invalid, "definitions belong to a project, and %q would be a name of yours in every project", r.Name).
			WithHint("leave out save, or scope user")
	}
	if a.hasDefinitions(projectID) {
		if err := a.Definitions().Check(p); err != nil {
			return Started{}, err
		}
	}
	if !r.Yes {
		if err := refuseBarren(ctx, spec, r.Name); err != nil {
			return Started{}, err
		}
	}
	c, err := a.Open(ctx)
	if err != nil {
		return Started{}, err
	}
	if err := a.mayCreate(ctx, c, spec); err != nil {
		return Started{}, err
	}
	if err := c.CheckAddress(spec); err != nil {
		return Started{}, err
	}
	if a.hasDefinitions(projectID) {
		if err := c.Catalog.NoteProject(ctx, projectID, p.Root); err != nil {
			return Started{}, err
		}
	}
	st, created, err := c.Catalog.Add(ctx, projectID, r.Name, spec, r.Description, r.Tags)
	if err != nil {
		return Started{}, err
	}
	made := Making{Project: projectID, Name: r.Name, Created: st.Created, Again: r.arguments()}
	if a.hasDefinitions(projectID) {
		if made.Definition, made.File, err = a.Definitions().Remember(ctx, a, c, p, r, st); err != nil {
			return Started{}, errors.Join(err, c.Undo(ctx, st.ID, made))
		}
	}
	args := IndexArgs{Shared: r.Shared, Paid: r.Paid}
	if st.Head == nil {
		args.Made = &made
	}
	j, err := c.Submit(ctx, st, args)
	if err != nil {
		return Started{}, errors.Join(err, c.Undo(ctx, st.ID, made))
	}
	a.Again(c)
	s := Started{Store: r.Name, ID: string(st.ID), Job: j.ID, Status: string(j.State)}
	if !created && st.Head != nil {
		s.Note = "this source was indexed before: it can be searched at once and is brought up to date"
	}
	return s, nil
}

// mayPull refuses a publication to who may not have it fetched: it is made
// elsewhere, and says by itself what it was made of.
func (a *App) mayPull(ctx context.Context, r CreateStore) error {
	switch {
	case a.member != nil:
		return kb.Errorf(kb.Denied, "published stores are fetched by who runs this server").
			WithHint("ask them to, or index the source itself: leave out from").About("from")
	case r.Agent:
		return a.admitRequest(ctx, r)
	}
	return nil
}

// pull has the room that knows how make a store of a publication.
func (a *App) pull(ctx context.Context, r CreateStore) (Started, error) {
	for _, room := range a.Config.Rooms {
		if room.Pull != nil {
			return room.Pull(ctx, a, r)
		}
	}
	return Started{}, kb.Errorf(kb.Unsupported, "this program fetches no published stores").WithHint("leave out from to index the source")
}

// specFor is what a request names, unless who asks may not have that indexed.
func (a *App) specFor(ctx context.Context, r CreateStore) (spec kb.Spec, err error) {
	if a.member != nil {
		err = localRefused(r, a.Config.Dir)
	} else if r.Agent {
		err = a.admitRequest(ctx, r)
	}
	if err != nil {
		return spec, err
	}
	if spec, err = SpecOf(ctx, r, a.Config.Dir); err != nil {
		return spec, elsewhere(r, a.Config.Dir, err)
	}
	if a.member != nil {
		spec.Owner = a.member.Name
	}
	return spec, nil
}

// Making is what store:create made before anything was indexed. It travels
// with the job, so that whichever process runs that can take it back.
type Making struct {
	Project    string          `json:"project,omitempty"` // "" is the user
	Name       string          `json:"name"`
	Created    time.Time       `json:"created"`              // the store: one of the same source may be made after it was deleted
	Again      Args            `json:"again"`                // what store:create was asked for
	Definition json.RawMessage `json:"definition,omitempty"` // written into File, if it was
	File       string          `json:"file,omitempty"`
}

// arguments are those of store:create that ask for r.
func (r CreateStore) arguments() Args {
	all := Args{
		"name": r.Name, "source": r.Source, "type": "", "branch": r.Branch, "tag": r.Tag, "commit": r.Commit,
		"description": r.Description, "tags": r.Tags, "paths": r.Paths, "all": r.All, "maxFileBytes": r.MaxFile, "scope": "",
		"follows": r.Follows, "save": r.Save, "depth": r.Web.Depth, "maxPages": r.Web.MaxPages,
		"crawlInstructions": r.Web.Crawl, "extractInstructions": r.Web.Extract,
		"include": r.Web.Include, "exclude": r.Web.Exclude, "hosts": r.Web.Hosts, "headless": r.Web.Headless, "yes": r.Yes,
		"shared": r.Shared,
	}
	if r.Kind != "" {
		all["type"] = TypeOf(r.Kind)
	}
	if r.User {
		all["scope"] = "user"
	}
	maps.DeleteFunc(all, func(_ string, v any) bool {
		value := reflect.ValueOf(v)
		return value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
	})
	return all
}

// Undo takes back what store:create made of a store of which nothing was ever
// published: its names, so that no empty store is left to be noted at every
// search, and the definition, unless it has changed since. A store
// that has a generation, and one that definitions name, stays; so does one that
// was made anew after what m made was deleted.
func (c *Core) Undo(ctx context.Context, id kb.StoreID, m Making) error {
	st, err := c.Catalog.Get(ctx, id)
	if err != nil || st.Head != nil || !st.Created.Equal(m.Created) {
		if kb.CodeOf(err) == kb.NotFound {
			return nil
		}
		return err
	}
	if m.File != "" && len(m.Definition) > 0 {
		if err := c.definitions().Forget(ctx, c, m.File, m.Definition); err != nil {
			return err
		}
		if err := c.Catalog.UnsetDefined(ctx, m.Project, m.Name); err != nil {
			return err
		}
	}
	return c.Catalog.Abandon(ctx, id, m.Created)
}

// SpecOf is what a request names; relative paths start at dir.
func SpecOf(ctx context.Context, r CreateStore, dir string) (kb.Spec, error) {
	ref, err := refOf(r)
	if err != nil {
		return kb.Spec{}, err
	}
	guessed := r.Kind == "" && ref != (kb.Ref{})
	if guessed {
		r.Kind = source.Guess(r.Source, dir, true)
	}
	kind, src, err := source.Canonical(ctx, r.Kind, r.Source, dir)
	if err != nil {
		if guessed && kb.CodeOf(err) == kb.NotFound && source.TraitsOf(r.Kind).Refs && source.MeantURL(r.Source, dir) == "" {
			return kb.Spec{}, kb.Errorf(kb.Invalid, "%w", err).WithHint("leave out argument %q to index it as a folder, or give the path or URL of a repository", ref.Type)
		}
		return kb.Spec{}, err
	}
	paths := r.Paths
	if source.TraitsOf(kind).Refs {
		paths = pathsInside(source.Inside(src, r.Source, dir), paths)
	}
	spec := kb.Spec{Kind: kind, Source: src, Ref: ref, Selection: kb.Selection{Paths: cleanPaths(paths), All: r.All, MaxFileBytes: r.MaxFile}}
	if spec.Selection.Web, err = webOf(spec, r); err != nil {
		return spec, err
	}
	if r.MaxFile < 0 || r.MaxFile > maxMaxFile {
		return spec, kb.Errorf(kb.Invalid, "maxFileBytes must lie between 1 and %d, not %d", maxMaxFile, r.MaxFile).WithHint("leave it out for 1 MiB")
	}
	if !source.TraitsOf(kind).Refs && ref != (kb.Ref{}) {
		return spec, kb.Errorf(kb.Invalid, "a store of type %s has no branch, tag or commit", TypeOf(kind)).WithHint("give type repo to index a state of a repository")
	}
	return spec, nil
}

// pathsInside returns the paths of a repository that are meant by paths in one
// of its folders: the folder itself for none.
func pathsInside(folder string, paths []string) []string {
	if folder == "" {
		return paths
	}
	out := []string{folder}
	for i, p := range paths {
		out = append(out[:i], path.Join(folder, filepath.ToSlash(p)))
	}
	return out
}

// elsewhere adds to the failure to find a source on this machine the whole line
// for the repository of another that was probably meant.
func elsewhere(r CreateStore, dir string, err error) error {
	url := source.MeantURL(r.Source, dir)
	if url == "" || kb.CodeOf(err) != kb.NotFound {
		return err
	}
	r.Source, r.Kind = url, ""
	return kb.Errorf(kb.NotFound, "%w", err).WithHint("if it is a repository elsewhere: store:create %s", r.arguments())
}

// refOf returns the state of a repository that a request names.
func refOf(r CreateStore) (kb.Ref, error) {
	var ref kb.Ref
	n := 0
	for _, x := range []kb.Ref{{Type: kb.RefBranch, Name: r.Branch}, {Type: kb.RefTag, Name: r.Tag}, {Type: kb.RefCommit, Name: r.Commit}} {
		if x.Name != "" {
			ref = x
			n++
		}
	}
	if n > 1 {
		return ref, kb.Errorf(kb.Invalid, "branch, tag and commit exclude each other").WithHint("give one of them")
	}
	if n == 0 {
		return ref, nil
	}
	return source.CanonicalRef(ref)
}

// NameFrom makes a name from the last element of a source.
func NameFrom(src string) string {
	base := path.Base(strings.TrimRight(filepath.ToSlash(src), "/"))
	if i := strings.LastIndexByte(base, ':'); i >= 0 {
		base = base[i+1:]
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, base), "-.")
	if name == "" {
		return "store"
	}
	return name[:min(len(name), 64)]
}

func cleanPaths(paths []string) []string {
	var out []string
	for _, p := range paths {
		if p = strings.Trim(path.Clean(filepath.ToSlash(p)), "/"); p != "" && p != "." {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unmade takes back what a failed first job was started for, and returns the
// failure with what to do about it.
func (c *Core) unmade(ctx context.Context, j kb.Job, m Making, failure error) error {
	if err := c.Undo(ctx, j.Store, m); err != nil {
		return errors.Join(failure, err)
	}
	if _, err := c.Catalog.Get(ctx, j.Store); kb.CodeOf(err) != kb.NotFound {
		return failure // it stays: something was published, or it has another name
	}
	hint := kb.HintOf(failure)
	var lacks *source.NoRefError
	switch code := kb.CodeOf(failure); {
	case errors.As(failure, &lacks) && lacks.Meant.Name != "" && m.Again != nil:
		again := maps.Clone(m.Again)
		for _, t := range []kb.RefType{kb.RefBranch, kb.RefTag, kb.RefCommit} {
			delete(again, string(t))
		}
		again[string(lacks.Meant.Type)] = lacks.Meant.Name
		hint = fmt.Sprintf("%s; nothing was kept, so make it with that: store:create %s", hint, again)
	case code == kb.Away, code == kb.Denied && hint != "":
		hint = fmt.Sprintf("%s; nothing was kept, so make it again with: store:create %s", hint, m.Again)
	case hint != "":
		hint += fmt.Sprintf("; nothing was kept, and the name %s is free again", m.Name)
	}
	return kb.Errorf(kb.CodeOf(failure), "%w", failure).WithHint("%s", hint)
}
