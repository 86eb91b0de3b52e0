package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A backup is a folder that is laid out as the data directory is, without what is
// made again by itself: views, machine code of grammars, copies of repositories. Files
// of the index never change, so a backup into the same folder copies what is new.
// The database comes last: a backup that was cut short is the one before it.

// backupFile says of a folder that it is a backup.
const backupFile = "backup.json"

// Backup is what a backup consists of.
type Backup struct {
	Format  string    `json:"format"` // "knowledge backup 1"
	Time    time.Time `json:"time"`
	Program string    `json:"program"` // version
	Stores  int       `json:"stores"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Copied  int64     `json:"copied"` // bytes that were not there yet
}

// Database is the open database of a data directory.
type Database interface {
	Path() string
	CopyTo(ctx context.Context, path string) error
}

// databaseFile is the database in a backup, as in a data directory.
const databaseFile = "knowledge.db"

const backupFormat = "knowledge backup 1"

// kept are the folders of the data directory that are copied beside the index.
var kept = []string{"web", "replies", "evidence", "team"}

// Backup copies the data directory as it is at one moment, while others go on, into
// a folder that is empty or an older backup of it.
func (p Place) Backup(ctx context.Context, d Database, to string) (b Backup, err error) {
	if err := backupable(p.Dir, to); err != nil {
		return b, err
	}
	r, err := p.begin("")
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	snapshot := filepath.Join(r.dir, databaseFile)
	needed, stores, err := r.snapshot(ctx, d, snapshot)
	if err != nil {
		return b, err
	}
	b = Backup{Format: backupFormat, Time: time.Now().UTC(), Program: p.Program, Stores: stores}
	for _, name := range needed {
		if err := b.take(ctx, p.Dir, to, name, true); err != nil {
			return b, err
		}
	}
	for _, folder := range kept {
		err := filepath.WalkDir(filepath.Join(p.Dir, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || strings.HasSuffix(path, ".lock") {
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			}
			name, err := filepath.Rel(p.Dir, path)
			if err != nil {
				return err
			}
			needed = append(needed, name)
			return b.take(ctx, p.Dir, to, name, false)
		})
		if err != nil {
			return b, err
		}
	}
	if err := copyFile(snapshot, filepath.Join(to, databaseFile)); err != nil {
		return b, err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return b, err
	}
	if err := atomicfile.Write(filepath.Join(to, backupFile), append(text, '\n')); err != nil {
		return b, err
	}
	return b, prune(to, needed)
}

// backupable refuses a folder in which something else lies.
func backupable(data, to string) error {
	if real, err := filepath.EvalSymlinks(filepath.Dir(to)); err == nil {
		if rel, err := filepath.Rel(data, filepath.Join(real, filepath.Base(to))); err == nil && filepath.IsLocal(rel) {
			return kb.Errorf(kb.Invalid, "a backup in the data directory %q would go with it", data).WithHint("name a folder on another disk")
		}
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kb.Errorf(kb.Denied, "the folder %q cannot be read: %w", to, err).WithHint("name another folder")
	}
	if len(entries) == 0 {
		return atomicfile.MkdirAll(to)
	}
	if _, err := readBackup(to); err != nil {
		return kb.Errorf(kb.Exists, "%q holds something that is no backup", to).WithHint("name an empty folder, or an older backup")
	}
	return nil
}

// snapshot copies the database, and keeps the files that it needs from being
// deleted. It returns their names below the data directory.
func (r *run) snapshot(ctx context.Context, d Database, to string) (needed []string, stores int, err error) {
	for range 20 {
		// What the heads of now need is held first, so that it is there when the copy
		// is made; a head that was published in between is held the next time.
		now, err := r.Catalog.All(ctx)
		if err == nil {
			err = r.Catalog.UseSegments(ctx, r.id, filesOf(now)...)
		}
		if err != nil {
			return nil, 0, err
		}
		_ = os.Remove(to) // of the time before
		if err := d.CopyTo(ctx, to); err != nil {
			return nil, 0, err
		}
		all, err := catalog.Look(ctx, to)
		if err != nil {
			return nil, 0, err
		}
		before, err := r.Catalog.Used(ctx, r.id)
		if err != nil {
			return nil, 0, err
		}
		names := filesOf(all)
		if err := r.Catalog.UseSegments(ctx, r.id, names...); err != nil {
			return nil, 0, err
		}
		after, err := r.Catalog.Used(ctx, r.id)
		if err != nil {
			return nil, 0, err
		}
		if before == after { // all of it was held before the copy
			needed, err = r.below(names)
			return needed, len(all), err
		}
	}
	return nil, 0, kb.Errorf(kb.Busy, "stores are published faster than the database is copied").WithHint("try again when fewer jobs run")
}

func filesOf(all []catalog.Entry) (names []string) {
	for _, e := range all {
		if e.Head != nil {
			names = append(names, catalog.Files(*e.Head)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// below returns the files that names of the index stand for, with those beside them.
func (r *run) below(names []string) (files []string, err error) {
	stems := map[string]bool{}
	for _, n := range names {
		stem, _, _ := strings.Cut(n, ".")
		stems[stem] = true
	}
	for _, folder := range []string{"segments", "generations"} {
		entries, err := os.ReadDir(filepath.Join(r.Dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, kb.Errorf(kb.Denied, "the data directory cannot be read: %w", err).WithHint("check its permissions")
		}
		for _, e := range entries {
			if stem, _, _ := strings.Cut(e.Name(), "."); stems[stem] && e.Type().IsRegular() {
				files = append(files, filepath.Join(folder, e.Name()))
			}
		}
	}
	return files, nil
}

// take copies one file unless it is there; same says that files of a name and size are one.
func (b *Backup) take(ctx context.Context, from, to, name string, same bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	source, target := filepath.Join(from, name), filepath.Join(to, name)
	is, err := os.Stat(source)
	if errors.Is(err, fs.ErrNotExist) && !same {
		return nil // it went just now, with its store
	}
	if err != nil {
		return kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err).WithHint("look with: knowledge verify")
	}
	b.Files++
	b.Bytes += is.Size()
	kb.Report(ctx, kb.Progress{Phase: "backup", Done: int64(b.Files)})
	if there, err := os.Stat(target); same && err == nil && there.Size() == is.Size() {
		return nil
	}
	b.Copied += is.Size()
	return copyFile(source, target)
}

// copyFile copies a file, which appears whole.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return kb.Errorf(kb.Busy, "%q went while it was copied: %w", from, err).WithHint("try again")
	}
	defer in.Close()
	if err := atomicfile.MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	f, err := atomicfile.Create(to)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := io.Copy(f, in); err != nil {
		return err
	}
	return f.Commit()
}

// prune deletes what an older backup had and this one has not.
func prune(to string, needed []string) error {
	keep := map[string]bool{}
	for _, n := range needed {
		keep[n] = true
	}
	for _, folder := range append([]string{"segments", "generations"}, kept...) {
		err := filepath.WalkDir(filepath.Join(to, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			}
			if name, err := filepath.Rel(to, path); err != nil || keep[name] {
				return err
			}
			return os.Remove(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readBackup(from string) (b Backup, err error) {
	text, err := os.ReadFile(filepath.Join(from, backupFile))
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err == nil && b.Format != backupFormat {
		err = fmt.Errorf("format %q", b.Format)
	}
	return b, err
}

// Restore copies a backup into a data directory that is not there, or empty. What
// it holds is checked by who opens it.
func Restore(ctx context.Context, from, dataDir string) (Backup, error) {
	b, err := readBackup(from)
	if err != nil {
		return b, kb.Errorf(kb.NotFound, "%q is no backup: %w", from, err).WithHint("name the folder that was given to: knowledge backup")
	}
	entries, err := os.ReadDir(dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, kb.Errorf(kb.Denied, "the data directory %q cannot be read: %w", dataDir, err).WithHint("check its permissions")
	}
	if len(entries) > 0 {
		return b, kb.Errorf(kb.Exists, "the data directory %q is not empty, and nothing in it is overwritten", dataDir).
			WithHint("move it away, or name another with --data-dir")
	}
	if _, err := os.Stat(filepath.Join(from, databaseFile)); err != nil {
		return b, kb.Errorf(kb.Corrupt, "the backup %q has no database", from).WithHint("take another")
	}
	b.Files, b.Bytes, b.Copied = 0, 0, 0
	for _, folder := range append([]string{"segments", "generations"}, kept...) {
		err := filepath.WalkDir(filepath.Join(from, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			}
			name, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			return b.take(ctx, from, dataDir, name, false)
		})
		if err != nil {
			return b, err
		}
	}
	// The database last: without it there is no data directory, and the restore is tried again.
	return b, copyFile(filepath.Join(from, databaseFile), filepath.Join(dataDir, databaseFile))
}
