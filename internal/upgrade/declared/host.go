package declared

import (
	"context"
	"io/fs"
	"path"
	"strings"
)

// host is a project with one version of a package: the paths of its own files begin
// with "p:", those of the package with "d:", and those of the others that are installed
// with "m:", the name and "//".
type host struct {
	ctx    context.Context
	set    *Set
	files  fs.FS
	name   string // by which the project imports the package
	of     *Package
	others map[string]*Package // by name, nil for what is not installed
}

func newHost(ctx context.Context, set *Set, files fs.FS, name string, of *Package) *host {
	return &host{ctx: ctx, set: set, files: files, name: name, of: of, others: map[string]*Package{}}
}

// Read implements tstype.Host.
func (h *host) Read(at string) (text, language string, ok bool) {
	files, p := h.files, at[2:]
	switch at[:2] {
	case "d:":
		files = h.of.files
	case "m:":
		name, rest, _ := strings.Cut(p, "//")
		if h.others[name] == nil {
			return "", "", false
		}
		files, p = h.others[name].files, rest
	}
	language = Languages[path.Ext(p)]
	if fi, err := fs.Stat(files, p); err != nil || fi.Size() > maxFile || language == "" {
		return "", "", false
	}
	b, err := fs.ReadFile(files, p)
	return string(b), language, err == nil
}

// Resolve implements tstype.Host.
func (h *host) Resolve(from, spec string) (string, bool) {
	if !strings.HasPrefix(spec, ".") {
		return h.module(from, spec)
	}
	switch from[:2] {
	case "d:":
		to := h.of.follow(from[2:], spec)
		return "d:" + to, to != ""
	case "m:":
		name, rest, _ := strings.Cut(from[2:], "//")
		to := h.others[name].follow(rest, spec)
		return "m:" + name + "//" + to, to != ""
	}
	at := path.Join(path.Dir(from[2:]), spec)
	stem := at
	for _, ext := range []string{".js", ".mjs", ".cjs", ".jsx"} {
		if s, ok := strings.CutSuffix(at, ext); ok {
			stem = s
		}
	}
	for _, end := range []string{".ts", ".tsx", ".mts", ".cts", ".d.ts", "/index.ts", "/index.tsx", "/index.d.ts", ""} {
		try := stem + end
		if Languages[path.Ext(try)] == "" {
			continue
		}
		if fi, err := fs.Stat(h.files, try); err == nil && fi.Mode().IsRegular() {
			return "p:" + try, true
		}
	}
	return "", false
}

// module finds what the name of a package, or of a path in it, means.
func (h *host) module(from, spec string) (string, bool) {
	name, sub, _ := strings.Cut(spec, "/")
	if strings.HasPrefix(name, "@") {
		second, rest, _ := strings.Cut(sub, "/")
		name, sub = name+"/"+second, rest
	}
	if name == h.name || from[:2] == "d:" && name == h.of.name {
		if to := h.of.entry(sub); to != "" {
			return "d:" + to, true
		}
		// Others may have been installed for another version of it.
		return "", from[:2] == "p:" && h.of.Typed()
	}
	if p := h.other(name); p != nil {
		if to := p.entry(sub); to != "" {
			return "m:" + name + "//" + to, true
		}
	}
	return "", false
}

// other opens another package that is installed, nil where it is not. What lies below it
// in a node_modules of its own is not looked at.
func (h *host) other(name string) *Package {
	if p, ok := h.others[name]; ok {
		return p
	}
	h.others[name] = nil
	if !fs.ValidPath(name) {
		return nil
	}
	modules, err := fs.Sub(h.files, "node_modules")
	if err != nil {
		return nil
	}
	files, err := fs.Sub(modules, name)
	if err != nil {
		return nil
	}
	p := Open(h.ctx, h.set, name, Installed(name, files, modules))
	if !p.Typed() {
		return nil
	}
	h.others[name] = p
	return p
}
