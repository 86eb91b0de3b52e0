package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// folder is a directory as it stands. Everything below it is reached through
// an os.Root, so that no link, swapped in at whatever moment, leads out.
type folder struct {
	tally
	dir  string
	root *os.Root
	sel  *selector

	// What the directories above add when the folder lies inside a work tree.
	top    string   // the path of dir below the work tree's root, "" or ending in a slash
	ignore levels   // rules of the directories above; none outside a work tree
	own    ownFiles // of the work tree, or of the folder where there is none
	budget *gitignore.Budget
	repos  []repository // that the walk is in, the innermost last

	// listed, when set, is told of every directory that is entered, "" or
	// ending in a slash, with the rules that hold in it; files are passed over then.
	listed func(rel string, ignore levels)

	left leftOut // of what lies directly in the folder

	readDir func(rel string) ([]fs.DirEntry, error) // replaced by tests
	real    sync.Map                                // directories seen not to be links
}

func openFolder(ctx context.Context, o *Opener, spec kb.Spec) (kb.Snapshot, error) {
	if spec.Ref.Type != "" && spec.Ref.Type != kb.RefDefault {
		return nil, kb.Errorf(kb.Invalid, "a folder has no %s", spec.Ref.Type).
			WithHint("give type repo to index one state of a repository")
	}
	return newFolder(spec, o.trusts(ctx))
}

// newFolder opens a folder; trusts is that of its own rules.
func newFolder(spec kb.Spec, trusts func(file, text string) bool) (*folder, error) {
	sel, err := newSelector(spec.Selection)
	if err != nil {
		return nil, err
	}
	if err := checkDir(spec.Source); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(spec.Source)
	if err != nil {
		return nil, dirError(spec.Source, err)
	}
	if err := notSwapped(spec.Source, root); err != nil {
		root.Close()
		return nil, err
	}
	f := &folder{dir: spec.Source, root: root, sel: sel, own: ownFiles{root: spec.Source, trusts: trusts}, budget: gitignore.NewBudget(rulesBudget)}
	f.ignore = levels{f.budget.Level(), f.budget.Level()}
	f.readDir = f.list
	f.findWorkTree()
	return f, nil
}

// notSwapped refuses a folder in whose place a link has come since its store
// was made: a canonical source has none. Whoever writes a repository could
// otherwise have any folder of its readers indexed, by a commit that makes docs
// a link. Above the work tree that holds the folder links are its owner's.
func notSwapped(dir string, root *os.Root) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return dirError(dir, err)
	}
	links := []string{dir}
	for p := dir; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(filepath.Join(p, ".git")); err == nil {
			break
		}
		if links = append(links, filepath.Dir(p)); filepath.Dir(p) == p {
			links = links[:1] // it lies in no work tree
			break
		}
	}
	for _, p := range links[:max(1, len(links)-1)] {
		if at, err := os.Lstat(p); err == nil && at.Mode()&fs.ModeSymlink != 0 {
			return kb.Errorf(kb.Denied, "%q is a link now, and the folder that the store was made of is not there", p).
				WithHint("make a store of the folder that is meant")
		}
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return kb.Errorf(kb.Busy, "%q was replaced just now", dir).WithHint("try again")
	}
	return nil
}

// findWorkTree loads the rules that hold in the folder because of a git work
// tree around it. A folder that is itself ignored there is taken as it is:
// naming it was the user's choice.
func (f *folder) findWorkTree() {
	top := f.dir
	for {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return
		}
		top = parent
	}
	rel, err := filepath.Rel(top, f.dir)
	if err != nil || rel == "." {
		return // the walk reads the rules of its own root
	}
	rel, f.own.root = filepath.ToSlash(rel), top
	f.repos = enter(nil, filepath.Join(top, ".git"))
	level := parseExclude(f.budget.Level(), "", readExclude(filepath.Join(top, ".git")))
	level = parseIgnore(level, "", readSmall(filepath.Join(top, ".gitignore")))
	own := f.own.parse(f.budget.Level(), "", readSmall(filepath.Join(top, OwnRules)))
	for i := 0; i < len(rel); i++ {
		if rel[i] == '/' {
			dir := filepath.Join(top, filepath.FromSlash(rel[:i]))
			level = parseIgnore(level, rel[:i+1], readSmall(filepath.Join(dir, ".gitignore")))
			own = f.own.parse(own, rel[:i+1], readSmall(filepath.Join(dir, OwnRules)))
		}
	}
	if level.IgnoredPath(rel, true) || own.IgnoredPath(rel, true) {
		f.own.root = f.dir
		return
	}
	f.top, f.ignore = rel+"/", levels{level, own}
}

// readExclude reads info/exclude of the repository whose .git, a directory or
// a file that names one, is given.
func readExclude(dotGit string) string {
	return readSmall(filepath.Join(commonDir(dotGit), "info", "exclude"))
}

// readSmall reads a rules file, "" when there is none. Only ordinary files, and
// no more than 1 MiB of them: the name may belong to a device.
func readSmall(name string) string {
	if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b)
}

// Version implements kb.Snapshot: a folder's state has no name.
func (f *folder) Version() string { return "" }

// Close implements kb.Snapshot.
func (f *folder) Close() error { return f.root.Close() }

// Walk implements kb.Snapshot.
func (f *folder) Walk(ctx context.Context, fn func(kb.Entry) error) error {
	f.startWalk()
	f.left = leftOut{}
	f.budget.Earn(rulesBudget) // for each walk
	for _, p := range f.sel.paths {
		if _, err := f.root.Lstat(filepath.FromSlash(p)); errors.Is(err, fs.ErrNotExist) {
			f.trouble("was asked for and does not exist", p)
		}
	}
	n := 0
	err := f.walk(ctx, "", f.ignore, func(e kb.Entry) error {
		n++
		return fn(e)
	})
	if rule, ok := f.left.most(); err == nil && ok {
		f.note("%s", rule.says(n))
	}
	f.noteBounds(f.budget)
	return err
}

func (f *folder) list(rel string) ([]fs.DirEntry, error) {
	if rel == "" {
		rel = "."
	}
	d, err := f.root.Open(filepath.FromSlash(rel))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// walk lists the directory rel, "" or ending in a slash. Names are compared
// with a slash after those of directories: that is the byte order of full paths.
func (f *folder) walk(ctx context.Context, rel string, ignore levels, fn func(kb.Entry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := f.readDir(strings.TrimSuffix(rel, "/"))
	if err != nil && len(entries) == 0 {
		if rel == "" {
			return dirError(f.dir, err)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			f.skip(reasonUnreadable)
			f.trouble("cannot be read: "+cause(err), rel)
		}
		return nil
	}
	type item struct {
		key string // name, and a slash after directories
		e   fs.DirEntry
	}
	items := make([]item, 0, len(entries))
	var hasIgnore, hasOwn, hasGit bool
	var signs signs
	for _, e := range entries {
		it := item{e.Name(), e}
		signs.see(e)
		switch {
		case it.key == ".gitignore":
			hasIgnore = e.Type().IsRegular()
		case it.key == OwnRules:
			hasOwn = e.Type().IsRegular()
		case it.key == ".git":
			hasGit = true
		case it.key == venvMarker && rel != "" && !f.sel.all && !f.sel.named(rel[:len(rel)-1]):
			f.skip(reasonVendored)
			return nil
		}
		if e.IsDir() {
			it.key += "/"
		}
		items = append(items, it)
	}
	if rel != "" {
		if r := f.boundary(rel, &signs); r != "" && !f.sel.exempt(rel[:len(rel)-1], r) {
			f.skip(r)
			return nil
		}
	} else if signs.data.Data() {
		// Somebody keeps the data in the folder itself: the rest is his.
		items = slices.DeleteFunc(items, func(it item) bool { return project.Own(it.e.Name()) })
	}
	if rel == "" {
		for _, it := range items {
			if !silentDirs[it.e.Name()] {
				f.left.entries++
			}
		}
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key, b.key) })

	f.real.Store(rel, true)
	dir := filepath.Join(f.dir, filepath.FromSlash(rel))
	ignore = ignore.In(f.top + rel)
	if hasGit { // a work tree of its own: the rules above end here
		ignore.git = parseExclude(f.budget.Level(), f.top+rel, readExclude(filepath.Join(dir, ".git")))
		around := f.repos
		f.repos = enter(around, filepath.Join(dir, ".git"))
		defer func() { f.repos = around }()
	}
	if hasIgnore {
		ignore.git = parseIgnore(ignore.git, f.top+rel, f.readRules(rel+".gitignore"))
	}
	if hasOwn {
		ignore.own = f.own.parse(ignore.own, f.top+rel, f.readRules(rel+OwnRules))
	}
	if f.listed != nil {
		f.listed(rel, ignore)
	}
	for _, it := range items {
		name := it.e.Name()
		p := rel + name
		isDir := it.e.IsDir()
		if silentDirs[name] || !f.sel.wants(p, isDir) {
			continue
		}
		if !utf8.ValidString(name) {
			f.skip(reasonPath)
			f.trouble("has a name that is not UTF-8", p)
			continue
		}
		below := ignore
		f.budget.Earn(rulesPerEntry)
		reason, keeper := ignore.decides(f.top+p, isDir)
		if _, _, spent := f.budget.Spent(); spent {
			reason, keeper = reasonCostly, ""
		} else if isDir && strings.Count(rel, "/") >= maxTreeDepth {
			reason, keeper = reasonDeep, ""
		}
		if keeper != "" {
			f.keeps(f.sel, p, f.own.vouched[keeper])
		}
		if reason != "" {
			if !f.sel.named(p) {
				f.skip(reason)
				if rel == "" && reason != reasonCostly {
					rule, _ := ignore.Rule(f.top+p, isDir)
					f.left.ignored(rule, p, isDir)
				}
				continue
			}
			below = levels{f.budget.Level(), f.budget.Level()} // asked for by name: only rules from inside hold inside
		}
		if isDir {
			if f.leaves(f.sel, p, dirReason(name, f.sel.all)) {
				continue
			}
			if err := f.walk(ctx, p+"/", below, fn); err != nil {
				return err
			}
			continue
		}
		if f.listed != nil {
			continue
		}
		if err := f.file(it.e, p, fn); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) file(e fs.DirEntry, p string, fn func(kb.Entry) error) error {
	if !e.Type().IsRegular() {
		if e.Type()&fs.ModeSymlink != 0 {
			f.skip(reasonSymlink)
		} else {
			f.skip(reasonNotAFile)
		}
		return nil
	}
	if f.leaves(f.sel, p, fileReason(e.Name(), f.sel.all)) {
		return nil
	}
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed since the directory was listed
	case err != nil:
		f.skip(reasonUnreadable)
		f.trouble("cannot be read: "+cause(err), p)
		return nil
	case !info.Mode().IsRegular():
		f.skip(reasonNotAFile)
		return nil
	case info.Size() > f.sel.maxBytes:
		f.skip(reasonTooLarge)
		return nil
	}
	return fn(kb.Entry{Path: p, Size: info.Size(), Stamp: stamp(info)})
}
