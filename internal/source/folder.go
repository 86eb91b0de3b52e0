package source

import (
	"context"
	"errors"
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

// folder is a directory as it is. Everything below it is reached through
// an os.Root, so that no link, swapped in at whatever moment, leads out.
type folder struct {
	tally
	dir  string
	root *os.Root
	sel  *selector

	// From the directories above, when the folder lies inside a work tree:
	top    string   // the path of dir below the work tree's root, "" or ending in a slash
	ignore levels   // rules of the directories above; none outside a work tree
	own    ownFiles // of the work tree, or of the folder where there is none
	budget *gitignore.Budget
	repos  []repository // that the walk is in, the innermost last

	// listed, when set, is called with every directory that is entered, "" or
	// ending in a slash, and the rules that hold in it; files are passed over then.
	listed func(rel string, ignore levels)

	left  leftOut // of what lies directly in the folder
	trail *Trail  // of the walk; nil for none

	readDir func(rel string) ([]fs.DirEntry, error) // replaced by tests
	within  []opened                                // the directories around the one listed last, and that
	ahead   map[string]*dirRead                     // directories that are being read before the walk is there
	readers chan struct{}                           // a place for each that is read at once
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

func hasDotGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// findWorkTree loads the rules that hold in the folder because of a git work
// tree around it. A folder that is itself ignored there is taken as it is:
// naming it was the user's choice.
func (f *folder) findWorkTree() {
	top := f.dir
	for !hasDotGit(top) {
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
	defer f.leaveUnless(func(string) bool { return false })
	n := 0
	err := f.walk(ctx, "", f.ignore, func(e kb.Entry) error {
		n++
		return fn(e)
	})
	if f.trail != nil {
		f.trail.whole = err == nil
	}
	if rule, ok := f.left.most(); err == nil && ok {
		f.note("%s", rule.says(n))
	}
	f.noteBounds(f.budget)
	return err
}

// opened is a directory that is open while the walk is below it.
type opened struct {
	rel  string // ends in a slash
	root *os.Root
}

// list reads the directory rel. It is opened from the one around it, which the
// walk has just read, not from the root down.
func (f *folder) list(rel string) ([]fs.DirEntry, error) {
	f.leaveUnless(func(dir string) bool { return strings.HasPrefix(rel, dir) })
	if rel == "" {
		return readNames(f.root)
	}
	l := f.ahead[rel]
	if l == nil {
		l = &dirRead{}
		dir, name := f.root, rel
		if n := len(f.within); n > 0 {
			dir, name = f.within[n-1].root, rel[len(f.within[n-1].rel):]
		}
		l.read(dir, name)
	} else {
		delete(f.ahead, rel)
		<-l.done
	}
	if l.root != nil {
		f.within = append(f.within, opened{rel + "/", l.root})
	}
	return l.entries, l.err
}

// leaveUnless closes directories, the innermost first, up to one that is around.
func (f *folder) leaveUnless(around func(dir string) bool) {
	for n := len(f.within); n > 0 && !around(f.within[n-1].rel); n-- {
		f.within[n-1].root.Close()
		f.within = f.within[:n-1]
	}
}

// contents is one directory as the walk meets it.
type contents struct {
	items                     []item
	hasIgnore, hasOwn, hasGit bool
}

type item struct {
	key   string // name, and a slash after directories
	e     fs.DirEntry
	below levels // the rules that hold below it
}

// look reads the names in the directory rel and reports whether the walk enters it.
func (f *folder) look(rel string, entries []fs.DirEntry) (l contents, enters bool) {
	l.items = make([]item, 0, len(entries))
	var signs signs
	for _, e := range entries {
		it := item{key: e.Name(), e: e}
		signs.see(e)
		switch {
		case it.key == ".gitignore":
			l.hasIgnore = e.Type().IsRegular()
		case it.key == OwnRules:
			l.hasOwn = e.Type().IsRegular()
		case it.key == ".git":
			l.hasGit = true
		case it.key == venvMarker && rel != "" && !f.sel.all && !f.sel.named(rel[:len(rel)-1]):
			f.skip(reasonVendored)
			f.trail.spoil()
			return l, false
		}
		if e.IsDir() {
			it.key += "/"
		}
		l.items = append(l.items, it)
	}
	if rel != "" {
		if signs.any() {
			f.trail.spoil() // what else lies there decides
		}
		if r := f.boundary(rel, &signs); r != "" && !f.sel.exempt(rel[:len(rel)-1], r) {
			f.skip(r)
			return l, false
		}
	} else {
		if signs.data.Data() { // the data is kept in the folder itself: the rest is the user's
			l.items = slices.DeleteFunc(l.items, func(it item) bool { return project.Own(it.e.Name()) })
		}
		for _, it := range l.items {
			if !silentDirs[it.e.Name()] {
				f.left.entries++
			}
		}
	}
	slices.SortFunc(l.items, func(a, b item) int { return strings.Compare(a.key, b.key) })
	return l, true
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
		f.trail.spoil()
		return nil
	}
	if f.trail.enters(f.dir, rel); err != nil {
		f.trail.spoil()
	}
	l, enters := f.look(rel, entries)
	if !enters {
		return nil
	}
	f.real.Store(rel, true)
	ignore = ignore.In(f.top + rel)
	if l.hasGit { // a work tree of its own: the rules above end here
		if rel != "" {
			f.trail.spoil() // its rules lie in it
		}
		dotGit := filepath.Join(f.dir, filepath.FromSlash(rel), ".git")
		ignore.git = parseExclude(f.budget.Level(), f.top+rel, readExclude(dotGit))
		around := f.repos
		f.repos = enter(around, dotGit)
		defer func() { f.repos = around }()
	}
	if l.hasIgnore {
		f.trail.rules(f.dir, rel+".gitignore")
		ignore.git = parseIgnore(ignore.git, f.top+rel, f.readRules(rel+".gitignore"))
	}
	if l.hasOwn {
		f.trail.spoil() // whether it is vouched for may change
		ignore.own = f.own.parse(ignore.own, f.top+rel, f.readRules(rel+OwnRules))
	}
	if f.listed != nil {
		f.listed(rel, ignore)
	}
	kept := l.items[:0]
	for _, it := range l.items {
		var ok bool
		if it.below, ok = f.keepsEntry(rel, it.e, ignore); !ok ||
			it.e.IsDir() && f.leaves(f.sel, rel+it.e.Name(), dirReason(it.e.Name(), f.sel.all)) {
			continue
		}
		kept = append(kept, it)
	}
	reading := f.readAhead(rel, kept)
	defer reading.leave()
	for _, it := range kept {
		var err error
		switch p := rel + it.e.Name(); {
		case it.e.IsDir():
			reading.enters()
			err = f.walk(ctx, p+"/", it.below, fn)
		case f.listed == nil:
			err = f.file(it.e, p, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepsEntry reports whether selection and rules keep an entry of the directory
// rel, and returns the rules that hold below it.
func (f *folder) keepsEntry(rel string, e fs.DirEntry, ignore levels) (below levels, ok bool) {
	p, isDir := rel+e.Name(), e.IsDir()
	if silentDirs[e.Name()] || !f.sel.wants(p, isDir) {
		return ignore, false
	}
	if !utf8.ValidString(e.Name()) {
		f.skip(reasonPath)
		f.trouble("has a name that is not UTF-8", p)
		return ignore, false
	}
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
	if reason == "" {
		return ignore, true
	}
	if f.sel.named(p) { // asked for by name: only rules from inside hold inside
		return levels{f.budget.Level(), f.budget.Level()}, true
	}
	f.skip(reason)
	if rel == "" && reason != reasonCostly {
		rule, _ := ignore.Rule(f.top+p, isDir)
		f.left.ignored(rule, p, isDir)
	}
	return ignore, false
}

func (f *folder) file(e fs.DirEntry, p string, fn func(kb.Entry) error) error {
	if r := modeReason(e.Type()); r != "" {
		f.skip(r)
		return nil
	}
	if f.leaves(f.sel, p, fileReason(e.Name(), f.sel.all)) {
		return nil
	}
	info, err := e.Info()
	if err == nil {
		f.trail.file(p, inodeOf(info))
	} else {
		f.trail.spoil()
	}
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
