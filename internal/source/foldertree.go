package source

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// folderTree is what a folder in a work tree was at one commit: listed from the tree
// of that commit by the rules by which the folder is, those of the .gitignore files
// of the commit included, so that a search of it finds what one of a checkout does.
type folderTree struct {
	*repo
	root  string        // of the work tree
	top   string        // the path of the folder below it, "" or ending in a slash
	whole plumbing.Hash // the tree of the commit; repo.tree is the folder's
}

// OpenAt opens what a source on this machine was at the commit that spec.Ref names:
// a repository, or a folder within one. kb.NotFound where the commit has no such folder.
func (o *Opener) OpenAt(ctx context.Context, spec kb.Spec) (kb.Snapshot, error) {
	if !Watchable(spec.Kind) {
		return o.Open(ctx, spec)
	}
	if spec.Selection.MaxFileBytes <= 0 {
		spec.Selection.MaxFileBytes = o.MaxFileBytes
	}
	root, err := repoRoot(spec.Source)
	if err != nil {
		return nil, err
	}
	sel, err := newSelector(spec.Selection)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, spec.Source)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, kb.Errorf(kb.Invalid, "%q is not inside the repository %q", spec.Source, root)
	}
	of := spec
	of.Kind, of.Source = kb.KindRepo, root
	snap, err := openLocal(of, sel, ownFiles{root: root, trusts: o.trusts(ctx)})
	if err != nil {
		return nil, err
	}
	f := &folderTree{repo: snap.(*repo), root: root}
	f.whole = f.tree
	if rel == "." {
		return f, nil
	}
	f.top = filepath.ToSlash(rel) + "/"
	t, err := f.readTree(f.whole)
	var e *object.TreeEntry
	if err == nil {
		e, err = f.entry(t, f.top)
	}
	if err != nil {
		f.Close()
		return nil, kb.Errorf(kb.NotFound, "the commit %s has no folder %q", kb.ShortCommit(spec.Ref.Name), strings.TrimSuffix(f.top, "/")).
			WithHint("ask about a later one; it came with the first that this lists: git log --reverse -- %s", kb.ShellWord(spec.Source))
	}
	f.tree = e.Hash
	return f, nil
}

// entry returns the directory at a path below a tree.
func (f *folderTree) entry(t *object.Tree, path string) (*object.TreeEntry, error) {
	name, rest, _ := strings.Cut(path, "/")
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Name != name || e.Mode != filemode.Dir {
			continue
		}
		if rest == "" {
			return e, nil
		}
		below, err := f.readTree(e.Hash)
		if err != nil {
			return nil, err
		}
		return f.entry(below, rest)
	}
	return nil, plumbing.ErrObjectNotFound
}

// Walk implements kb.Snapshot. Sizes are -1: a tree does not hold them.
func (f *folderTree) Walk(ctx context.Context, fn func(kb.Entry) error) error {
	f.startWalk()
	w := folderWalker{f: f, fn: fn, found: map[string]bool{}, budget: gitignore.NewBudget(rulesBudget)}
	rules, err := w.above()
	if err == nil {
		err = w.walk(ctx, f.tree, "", rules, 0)
	}
	if err != nil {
		return err
	}
	f.endWalk(w.budget, w.found)
	return nil
}

type folderWalker struct {
	f       *folderTree
	fn      func(kb.Entry) error
	entries int
	found   map[string]bool // named paths that exist
	budget  *gitignore.Budget
}

// above returns the rules of the directories around the folder; none where they
// leave it out itself, as folder has it.
func (w *folderWalker) above() (levels, error) {
	f := w.f
	rules := levels{w.budget.Level(), w.budget.Level()}
	rules.git = parseExclude(rules.git, "", readExclude(filepath.Join(f.root, ".git")))
	if f.top == "" {
		return rules, nil
	}
	h, dir := f.whole, ""
	for rest := f.top; rest != ""; {
		t, err := f.readTree(h)
		if err != nil {
			return rules, f.damaged(f.dirs.common, err)
		}
		rules = w.rulesIn(t, dir, rules)
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		e, err := f.entry(t, name)
		if err != nil {
			return rules, f.damaged(f.dirs.common, err)
		}
		h, dir = e.Hash, dir+name+"/"
	}
	rel := strings.TrimSuffix(f.top, "/")
	if rules.git.IgnoredPath(rel, true) || rules.own.IgnoredPath(rel, true) {
		return levels{w.budget.Level(), w.budget.Level()}, nil
	}
	return rules, nil
}

// rulesIn adds the rules of a directory, whose path is that in the work tree.
func (w *folderWalker) rulesIn(t *object.Tree, dir string, rules levels) levels {
	for i := range t.Entries {
		e := &t.Entries[i]
		if !e.Mode.IsFile() || e.Mode == filemode.Symlink {
			continue
		}
		switch e.Name {
		case ".gitignore":
			rules.git = parseIgnore(rules.git, dir, w.f.rulesOf(e.Hash))
		case OwnRules:
			rules.own = w.f.own.parse(rules.own, dir, w.f.rulesOf(e.Hash))
		}
	}
	return rules
}

// closed says why a directory is none of the folder by what is in it, or "";
// data is that what is in it are files of a data directory.
func (w *folderWalker) closed(t *object.Tree, rel string) (reason string, data bool) {
	var signs signs
	for i := range t.Entries {
		e := &t.Entries[i]
		isDir := e.Mode == filemode.Dir
		signs.data.See(e.Name)
		switch {
		case e.Name == "HEAD":
			signs.head = true
		case e.Name == "objects":
			signs.objects = isDir
		case e.Name == "refs":
			signs.refs = isDir
		case e.Name == venvMarker && !w.f.sel.all:
			reason = reasonVendored
		case e.Name == cacheTag && e.Mode.IsFile() && strings.HasPrefix(w.f.rulesOf(e.Hash), cacheSignature):
			reason = reasonCache
		}
	}
	switch data = signs.data.Data(); {
	case rel == "":
		return "", data
	case signs.head && signs.objects && signs.refs:
		return reasonRepository, data
	case data:
		return reasonData, data
	}
	return reason, data
}

func (w *folderWalker) walk(ctx context.Context, h plumbing.Hash, rel string, rules levels, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f := w.f
	t, err := f.readTree(h)
	if err != nil {
		if rel != "" && errors.Is(err, plumbing.ErrObjectNotFound) {
			f.skip(reasonNotFetched)
			f.trouble("is not in this copy of the repository", rel)
			return nil
		}
		return f.damaged(f.dirs.common, err)
	}
	if w.entries += len(t.Entries); w.entries > maxTreeEntries {
		return kb.Errorf(kb.TooLarge, "the repository lists more than %d files", maxTreeEntries).
			WithHint("narrow the store with paths")
	}
	reason, data := w.closed(t, rel)
	if reason != "" && !f.sel.exempt(strings.TrimSuffix(rel, "/"), reason) {
		f.skip(reason)
		return nil
	}
	rules = w.rulesIn(t, f.top+rel, rules.In(f.top+rel))
	for i := range t.Entries {
		e := &t.Entries[i]
		p, isDir := rel+e.Name, e.Mode == filemode.Dir
		if data && project.Own(e.Name) || silentDirs[e.Name] || !f.sel.wants(p, isDir) {
			continue
		}
		w.found[p] = true
		below, ok := w.keeps(e, p, rules, depth)
		if !ok || f.leaves(f.sel, p, entryReason(e, f.sel.all)) {
			continue
		}
		if isDir {
			err = w.walk(ctx, e.Hash, p+"/", below, depth+1)
		} else {
			err = w.fn(kb.Entry{Path: p, Size: -1, Stamp: e.Hash.String()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether the rules keep an entry, and returns those that hold below it.
func (w *folderWalker) keeps(e *object.TreeEntry, p string, rules levels, depth int) (below levels, ok bool) {
	f, isDir := w.f, e.Mode == filemode.Dir
	if !utf8.ValidString(e.Name) || e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") {
		f.skip(reasonPath)
		f.trouble("is not a path that can be shown", p)
		return rules, false
	}
	w.budget.Earn(rulesPerEntry)
	reason, keeper := rules.decides(f.top+p, isDir)
	if _, _, spent := w.budget.Spent(); spent {
		reason, keeper = reasonCostly, ""
	} else if isDir && depth >= maxTreeDepth {
		reason, keeper = reasonDeep, ""
	}
	if keeper != "" {
		f.repo.keeps(f.sel, p, f.own.vouched[keeper])
	}
	switch {
	case reason == "":
		return rules, true
	case f.sel.named(p): // asked for by name: only rules from inside hold inside
		return levels{w.budget.Level(), w.budget.Level()}, true
	}
	f.skip(reason)
	return rules, false
}
