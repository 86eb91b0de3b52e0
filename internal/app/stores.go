package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Limits of what is indexed without being asked, see the design of first use.
const (
	askFiles = 50_000
	askBytes = 1 << 30
	// maxMaxFile bounds what a file may be allowed to have: it is read whole.
	maxMaxFile = 64 << 20
)

// Lookup returns the store that a name or id means here.
func (a *App) Lookup(ctx context.Context, nameOrID string) (*Core, kb.Store, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, kb.Store{}, err
	}
	p, err := a.Where()
	if err != nil {
		return nil, kb.Store{}, err
	}
	// "." is the folder of the work tree that asks, as search shows it.
	if nameOrID == "." {
		if st, ok := c.FolderAt(ctx, p.ID, p.Root); ok {
			return c, st, nil
		}
		st, err := c.Catalog.Own(ctx, p.Root)
		return c, st, err
	}
	st, err := c.Catalog.Lookup(ctx, p.ID, nameOrID)
	if kb.CodeOf(err) == kb.NotFound {
		// The own folder has no name; hits cite it by its last element.
		own, e := c.Catalog.Own(ctx, p.Root)
		if e == nil && own.Label() == nameOrID {
			return c, own, nil
		}
		if e == nil && kb.Nearest(nameOrID, []string{own.Label()}) != "" && !strings.Contains(kb.HintOf(err), "did you mean") {
			err = kb.Errorf(kb.NotFound, "%w", err).WithHint("did you mean %q, this folder? list the stores there are with: stores", own.Label())
		}
	}
	return c, st, a.wasLost(nameOrID, err)
}

// HasStore reports whether a name or id means a store here.
func (a *App) HasStore(ctx context.Context, nameOrID string) bool {
	_, _, err := a.Lookup(ctx, nameOrID)
	return err == nil || kb.CodeOf(err) != kb.NotFound
}

// Stores lists the stores in scope, of every kind or one; all lists every store of every project.
func (a *App) Stores(ctx context.Context, kind kb.Kind, all bool) (StoreList, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return StoreList{}, err
	}
	if _, err := c.Jobs.Resume(ctx); err != nil && !CannotWrite(err) {
		return StoreList{}, err
	}
	entries, err := a.Scope(ctx, c, all)
	if err != nil {
		return StoreList{}, err
	}
	list := StoreList{Stores: []StoreRow{}}
	for _, e := range entries {
		if kind != "" && e.Spec.Kind != kind {
			continue
		}
		row, _, err := c.row(ctx, e.Store, e.Scope)
		if err != nil {
			return StoreList{}, err
		}
		a.concealPlace(&row)
		list.Stores = append(list.Stores, row)
	}
	gone := a.lostSince(true)
	switch n := len(entries); {
	case gone != "":
		list.Note = gone
	case len(list.Stores) > 0:
	case n > 0:
		list.Note = fmt.Sprintf("none of the %d stores here is of type %s; list them with: stores", n, TypeOf(kind))
	default:
		list.Note = "no stores here yet; make one with store:create, or search: the first search indexes this project's folder"
		if a.member != nil {
			list.Note = "there is no store yet that you may read; " + noneForMember
		}
	}
	return list, nil
}

// row returns a store at a glance, with the job that works on it, if any.
func (c *Core) row(ctx context.Context, st kb.Store, scope catalog.Scope) (StoreRow, *kb.Job, error) {
	r := StoreRow{Name: st.Label(), ID: string(st.ID), Kind: st.Spec.Kind, Source: st.Spec.Source, Scope: string(scope), Status: "empty"}
	if source.TraitsOf(st.Spec.Kind).Refs {
		r.Ref = st.Spec.Ref.String()
	}
	if h := st.Head; h != nil {
		if h.Partial {
			r.Status = "partial"
		} else {
			r.Status = "ready"
		}
		r.Commit, r.Documents, r.Chunks, r.Indexed = h.Commit, h.Documents, h.Chunks, h.Indexed
	}
	if st.LastError != "" {
		r.Status = "failed"
	}
	j, ok, err := c.Jobs.Active(ctx, st.ID)
	if err != nil {
		return r, nil, err
	}
	if ok {
		r.Status = j.Now()
		return r, &j, nil
	}
	return r, nil, nil
}

// StoreInfo returns everything about the store that a name or id means here.
func (a *App) StoreInfo(ctx context.Context, store string) (StoreInfo, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return StoreInfo{}, err
	}
	scope := catalog.Scope("")
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return StoreInfo{}, err
	}
	for _, e := range entries {
		if e.ID == st.ID {
			scope = e.Scope
		}
	}
	row, j, err := c.row(ctx, st, scope)
	if err != nil {
		return StoreInfo{}, err
	}
	a.concealPlace(&row)
	a.concealWork(j)
	info := StoreInfo{StoreRow: row, Description: st.Description, Tags: st.Tags, Job: j, LastError: st.LastError}
	if w := st.Spec.Selection.Web; !reflect.ValueOf(w).IsZero() {
		info.Web = &w
	}
	if filepath.IsAbs(row.Source) {
		info.Path = st.Spec.Source
	}
	if h := st.Head; h != nil {
		info.Generation, info.TextBytes, info.IndexBytes, info.Segments = h.Generation, h.TextBytes, h.IndexBytes, len(h.Segments)
		info.Engine = c.Engine()
		info.Embedder, info.Languages, info.Skipped, info.Unparsed, info.Masked, info.Notes = h.Embedder, h.Languages, h.Skipped, h.Unparsed, h.Masked, h.Notes
	}
	info.DiskBytes = info.IndexBytes + c.PagesBytes(st.Spec)
	if a.member == nil { // copies are shared with stores that a member may not know of
		info.DiskBytes += c.copyBytes(st.Spec)
	}
	p, err := a.Where()
	if err != nil {
		return info, err
	}
	by, err := c.Catalog.Defined(ctx, p.ID)
	for _, d := range by {
		if d.Store == st.ID && d.Name == st.Name {
			info.Follows = d.Follows
		}
	}
	return info, err
}

// copyBytes is what the copies of a remote repository take on disk; other
// stores of that repository share them.
func (c *Core) copyBytes(spec kb.Spec) int64 {
	dir := c.Opener.RepoDir(spec.Source)
	if dir == "" {
		return 0
	}
	var n int64
	dirs, _ := filepath.Glob(dir + "*") // fails only for a bad pattern
	for _, d := range dirs {
		_ = filepath.WalkDir(d, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // it is going just now
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
			return nil
		})
	}
	return n
}

func (c *Core) Start(ctx context.Context, st kb.Store, name string, force bool) (Started, error) {
	return c.begin(ctx, st, name, IndexArgs{Force: force})
}

func (c *Core) begin(ctx context.Context, st kb.Store, name string, args IndexArgs) (Started, error) {
	j, err := c.Submit(ctx, st, args)
	if err != nil {
		return Started{}, err
	}
	return Started{Store: name, ID: string(st.ID), Job: j.ID, Status: string(j.State)}, nil
}

// TypeOf spells a kind as definitions do, and the older plugin's.
func TypeOf(k kb.Kind) string {
	if k == kb.KindFolder {
		return "file"
	}
	return string(k)
}

// RefuseLarge refuses folders that are too large to be indexed by mistake.
func RefuseLarge(ctx context.Context, spec kb.Spec) error {
	_, err := measure(ctx, spec, "")
	return err
}

// refuseBarren refuses them too, and folders of which every rule leaves nothing.
func refuseBarren(ctx context.Context, spec kb.Spec, name string) error {
	size, err := measure(ctx, spec, name)
	if err != nil || size.Files > 0 || size.Why == "" {
		return err
	}
	e := kb.Errorf(kb.NotFound, "nothing in %q can be indexed: %s", spec.Source, size.Why)
	if len(size.Ignored) == 0 {
		return e.WithHint("name another folder, or what of this one is wanted with paths, see: help {\"command\":\"store:create\"}")
	}
	return e.WithHint("what is named is indexed all the same, as in: store:create %s", Args{"name": name, "source": spec.Source, "paths": size.Ignored})
}

// measure looks how large a folder is, and refuses what is too large to become
// a store, of that name or, with "", of its own.
func measure(ctx context.Context, spec kb.Spec, name string) (source.Size, error) {
	if spec.Kind != kb.KindFolder {
		return source.Size{Files: 1}, nil
	}
	hint := "index a folder inside it, or run in a terminal: knowledge store:create --yes"
	if name != "" {
		hint += " --name " + kb.ShellWord(name)
	}
	hint += " --source " + kb.ShellWord(spec.Source)
	if why := source.Dangerous(spec.Source); why != "" {
		return source.Size{}, kb.Errorf(kb.TooLarge, "%q is %s", spec.Source, why).WithHint("%s", hint)
	}
	size, err := source.Measure(ctx, spec, askFiles, askBytes)
	if err != nil {
		return size, err
	}
	if size.Over {
		return size, kb.Errorf(kb.TooLarge, "%q is very large: more than %d files or %d MB", spec.Source, min(size.Files, askFiles), min(size.Bytes, askBytes)>>20).WithHint("%s", hint)
	}
	return size, nil
}

// Args is the arguments of a command in a hint.
type Args map[string]any

func (c Args) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// IndexStore starts bringing the store up to date; force reads every document again.
func (a *App) IndexStore(ctx context.Context, store string, force bool) (Started, error) {
	return a.IndexStoreAs(ctx, store, IndexArgs{Force: force})
}

// IndexStoreAs is IndexStore as args say.
func (a *App) IndexStoreAs(ctx context.Context, store string, args IndexArgs) (Started, error) {
	c, st, err := a.Lookup(ctx, store)
	if err == nil {
		err = a.mayChange(st)
	}
	if err == nil {
		err = a.mayStart(ctx, c)
	}
	if err != nil {
		return Started{}, err
	}
	return c.begin(ctx, st, st.Label(), args)
}

// PagesBytes is what the kept pages of a store take on disk.
func (c *Core) PagesBytes(spec kb.Spec) int64 {
	dir := c.Opener.PagesDir(spec)
	if dir == "" {
		return 0
	}
	var n int64
	list, _ := os.ReadDir(dir) // there may be none
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
