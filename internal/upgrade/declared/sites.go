package declared

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Change is what became of one exported declaration.
type Change struct {
	Name    string
	What    string
	Breaks  bool
	Instead string
	Note    string // what its mark of deprecation says
}

// Site is a line of the project.
type Site struct {
	Path  string
	Line  int
	Name  string // the declaration, as Change has it
	Says  string
	Warns bool
}

// Diff compares what two versions offer of one of their entries, in order of names.
func Diff(old, new *Package, sub string) []Change {
	a, b := old.Module(sub), new.Module(sub)
	if a == nil {
		return nil
	}
	if b == nil {
		return []Change{{Name: path.Join(old.name, sub), What: "entry removed", Breaks: true}}
	}
	var out []Change
	var added []string
	for _, n := range slices.Sorted(maps.Keys(b.Exports)) {
		if a.Exports[n] == nil && !a.Open {
			added = append(added, n)
			out = append(out, Change{Name: n, What: "added"})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(a.Exports)) {
		was, is := a.Exports[n], b.Exports[n]
		switch {
		case is == nil && b.Open:
		case is == nil:
			out = append(out, Change{Name: n, What: "removed", Breaks: true, Instead: successor(was, b, added), Note: note(was)})
		default:
			out = append(out, was.diff(is)...)
		}
	}
	return out
}

func note(e *Export) string {
	for _, d := range e.Decls {
		if d.Deprecated != "" {
			return d.Deprecated
		}
	}
	return ""
}

// successor is the added export whose declaration is the same but for its name.
func successor(was *Export, b *Module, added []string) string {
	found := ""
	for _, n := range added {
		is := b.Exports[n]
		if len(was.Decls) == 0 || len(is.Decls) == 0 || was.Decls[0].Kind != is.Decls[0].Kind {
			continue
		}
		x, y := was.Decls[0], is.Decls[0]
		same := strings.Replace(x.Signature, x.Name, "", 1) == strings.Replace(y.Signature, y.Name, "", 1)
		if same && (len(x.Signature) > 30 && x.Kind == "function" || strings.EqualFold(x.Name, y.Name)) {
			if found != "" {
				return "" // two that are as likely
			}
			found = n
		}
	}
	return found
}

// diff compares one export in two versions.
func (e *Export) diff(is *Export) []Change {
	var out []Change
	if e.space { // its members are told of where they are offered by themselves
		return nil
	}
	if d := note(is); d != "" && note(e) == "" {
		out = append(out, Change{Name: e.Name, What: "deprecated", Note: d})
	}
	if a, b := signatures(e.Decls), signatures(is.Decls); a != b && !(len(is.Decls) == 0) {
		out = append(out, Change{Name: e.Name, What: "changed from " + kb.Clip(a, 120) + " to " + kb.Clip(b, 120), Breaks: true})
	}
	for _, n := range slices.Sorted(maps.Keys(e.Members)) {
		was := e.Members[n]
		now, ok := is.Members[n]
		switch {
		case !ok && !is.Open:
			out = append(out, Change{Name: e.Name + "." + n, What: "removed", Breaks: true, Note: was.Deprecated})
		case ok && now.Deprecated != "" && was.Deprecated == "":
			out = append(out, Change{Name: e.Name + "." + n, What: "deprecated", Note: now.Deprecated})
		case ok && now.Signature != was.Signature && now.Kind != "property":
			out = append(out, Change{Name: e.Name + "." + n, What: "changed from " + kb.Clip(was.Signature, 120) + " to " + kb.Clip(now.Signature, 120), Breaks: true})
		}
	}
	return out
}

func signatures(decls []Decl) string {
	var out []string
	for _, d := range decls {
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(d.Signature, "export "), "declare "))
	}
	slices.Sort(out)
	return strings.Join(out, " | ")
}

// checker looks at one file of a project.
type checker struct {
	old, new *Package
	path     string
	lines    []string
	out      syntax.Outline
	names    map[string]used // local names of what comes from the package
	sites    []Site
}

// used is a name that a file imports: all of a module where name is "".
type used struct {
	sub, name string
}

// Check returns the lines of one source file that import or use what the new
// version offers no more, or takes otherwise. language is a row of package syntax.
func Check(ctx context.Context, set *grammar.Set, old, new *Package, file, language, text string) ([]Site, error) {
	out, err := syntax.Read(ctx, set, language, text)
	if err != nil {
		return nil, err
	}
	c := &checker{old: old, new: new, path: file, lines: strings.Split(text, "\n"), out: out, names: map[string]used{}}
	for _, i := range out.Facts.Imports {
		rest, ok := strings.CutPrefix(i.Path, old.name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		c.imported(strings.TrimPrefix(rest, "/"), i)
	}
	if len(c.names) > 0 {
		c.uses()
	}
	slices.SortStableFunc(c.sites, func(a, b Site) int { return a.Line - b.Line })
	return slices.Compact(c.sites), nil
}

func (c *checker) add(line int, name, says string, warns bool) {
	c.sites = append(c.sites, Site{Path: c.path, Line: line, Name: name, Says: says, Warns: warns})
}

// imported checks one import.
func (c *checker) imported(sub string, i kb.Import) {
	was, is := c.old.Module(sub), c.new.Module(sub)
	spec := path.Join(c.old.name, sub)
	switch {
	case was == nil:
		return
	case is == nil:
		c.add(c.statement(i.Line, i.Path), spec, "there are no declarations of "+spec, false)
		return
	}
	name := i.Name
	if i.Local != "" {
		if name == "*" {
			name = ""
		}
		c.names[i.Local] = used{sub: sub, name: name}
	}
	if name == "" || was.Exports[name] == nil {
		return
	}
	switch e := is.Exports[name]; {
	case e == nil && name == "default":
		// The compiler takes the module itself for it, which is no function: see call.
	case e == nil && !is.Open:
		c.add(i.Line, name, spec+" has no export "+name, false)
		delete(c.names, i.Local)
	case e != nil && note(e) != "" && note(was.Exports[name]) == "":
		c.add(i.Line, name, "", true)
	}
}

// maxImport is how many lines one import statement may have.
const maxImport = 200

// statement returns the line on which the compiler names the module of an import:
// that of its path.
func (c *checker) statement(line int, spec string) int {
	for n := line; n <= min(line+maxImport, len(c.lines)); n++ {
		if l := c.lines[n-1]; strings.Contains(l, "'"+spec+"'") || strings.Contains(l, `"`+spec+`"`) {
			return n
		}
	}
	return line
}

// uses checks calls and members of what was imported.
func (c *checker) uses() {
	for _, r := range c.out.Facts.References {
		if r.Qualifier == "" {
			c.call(r)
			continue
		}
		first, rest, deep := strings.Cut(r.Qualifier, ".")
		if u, ok := c.names[first]; ok && !c.shadowed(first, r.Line) {
			if !deep {
				c.member(u, r)
			} else if u.name == "" && !strings.Contains(rest, ".") {
				c.member(used{sub: u.sub, name: rest}, r)
			}
			continue
		}
		if t := c.typeOf(r.Qualifier, r.Line); t != "" {
			if u, ok := c.names[t]; ok && u.name != "" {
				c.instance(u, r)
			}
		}
	}
}

// shadowed reports whether a name means something else on a line.
func (c *checker) shadowed(name string, line int) bool {
	return slices.ContainsFunc(c.out.Facts.Bindings, func(b kb.Binding) bool { return b.Name == name && b.From <= line && line <= b.To })
}

// typeOf returns the type that a name has on a line, as it is written: of the
// innermost binding.
func (c *checker) typeOf(name string, line int) string {
	best, size := "", 1<<30
	for _, b := range c.out.Facts.Bindings {
		if b.Name == name && b.From <= line && line <= b.To && b.To-b.From < size {
			best, size = b.Type, b.To-b.From
		}
	}
	return best
}

func (c *checker) pair(u used) (was, is *Export, open bool) {
	a, b := c.old.Module(u.sub), c.new.Module(u.sub)
	if a == nil || b == nil {
		return nil, nil, true
	}
	return a.Exports[u.name], b.Exports[u.name], b.Open
}

// call checks how many arguments an imported function takes.
func (c *checker) call(r kb.Reference) {
	u, ok := c.names[r.Name]
	if !ok || u.name == "" || c.shadowed(r.Name, r.Line) {
		return
	}
	was, is, open := c.pair(u)
	if was != nil && is == nil && u.name == "default" && !open && r.Kind == kb.UseCall {
		c.add(r.Line, u.name, path.Join(c.old.name, u.sub)+" has no default export, and is no function", false)
	}
	if was == nil || is == nil {
		return
	}
	if r.Kind == kb.UseCall {
		c.arguments(u.name, was.Decls, is.Decls, r)
	}
	if r.Kind == kb.UseCall && note(is) != "" && note(was) == "" {
		c.add(r.Line, u.name, "", true)
	}
}

func (c *checker) arguments(name string, was, is []Decl, r kb.Reference) {
	if len(was) == 0 || len(is) == 0 {
		return
	}
	n, ok := passed(c.lines, r.Line, r.Name)
	if !ok {
		return
	}
	if takes(was, last(was[0].Name), n) && !takes(is, last(is[0].Name), n) {
		c.add(r.Line, name, name+" does not take "+kb.Count(n, "argument"), false)
	}
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// member checks N.x of a module, a class, an enum or a namespace.
func (c *checker) member(u used, r kb.Reference) {
	if u.name == "" {
		was, is, open := c.pair(used{sub: u.sub, name: r.Name})
		switch {
		case was == nil:
		case is == nil && !open:
			c.add(r.Line, r.Name, path.Join(c.old.name, u.sub)+" has no export "+r.Name, false)
		case is != nil && r.Kind == kb.UseCall:
			c.arguments(r.Name, was.Decls, is.Decls, r)
		}
		return
	}
	c.instance(u, r)
}

// instance checks a member of what is imported, or of a value of that type.
func (c *checker) instance(u used, r kb.Reference) {
	was, is, _ := c.pair(u)
	if was == nil || is == nil {
		return
	}
	before, had := was.Members[r.Name]
	now, has := is.Members[r.Name]
	name := u.name + "." + r.Name
	switch {
	case !had:
	case !has && !is.Open:
		c.add(r.Line, name, u.name+" has no member "+r.Name, false)
	case has && r.Kind == kb.UseCall:
		c.arguments(name, []Decl{before}, []Decl{now}, r)
	}
	if has && now.Deprecated != "" && before.Deprecated == "" {
		c.add(r.Line, name, "", true)
	}
}

// Languages are the endings of source files and the rows of package syntax that
// read them.
var Languages = map[string]string{
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
	".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
}

// Sources calls take with each source file of a project that names the package.
func Sources(ctx context.Context, project fs.FS, name string, take func(file, language, text string) error) error {
	return fs.WalkDir(project, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not there
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		base := d.Name()
		if d.IsDir() {
			if p != "." && (base == "node_modules" || strings.HasPrefix(base, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		language := Languages[path.Ext(p)]
		if language == "" || strings.Contains(base, ".min.") || !d.Type().IsRegular() {
			return nil
		}
		if fi, err := d.Info(); err != nil || fi.Size() > maxFile {
			return nil
		}
		text, err := fs.ReadFile(project, p)
		if err != nil || !strings.Contains(string(text), name) {
			return nil
		}
		return take(p, language, string(text))
	})
}
