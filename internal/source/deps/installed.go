package deps

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
)

// said is what an installed copy of a package says of itself.
type said struct {
	summary string // with its keywords
	readme  string // the beginning
}

const (
	maxReadme = 6 << 10 // bytes
	maxSites  = 8       // folders of installed Python packages
)

// installs finds installed copies: below the project, and in Go's module cache.
type installs struct {
	root  *os.Root
	cache *os.Root          // of Go's modules; nil without one
	venv  *os.Root          // the active environment of Python; nil without one
	sites map[string]string // distribution → folder of its metadata
	in    map[string]*os.Root
}

func newInstalls(r *os.Root, env func(string) string) *installs {
	s := &installs{root: r}
	for _, dir := range Caches(env) {
		if strings.HasSuffix(filepath.ToSlash(dir), "/pkg/mod") || dir == env("GOMODCACHE") {
			s.cache, _ = os.OpenRoot(dir) // nil where there is none
			break
		}
	}
	if v := env("VIRTUAL_ENV"); filepath.IsAbs(v) {
		s.venv, _ = os.OpenRoot(v)
	}
	return s
}

func (s *installs) close() {
	for _, r := range []*os.Root{s.cache, s.venv} {
		if r != nil {
			_ = r.Close()
		}
	}
}

// describe returns what the installed copy of a dependency says; nothing where
// none is found.
func (s *installs) describe(d *Dependency) said {
	switch d.Ecosystem {
	case golang.name:
		return s.golang(d)
	case npm.name:
		return s.npm(d)
	case python.name:
		return s.python(d)
	}
	return said{}
}

// golang reads the README of a vendored module, or of its version in the cache.
func (s *installs) golang(d *Dependency) said {
	for _, dir := range upwards(path.Dir(d.Manifest)) {
		if x, ok := readmeIn(s.root, path.Join(dir, "vendor", d.Name)); ok {
			return said{readme: x}
		}
	}
	name, err := module.EscapePath(d.Name)
	if err != nil || s.cache == nil || d.Version == "" {
		return said{}
	}
	version, err := module.EscapeVersion(d.Version)
	if err != nil {
		return said{}
	}
	x, _ := readmeIn(s.cache, name+"@"+version)
	return said{readme: x}
}

func (s *installs) npm(d *Dependency) (out said) {
	for _, dir := range upwards(path.Dir(d.Manifest)) {
		at := path.Join(dir, "node_modules", d.Name)
		data, err := readSome(s.root, path.Join(at, "package.json"), maxSource)
		if err != nil {
			continue
		}
		var m struct {
			Description string
			Keywords    []string
		}
		_ = json.Unmarshal(data, &m) // what does not fit says nothing
		out.summary = m.Description + " " + strings.Join(m.Keywords, " ")
		out.readme, _ = readmeIn(s.root, at)
		return out
	}
	return out
}

// python reads the metadata of a distribution in an environment of the project,
// or in the active one.
func (s *installs) python(d *Dependency) (out said) {
	if s.sites == nil {
		s.findSites(path.Dir(d.Manifest))
	}
	at := s.sites[d.Name]
	if at == "" {
		return out
	}
	f, err := s.in[d.Name].Open(path.Join(at, "METADATA"))
	if err != nil {
		return out
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4*maxReadme))
	if err != nil {
		return out
	}
	head, body, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n\n")
	for line := range strings.Lines(head) {
		for _, key := range []string{"Summary: ", "Keywords: "} {
			if v, ok := strings.CutPrefix(line, key); ok {
				out.summary += strings.TrimSpace(v) + " "
			}
		}
	}
	out.readme = body[:min(len(body), maxReadme)]
	return out
}

// findSites lists what is installed for Python in the environments at or above a
// folder of the project, else in the active one.
func (s *installs) findSites(dir string) {
	s.sites, s.in = map[string]string{}, map[string]*os.Root{}
	look := func(r *os.Root, lib string) {
		n := 0
		for _, v := range names(r, lib, 16) {
			for _, site := range []string{path.Join(lib, v, "site-packages"), path.Join(lib, v, "dist-packages")} {
				list := names(r, site, -1)
				if len(list) > 0 {
					n++
				}
				for _, e := range list {
					base, ok := strings.CutSuffix(e, ".dist-info")
					name, _, _ := strings.Cut(base, "-")
					if name = pyName(name); ok && s.sites[name] == "" {
						s.sites[name], s.in[name] = path.Join(site, e), r
					}
				}
				if n >= maxSites {
					return
				}
			}
		}
	}
	for _, d := range upwards(dir) {
		for _, env := range []string{".venv", "venv"} {
			look(s.root, path.Join(d, env, "lib"))
		}
	}
	if s.venv != nil {
		look(s.venv, "lib")
	}
}

// names lists a folder, in no order; nothing where it cannot be listed.
func names(r *os.Root, dir string, most int) []string {
	f, err := r.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(most)
	return list
}

// readmeIn returns the beginning of the README of a folder.
func readmeIn(r *os.Root, dir string) (string, bool) {
	if dir == "." || dir == "" {
		return "", false
	}
	for _, name := range []string{"README.md", "readme.md", "Readme.md", "README.rst", "README"} {
		f, err := r.Open(path.Join(dir, name))
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, maxReadme))
		_ = f.Close()
		if err == nil {
			return string(data), true
		}
	}
	return "", false
}
