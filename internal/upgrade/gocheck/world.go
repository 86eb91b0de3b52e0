package gocheck

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// World is the packages of one build list, type-checked when they are asked for.
// Those of the project are checked with the bodies of their functions. It is for
// one goroutine.
type World struct {
	ctx     context.Context
	shared  *shared
	base    *World // whose packages are taken where all that they need is the same
	homes   []*home
	docs    map[string]bool   // paths of the modules whose comments are kept
	renamed map[string]string // path of a module → the one that is asked instead of it
	pkgs    map[string]*pkg
	differ  map[string]bool // folders of modules → whether what is there is another package than in base
	bodies  map[string]bool // packages of the project whose functions are checked
	// Unknown are the import paths that no source was found for.
	Unknown map[string]bool
}

// shared is what all worlds of one question have in common.
type shared struct {
	fset     *token.FileSet
	std      *home
	cgo      bool
	env      func(string) string
	dirs     map[dirKey]*dirFiles
	bodyHash map[*ast.FuncDecl]uint64 // of modules whose comments are kept
}

type dirKey struct {
	home string
	dir  string
	kind fileKind
}

type fileKind uint8

const (
	plain fileKind = iota
	inTests
	outTests // package x_test
)

// dirFiles are the parsed files of one package.
type dirFiles struct {
	name    string
	files   []*ast.File
	imports []string
	broken  bool // a file does not parse
}

// pkg is a package of a world.
type pkg struct {
	path    string
	home    *home
	dir     string
	files   *dirFiles
	types   *types.Package
	info    *types.Info
	errors  []types.Error
	loading bool
}

// NewWorld returns the packages of a build list. project is the folder of its
// main module, at its path below the user's project. keep are modules whose
// comments are kept; env tells GOOS, GOARCH and CGO_ENABLED, as for the go command.
func NewWorld(ctx context.Context, s *Sources, l *List, project fs.FS, at string, env func(string) string, keep ...string) *World {
	sh := &shared{fset: token.NewFileSet(), dirs: map[dirKey]*dirFiles{}, bodyHash: map[*ast.FuncDecl]uint64{}, env: env, cgo: env("CGO_ENABLED") != "0"}
	if s.Root != "" {
		sh.std = &home{files: rootFS(s.Root), at: "std"}
	}
	return newWorld(ctx, sh, s, l, project, at, keep)
}

func newWorld(ctx context.Context, sh *shared, s *Sources, l *List, project fs.FS, at string, keep []string) *World {
	w := &World{ctx: ctx, shared: sh, homes: l.homes(s, project, at), docs: map[string]bool{}, renamed: map[string]string{}, pkgs: map[string]*pkg{}, differ: map[string]bool{}, bodies: map[string]bool{}, Unknown: map[string]bool{}}
	for _, k := range keep {
		w.docs[k] = true
	}
	return w
}

// With returns the world of another build list of the same project.
func (w *World) With(s *Sources, l *List, project fs.FS, at string, keep ...string) *World {
	n := newWorld(w.ctx, w.shared, s, l, project, at, keep)
	n.base = w
	return n
}

// Rename has packages of a module that the project imports looked for in another:
// what is to be imported by another path from some version on.
func (w *World) Rename(from, to string) {
	if from != to {
		w.renamed[from] = to
	}
}

// home returns the module that holds an import path, and the folder there; nil
// when none does.
func (w *World) home(from *home, imp string) (*home, string) {
	for old, now := range w.renamed {
		if rest, ok := below(imp, old); ok && from != nil && from.own {
			imp = now + rest
		}
	}
	if h := w.owner(imp); h != nil {
		rest, _ := below(imp, h.path)
		return h, cleanDir(rest)
	}
	std := w.shared.std
	first, _, _ := strings.Cut(imp, "/")
	if std == nil || strings.Contains(first, ".") && from != std {
		return nil, ""
	}
	if from == std {
		if fi, err := fs.Stat(std.files, "vendor/"+imp); err == nil && fi.IsDir() {
			return std, "vendor/" + imp
		}
	}
	return std, imp
}

// owner returns the module with the longest path that has a folder with Go
// files at an import path.
func (w *World) owner(imp string) *home {
	var first *home
	for _, h := range w.homes {
		rest, ok := below(imp, h.path)
		if !ok || h.files == nil {
			continue
		}
		if first == nil {
			first = h
		}
		if names, err := fs.Glob(h.files, path.Join(quoteGlob(cleanDir(rest)), "*.go")); err == nil && len(names) > 0 {
			return h
		}
	}
	return nil
}

var globMarks = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)

func quoteGlob(dir string) string { return globMarks.Replace(dir) }

// below returns what follows prefix in an import path, with its slash.
func below(imp, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(imp, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

func cleanDir(rest string) string {
	if rest = strings.TrimPrefix(rest, "/"); rest != "" {
		return rest
	}
	return "."
}

// importer is what the checker asks for the imports of a package.
type importer struct {
	w    *World
	from *home
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if i.w.ctx.Err() != nil {
		return nil, i.w.ctx.Err()
	}
	p := i.w.load(i.from, path)
	if p == nil || p.types == nil {
		i.w.Unknown[path] = true
		return nil, kb.Errorf(kb.NotFound, "no source of package %s", path)
	}
	if p.loading {
		return nil, kb.Errorf(kb.Invalid, "import cycle through %s", path)
	}
	return p.types, nil
}

// Import returns a package; nil when there are no sources of it.
func (w *World) Import(path string) *types.Package {
	p := w.load(nil, path)
	if p == nil || p.loading {
		return nil
	}
	return p.types
}

// load checks a package once.
func (w *World) load(from *home, imp string) *pkg {
	h, dir := w.home(from, imp)
	if h == nil {
		return nil
	}
	key := imp
	if h == w.shared.std {
		key = dir
	}
	if p, ok := w.pkgs[key]; ok {
		return p
	}
	if p := w.same(h, dir, key); p != nil {
		w.pkgs[key] = p
		return p
	}
	files := w.parse(h, dir, plain)
	if len(files.files) == 0 {
		w.pkgs[key] = nil
		return nil
	}
	p := &pkg{path: key, home: h, dir: dir, files: files, loading: true, types: types.NewPackage(key, files.name)}
	w.pkgs[key] = p
	w.check(p, files.files, w.bodies[key])
	p.loading = false
	return p
}

// same returns the package of the world before where nothing that it needs has
// changed.
func (w *World) same(h *home, dir, key string) *pkg {
	if w.base == nil {
		return nil
	}
	if h == w.shared.std {
		return w.base.load(h, key)
	}
	old, oldDir := w.base.home(nil, key)
	if old == nil || oldDir != dir || old.at != h.at || old.version != h.version {
		return nil
	}
	if w.changed(h, w.parse(h, dir, plain)) {
		return nil
	}
	return w.base.load(nil, key)
}

// changed reports whether an import of a package is another one in the world before.
func (w *World) changed(h *home, d *dirFiles) bool {
	return slices.ContainsFunc(d.imports, func(imp string) bool { return imp != "C" && imp != "unsafe" && w.differs(h, imp) })
}

// differs reports whether a package, or something that it needs, is another one
// in the world before.
func (w *World) differs(from *home, imp string) bool {
	h, dir := w.home(from, imp)
	old, oldDir := w.base.home(from, imp)
	if h == nil || h == w.shared.std {
		return h != old
	}
	if old == nil || oldDir != dir || old.at != h.at || old.version != h.version {
		return true
	}
	key := h.at + "\x00" + dir
	if d, ok := w.differ[key]; ok {
		return d
	}
	w.differ[key] = false // an import cycle is no difference
	d := w.changed(h, w.parse(h, dir, plain))
	w.differ[key] = d
	return d
}

// check runs the checker over files and records what it finds.
func (w *World) check(p *pkg, files []*ast.File, bodies bool) {
	if bodies {
		p.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	}
	conf := types.Config{
		IgnoreFuncBodies: !bodies, FakeImportC: true, Importer: importer{w, p.home}, Sizes: sizes, GoVersion: goVersion(p.home),
		Error: func(err error) {
			if e, ok := err.(types.Error); ok && bodies && len(p.errors) < maxErrors {
				p.errors = append(p.errors, e)
			}
		},
	}
	c := types.NewChecker(&conf, w.shared.fset, p.types, p.info)
	func() {
		defer func() {
			_ = recover() // a defect of the checker: the package stays as far as it came
		}()
		_ = c.Files(files)
	}()
	p.types.MarkComplete()
}

// maxErrors is how many errors of one package are kept.
const maxErrors = 5000

var sizes = types.SizesFor("gc", "amd64")

// goVersion is the language version of a module, "" for one that is newer than
// the checker.
func goVersion(h *home) string {
	if h.goes == "" || semver.Compare("v"+semverOf(h.goes), "v"+semverOf(strings.TrimPrefix(runtime.Version(), "go"))) > 0 {
		return ""
	}
	return "go" + h.goes
}
