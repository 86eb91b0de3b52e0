// Package declared compares two versions of an npm package by its type
// declarations, and finds which lines of a project import or use what changed. No
// type checker takes part: exports are followed from the entries of package.json
// through what files pass on, members by the classes and interfaces that state
// them. Where something is passed on that is not at hand, nothing is said to be
// gone.
package declared

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const (
	maxFile  = 2 << 20
	maxDepth = 24 // of files that pass on what others declare
)

// Set is the grammars that sources are read with.
type Set = grammar.Set

// NewSet returns those that keep what they compile in a folder; see grammar.Set.
func NewSet(folder string) *Set { return &grammar.Set{Folder: folder, Wanted: syntax.Wanted} }

// Package is one version of an npm package.
type Package struct {
	name  string
	files fs.FS
	set   *grammar.Set
	ctx   context.Context
	about manifest
	types string // folder of the declarations that @types has for it, "" for its own
	read  map[string]*file
	known map[string]*Module
	// spaces are modules as namespaces, by their files; nil while one is read.
	spaces map[string]*Module
}

type manifest struct {
	Types, Typings, Main, Version string
	Exports                       json.RawMessage
	TypesVersions                 map[string]map[string][]string
}

// file is what one file of declarations says.
type file struct {
	decls   []Decl
	byName  map[string][]int // top-level ones
	exports map[string]local // what it offers, by the name that importers use
	stars   []string         // modules of which everything is passed on
	imports map[string]local // by local name
	bases   map[string]string
	assign  string // of export = X
}

// local says where a name comes from: a declaration here where path is "".
type local struct{ path, name string }

// Decl is one declaration.
type Decl struct {
	Name       string // "Client", of a member "Client.run"
	Kind       string
	Signature  string // white space folded
	Deprecated string
	At         string // path:line
}

// Module is what an import of the package, or of a path in it, offers.
type Module struct {
	Exports map[string]*Export
	// Open is set where something is passed on that is not at hand.
	Open bool
}

// Export is what one exported name stands for.
type Export struct {
	Name    string
	Decls   []Decl          // overloads, or a class and a namespace of one name
	Members map[string]Decl // of classes, interfaces, enums and namespaces
	Open    bool            // it has members that are not known
	space   bool            // it is a whole module as a namespace
}

// Open returns a version of a package. Where it has no declarations of its own,
// those below "@types/" of its files are taken.
func Open(ctx context.Context, set *grammar.Set, name string, files fs.FS) *Package {
	p := &Package{name: name, files: files, set: set, ctx: ctx, read: map[string]*file{}, known: map[string]*Module{}, spaces: map[string]*Module{}}
	text, err := fs.ReadFile(files, "package.json")
	if err == nil {
		_ = json.Unmarshal(text, &p.about) // what does not parse has no entries
	}
	typed := "@types/" + strings.Replace(strings.TrimPrefix(name, "@"), "/", "__", 1)
	if text, err := fs.ReadFile(files, typed+"/package.json"); err == nil && p.entry("") == "" { // as the compiler prefers its own
		p.types, p.about = typed, manifest{Version: p.about.Version}
		_ = json.Unmarshal(text, &p.about)
	}
	return p
}

// Version returns the version that package.json states.
func (p *Package) Version() string { return p.about.Version }

// Typed reports whether the package has declarations at all.
func (p *Package) Typed() bool { return p.entry("") != "" }

// entry returns the file that declares an import of the package: sub is "", or
// "server" of "pkg/server".
func (p *Package) entry(sub string) string {
	var tries []string
	if len(p.about.Exports) > 0 {
		if t := exported(p.about.Exports, sub); t != "" {
			tries = append(tries, t)
		} else if sub != "" {
			return "" // what is not listed cannot be imported, whether it is there or not
		}
	}
	if sub == "" {
		tries = append(tries, p.about.Types, p.about.Typings, p.about.Main, "index")
	} else {
		tries = append(tries, sub)
		if text, err := fs.ReadFile(p.files, path.Join(p.types, sub, "package.json")); err == nil {
			var m manifest
			_ = json.Unmarshal(text, &m)
			for _, t := range []string{m.Types, m.Typings, m.Main} {
				if t != "" {
					tries = append(tries, path.Join(sub, t))
				}
			}
		}
	}
	for _, t := range tries {
		if t == "" {
			continue
		}
		for _, to := range append(p.redirected(t), t) {
			if f := p.find(path.Join(p.types, path.Clean(to))); f != "" {
				return f
			}
		}
	}
	return ""
}

// redirected applies typesVersions: of several, the one for the newest compiler.
func (p *Package) redirected(t string) (out []string) {
	for _, m := range p.about.TypesVersions {
		for pattern, to := range m {
			before, after, star := strings.Cut(pattern, "*")
			rest := path.Clean(t)
			if !star && rest != pattern || star && (!strings.HasPrefix(rest, before) || !strings.HasSuffix(rest, after)) {
				continue
			}
			for _, x := range to {
				out = append(out, strings.Replace(x, "*", strings.TrimPrefix(rest, before), 1))
			}
		}
	}
	slices.Sort(out)
	return out
}

// find returns the declarations of a path without, or with another, ending.
func (p *Package) find(at string) string {
	stem := at
	for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".jsx"} {
		if s, ok := strings.CutSuffix(at, ext); ok && !strings.HasSuffix(at, ".d.ts") {
			stem = s
		}
	}
	for _, try := range []string{at, stem + ".d.ts", stem + ".d.mts", stem + ".d.cts", path.Join(at, "index.d.ts"), path.Join(at, "index.d.mts"), path.Join(at, "index.d.cts")} {
		if !strings.HasSuffix(try, ".d.ts") && !strings.HasSuffix(try, ".d.mts") && !strings.HasSuffix(try, ".d.cts") {
			continue
		}
		if fi, err := fs.Stat(p.files, try); err == nil && fi.Mode().IsRegular() {
			return try
		}
	}
	return ""
}

// exported reads the map of exports for a path: conditions types, import, require,
// default in this order.
func exported(raw json.RawMessage, sub string) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if sub == "" {
			return one
		}
		return ""
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	key := "."
	if sub != "" {
		key = "./" + sub
	}
	if v, ok := m[key]; ok {
		return condition(v, 0)
	}
	for pattern, v := range m {
		before, after, star := strings.Cut(pattern, "*")
		if star && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) && len(key) >= len(before)+len(after) {
			return strings.ReplaceAll(condition(v, 0), "*", key[len(before):len(key)-len(after)])
		}
	}
	if sub == "" && !slices.ContainsFunc(slices.Collect(keysOf(m)), func(k string) bool { return strings.HasPrefix(k, ".") }) {
		return condition(raw, 0)
	}
	return ""
}

func keysOf(m map[string]json.RawMessage) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func condition(raw json.RawMessage, depth int) string {
	var one string
	if json.Unmarshal(raw, &one) == nil || depth > 8 {
		return one
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, c := range []string{"types", "import", "require", "node", "default"} {
		if v, ok := m[c]; ok {
			if t := condition(v, depth+1); t != "" {
				return t
			}
		}
	}
	return ""
}

var (
	clauseRE = lazyregexp.New(`(?s)\bexport\s*(?:type\s*)?\{([^}]*)\}\s*(from\b)?`)
	assignRE = lazyregexp.New(`(?m)^\s*export\s*(?:=|default)\s*([A-Za-z_$][\w$]*)\s*;?\s*$`)
	equalsRE = lazyregexp.New(`(?m)^\s*export\s*=\s*([A-Za-z_$][\w$]*)`)
	basesRE  = lazyregexp.New(`\bextends\s+([^{]+)`)
	blankRE  = lazyregexp.New(`\s+`)
)

// load reads a file of declarations once.
func (p *Package) load(at string) *file {
	if f, ok := p.read[at]; ok {
		return f
	}
	f := &file{byName: map[string][]int{}, exports: map[string]local{}, imports: map[string]local{}, bases: map[string]string{}}
	p.read[at] = f
	text, err := fs.ReadFile(p.files, at)
	if err != nil || len(text) > maxFile {
		return f
	}
	out, err := syntax.Read(p.ctx, p.set, "typescript", string(text))
	if err != nil {
		return f
	}
	f.fill(at, string(text), out)
	return f
}

// fill notes what a file declares and passes on. A file without a list of exports
// offers all that it declares, as the language has it for declarations.
func (f *file) fill(at, text string, out syntax.Outline) {
	lines := strings.Split(text, "\n")
	passes := func(line int) bool { // an export, not an import
		for ; line >= 0 && line < len(lines); line-- {
			switch l := strings.TrimSpace(lines[line]); {
			case strings.HasPrefix(l, "export"):
				return true
			case strings.HasPrefix(l, "import"):
				return false
			}
		}
		return false
	}
	for _, i := range out.Facts.Imports {
		switch pass := passes(i.Line - 1); {
		case i.Path == "":
		case pass && i.Name == "*":
			f.stars = append(f.stars, i.Path)
		case pass && i.Local != "":
			f.exports[i.Local] = local{i.Path, i.Name}
		case i.Local != "":
			f.imports[i.Local] = local{i.Path, i.Name}
		}
	}
	explicit := false
	for _, m := range clauseRE.Regexp().FindAllStringSubmatch(text, -1) {
		explicit = true
		for item := range strings.SplitSeq(m[1], ",") {
			w := strings.Fields(strings.TrimPrefix(strings.TrimSpace(item), "type "))
			if len(w) > 0 && m[2] == "" {
				f.exports[w[len(w)-1]] = local{"", w[0]}
			}
		}
	}
	if m := equalsRE.FindStringSubmatch(text); m != nil {
		explicit, f.assign = true, m[1]
	} else if m := assignRE.FindStringSubmatch(text); m != nil {
		f.exports["default"] = local{"", m[1]}
	}
	f.declare(at, text, out, explicit)
}

// declare notes the declarations of an outline.
func (f *file) declare(at, text string, out syntax.Outline, explicit bool) {
	for _, d := range out.Decls {
		sig := fold(text[d.Signature[0]:d.Signature[1]])
		x := Decl{Name: strings.Join(append(slices.Clone(d.Path), d.Name), "."), Kind: d.Kind, Signature: sig, At: at + ":" + itoa(d.Line+1)}
		if doc := text[d.Doc[0]:d.Doc[1]]; strings.Contains(doc, "@deprecated") {
			_, after, _ := strings.Cut(doc, "@deprecated")
			after, _, _ = strings.Cut(after, "\n")
			x.Deprecated = kb.Clip("deprecated "+strings.Trim(fold(after), "*/ "), 160)
		}
		f.decls = append(f.decls, x)
		n := len(f.decls) - 1
		if m := basesRE.FindStringSubmatch(sig); m != nil && (d.Kind == "class" || d.Kind == "interface") {
			f.bases[x.Name] = m[1]
		}
		if len(d.Path) > 0 {
			continue
		}
		f.byName[d.Name] = append(f.byName[d.Name], n)
		switch {
		case strings.Contains(sig, "export default"):
			f.exports["default"] = local{"", d.Name}
		case !explicit || strings.HasPrefix(sig, "export ") || exportLine(text, d.Line):
			f.exports[d.Name] = local{"", d.Name}
		}
	}
	// Properties of interfaces and classes are bindings of the walk.
	for _, b := range out.Facts.Bindings {
		name, ok := strings.CutPrefix(b.Name, "self.")
		if !ok {
			continue
		}
		for i := len(out.Decls) - 1; i >= 0; i-- {
			d := out.Decls[i]
			if (d.Kind == "class" || d.Kind == "interface" || d.Kind == "type") && d.Start+1 <= b.From && b.To <= d.End+1 {
				owner := strings.Join(append(slices.Clone(d.Path), d.Name), ".")
				f.decls = append(f.decls, Decl{Name: owner + "." + name, Kind: "property", Signature: b.Type, At: at + ":" + itoa(b.From)})
				break
			}
		}
	}
}

func exportLine(text string, line int) bool {
	all := strings.SplitN(text, "\n", line+2)
	return line < len(all) && strings.HasPrefix(strings.TrimSpace(all[line]), "export ")
}

func fold(s string) string {
	return strings.TrimSpace(blankRE.Regexp().ReplaceAllString(s, " "))
}
