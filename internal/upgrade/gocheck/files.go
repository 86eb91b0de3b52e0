package gocheck

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// parse returns the files of a package that a build takes. Bodies of functions
// are dropped outside of the project.
func (w *World) parse(h *home, dir string, kind fileKind) *dirFiles {
	key := dirKey{h.at, dir, kind}
	if d, ok := w.shared.dirs[key]; ok {
		return d
	}
	d := &dirFiles{}
	w.shared.dirs[key] = d
	if h.files == nil {
		return d
	}
	entries, err := fs.ReadDir(h.files, dir)
	if err != nil {
		return d
	}
	comments := w.docs[h.path] || w.base != nil && w.base.docs[h.path]
	mode := parser.SkipObjectResolution
	if comments {
		mode |= parser.ParseComments
	}
	byName := map[string][]*ast.File{}
	var order []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") != (kind != plain) {
			continue
		}
		text, err := readFile(h.files, path.Join(dir, name))
		if err != nil || !w.shared.takes(name, text, h) {
			continue
		}
		f, err := parser.ParseFile(w.shared.fset, path.Join(h.at, dir, name), text, mode)
		if f == nil || f.Name == nil || len(text) > deepFile && tooDeep(f) {
			continue
		}
		d.broken = d.broken || err != nil
		if outside := strings.HasSuffix(f.Name.Name, "_test"); kind != plain && outside != (kind == outTests) {
			continue
		}
		if !h.own {
			w.shared.stripBodies(f, text, comments)
		}
		if byName[f.Name.Name] == nil {
			order = append(order, f.Name.Name)
		}
		byName[f.Name.Name] = append(byName[f.Name.Name], f)
	}
	// Files that only document a package have another name than the rest.
	for _, n := range order {
		if len(byName[n]) > len(d.files) {
			d.name, d.files = n, byName[n]
		}
	}
	for _, f := range d.files {
		for _, i := range f.Imports {
			if p, err := strconv.Unquote(i.Path.Value); err == nil && !slices.Contains(d.imports, p) {
				d.imports = append(d.imports, p)
			}
		}
	}
	return d
}

const (
	// deepFile is the size from which the depth of a tree is looked at, maxDepth
	// what the checker's recursion stands.
	deepFile = 64 << 10
	maxDepth = 4000
)

func tooDeep(f *ast.File) bool {
	depth, deep := 0, false
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			depth--
			return true
		}
		depth++
		deep = deep || depth > maxDepth
		return !deep
	})
	return deep
}

// stripBodies drops the bodies of functions, and keeps their hashes if asked to.
func (s *shared) stripBodies(f *ast.File, text []byte, hash bool) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if from, to := s.fset.PositionFor(fn.Body.Pos(), false).Offset, s.fset.PositionFor(fn.Body.End(), false).Offset; hash && from < to && to <= len(text) {
			s.bodyHash[fn] = hashBody(text[from:to])
		}
		fn.Body = nil
	}
}

// takes reports whether a build takes a file, by its name and its constraints.
func (s *shared) takes(name string, text []byte, h *home) bool {
	c := build.Default
	if v := s.env("GOOS"); v != "" {
		c.GOOS = v
	}
	if v := s.env("GOARCH"); v != "" {
		c.GOARCH = v
	}
	c.CgoEnabled = s.cgo && h != s.std // C is not read: of the standard library the variants in Go are
	c.JoinPath = path.Join
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	ok, err := c.MatchFile(".", name)
	return ok && err == nil
}
