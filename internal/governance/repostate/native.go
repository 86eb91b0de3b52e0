package repostate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// tree is a work tree that is compared without the help of git.
type tree struct {
	reader  *Reader
	dirs    dirs
	repo    *git.Repository
	idx     *index.Index
	written time.Time // when the index was
	tracked map[string]bool
	folders map[string]bool // that have something tracked, "" is the root
	config  settings
	attrs   map[string][]attrRule // rules by directory
}

// native reads HEAD, index and work tree.
func (r *Reader) native(ctx context.Context, d dirs) (State, error) {
	repo, err := d.repository()
	if err != nil {
		return State{}, err
	}
	branch, commit, err := d.head()
	if err != nil {
		return State{}, err
	}
	s := State{Available: true, Branch: branch, Detached: branch == ""}
	if s.Detached {
		s.Branch = "HEAD"
	}
	if !commit.IsZero() {
		s.Commit = commit.String()
	}
	if err := r.upstream(ctx, d, repo, &s, commit); err != nil {
		return State{}, err
	}
	if d.bare {
		return s, nil
	}
	t := &tree{reader: r, dirs: d, repo: repo, config: r.settings(d), attrs: map[string][]attrRule{}}
	if t.idx, err = d.index(); err != nil {
		return State{}, err
	}
	if info, err := os.Stat(filepath.Join(d.git, "index")); err == nil {
		t.written = info.ModTime()
	}
	var head map[string]file
	if !commit.IsZero() {
		if head, err = treeOf(repo, commit); err != nil {
			return State{}, err
		}
	}
	if err := t.staged(ctx, head, &s); err != nil {
		return State{}, err
	}
	if err := t.unstaged(ctx, &s); err != nil {
		return State{}, err
	}
	n, err := r.submodules(ctx, d, t.idx)
	if err != nil {
		return State{}, err
	}
	s.Unstaged += n
	return s, t.untracked(ctx, &s)
}

// file is a tracked path, as a commit or the index has it.
type file struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

func treeOf(repo *git.Repository, commit plumbing.Hash) (map[string]file, error) {
	c, err := repo.CommitObject(commit)
	if err != nil {
		return nil, err
	}
	root, err := c.Tree()
	if err != nil {
		return nil, err
	}
	out := map[string]file{}
	w := object.NewTreeWalker(root, true, nil)
	defer w.Close()
	for {
		name, e, err := w.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case e.Mode != filemode.Dir:
			out[name] = file{regularMode(e.Mode), e.Hash}
		}
	}
}

// regularMode reads modes of old repositories as git does.
func regularMode(m filemode.FileMode) filemode.FileMode {
	if m == filemode.Deprecated {
		return filemode.Regular
	}
	return m
}

// staged compares HEAD with the index.
func (t *tree) staged(ctx context.Context, head map[string]file, s *State) error {
	unmerged, have := map[string]bool{}, map[string]bool{}
	t.tracked, t.folders = map[string]bool{}, map[string]bool{"": true}
	var added []blob
	for _, e := range t.idx.Entries {
		t.tracked[e.Name] = true
		for dir := path.Dir(e.Name); dir != "." && !t.folders[dir]; dir = path.Dir(dir) {
			t.folders[dir] = true
		}
		if e.Stage != merged {
			unmerged[e.Name] = true
			continue
		}
		if e.IntentToAdd {
			continue
		}
		have[e.Name] = true
		was, ok := head[e.Name]
		switch {
		case !ok:
			added = append(added, t.stored(e.Name, e.Mode, e.Hash))
		case was.hash != e.Hash || was.mode != e.Mode:
			s.Staged++
		}
	}
	var deleted []blob
	for name, f := range head {
		if !have[name] && !unmerged[name] {
			deleted = append(deleted, t.stored(name, f.mode, f.hash))
		}
	}
	s.Conflicts = len(unmerged)
	s.Staged += len(added) + len(deleted) + s.Conflicts
	s.Unstaged += s.Conflicts
	n, err := renames(ctx, deleted, added)
	s.Staged -= n
	return err
}

// stored is a blob of the object database.
func (t *tree) stored(name string, mode filemode.FileMode, hash plumbing.Hash) blob {
	return blob{name: name, mode: mode, hash: hash, load: func() ([]byte, error) { return t.object(hash) }}
}

func (t *tree) object(hash plumbing.Hash) ([]byte, error) {
	o, err := t.repo.BlobObject(hash)
	if err != nil {
		return nil, err
	}
	rd, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	return io.ReadAll(rd)
}

// unstaged compares the index with the work tree.
func (t *tree) unstaged(ctx context.Context, s *State) error {
	var deleted, added []blob
	for _, e := range t.idx.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Stage != merged || e.SkipWorktree || e.Mode == filemode.Submodule {
			continue
		}
		info, there := t.lstat(e.Name)
		switch {
		case !there:
			deleted = append(deleted, t.stored(e.Name, e.Mode, e.Hash))
		case e.IntentToAdd:
			added = append(added, t.inTree(e, info))
		case t.changed(e, info):
			s.Unstaged++
		}
	}
	n, err := renames(ctx, deleted, added)
	s.Unstaged += len(deleted) + len(added) - n
	return err
}

// lstat looks at a tracked path. A path behind a link, and a directory in place of
// a file, do not exist.
func (t *tree) lstat(name string) (fs.FileInfo, bool) {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(t.dirs.root, filepath.FromSlash(name[:i])))
		if err != nil || !info.IsDir() {
			return nil, false
		}
	}
	info, err := os.Lstat(filepath.Join(t.dirs.root, filepath.FromSlash(name)))
	if err != nil || info.IsDir() {
		return nil, false
	}
	return info, true
}

// modeOf returns the mode that git would track for a file. Where the file system
// has no links or no executable files, that of the index holds.
func (t *tree) modeOf(e *index.Entry, info fs.FileInfo) filemode.FileMode {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return filemode.Symlink
	case e.Mode == filemode.Symlink && !t.config.symlinks:
		return filemode.Symlink
	case !t.config.filemode:
		if e.Mode == filemode.Executable {
			return filemode.Executable
		}
	case info.Mode()&0o100 != 0:
		return filemode.Executable
	}
	return filemode.Regular
}

// changed reports whether a file differs from its entry, by git's rules: the time
// and size in the index are believed, unless the file may have changed at the
// moment when the index was written; another size is another content, even if
// only ends of line differ.
func (t *tree) changed(e *index.Entry, info fs.FileInfo) bool {
	if t.modeOf(e, info) != regularMode(e.Mode) {
		return true
	}
	same := uint32(info.Size()) == e.Size
	if !same && e.Size != 0 { // 0 also means "not known"
		return true
	}
	if same && info.ModTime().Equal(e.ModifiedAt) && e.ModifiedAt.Before(t.written.Truncate(time.Second)) {
		return false
	}
	content, err := t.content(e, info)
	if err != nil {
		return true // git counts what it cannot read as changed
	}
	return plumbing.ComputeHash(plumbing.BlobObject, content) != e.Hash
}

// maxCompared is the size in bytes of the largest file that is compared by
// content; a larger one counts as changed when its size or time did.
const maxCompared = 256 << 20

// content is what git would store of a file of the work tree.
func (t *tree) content(e *index.Entry, info fs.FileInfo) ([]byte, error) {
	name := filepath.Join(t.dirs.root, filepath.FromSlash(e.Name))
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(name)
		return []byte(filepath.ToSlash(to)), err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCompared {
		return nil, errors.ErrUnsupported
	}
	raw, err := os.ReadFile(name)
	if err != nil || e.Mode == filemode.Symlink {
		return raw, err
	}
	return t.toGit(e, raw), nil
}

// inTree is a file of the work tree that is to be added.
func (t *tree) inTree(e *index.Entry, info fs.FileInfo) blob {
	content, err := t.content(e, info)
	if err != nil {
		content = nil
	}
	return blob{name: e.Name, mode: t.modeOf(e, info), hash: plumbing.ComputeHash(plumbing.BlobObject, content),
		load: func() ([]byte, error) { return content, nil }}
}

// untracked counts what is neither tracked nor ignored. A directory of which
// nothing is tracked counts as one when it holds a file.
func (t *tree) untracked(ctx context.Context, s *State) error {
	level := gitignore.Parse(nil, "", t.config.excludes)
	level = gitignore.Parse(level, "", small(filepath.Join(t.dirs.common, "info", "exclude")))
	n, err := t.walk(ctx, "", level, false)
	s.Untracked = n
	return err
}

// walk counts below the directory rel, which is "" or ends in a slash. With
// one set it is enough to find one.
func (t *tree) walk(ctx context.Context, rel string, level *gitignore.Level, one bool) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	dir := filepath.Join(t.dirs.root, filepath.FromSlash(rel))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, nil // git warns and goes on
	}
	level = level.In(rel)
	ignore := filepath.Join(dir, ".gitignore")
	if info, err := os.Lstat(ignore); err == nil && info.Mode().IsRegular() { // git does not follow links here
		level = gitignore.Parse(level, rel, small(ignore))
	}
	for _, e := range entries {
		name := rel + e.Name()
		isDir := e.IsDir()
		switch {
		case e.Name() == ".git" || runtime.GOOS != "linux" && strings.EqualFold(e.Name(), ".git"):
		case t.tracked[name]: // a submodule, too: changes in it are not untracked here
		case !isDir && !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0: // git tracks no pipes
		case level.Ignored(name, isDir): // with all untracked files below
		case !isDir, !t.folders[name] && isRepository(filepath.Join(dir, e.Name())):
			n++
		default:
			below, err := t.walk(ctx, name+"/", level, one || !t.folders[name])
			if err != nil {
				return n, err
			}
			if !t.folders[name] {
				below = min(below, 1)
			}
			n += below
		}
		if one && n > 0 {
			return n, nil
		}
	}
	return n, nil
}

// isRepository reports whether a directory is a repository with a work tree.
func isRepository(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return false
	}
	_, err := find(dir)
	return err == nil
}
