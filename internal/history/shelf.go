package history

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// A log lies at history/NAME.log, named for the directory of its repository,
// which all work trees of it share.
const (
	folder = "history"
	logExt = ".log"
)

// How long one call may read commits, for agents and for people; the log keeps
// what was read.
const (
	readingTime       = 5 * time.Second
	readingTimePerson = time.Minute
)

// past is the project's repository with its log, brought up to date.
type past struct {
	root *os.Root // of the work tree
	repo *source.Repository
	log  *gitlog.Log
	head plumbing.Hash
	note string
}

func (p *past) Close() error { return errors.Join(p.repo.Close(), p.root.Close()) }

// open opens the history of the project that asks.
func open(ctx context.Context, a *app.App, w app.Waiting) (*past, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	where, err := a.Where()
	if err != nil {
		return nil, err
	}
	if where.None {
		return nil, kb.Errorf(kb.NotFound, "there is no project here, and only the history of a project's own repository is known").
			WithHint("start in a work tree, or name one where this program is started: knowledge --project FOLDER")
	}
	for _, place := range source.GitPlaces(where.Root) {
		if err := a.Admit(ctx, c, place); err != nil {
			return nil, err
		}
	}
	repo, err := source.OpenRepository(where.Root)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(where.Root)
	if err != nil {
		repo.Close()
		return nil, kb.Errorf(kb.NotFound, "open the folder of the project: %w", err)
	}
	p := &past{root: root, repo: repo}
	if p.head, err = repo.Head(); err == nil {
		err = p.read(ctx, c, w)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// read opens the log, reads what it lacks, and keeps it.
func (p *past) read(ctx context.Context, c *app.Core, w app.Waiting) error {
	of := p.repo.Common()
	sum := sha256.Sum256([]byte(of))
	path := filepath.Join(c.Dir, folder, hex.EncodeToString(sum[:12])+logExt)
	log, kept, err := gitlog.Open(path)
	switch {
	case err != nil && kb.CodeOf(err) == kb.Newer:
		return err
	case err != nil || kept != of: // none yet, or damaged
		log = gitlog.New()
	}
	p.log = log
	limit := readingTime
	if w.Person {
		limit = readingTimePerson
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	whole, err := log.Extend(bounded, p.repo, p.head)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if !whole {
		p.note = kb.Count(log.Len(), "commit") + " are read so far, the newest; ask again for what is older"
	} else if log.Shallow() {
		p.note = "the clone is shallow: what is older than its " + kb.Count(log.Len(), "commit") + " is had with: git fetch --unshallow"
	}
	if !log.Grown() {
		return nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return nil // nothing can be written: the log is read again
	}
	if err := log.Write(path, of); err != nil && !app.CannotWrite(err) {
		return err
	}
	return nil
}

// largestFile is the size of a file of the work tree that is looked at.
const largestFile = 4 << 20

// body returns a file of the work tree.
func (p *past) body(path string) ([]byte, error) {
	f, err := p.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > largestFile {
		return nil, kb.Errorf(kb.Invalid, "%q is no file of at most 4 MB", path)
	}
	return io.ReadAll(io.LimitReader(f, largestFile+1))
}

// ignored returns the commits that .git-blame-ignore-revs names.
func (p *past) ignored() map[plumbing.Hash]bool {
	b, err := p.body(".git-blame-ignore-revs")
	if err != nil {
		return nil
	}
	out := map[plumbing.Hash]bool{}
	for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
		text, _, _ := strings.Cut(s.Text(), "#")
		if text = strings.TrimSpace(text); len(text) == 40 {
			out[plumbing.NewHash(text)] = true
		}
	}
	return out
}

// logFiles are the logs. One is over whose repository is no more, or that is damaged.
var logFiles = app.Kept{Folder: folder, Ext: logExt, Files: "histories", What: "history of a repository that is gone",
	Over: func(path string) bool {
		_, of, err := gitlog.Open(path)
		if err == nil {
			_, err = os.Stat(of)
		}
		return kb.CodeOf(err) == kb.Corrupt || errors.Is(err, fs.ErrNotExist)
	}}

// sweep deletes what is over, and what killed processes left.
func sweep(ctx context.Context, c *app.Core) error {
	if _, err := atomicfile.CleanTemp(filepath.Join(c.Dir, folder), app.TempAge); err != nil {
		return err
	}
	return logFiles.Remove(ctx, c)
}
