package source

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Tree is the directories of a folder in which documents of a store may lie,
// as they were when it was listed: what a watcher of every change has to watch.
// A Tree does not change and is safe for concurrent use.
type Tree struct {
	f     *folder
	dirs  map[string]levels // by path below the folder, "" or ending in a slash
	rules []string          // files elsewhere that say what is left out, absolute
}

// Watchable reports whether a store of a kind lies in a folder that can be followed.
func Watchable(kind kb.Kind) bool { return kind == kb.KindFolder }

// ListTree lists the directories of a folder. kb.Unsupported for other kinds.
func ListTree(ctx context.Context, spec kb.Spec) (*Tree, error) {
	if !Watchable(spec.Kind) {
		return nil, kb.Errorf(kb.Unsupported, "only folders can be watched, %s is of kind %s", spec.Source, spec.Kind).
			WithHint("bring other stores up to date at fixed times: store:schedule")
	}
	f, err := newFolder(spec, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &Tree{f: f, dirs: map[string]levels{}}
	t.rules = ruleFiles(spec.Source)
	f.listed = func(rel string, ignore levels) { t.dirs[rel] = ignore }
	return t, f.Walk(ctx, func(kb.Entry) error { return nil })
}

// ruleFiles are the files that say what is left out of a folder and do not lie
// where the walk looks: those of the directories above, up to the root of the
// work tree, and info/exclude.
func ruleFiles(dir string) (out []string) {
	for d := dir; ; d = filepath.Dir(d) {
		if d != dir {
			out = append(out, filepath.Join(d, ".gitignore"), filepath.Join(d, OwnRules))
		}
		if dotGit := filepath.Join(d, ".git"); resolveDotGit(dotGit) != "" {
			return append(out, filepath.Join(commonDir(dotGit), "info", "exclude"))
		}
		if filepath.Dir(d) == d {
			return nil // no work tree
		}
	}
}

// Dirs returns the directories as absolute paths, parents before children, and
// after them those in which the rules lie that hold from elsewhere.
func (t *Tree) Dirs() []string {
	rels := slices.Sorted(maps.Keys(t.dirs))
	for i, rel := range rels {
		rels[i] = filepath.Join(t.f.dir, filepath.FromSlash(rel))
	}
	for _, file := range t.rules {
		if dir := filepath.Dir(file); isDir(dir) && !slices.Contains(rels, dir) {
			rels = append(rels, dir)
		}
	}
	return rels
}

// Wants reports whether something that happened to the file or directory at
// the absolute path name can change what the folder's documents are. What is
// ignored, and what no rule ever selects, cannot; rules themselves can.
func (t *Tree) Wants(name string, isDir bool) bool {
	if slices.Contains(t.rules, name) {
		return true
	}
	rel, err := filepath.Rel(t.f.dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	if rel = filepath.ToSlash(rel); rel == "." {
		return true
	}
	dir, base := path.Split(rel)
	ignore, known := t.dirs[dir]
	switch {
	case base == ".gitignore", base == OwnRules:
		return true
	case silentDirs[base]:
		return base == ".git" // rules begin or end where a work tree does
	case base == venvMarker:
		return true
	case !known:
		return true // a directory that came since
	case !t.f.sel.wants(rel, isDir):
		return false
	}
	t.f.budget.Earn(rulesBudget / 100) // each event is asked for by itself
	switch reason, keeper := ignore.decides(t.f.top+rel, isDir); {
	case keeper != "":
		return true
	case reason != "" && !t.f.sel.named(rel):
		return false
	}
	if r := dirReason(base, t.f.sel.all); isDir && r != "" && !t.f.sel.exempt(rel, r) {
		return false
	}
	if r := fileReason(base, t.f.sel.all); !isDir && r != "" && !t.f.sel.exempt(rel, r) {
		return false
	}
	return true
}

// Shapes reports whether something that happened to the file at the absolute path
// name can change which directories these are: rules, and names by which a directory
// shows what it is.
func (t *Tree) Shapes(name string) bool {
	switch base := filepath.Base(name); base {
	case ".gitignore", OwnRules, venvMarker:
		return true
	default:
		return isSign(base) || slices.Contains(t.rules, name)
	}
}

// Settling returns a function that reports whether a version control program
// is changing the work tree around the folder at this moment, so that who
// watches can wait for the whole of it.
func Settling(spec kb.Spec) func() bool {
	for dir := spec.Source; ; {
		if own := resolveDotGit(filepath.Join(dir, ".git")); own != "" {
			lock := filepath.Join(own, "index.lock")
			return func() bool {
				_, err := os.Lstat(lock)
				return err == nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return func() bool { return false }
		}
		dir = parent
	}
}
