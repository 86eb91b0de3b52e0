package gocheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/exp/apidiff"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Change is what became of one exported declaration.
type Change struct {
	Package string // import path, in the version that has it
	Name    string // "Client", "Client.Do", of a struct's field "Options.Addr"
	What    string // "removed", "changed from A to B", "added", …
	// Breaks reports whether code that compiled may compile no more, as apidiff
	// judges.
	Breaks  bool
	Instead string // what it is called now, where it was renamed or moved
	Note    string // what its note of deprecation says, in the new version or, if removed, the old
	Old     string // where it was declared: "client.go:12", "" for what is new
	New     string
}

// Key names the declaration.
func (c Change) Key() string { return c.Package + "." + c.Name }

// API is the packages of a module that others may import.
type API struct {
	module   string
	packages map[string]*types.Package // by their folder in the module
	world    *World
	decls    map[string]*declared // by folder + "." + name
}

// declared is what the source says of a declaration.
type declared struct {
	pos        token.Pos
	deprecated string
	body       uint64 // hash of the body, 0 for a short one
}

// NewAPI checks the packages of a module of a world; nil when its sources lie
// nowhere. programs takes packages main and folders of tests alone as well, as the
// program apidiff does.
func NewAPI(w *World, module string, programs bool) *API {
	i := slices.IndexFunc(w.homes, func(h *home) bool { return h.path == module })
	if i < 0 || w.homes[i].files == nil {
		return nil
	}
	a := &API{module: module, packages: map[string]*types.Package{}, world: w, decls: map[string]*declared{}}
	h := w.homes[i]
	for _, dir := range dirsWith(h.files, programs) {
		if w.ctx.Err() != nil {
			break
		}
		if strings.Contains("/"+dir+"/", "/internal/") {
			continue
		}
		files := w.parse(h, dir, plain)
		if imp := strings.TrimSuffix(path.Join(module, dir), "/."); len(files.files) == 0 && programs && len(w.parse(h, dir, inTests).files)+len(w.parse(h, dir, outTests).files) > 0 {
			a.packages[dir] = types.NewPackage(imp, "")
		}
		if len(files.files) == 0 || !programs && files.name == "main" {
			continue
		}
		if p := w.load(nil, strings.TrimSuffix(path.Join(module, dir), "/.")); p != nil && p.home == h && p.types != nil {
			a.packages[dir] = p.types
			a.read(dir, files)
		}
	}
	return a
}

// Packages returns the packages, in order of their paths.
func (a *API) Packages() []*types.Package {
	var out []*types.Package
	for _, p := range a.packages {
		out = append(out, p)
	}
	slices.SortFunc(out, func(x, y *types.Package) int { return strings.Compare(x.Path(), y.Path()) })
	return out
}

// read notes what the sources of a package say of its declarations.
func (a *API) read(dir string, d *dirFiles) {
	note := func(name string, pos token.Pos, docs ...*ast.CommentGroup) *declared {
		x := &declared{pos: pos}
		for _, doc := range docs {
			if x.deprecated == "" {
				x.deprecated = deprecation(doc)
			}
		}
		a.decls[dir+"."+name] = x
		return x
	}
	for _, f := range d.files {
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				name := decl.Name.Name
				if decl.Recv != nil && len(decl.Recv.List) > 0 {
					name = receiver(decl.Recv.List[0].Type) + "." + name
				}
				note(name, decl.Name.Pos(), decl.Doc).body = a.world.shared.bodyHash[decl]
			case *ast.GenDecl:
				for _, s := range decl.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, n := range s.Names {
							note(n.Name, n.Pos(), s.Doc, decl.Doc, s.Comment)
						}
					case *ast.TypeSpec:
						note(s.Name.Name, s.Name.Pos(), s.Doc, decl.Doc)
						members(s, note)
					}
				}
			}
		}
	}
}

func members(s *ast.TypeSpec, note func(string, token.Pos, ...*ast.CommentGroup) *declared) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			note(s.Name.Name+"."+n.Name, n.Pos(), f.Doc, f.Comment)
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// deprecation returns what follows "Deprecated:" at the beginning of a paragraph.
func deprecation(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	_, after, ok := strings.Cut("\n\n"+doc.Text(), "\n\nDeprecated: ")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(after, "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// quiet is held while the comparison runs: see compare.
var quiet sync.Mutex

// compare is apidiff.Changes. The library prints what it finds odd to standard
// output, which may be the connection of a client: it is led away meanwhile.
func compare(report func() apidiff.Report) (r apidiff.Report) {
	quiet.Lock()
	defer quiet.Unlock()
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		out := os.Stdout
		os.Stdout = null
		defer func() {
			os.Stdout = out
			_ = null.Close() // nothing was written that anybody wants
		}()
	}
	defer func() {
		_ = recover() // types that it does not know: what it found until then is lost
	}()
	return report()
}

const (
	leastRuns = 6
	mostRuns  = 24
)

// steady is compare, so that the same versions give the same reply: the library goes
// through the fields of structs in no order, and which type it takes for another
// one's successor, with all that follows, can depend on that. Of several runs the
// one is taken that finds the fewest changes, when six more have found no fewer.
func steady(report func() apidiff.Report) apidiff.Report {
	best := compare(report)
	for i, same := 1, 1; i < mostRuns && same < leastRuns && len(best.Changes) > 0; i++ {
		switch r := compare(report); {
		case len(r.Changes) < len(best.Changes), len(r.Changes) == len(best.Changes) && r.String() < best.String():
			best, same = r, 1
		default:
			same++
		}
	}
	return best
}

// Report is what apidiff says of two versions of a module.
func Report(old, new *API) apidiff.Report {
	var out apidiff.Report
	for _, dir := range slices.Sorted(maps.Keys(merged(old.packages, new.packages))) {
		one := func(a *API) *apidiff.Module {
			m := &apidiff.Module{Path: a.module}
			if p := a.packages[dir]; p != nil {
				m.Packages = append(m.Packages, p)
			}
			return m
		}
		out.Changes = append(out.Changes, steady(func() apidiff.Report { return apidiff.ModuleChanges(one(old), one(new)) }).Changes...)
	}
	return out
}

func merged(a, b map[string]*types.Package) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]*types.Package{a, b} {
		for k := range m {
			out[k] = true
		}
	}
	return out
}

// Diff returns what changed between two versions of a module: what breaks first,
// in order of packages and names.
func Diff(old, new *API) []Change {
	var out []Change
	for dir, p := range old.packages {
		q := new.packages[dir]
		switch {
		case q == nil:
			out = append(out, Change{Package: p.Path(), What: "package removed", Breaks: true})
		case q != p:
			for _, c := range steady(func() apidiff.Report { return apidiff.Changes(p, q) }).Changes {
				out = append(out, old.change(new, dir, c))
			}
		}
		out = append(out, deprecations(old, new, dir)...)
	}
	for dir, q := range new.packages {
		if old.packages[dir] == nil {
			out = append(out, Change{Package: q.Path(), What: "package added"})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		if a.Breaks != b.Breaks {
			return map[bool]int{true: -1, false: 1}[a.Breaks]
		}
		if c := strings.Compare(a.Key(), b.Key()); c != 0 {
			return c
		}
		return strings.Compare(a.What, b.What)
	})
	match(old, new, out)
	return out
}

// change reads a message of apidiff: "(*T).M: changed from A to B".
func (a *API) change(new *API, dir string, c apidiff.Change) Change {
	object, what, _ := strings.Cut(c.Message, ": ")
	x := Change{Package: a.packages[dir].Path(), What: what, Breaks: !c.Compatible}
	if i := strings.LastIndexByte(object, '/'); i >= 0 { // of another package
		name := object[i:]
		if j := strings.IndexByte(name, '.'); j > 0 {
			pkg := object[:i+j]
			object = name[j+1:]
			if rest, ok := strings.CutPrefix(pkg, "./"); ok {
				pkg = x.Package + "/" + rest
			}
			if rest, ok := below(pkg, a.module); ok {
				x.Package, dir = pkg, cleanDir(rest)
			}
		}
	}
	x.Name = plainName(object)
	x.Old, x.New = a.place(dir, x.Name), new.place(dir, x.Name)
	if what == "added" {
		x.Package, x.Old = path.Join(new.module, strings.TrimPrefix(dir, ".")), ""
	}
	return x
}

// plainName makes "T.M" of "(*T[K]).M".
func plainName(s string) string {
	var b strings.Builder
	depth := 0
	for _, c := range s {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0 && c != '(' && c != ')' && c != '*':
			b.WriteRune(c)
		}
	}
	name, _, _ := strings.Cut(b.String(), ",")
	return name
}

// place returns where a declaration is: "client.go:12".
func (a *API) place(dir, name string) string {
	d := a.decls[dir+"."+name]
	if d == nil {
		return ""
	}
	p := a.world.shared.fset.PositionFor(d.pos, false)
	return strings.TrimPrefix(p.Filename[strings.LastIndexByte(p.Filename, '@')+1:], "") + ":" + itoa(p.Line)
}

// deprecations returns what the new version says is deprecated, and the old did not.
func deprecations(old, new *API, dir string) []Change {
	var out []Change
	prefix := dir + "."
	for key, d := range new.decls {
		name, ok := strings.CutPrefix(key, prefix)
		was := old.decls[key]
		if !ok || strings.Contains(name, "/") || was == nil || d.deprecated == "" || was.deprecated != "" || !exported(name) {
			continue
		}
		out = append(out, Change{
			Package: old.packages[dir].Path(), Name: name, What: "deprecated", Note: kb.Clip(d.deprecated, 160),
			Old: old.place(dir, name), New: new.place(dir, name),
		})
	}
	return out
}

func exported(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if !token.IsExported(part) {
			return false
		}
	}
	return true
}

// hashBody returns the hash of a body's text without its white space, 0 for a
// short one, which says nothing.
func hashBody(text []byte) uint64 {
	h := fnv.New64a()
	n := 0
	for _, c := range text {
		if c > ' ' {
			_, _ = h.Write([]byte{c}) // never fails
			n++
		}
	}
	if n < 60 {
		return 0
	}
	return h.Sum64()
}
