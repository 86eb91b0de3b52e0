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
// (which is reported).
package repostate

import (
	"context"
	"errors"
	"os"
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
	Note      string // what is not known, and why
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
		return State{Note: err.Error()}, nil
	}
	s, err := r.installed(ctx, d)
	if err != nil && ctx.Err() == nil {
		s, err = r.native(ctx, d)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return State{Note: "the work tree is too large to look through in time"}, nil
	case ctx.Err() != nil:
		return State{}, ctx.Err()
	case err != nil:
		return State{Note: err.Error()}, nil
	}
	return s, nil
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
	if err != nil {
		return nil, kb.Errorf(kb.Unsupported, "the repository %q cannot be read without an installed git: %w", d.root, err).
			WithHint("install git")
	}
	return repo, nil
}

// index reads the list of what is tracked.
func (d dirs) index() (*index.Index, error) {
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

// head returns what is checked out: a branch, or a commit, or both.
func (d dirs) head() (branch string, commit plumbing.Hash, err error) {
	corrupt := kb.Errorf(kb.Corrupt, "HEAD of %q cannot be read", d.root).WithHint("see: git fsck")
	said := line(filepath.Join(d.git, "HEAD"))
	ref, symbolic := strings.CutPrefix(said, "ref:")
	if !symbolic {
		if !plumbing.IsHash(said) {
			return "", commit, corrupt
		}
		return "", plumbing.NewHash(said), nil
	}
	ref = strings.TrimSpace(ref)
	branch = plumbing.ReferenceName(ref).Short()
	// git writes the latter where references have a form that is not read here.
	if !filepath.IsLocal(filepath.FromSlash(ref)) || ref == "refs/heads/.invalid" {
		return "", commit, corrupt
	}
	if hash := line(filepath.Join(d.common, filepath.FromSlash(ref))); plumbing.IsHash(hash) {
		return branch, plumbing.NewHash(hash), nil
	}
	packed, err := os.ReadFile(filepath.Join(d.common, "packed-refs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", commit, corrupt
	}
	for l := range strings.SplitSeq(string(packed), "\n") {
		if hash, name, ok := strings.Cut(l, " "); ok && name == ref && plumbing.IsHash(hash) {
			return branch, plumbing.NewHash(hash), nil
		}
	}
	return branch, commit, nil // before the first commit
}

// merged is the stage of what is not in conflict; go-git's constant of that
// name is the stage of the common ancestor.
const merged index.Stage = 0
