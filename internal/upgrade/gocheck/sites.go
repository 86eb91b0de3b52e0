package gocheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// Site is a place of the project that another version changes something for.
type Site struct {
	Path string // below the project
	Line int
	Test bool   // in a test
	Says string // what the checker says, "" where it says nothing
	// Uses is the declaration of a dependency that is used there, as Change.Key
	// names it; "" when the checker's error names none.
	Uses string
}

// Checked is what type-checking a project in two versions came to.
type Checked struct {
	Breaks []Site // compile no more
	Uses   []Site // of declarations that were asked about, and compile
	// Packages is how many packages of the project were checked, of All: those
	// that need something that changed.
	Packages, All int
	// Unknown are import paths without sources.
	Unknown []string
}

// unit is one package of the project, or its tests.
type unit struct {
	path string
	home *home
	dir  string
	kind fileKind
}

// Check type-checks what of a project needs something that differs between two
// worlds, in both, and returns the errors that only the new one has. watched
// are declarations whose uses are wanted as well, by their keys.
func Check(old, new *World, watched map[string]bool) Checked {
	var out Checked
	units := new.affected(&out)
	for _, u := range units {
		if u.kind == plain {
			old.bodies[u.path], new.bodies[u.path] = true, true
		}
	}
	for _, u := range units {
		if new.ctx.Err() != nil {
			break
		}
		was, is := old.unit(u), new.unit(u)
		if was == nil || is == nil {
			continue
		}
		had := map[errorKey]bool{}
		for _, e := range was.errors {
			had[keyOf(old.shared.fset, e)] = true
		}
		at := newLocator(old, was)
		for _, e := range is.errors {
			p := new.shared.fset.PositionFor(e.Pos, false)
			if had[keyOf(new.shared.fset, e)] || strings.HasSuffix(p.Filename, "_test.go") != (u.kind != plain) || new.unknown(e.Msg) {
				continue
			}
			out.Breaks = append(out.Breaks, Site{Path: p.Filename, Line: p.Line, Test: u.kind != plain, Says: e.Msg, Uses: at.use(e)})
		}
		out.Uses = append(out.Uses, at.watched(watched, u.kind)...)
	}
	order(out.Breaks)
	order(out.Uses)
	out.Breaks, out.Uses = slices.Compact(out.Breaks), slices.Compact(out.Uses)
	for p := range new.Unknown {
		if new.lacks(p) {
			out.Unknown = append(out.Unknown, p)
		}
	}
	slices.Sort(out.Unknown)
	return out
}

func order(s []Site) {
	slices.SortStableFunc(s, func(a, b Site) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
}

type errorKey struct {
	file    string
	at      int
	message string
}

func keyOf(fset *token.FileSet, e types.Error) errorKey {
	p := fset.PositionFor(e.Pos, false)
	return errorKey{p.Filename, p.Offset, e.Msg}
}

// affected returns the packages of the project that need something that changed,
// those that others import first.
func (w *World) affected(out *Checked) []unit {
	var units []unit
	for _, h := range w.homes {
		if !h.own || h.files == nil {
			continue
		}
		for _, dir := range allDirs(h) {
			imp := strings.TrimSuffix(path.Join(h.path, dir), "/.")
			out.All++
			n := len(units)
			for _, kind := range []fileKind{plain, inTests, outTests} {
				d := w.parse(h, dir, kind)
				if len(d.files) > 0 && (w.changed(h, d) || kind == inTests && n < len(units)) {
					units = append(units, unit{imp, h, dir, kind})
				}
			}
			if len(units) > n {
				out.Packages++
			}
		}
	}
	return units
}

// allDirs is Dirs with the folders that hold tests alone.
func allDirs(h *home) []string { return dirsWith(h.files, true) }

// unit checks a package, or its tests.
func (w *World) unit(u unit) *pkg {
	i := slices.IndexFunc(w.homes, func(h *home) bool { return h.path == u.home.path })
	if i < 0 {
		return nil
	}
	h := w.homes[i]
	if u.kind == plain {
		return w.load(nil, u.path)
	}
	d := w.parse(h, u.dir, u.kind)
	files, name := d.files, u.path
	if u.kind == inTests {
		files = slices.Concat(w.parse(h, u.dir, plain).files, files)
	} else {
		name += "_test"
	}
	p := &pkg{path: name, home: h, dir: u.dir, files: d, types: types.NewPackage(name, d.name)}
	w.check(p, files, true)
	return p
}

// unknown reports whether an error only says that the sources of a package are
// not here: where its module is, the package itself is gone.
func (w *World) unknown(message string) bool {
	rest, ok := strings.CutPrefix(message, "could not import ")
	if !ok {
		return false
	}
	imp, _, _ := strings.Cut(rest, " ")
	return w.lacks(imp)
}

// lacks reports whether there are no sources of the module of an import path.
func (w *World) lacks(imp string) bool {
	for old, now := range w.renamed {
		if r, ok := below(imp, old); ok {
			imp = now + r
		}
	}
	for _, h := range w.homes {
		if _, ok := below(imp, h.path); ok {
			return h.files == nil
		}
	}
	return true
}

// locator finds what of the dependencies is used where an error is.
type locator struct {
	w     *World
	uses  []use // in order of their positions
	owner map[*types.Var]string
	files []*ast.File
}

type use struct {
	id  *ast.Ident
	key string
}

// newLocator reads what a package uses, as the checker saw it before the upgrade.
func newLocator(w *World, p *pkg) *locator {
	l := &locator{w: w, owner: map[*types.Var]string{}}
	if p.info == nil {
		return l
	}
	l.files = p.files.files
	seen := map[*types.Package]bool{}
	for id, obj := range p.info.Uses {
		if obj.Pkg() == nil || obj.Pkg() == p.types {
			continue
		}
		if _, ok := obj.(*types.PkgName); ok {
			continue
		}
		if !seen[obj.Pkg()] {
			seen[obj.Pkg()] = true
			fields(obj.Pkg(), l.owner)
		}
		if key := l.key(obj); key != "" {
			l.uses = append(l.uses, use{id, key})
		}
	}
	slices.SortFunc(l.uses, func(a, b use) int { return int(a.id.Pos() - b.id.Pos()) })
	return l
}

// fields notes which type each field of the structs of a package belongs to.
func fields(p *types.Package, owner map[*types.Var]string) {
	for _, n := range p.Scope().Names() {
		tn, ok := p.Scope().Lookup(n).(*types.TypeName)
		if !ok || tn.IsAlias() {
			continue
		}
		if s, ok := tn.Type().Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if _, ok := owner[f]; !ok {
					owner[f] = n
				}
			}
		}
	}
}

// key names an object as Change.Key does; "" for what is local.
func (l *locator) key(obj types.Object) string {
	switch o := obj.(type) {
	case *types.Func:
		o = o.Origin()
		if r := o.Signature().Recv(); r != nil {
			t := types.Unalias(r.Type())
			if p, ok := t.(*types.Pointer); ok {
				t = types.Unalias(p.Elem())
			}
			if n, ok := t.(*types.Named); ok {
				return obj.Pkg().Path() + "." + n.Obj().Name() + "." + o.Name()
			}
			return ""
		}
	case *types.Var:
		if o.IsField() {
			if t := l.owner[o.Origin()]; t != "" {
				return obj.Pkg().Path() + "." + t + "." + o.Name()
			}
			return ""
		}
	}
	if obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// use returns the declaration that an error is about: of the name at its place,
// else of the innermost call, literal or statement around it.
func (l *locator) use(e types.Error) string {
	if i := l.from(e.Pos); i < len(l.uses) && l.uses[i].id.Pos() == e.Pos {
		return l.uses[i].key
	}
	for _, f := range l.files {
		if f.FileStart > e.Pos || e.Pos >= f.FileEnd {
			continue
		}
		if key := l.around(f, e.Pos); key != "" {
			return key
		}
	}
	return ""
}

// from is the index of the first use at or behind a position.
func (l *locator) from(pos token.Pos) int {
	i, _ := slices.BinarySearchFunc(l.uses, pos, func(u use, p token.Pos) int { return int(u.id.Pos() - p) })
	return i
}

// around looks at what is around a position, from within.
func (l *locator) around(f *ast.File, pos token.Pos) string {
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos > n.End() {
			return false
		}
		stack = append(stack, n)
		return true
	})
	for i := len(stack) - 1; i > 0; i-- {
		n := stack[i]
		switch n := n.(type) {
		case *ast.CallExpr:
			if key := l.last(n.Fun); key != "" {
				return key
			}
		case *ast.BlockStmt, *ast.FuncDecl:
			return ""
		}
		if key := l.last(n); key != "" {
			return key
		}
	}
	return ""
}

// last returns the last use in a node: of a.b.C that of C.
func (l *locator) last(n ast.Node) string {
	if i := l.from(n.End()) - 1; i >= 0 && l.uses[i].id.Pos() >= n.Pos() {
		return l.uses[i].key
	}
	return ""
}

// watched returns where declarations are used that were asked about.
func (l *locator) watched(keys map[string]bool, kind fileKind) []Site {
	var out []Site
	for _, u := range l.uses {
		if !keys[u.key] {
			continue
		}
		p := l.w.shared.fset.PositionFor(u.id.Pos(), false)
		if strings.HasSuffix(p.Filename, "_test.go") == (kind != plain) {
			out = append(out, Site{Path: p.Filename, Line: p.Line, Test: kind != plain, Uses: u.key})
		}
	}
	return out
}
