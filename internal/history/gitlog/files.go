package gitlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"crypto/sha1" // the names that git gives to blobs

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// File returns a file as a commit has it; ok is false where it has none, or one
// that is too large. A zero commit has no files.
func (l *Log) File(repo *source.Repository, commit plumbing.Hash, path string) (body []byte, ok bool, err error) {
	if commit.IsZero() {
		return nil, false, nil
	}
	c, err := repo.Commit(commit)
	if err != nil {
		return nil, false, err
	}
	t := &tracing{log: l, repo: repo, trees: map[plumbing.Hash]*object.Tree{}}
	blob, err := t.find(c.TreeHash, path)
	if err != nil || blob.IsZero() {
		return nil, false, err
	}
	body, err = repo.Blob(blob, largestFile)
	if errors.Is(err, source.ErrTooLarge) || errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// mostHashed bounds what Uncommitted reads of a work tree, in bytes.
const mostHashed = 256 << 20

// Uncommitted returns those of paths, and of the files of the commit head, whose
// content in the work tree is another than in head, or that only one has. A file
// of the same size that is older than the commit counts as the same.
func (l *Log) Uncommitted(ctx context.Context, repo *source.Repository, head plumbing.Hash, paths []string, root *os.Root) ([]string, error) {
	c, err := repo.Commit(head)
	if err != nil {
		return nil, err
	}
	t := &tracing{log: l, repo: repo, trees: map[plumbing.Hash]*object.Tree{}}
	var out []string
	budget := int64(mostHashed)
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		blob, err := t.find(c.TreeHash, p)
		if err != nil {
			return nil, err
		}
		if blob.IsZero() {
			out = append(out, p)
			continue
		}
		info, err := root.Stat(filepath.FromSlash(p))
		if errors.Is(err, fs.ErrNotExist) {
			out = append(out, p)
			continue
		}
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(c.Committer.When) || info.Size() > largestFile || info.Size() > budget {
			continue
		}
		budget -= info.Size()
		b, err := root.ReadFile(filepath.FromSlash(p))
		if err != nil {
			continue
		}
		sum := sha1.New()
		fmt.Fprintf(sum, "blob %d\x00", len(b))
		sum.Write(b)
		if plumbing.Hash(sum.Sum(nil)) != blob {
			out = append(out, p)
		}
	}
	return out, nil
}
