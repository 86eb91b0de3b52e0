package upgrade

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source/pkgdocs"
)

// Archives lie at packages/go, laid out as the module cache of the go command, and
// at packages/npm/NAME@VERSION.zip, with the name escaped as in an address. keptFor
// is how long one lies that nobody asks for.
const (
	folder  = "packages"
	keptFor = 60 * 24 * time.Hour
)

func contextFor(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func (u *asked) get(registry, name, version string) (pkgdocs.Archive, error) {
	return pkgdocs.Get(u.ctx, pkgdocs.Config{Registry: registry, Name: name, Version: version, Env: u.core.Env, Policy: u.core.Policy()})
}

// getModule gets a version of a Go module and keeps it. It returns the version
// that what was asked for turned out to be.
func (u *asked) getModule(m module.Version) (string, error) {
	a, err := u.get("go", m.Path, m.Version)
	if err != nil {
		return "", err
	}
	p, err := module.EscapePath(m.Path)
	if err != nil {
		return "", kb.Errorf(kb.Invalid, "%q is no path of a module: %w", m.Path, err)
	}
	v, err := module.EscapeVersion(a.Version)
	if err != nil {
		return "", kb.Errorf(kb.Corrupt, "%q is no version of a module: %w", a.Version, err)
	}
	dir := filepath.Join(u.core.Dir, folder, "go", "cache", "download", filepath.FromSlash(p), "@v")
	if err := keep(filepath.Join(dir, v+".mod"), a.Manifest); err != nil {
		return "", err
	}
	return a.Version, keep(filepath.Join(dir, v+".zip"), a.Zip)
}

func keep(path string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// npmArchive returns the files of a version of an npm package that was got
// before, nil when it was not.
func (u *asked) npmArchive(name, version string) fs.FS {
	path := filepath.Join(u.core.Dir, folder, "npm", url.PathEscape(name)+"@"+url.PathEscape(version)+".zip")
	b, err := atomicfile.ReadFile(path)
	if err != nil {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // only for keptFor
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil
	}
	return z
}

// getNPM gets a version of an npm package and keeps it.
func (u *asked) getNPM(name, version string) (string, []string, error) {
	a, err := u.get("npm", name, version)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(u.core.Dir, folder, "npm", url.PathEscape(name)+"@"+url.PathEscape(a.Version)+".zip")
	return a.Version, a.Notes, keep(path, a.Zip)
}

// leftovers returns the archives that nobody has asked for in a while.
func leftovers(_ context.Context, c *app.Core) (string, []string, error) {
	const what = "a version of a package that was compared long ago"
	dir := filepath.Join(c.Dir, folder)
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() || !strings.HasSuffix(path, ".zip") && !strings.HasSuffix(path, ".mod") || !project.Ours(c.Dir, path):
			return nil
		}
		if fi, err := d.Info(); err == nil && time.Since(fi.ModTime()) > keptFor {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		return what, nil, kb.Errorf(kb.Denied, "list the folder of packages: %w", err).WithHint("check the rights of the data directory")
	}
	return what, out, nil
}

// sweep deletes what leftovers lists.
func sweep(ctx context.Context, c *app.Core) error {
	_, gone, err := leftovers(ctx, c)
	for _, path := range gone {
		_ = os.Remove(path) // where it is in use, the next sweep does it
	}
	return err
}
