package gocheck

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// List is which version of each module a build takes, as the go command chooses
// it: of all that are required, the highest.
type List struct {
	versions map[string]module.Version // path → what it is replaced by, or itself
	local    map[string]string         // path → folder of the project that replaces it
	main     string
	goes     string // the language version of the main module, "1.21"

	// Missing are the modules whose go.mod lies nowhere.
	Missing []module.Version
}

// Version returns the version of a module in the list, "" when it is not there.
func (l *List) Version(path string) string { return l.versions[path].Version }

// Main returns the path of the main module.
func (l *List) Main() string { return l.main }

// lists is the making of a List.
type lists struct {
	*List
	sources  *Sources
	replaced map[module.Version]module.Version // of any version where Version is ""
	seen     map[module.Version]bool
}

// NewList reads the build list of a project from its go.mod. instead are versions
// that it is to take, whatever else requires.
func NewList(s *Sources, gomod []byte, instead ...module.Version) (*List, error) {
	f, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil || f.Module == nil {
		return nil, kb.Errorf(kb.Invalid, "go.mod does not parse").WithHint("see what is wrong with: go mod verify")
	}
	// ParseLax passes over what is the main module's alone.
	if whole, err := modfile.Parse("go.mod", gomod, nil); err == nil {
		f = whole
	}
	b := lists{
		List: &List{versions: map[string]module.Version{}, local: map[string]string{}, main: f.Module.Mod.Path}, sources: s,
		replaced: map[module.Version]module.Version{}, seen: map[module.Version]bool{},
	}
	if f.Go != nil {
		b.goes = f.Go.Version
	}
	for _, r := range f.Replace {
		b.replaced[r.Old] = r.New
		if r.New.Version == "" {
			b.local[r.Old.Path] = path.Clean(strings.ReplaceAll(r.New.Path, `\`, "/"))
		}
	}
	whole := !prunes(b.goes)
	for _, r := range f.Require {
		if !slices.ContainsFunc(instead, func(m module.Version) bool { return m.Path == r.Mod.Path }) {
			b.require(r.Mod, true, whole)
		}
	}
	for _, m := range instead {
		b.require(m, true, whole)
	}
	for _, m := range instead {
		b.versions[m.Path] = m
	}
	for p, v := range b.versions {
		if to, ok := b.replacement(v); ok {
			b.versions[p] = to
		}
	}
	slices.SortFunc(b.Missing, func(x, y module.Version) int { return strings.Compare(x.String(), y.String()) })
	return b.List, nil
}

// prunes reports whether the go.mod of a module of that language version names
// all that its packages need, so that those of its requirements are not read.
func prunes(goes string) bool {
	return goes != "" && semver.Compare("v"+semverOf(goes), "v1.17.0") >= 0
}

// semverOf writes "1.21rc2" as "1.21.0".
func semverOf(goes string) string {
	for i, c := range goes {
		if c != '.' && (c < '0' || c > '9') {
			goes = goes[:i]
			break
		}
	}
	for strings.Count(goes, ".") < 2 {
		goes += ".0"
	}
	return goes
}

func (b *lists) replacement(m module.Version) (module.Version, bool) {
	if to, ok := b.replaced[m]; ok {
		return to, true
	}
	to, ok := b.replaced[module.Version{Path: m.Path}]
	return to, ok
}

// require notes that a version is required. read has its own go.mod read, whole
// those of what that requires as well.
func (b *lists) require(m module.Version, read, whole bool) {
	if m.Path == b.main {
		return
	}
	if have := b.versions[m.Path].Version; semver.Compare(m.Version, have) > 0 || have == "" {
		b.versions[m.Path] = m
	}
	if !read || b.seen[m] {
		return
	}
	b.seen[m] = true
	at := m
	if to, ok := b.replacement(m); ok {
		if to.Version == "" {
			return // a folder of the project, whose requirements go.mod repeats
		}
		at = to
	}
	text := b.sources.GoMod(at)
	if text == nil {
		b.Missing = append(b.Missing, at)
		return
	}
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return
	}
	deeper := whole || f.Go == nil || !prunes(f.Go.Version)
	for _, r := range f.Require {
		b.require(r.Mod, deeper, deeper)
	}
}

// Changed returns the modules of which two lists have different versions.
func Changed(a, b *List) []string {
	var out []string
	for p, v := range b.versions {
		if a.versions[p] != v {
			out = append(out, p)
		}
	}
	for p := range a.versions {
		if _, ok := b.versions[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// home is a module of a build: where its files are.
type home struct {
	path    string
	version module.Version
	files   fs.FS  // nil when they lie nowhere
	at      string // what its files are called before their paths: "" for the project's
	own     bool   // of the project
	goes    string
}

// homes returns the modules of a list, those with the longest paths first. project
// is the folder of the main module, which is below dir in what the user calls the
// project.
func (l *List) homes(s *Sources, project fs.FS, dir string) []*home {
	out := []*home{{path: l.main, files: project, at: dir, own: true, goes: l.goes}}
	vendor := vendored(project)
	for _, p := range slices.Sorted(maps.Keys(l.versions)) {
		v := l.versions[p]
		h := &home{path: p, version: v, at: v.Path + "@" + v.Version}
		if folder, ok := l.local[p]; ok && v.Version == "" {
			if sub, err := fs.Sub(project, folder); err == nil && fs.ValidPath(folder) {
				h.files, h.at, h.own = sub, path.Join(dir, folder), true
			}
		} else if h.files = s.Files(v); h.files == nil && vendor[p] == v.Version {
			h.files, _ = fs.Sub(project, "vendor/"+p)
		}
		if f, err := modfile.ParseLax("go.mod", s.GoMod(v), nil); err == nil && f.Go != nil {
			h.goes = f.Go.Version
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b *home) int { return len(b.path) - len(a.path) })
	return out
}

// vendored returns the versions that the vendor folder of a module holds.
func vendored(project fs.FS) map[string]string {
	out := map[string]string{}
	if project == nil {
		return out
	}
	text, err := readFile(project, "vendor/modules.txt")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "#" {
			out[w[1]] = w[2]
		}
	}
	return out
}
