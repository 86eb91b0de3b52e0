package source

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Repository reads the commits, trees and blobs of a git repository on this
// machine. It is not safe for concurrent use.
type Repository struct {
	objects *objects
	dirs    gitDirs
}

// OpenRepository opens the repository of the work tree at root, or the bare one
// there. Errors: kb.NotFound where there is none; kb.Invalid where it is of a
// format that cannot be read.
func OpenRepository(root string) (*Repository, error) {
	d, ok := gitDirsAt(root)
	if !ok {
		return nil, kb.Errorf(kb.NotFound, "%q is not a git repository", root).WithHint("make it one with: git init")
	}
	if what := unsupportedFormat(d.common); what != "" {
		return nil, kb.Errorf(kb.Invalid, "the repository at %q has %s, which cannot be read", root, what)
	}
	return &Repository{objects: openObjects(d), dirs: d}, nil
}

// Close gives its files back.
func (r *Repository) Close() error { return r.objects.Close() }

// Common is the directory that all work trees of the repository share, with
// symbolic links resolved.
func (r *Repository) Common() string {
	if real, err := filepath.EvalSymlinks(r.dirs.common); err == nil {
		return real
	}
	return r.dirs.common
}

// Head returns the commit that is checked out. kb.NotFound before the first.
func (r *Repository) Head() (plumbing.Hash, error) {
	h, err := r.objects.resolve(plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return h, kb.Errorf(kb.NotFound, "the repository has no commit yet").WithHint("ask again after the first: git commit")
	}
	return h, err
}

// Commit returns a commit. The error is plumbing.ErrObjectNotFound for one that
// a shallow clone lacks.
func (r *Repository) Commit(h plumbing.Hash) (*object.Commit, error) {
	return object.GetCommit(r.objects, h)
}

// Revision returns the commit that a revision names: a hash or the beginning of
// one, a branch, a tag or HEAD, with ~N or ^ behind it as git has them. kb.NotFound
// for what names none, kb.Invalid for the beginning of several.
func (r *Repository) Revision(rev string) (plumbing.Hash, error) {
	name, back := backFrom(rev)
	h, err := r.named(name)
	for ; err == nil && back > 0; back-- {
		var c *object.Commit
		if c, err = r.objects.commit(h); err == nil && c.NumParents() == 0 {
			err = plumbing.ErrObjectNotFound
		} else if err == nil {
			h = c.ParentHashes[0]
		}
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, plumbing.ErrReferenceNotFound) {
		return h, kb.Errorf(kb.NotFound, "the repository has no revision %q", kb.Clip(rev, 80)).
			WithHint("list commits with: git log --oneline, branches and tags with: git branch --all; git tag")
	}
	return h, err
}

// backFrom parts a revision from how many first parents it goes back.
func backFrom(rev string) (name string, back int) {
	for name = rev; ; {
		m := backRE.FindStringSubmatch(name)
		if m == nil {
			return name, back
		}
		n := 1
		if m[2] != "" {
			if n, _ = strconv.Atoi(m[2]); n > 1_000_000 {
				return name, back
			}
		}
		name, back = m[1], back+n
	}
}

// Tip returns the hash that the reference which a revision begins with has now; ok
// is false for one that begins with no reference. No object is read: as long as
// it is the same, so is the commit that Revision returns.
func (r *Repository) Tip(rev string) (h plumbing.Hash, ok bool) {
	name, _ := backFrom(rev)
	for _, full := range spellings(name) {
		if h, err := r.objects.resolve(full); err == nil {
			return h, true
		}
	}
	return h, false
}

// spellings are the references that a name may mean, as git has them.
func spellings(name string) (out []plumbing.ReferenceName) {
	for _, full := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name} {
		if full == "HEAD" || strings.HasPrefix(full, "refs/") {
			out = append(out, plumbing.ReferenceName(full))
		}
	}
	return out
}

// backRE is a revision with the number of first parents that it goes back.
var backRE = lazyregexp.New(`^(.+?)(?:~([0-9]{0,9})|\^)$`)

// named returns the commit of a reference, else of a hash or its beginning.
func (r *Repository) named(name string) (plumbing.Hash, error) {
	for _, full := range spellings(name) {
		h, err := r.objects.resolve(full)
		if err == nil {
			c, err := r.objects.commit(h)
			if err != nil {
				return h, err
			}
			return c.Hash, nil
		}
	}
	if !hexRE.MatchString(name) {
		return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
	}
	all, err := r.objects.withPrefix(strings.ToLower(name))
	switch {
	case err != nil:
		return plumbing.ZeroHash, err
	case len(all) == 0:
		return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
	case len(all) > 1:
		return plumbing.ZeroHash, kb.Errorf(kb.Invalid, "%d commits begin with %q", len(all), name).WithHint("give more of the hash")
	}
	return all[0], nil
}

var hexRE = lazyregexp.New(`^[0-9a-fA-F]{4,40}$`)

// Tree returns a tree.
func (r *Repository) Tree(h plumbing.Hash) (*object.Tree, error) {
	return object.GetTree(r.objects, h)
}

// ErrTooLarge is the error of a blob that is larger than asked for.
var ErrTooLarge = errTooLarge

// Blob returns the bytes of a blob of at most limit bytes.
func (r *Repository) Blob(h plumbing.Hash, limit int64) ([]byte, error) {
	return r.objects.blob(h, limit)
}
