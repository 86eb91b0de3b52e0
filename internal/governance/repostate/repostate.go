// Package repostate reads the state of a git work tree: its branch, its distance
// from the upstream, the numbers of staged, changed and untracked paths. It writes
// one thing only, on request: a section of the repository's own configuration
// (SetSession).
//
// Nothing in a repository is executed. An installed git is preferred, since it is
// fast on large trees; it runs so that the repository's configuration starts
// nothing: no hooks, no file system monitor, no filters of the repository's own,
// no transports, no locks, no recursion into submodules. Without git, or when it
// refuses, this package reads the index and the work tree itself, by the same
// rules: the counts are those of `git status --porcelain=v2`. A test compares both
// ways with it.
//
// Not followed without git: filters and encodings that .gitattributes name, ident
// expansion, includes in configuration files, and indexes that are split or sparse
// (which is reported). A repository that cannot be read in either way is
// Unreadable, and its branch is what HEAD says.
package repostate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Reader reads one work tree. Its fields are not changed once it is in use.
type Reader struct {
	Root string // of the work tree, absolute
	Git  string // the program git, absolute; "" does without
	Env  func(string) string
}

// Of returns a reader of the work tree at root with the installed git, if there
// is one. A program of the repository itself is not asked how the repository is.
func Of(root string, env func(string) string) *Reader {
	r := &Reader{Root: root, Env: env}
	if git, err := exec.LookPath("git"); err == nil && filepath.IsAbs(git) {
		if real, err := filepath.EvalSymlinks(git); err == nil {
			if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
				r.Git = git
			}
		}
	}
	return r
}

// State describes a work tree. A path counts as staged or unstaged as
// `git status --porcelain=v2` has it: a rename is one, a conflict is both.
// An untracked directory is one, whatever is in it.
type State struct {
	Available bool
	Branch    string // "HEAD" when no branch is checked out
	Detached  bool
	Commit    string // "" before the first
	Upstream  string // "origin/main"; "" without one
	Ahead     int
	Behind    int
	Staged    int
	Unstaged  int
	Untracked int
	Conflicts int
	// Unreadable is set where there is a repository that could not be read: Note
	// says why. Branch and Detached are then as HEAD has them, if that can be read.
	Unreadable bool
	Note       string // what is not known, and why
}

// Dirty reports whether anything differs from the last commit.
func (s State) Dirty() bool { return s.Staged+s.Unstaged+s.Untracked+s.Conflicts > 0 }

// limit bounds the time to read a work tree.
const limit = 30 * time.Second

// State reads the state of the work tree. It fails only when ctx ends; a tree that
// cannot be read is not available, for the reason in Note. Secrets in what the
// repository says are masked.
func (r *Reader) State(ctx context.Context) (State, error) {
	s, err := r.state(ctx)
	mask(&s.Branch, &s.Upstream, &s.Note)
	return s, err
}

// mask masks the secrets in texts of the repository, as in what is indexed.
func mask(texts ...*string) {
	for _, t := range texts {
		*t, _ = secret.Mask("", *t)
	}
}

func (r *Reader) state(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d, err := r.open()
	if err != nil {
		s := Lost(r.Root, filepath.Dir(r.Root))
		s.Note = cmp.Or(s.Note, err.Error())
		return s, nil
	}
	if err := d.irregular(); err != nil {
		return d.unreadable(err.Error()), nil
	}
	s, err := r.installed(ctx, d)
	if err != nil && ctx.Err() == nil {
		s, err = r.native(ctx, d)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return d.unreadable("the work tree is too large to look through in time"), nil
	case ctx.Err() != nil:
		return State{}, ctx.Err()
	case err != nil:
		return d.unreadable(err.Error()), nil
	}
	return s, nil
}

// Lost looks for a .git that leads to no repository, in dir and in the folders
// above it but not in stop or above that; "" looks in all. It returns the
// state of what cannot be read, and the zero State where there is none.
func Lost(dir, stop string) State {
	for dir != stop {
		path := filepath.Join(dir, ".git")
		if _, err := os.Lstat(path); err == nil {
			d := dirs{root: dir, git: path, common: path}
			return d.unreadable(fmt.Sprintf("%q leads to no git repository that can be read", path))
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return State{}
}

// unreadable is the state of a repository that cannot be read for a reason:
// what is checked out is still taken from HEAD, if that is readable.
func (d dirs) unreadable(why string) State {
	s := State{Unreadable: true, Note: why}
	branch, _, err := d.head()
	if s.Branch = branch; err == nil && branch == "" {
		s.Branch, s.Detached = "HEAD", true
	}
	return s
}

// irregular returns an error for a file of the repository that is something
// else: opening a pipe would wait for a writer.
func (d dirs) irregular() error {
	for _, path := range []string{
		filepath.Join(d.git, "HEAD"), filepath.Join(d.git, "index"), filepath.Join(d.git, "config.worktree"),
		filepath.Join(d.common, "config"), filepath.Join(d.common, "packed-refs"),
	} {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return kb.Errorf(kb.Corrupt, "%q is no regular file", path).WithHint("see: git fsck")
		}
	}
	return nil
}

// dirs are the directories of a repository.
type dirs struct {
	root   string
	git    string // HEAD and index of this work tree
	common string // objects, refs and configuration of all work trees
	bare   bool
}

// open finds the repository whose work tree is Root. See gitrepository-layout(5).
func (r *Reader) open() (dirs, error) { return find(r.Root) }

func find(root string) (dirs, error) {
	d := dirs{root: root, git: filepath.Join(root, ".git")}
	none := kb.Errorf(kb.NotFound, "%q is not the root of a git repository", root).WithHint("name one with --project")
	info, err := os.Stat(d.git)
	switch {
	case err != nil:
		d.git, d.bare = root, true
	case !info.IsDir():
		target, ok := strings.CutPrefix(line(d.git), "gitdir:")
		if !ok {
			return d, none
		}
		d.git = under(root, strings.TrimSpace(target))
	}
	d.common = d.git
	if l := line(filepath.Join(d.git, "commondir")); l != "" {
		d.common = under(d.git, l)
	}
	if _, err := os.Lstat(filepath.Join(d.git, "HEAD")); err != nil {
		return d, none
	}
	if info, err := os.Stat(filepath.Join(d.common, "objects")); err != nil || !info.IsDir() {
		return d, none
	}
	return d, nil
}

func under(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// maxSmall bounds files of configuration.
const maxSmall = 1 << 20

// small returns the content of a small regular file, "" for anything else.
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSmall {
		return ""
	}
	b, _ := os.ReadFile(path)
	return string(b)
}

func line(path string) string {
	l, _, _ := strings.Cut(small(path), "\n")
	return strings.TrimSpace(l)
}

// repository opens the repository with go-git.
func (d dirs) repository() (*git.Repository, error) {
	repo, err := git.PlainOpenWithOptions(d.root, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	// go-git takes versions that it does not know for none.
	if v := d.config().Section("core").Option("repositoryformatversion"); err == nil && v != "" && v != "0" && v != "1" {
		err = fmt.Errorf("its format has version %q", v)
	}
	if err != nil {
		return nil, kb.Errorf(kb.Unsupported, "the repository %q cannot be read without an installed git: %w", d.root, err).
			WithHint("install git")
	}
	return repo, nil
}

// index reads the list of what is tracked.
func (d dirs) index() (*index.Index, error) {
	if err := d.irregular(); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(d.git, "index"))
	if errors.Is(err, os.ErrNotExist) {
		return &index.Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	idx := &index.Index{}
	if err := index.NewDecoder(f).Decode(idx); err != nil {
		return nil, kb.Errorf(kb.Unsupported, "the index of %q cannot be read without an installed git: %w", d.root, err).
			WithHint("install git")
	}
	return idx, nil
}

// maxLinks bounds how many references name one another, as in git.
const maxLinks = 5

// head returns what is checked out: a branch, or a commit, or both. As git
// does it follows references that name others, and takes a link for one.
// On error branch is that which HEAD names, if it names any.
func (d dirs) head() (branch string, commit plumbing.Hash, err error) {
	corrupt := kb.Errorf(kb.Corrupt, "HEAD of %q cannot be read", d.root).WithHint("see: git fsck")
	said, ok := reference(filepath.Join(d.git, "HEAD"))
	for range maxLinks {
		target, symbolic := strings.CutPrefix(said, "ref:")
		if !symbolic {
			if !ok || !isHash(said) {
				return branch, commit, corrupt
			}
			return branch, hashOf(said), nil
		}
		ref := strings.TrimSpace(target)
		// git writes the latter where references have a form that is not read here.
		if !strings.HasPrefix(ref, "refs/") || plumbing.ReferenceName(ref).Validate() != nil || ref == "refs/heads/.invalid" {
			return "", commit, corrupt
		}
		branch = strings.TrimPrefix(ref, "refs/heads/")
		if said, ok = reference(filepath.Join(d.common, filepath.FromSlash(ref))); !ok {
			if commit, ok = d.packed(ref); !ok {
				return branch, commit, corrupt
			}
			return branch, commit, nil // zero before the first commit
		}
	}
	return "", commit, corrupt
}

// reference returns what the file of a reference says, and whether there is
// one. In old repositories it is a link to another.
func reference(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() { // a folder has references of longer names
		return "", false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(filepath.ToSlash(to), "refs/") {
			return "ref: " + filepath.ToSlash(to), true
		}
	}
	return line(path), true
}

// packed looks a reference up in the file of packed ones. It returns false for
// a file that cannot be read.
func (d dirs) packed(ref string) (commit plumbing.Hash, ok bool) {
	all, err := os.ReadFile(filepath.Join(d.common, "packed-refs"))
	if err != nil {
		return commit, errors.Is(err, os.ErrNotExist)
	}
	for l := range strings.SplitSeq(string(all), "\n") {
		hash, name, _ := strings.Cut(strings.TrimPrefix(l, "^"), " ")
		switch {
		case l == "", l[0] == '#':
		case !isHash(hash):
			return commit, false
		case name == ref:
			return hashOf(hash), true
		}
	}
	return commit, true
}

// isHash reports whether a text is the name of an object, SHA-1 or SHA-256.
func isHash(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' && c|0x20 < 'a' || c|0x20 > 'f' {
			return false
		}
	}
	return len(s) == 40 || len(s) == 64
}

// hashOf returns the name of an object; zero for SHA-256, of which nothing is read here.
func hashOf(s string) plumbing.Hash {
	if len(s) != 40 {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(s)
}

// merged is the stage of what is not in conflict; go-git's constant of that
// name is the stage of the common ancestor.
const merged index.Stage = 0
