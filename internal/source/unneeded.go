package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// EachUnneeded calls f with the files of each copy of a repository that is the
// source of none of specs. The copy is locked during the call; one that a fetch is
// writing to is passed over.
func (o *Opener) EachUnneeded(specs []kb.Spec, f func(paths []string) error) error {
	need := map[string]bool{}
	for _, s := range specs {
		if dir := o.RepoDir(s.Source); dir != "" {
			need[filepath.Base(dir)] = true
		}
	}
	entries, err := os.ReadDir(o.ReposDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return kb.Errorf(kb.Denied, "cannot list %q: %w", o.ReposDir, err).WithHint("check the permissions of the data directory")
	}
	copies := map[string][]string{} // files by the name that the copy of a URL has
	for _, e := range entries {
		name := e.Name()
		base := name[:min(len(name), repoName)]
		// Locks stay: a process may be waiting for one.
		if len(base) == repoName && filepath.Ext(name) != ".lock" && strings.Trim(base, "abcdefghijklmnopqrstuvwxyz234567") == "" && !need[base] {
			copies[base] = append(copies[base], filepath.Join(o.ReposDir, name))
		}
	}
	for base, paths := range copies {
		lock := flock.New(filepath.Join(o.ReposDir, base)+".lock", flock.SetPermissions(0o600))
		if ok, err := lock.TryLock(); err != nil || !ok {
			continue
		}
		err := f(paths)
		lock.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

const repoName = 16 // characters of the name of a copy, see RepoDir
