// Package gocheck tells what another version of a Go module does to a project:
// it type-checks the module's packages and the project's own in both versions,
// from sources alone, with go/types. No program is run. The sources are those of
// the project, of the module cache, of archives that were fetched, of the
// project's vendor folder and of an installed Go.
//
// What cannot be had (a module that lies nowhere, a standard library where no Go
// is installed) has unknown types, about which the checker keeps silent: then
// fewer sites are found, and none that are wrong. List names what was missing.
package gocheck

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 8 << 20

// Sources finds the files of modules on this machine. Close it.
type Sources struct {
	// Caches are folders laid out as the module cache of the go command: unpacked
	// modules, and archives below cache/download.
	Caches []string
	// Root is the sources of the standard library, "" where there are none.
	Root string

	mu   sync.Mutex
	open map[module.Version]fs.FS
	zips []io.Closer
}

// Close closes the archives that are open.
func (s *Sources) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, z := range s.zips {
		_ = z.Close() // read only
	}
	s.zips, s.open = nil, nil
	return nil
}

// Has reports whether the files of a module lie in a cache.
func (s *Sources) Has(m module.Version) bool { return s.Files(m) != nil }

// Files returns the files of a version of a module, nil when they lie nowhere.
func (s *Sources) Files(m module.Version) fs.FS {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.open[m]; ok {
		return f
	}
	f := s.find(m)
	if s.open == nil {
		s.open = map[module.Version]fs.FS{}
	}
	s.open[m] = f
	return f
}

func (s *Sources) find(m module.Version) fs.FS {
	p, v, ok := escaped(m)
	if !ok {
		return nil
	}
	for _, c := range s.Caches {
		dir := filepath.Join(c, filepath.FromSlash(p)+"@"+v)
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			return os.DirFS(dir)
		}
		z, err := zip.OpenReader(filepath.Join(c, "cache", "download", filepath.FromSlash(p), "@v", v+".zip"))
		if err != nil {
			continue
		}
		if sub, err := fs.Sub(z, m.Path+"@"+m.Version); err == nil {
			s.zips = append(s.zips, z)
			return sub
		}
		_ = z.Close()
	}
	return nil
}

// GoMod returns the go.mod file of a version of a module, nil when it lies nowhere.
func (s *Sources) GoMod(m module.Version) []byte {
	p, v, ok := escaped(m)
	if !ok {
		return nil
	}
	for _, c := range s.Caches {
		if b, err := readFile(os.DirFS(c), path.Join("cache/download", p, "@v", v+".mod")); err == nil {
			return b
		}
	}
	if f := s.Files(m); f != nil {
		if b, err := readFile(f, "go.mod"); err == nil {
			return b
		}
		return []byte("module " + modfileQuote(m.Path) + "\n") // from before there were modules
	}
	return nil
}

func modfileQuote(p string) string { return `"` + p + `"` }

func escaped(m module.Version) (p, v string, ok bool) {
	p, err := module.EscapePath(m.Path)
	if err != nil {
		return "", "", false
	}
	v, err = module.EscapeVersion(m.Version)
	return p, v, err == nil
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(f fs.FS, name string) ([]byte, error) {
	r, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if fi, err := r.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxFile {
		return nil, kb.Errorf(kb.TooLarge, "%q is no file of at most %d MB", name, maxFile>>20)
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(r, maxFile))
	return b.Bytes(), err
}

// Root returns the sources of the standard library of the Go that is installed:
// of GOROOT, of the program go on the PATH, else of a toolchain in a module
// cache; "" when there is none.
func Root(env func(string) string, caches []string) string {
	var places []string
	if r := env("GOROOT"); filepath.IsAbs(r) {
		places = append(places, r)
	}
	for _, dir := range filepath.SplitList(env("PATH")) {
		for _, name := range []string{"go", "go.exe"} {
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
				places = append(places, filepath.Dir(filepath.Dir(real)))
			}
		}
	}
	places = append(places, "/usr/local/go", "/usr/lib/go", "/opt/homebrew/opt/go/libexec", `C:\Program Files\Go`)
	for _, c := range caches {
		found, _ := filepath.Glob(filepath.Join(c, "golang.org", "toolchain@*"))
		slices.Sort(found)
		slices.Reverse(found)
		places = append(places, found...)
	}
	for _, p := range places {
		src := filepath.Join(p, "src")
		if fi, err := os.Stat(filepath.Join(src, "fmt", "print.go")); err == nil && fi.Mode().IsRegular() {
			return src
		}
	}
	return ""
}

// skippedDir reports whether a folder holds no packages of the module around it.
func skippedDir(name string) bool {
	return name == "testdata" || name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// Dirs returns the folders of a module that hold Go files besides tests, in
// order: without those of other modules below it. "." is its root.
func Dirs(f fs.FS) []string { return dirsWith(f, false) }

// dirsWith is Dirs; tests says whether tests count.
func dirsWith(f fs.FS, tests bool) []string {
	var out []string
	_ = fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not there
		}
		if d.IsDir() {
			if p != "." {
				if skippedDir(d.Name()) {
					return fs.SkipDir
				}
				if _, err := fs.Stat(f, path.Join(p, "go.mod")); err == nil {
					return fs.SkipDir
				}
			}
			return nil
		}
		if dir := path.Dir(p); strings.HasSuffix(p, ".go") && (tests || !strings.HasSuffix(p, "_test.go")) && !slices.Contains(out[max(0, len(out)-1):], dir) {
			out = append(out, dir)
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// rootFS is a folder of this machine as files.
func rootFS(dir string) fs.FS { return os.DirFS(dir) }

// Forget has what was looked for in vain looked for again.
func (s *Sources) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m, f := range s.open {
		if f == nil {
			delete(s.open, m)
		}
	}
}
