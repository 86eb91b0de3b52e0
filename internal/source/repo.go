package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// refTypes says, for each way to name a state, how it is spelt in a
// repository. Commits and the default have no prefix of their own.
var refTypes = map[kb.RefType]struct{ prefix, say string }{
	kb.RefDefault: {"", "default branch"},
	kb.RefBranch:  {"refs/heads/", "branch"},
	kb.RefTag:     {"refs/tags/", "tag"},
	kb.RefCommit:  {"", "commit"},
}

func openRepo(ctx context.Context, o *Opener, spec kb.Spec) (kb.Snapshot, error) {
	ref, err := CanonicalRef(spec.Ref)
	if err != nil {
		return nil, err
	}
	spec.Ref = ref
	sel, err := newSelector(spec.Selection)
	if err != nil {
		return nil, err
	}
	if isRemote(spec.Source) {
		return o.openRemote(ctx, spec, sel)
	}
	return openLocal(spec, sel, ownFiles{root: spec.Source, trusts: o.trusts(ctx)})
}

// openLocal opens a repository on this machine. Nothing is written to it.
func openLocal(spec kb.Spec, sel *selector, own ownFiles) (kb.Snapshot, error) {
	if err := checkDir(spec.Source); err != nil {
		return nil, err
	}
	dirs, ok := gitDirsAt(spec.Source)
	if !ok {
		return nil, kb.Errorf(kb.NotFound, "%q is not a git repository", spec.Source).
			WithHint("give the path of a repository, or type file to index the folder as it is")
	}
	if what := unsupportedFormat(dirs.common); what != "" {
		return nil, kb.Errorf(kb.Unsupported, "the repository %q uses %s, which cannot be read yet", spec.Source, what).
			WithHint("index its work tree as a folder with type file")
	}
	r := &repo{sel: sel, dirs: dirs, own: own}
	objs := openObjects(dirs)
	h, err := localHash(objs, spec, &r.tally)
	if err == nil {
		err = r.init(objs, h, spec)
	}
	if err != nil {
		objs.Close()
		return nil, err
	}
	return r, nil
}

// localHash finds what a ref names in a local repository. A branch that exists
// only as the remote's is taken from there.
func localHash(objs *objects, spec kb.Spec, t *tally) (plumbing.Hash, error) {
	ref := spec.Ref
	row := refTypes[ref.Type]
	switch {
	case ref == (kb.Ref{}):
		h, err := objs.resolve(plumbing.HEAD)
		if err != nil {
			return h, kb.Errorf(kb.NotFound, "the repository has no commits").WithHint("commit something first, or index the folder as it is with type file")
		}
		return h, nil
	case row.prefix == "": // a commit
		hs, err := objs.withPrefix(ref.Name)
		if err != nil || len(hs) == 0 {
			return plumbing.ZeroHash, noLocalRef(objs, spec)
		}
		if len(hs) > 1 {
			return plumbing.ZeroHash, ambiguous(ref.Name, hs)
		}
		return hs[0], nil
	}
	if h, err := objs.resolve(plumbing.ReferenceName(row.prefix + ref.Name)); err == nil {
		return h, nil
	}
	if ref.Type == kb.RefBranch {
		if h, err := objs.resolve(plumbing.ReferenceName("refs/remotes/origin/" + ref.Name)); err == nil {
			t.note("branch %q is not checked out here: origin's was read, as last fetched", ref.Name)
			return h, nil
		}
	}
	return plumbing.ZeroHash, noLocalRef(objs, spec)
}

// repo is the tree of one commit.
type repo struct {
	tally
	sel    *selector
	own    ownFiles
	dirs   gitDirs
	commit plumbing.Hash
	tree   plumbing.Hash
	copied string // what it is a copy of, for one that is ours: see damaged

	mu      sync.Mutex
	cond    *sync.Cond
	free    []*objects // handles that are not in use
	open    int        // handles in all
	handles int        // how many there may be
	closed  bool
}

// manyIndexBytes is the size of a repository's pack indexes above which its
// handles are limited to one: each would hold all of them in memory.
const manyIndexBytes = 32 << 20

func (r *repo) init(objs *objects, h plumbing.Hash, spec kb.Spec) error {
	c, err := objs.commit(h)
	if err != nil {
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return kb.Errorf(kb.Unsupported, "%s of %q is not a commit", spec.Ref, spec.Source).
				WithHint("name a branch, a tag of a commit, or a commit")
		}
		return corrupt(spec.Source, err)
	}
	r.commit, r.tree = c.Hash, c.TreeHash
	r.cond = sync.NewCond(&r.mu)
	r.handles = min(4, runtime.GOMAXPROCS(0))
	if packIndexBytes(r.dirs.common) > manyIndexBytes {
		r.handles = 1
	}
	r.free, r.open = []*objects{objs}, 1
	return nil
}

func corrupt(what string, err error) error {
	return kb.Errorf(kb.Corrupt, "the objects of %q cannot be read: %w", what, err).
		WithHint("check the repository with: git fsck")
}

// damaged returns kb.Corrupt. A copy of ours is marked, so that the next Open
// fetches it anew.
func (r *repo) damaged(what string, err error) error {
	if r.copied == "" {
		return corrupt(what, err)
	}
	e := kb.Errorf(kb.Corrupt, "the copy of %q is damaged: %s cannot be read: %w", r.copied, what, err)
	if werr := os.WriteFile(r.dirs.common+damagedSuffix, nil, 0o600); werr != nil {
		return e.WithHint("delete %s, then run store:index", r.dirs.common)
	}
	return e.WithHint("run store:index: it is fetched anew")
}

// damagedSuffix is added to the name of a copy that is to be fetched anew.
const damagedSuffix = ".damaged"

// Close implements kb.Snapshot.
func (r *repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.cond.Broadcast()
	var errs []error
	for _, o := range r.free {
		errs = append(errs, o.Close())
	}
	r.free = nil
	return errors.Join(errs...)
}

// Version implements kb.Snapshot.
func (r *repo) Version() string { return r.commit.String() }

// maxTreeEntries bounds a walk: a few hundred bytes of nested trees can spell
// more paths than there is memory.
const (
	maxTreeEntries = 5_000_000
	maxTreeDepth   = 500
)

// Walk implements kb.Snapshot. Sizes are -1: a tree does not hold them.
func (r *repo) Walk(ctx context.Context, f func(kb.Entry) error) error {
	r.startWalk()
	w := walker{r: r, f: f, found: map[string]bool{}, budget: gitignore.NewBudget(rulesBudget)}
	if err := w.walk(ctx, r.tree, "", w.budget.Level(), 0); err != nil {
		return err
	}
	r.endWalk(w.budget, w.found)
	return nil
}

// endWalk notes what bounds left out, and what was asked for and not found.
func (r *repo) endWalk(budget *gitignore.Budget, found map[string]bool) {
	r.noteBounds(budget)
	for _, p := range r.sel.paths {
		if !found[p] {
			r.trouble("was asked for and does not exist", p)
		}
	}
}

type walker struct {
	r       *repo
	f       func(kb.Entry) error
	entries int
	found   map[string]bool // named paths that exist
	budget  *gitignore.Budget
}

// walk follows git's order of a tree, which is the byte order of full paths.
func (w *walker) walk(ctx context.Context, h plumbing.Hash, rel string, own *ignoreLevel, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := w.r.readTree(h)
	if err != nil {
		if rel != "" && errors.Is(err, plumbing.ErrObjectNotFound) && w.r.copied == "" {
			w.r.skip(reasonNotFetched)
			w.r.trouble("is not in this copy of the repository", rel)
			return nil
		}
		return w.r.damaged(w.r.dirs.common, err)
	}
	if w.entries += len(t.Entries); w.entries > maxTreeEntries || depth > maxTreeDepth {
		return kb.Errorf(kb.TooLarge, "the repository lists more than %d files", maxTreeEntries).
			WithHint("narrow the store with paths")
	}
	sel := w.r.sel
	own = own.In(rel)
	var signs project.DataSigns
	for _, e := range t.Entries {
		signs.See(e.Name)
		if e.Name == OwnRules && e.Mode.IsFile() && e.Mode != filemode.Symlink {
			own = w.r.own.parse(own, rel, w.r.rulesOf(e.Hash))
		}
	}
	data := signs.Data()
	if data && rel != "" {
		w.r.skip(reasonData)
		return nil
	}
	for _, e := range t.Entries {
		if data && project.Own(e.Name) {
			continue
		}
		p := rel + e.Name
		isDir := e.Mode == filemode.Dir
		if silentDirs[e.Name] || !sel.wants(p, isDir) {
			continue
		}
		if len(sel.paths) > 0 {
			w.found[p] = true
		}
		if !utf8.ValidString(e.Name) || e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") {
			w.r.skip(reasonPath)
			w.r.trouble("is not a path that can be shown", p)
			continue
		}
		w.budget.Earn(rulesPerEntry)
		file, out, kept := own.Decides(p, isDir)
		switch _, _, spent := w.budget.Spent(); {
		case spent && !sel.named(p):
			w.r.skip(reasonCostly)
			continue
		case out && !sel.named(p):
			w.r.skip(reasonOwnRule)
			continue
		case kept:
			w.r.keeps(sel, p, w.r.own.vouched[file])
		}
		if w.r.leaves(sel, p, entryReason(&e, sel.all)) {
			continue
		}
		if isDir {
			err = w.walk(ctx, e.Hash, p+"/", own, depth+1)
		} else {
			err = w.f(kb.Entry{Path: p, Size: -1, Stamp: e.Hash.String()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entryReason says why an entry of a tree is no document, or "".
func entryReason(e *object.TreeEntry, all bool) string {
	switch e.Mode {
	case filemode.Dir:
		return dirReason(e.Name, all)
	case filemode.Symlink:
		return reasonSymlink
	case filemode.Submodule:
		return reasonSubmodule
	}
	return fileReason(e.Name, all)
}

// Read implements kb.Snapshot. An entry without a stamp is looked up by its path.
func (r *repo) Read(ctx context.Context, e kb.Entry) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPath(e.Path); err != nil {
		return nil, err
	}
	if reason := pathReason(e.Path, r.sel); reason != "" {
		return nil, r.ruleOut(e.Path, reason, nil)
	}
	objs, err := r.acquire()
	if err != nil {
		return nil, err
	}
	data, err := r.read(objs, e)
	r.release(objs)
	switch {
	case err == nil:
	case errors.Is(err, errTooLarge):
		return nil, r.ruleOut(e.Path, reasonTooLarge, nil)
	case errors.Is(err, plumbing.ErrObjectNotFound) && r.copied == "":
		r.trouble("is not in this copy of the repository", e.Path)
		return nil, r.ruleOut(e.Path, reasonNotFetched, err)
	default:
		var ke *kb.Error
		if errors.As(err, &ke) {
			return nil, err
		}
		return nil, r.damaged(e.Path, err)
	}
	if reason := contentReason(e.Path, data, r.sel.all || r.sel.named(e.Path)); reason != "" && !r.sel.exempt(e.Path, reason) {
		return nil, r.ruleOut(e.Path, reason, nil)
	}
	return data, nil
}

func (r *repo) read(objs *objects, e kb.Entry) ([]byte, error) {
	h := plumbing.NewHash(e.Stamp)
	if len(e.Stamp) != 40 || h.IsZero() {
		t, err := object.GetTree(objs, r.tree)
		if err != nil {
			return nil, err
		}
		te, err := t.FindEntry(e.Path)
		if err != nil || !te.Mode.IsFile() || te.Mode == filemode.Symlink {
			return nil, kb.Errorf(kb.NotFound, "commit %s has no file %q", r.commit.String()[:12], e.Path).
				WithHint("list what there is with: files")
		}
		h = te.Hash
	}
	data, err := objs.blob(h, r.sel.maxBytes)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		// The repository may have been repacked: look again.
		objs.Reindex()
		data, err = objs.blob(h, r.sel.maxBytes)
	}
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) && !errors.Is(err, errTooLarge) {
		err = fmt.Errorf("blob %s: %w", h, err)
	}
	return data, err
}
