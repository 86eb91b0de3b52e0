package graph

import (
	"crypto/sha256"
	"path"
	"slices"
	"sort"
	"strings"
)

// unit is what the Go linker checks in one go: a package with its tests. A
// folder has several when its files name several packages.
type unit struct {
	dir, name string
	// path is the import path; of a unit that cannot be imported, one that no
	// import can name.
	path   string
	module *module
	files  []*goFile // in order of path
	size   int64     // bytes of its files
	config config    // how importers see it
	base   []*goFile // the files without tests of that build

	// imports says for every import path of its files which unit it means, by
	// number; paths that mean none in this store are not there.
	imports map[string]int
	// open is set when its files, or those it needs, import what is not in this
	// store, so that types may be unknown.
	open    bool
	apiDeps []int // units that base needs, without those that would make a cycle
	deps    []int // units that any file needs

	api sum8 // of what importers can see, theirs included
	key sum8 // of all that the edges out of it depend on
}

type sum8 [8]byte

type module struct{ dir, path string }

// rel returns the import path of a folder of the module.
func (m *module) importPath(dir string) string {
	rel := dir
	if m.dir != "" {
		rel = strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/")
	}
	switch {
	case m.path == "" || m.path == "std":
		return rel
	case rel == "":
		return m.path
	}
	return m.path + "/" + rel
}

// folder returns the folder of the module that an import path names; false if
// the path is not of the module.
func (m *module) folder(p string) (string, bool) {
	rel := ""
	switch {
	case m.path == "" || m.path == "std":
		rel = p
	case p == m.path:
	case strings.HasPrefix(p, m.path+"/"):
		rel = p[len(m.path)+1:]
	default:
		return "", false
	}
	return joinDir(m.dir, rel), true
}

func joinDir(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

func dirOfFile(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// layout is how the Go files of a store hang together.
type layout struct {
	units   []*unit
	byDir   map[string]int // folder → the unit that importing it means
	byPath  map[string]int // import path → unit
	modules []*module      // the longest folders first
}

// newLayout makes units of files, given the module path of each go.mod's folder.
func newLayout(files []*goFile, mods map[string]string) *layout {
	l := &layout{byDir: map[string]int{}, byPath: map[string]int{}}
	for dir, p := range mods {
		l.modules = append(l.modules, &module{dir, p})
	}
	type place struct{ dir, name string }
	groups := map[place][]*goFile{}
	for _, f := range files {
		p := place{dirOfFile(f.path), f.unitName()}
		groups[p] = append(groups[p], f)
	}
	if _, ok := mods[""]; !ok {
		l.modules = append(l.modules, &module{"", guessModule(files, mods)})
	}
	sort.Slice(l.modules, func(i, j int) bool {
		a, b := l.modules[i].dir, l.modules[j].dir
		return len(a) > len(b) || len(a) == len(b) && a < b
	})
	for p, fs := range groups {
		sort.Slice(fs, func(i, j int) bool { return fs[i].path < fs[j].path })
		u := &unit{dir: p.dir, name: p.name, files: fs, module: l.moduleOf(p.dir)}
		for _, f := range fs {
			u.size += f.size
		}
		u.choose()
		l.units = append(l.units, u)
	}
	sort.Slice(l.units, func(i, j int) bool {
		a, b := l.units[i], l.units[j]
		return a.dir < b.dir || a.dir == b.dir && a.name < b.name
	})
	for i, u := range l.units {
		if k, ok := l.byDir[u.dir]; !ok || u.rank() > l.units[k].rank() {
			l.byDir[u.dir] = i
		}
	}
	for i, u := range l.units {
		u.path = u.module.importPath(u.dir)
		if l.byDir[u.dir] != i {
			u.path += " [" + u.name + "]"
			continue
		}
		if k, ok := l.byPath[u.path]; !inside(u.dir, "vendor") && (!ok || len(u.dir) < len(l.units[k].dir)) {
			l.byPath[u.path] = i
		}
	}
	for _, u := range l.units {
		u.imports = map[string]int{}
		for _, f := range u.files {
			for _, p := range f.imports {
				if _, ok := u.imports[p]; ok {
					continue
				}
				k := l.resolve(p, u)
				if k >= 0 && (l.units[k] != u || f.external()) {
					u.imports[p] = k
				}
				u.open = u.open || k < 0 && p != "unsafe"
			}
		}
	}
	l.dependencies()
	l.keys()
	return l
}

// choose sets how the unit is built for its importers: for the first system
// if any file without tests is for it, else as its first file wants.
func (u *unit) choose() {
	u.config = firstConfig
	for range 2 {
		for _, f := range u.files {
			if !f.test() && u.config.takes(f) {
				u.base = append(u.base, f)
			}
		}
		if len(u.base) > 0 {
			return
		}
		for _, f := range u.files {
			if c, ok := configFor(f); ok && !f.test() {
				u.config = c
				break
			}
		}
	}
}

// rank orders the units of a folder by how likely an import means them.
func (u *unit) rank() int {
	switch {
	case len(u.base) == 0 || u.name == "":
		return 0
	case u.name == "main" || u.name == "documentation":
		return 1
	case u.name == path.Base(u.dir):
		return 2 + 2*len(u.base)
	}
	return 1 + 2*len(u.base)
}

// inside reports whether one of the folders of a path has this name.
func inside(dir, name string) bool {
	return dir == name || strings.HasPrefix(dir, name+"/") || strings.HasSuffix(dir, "/"+name) || strings.Contains(dir, "/"+name+"/")
}

func (l *layout) moduleOf(dir string) *module {
	for _, m := range l.modules {
		if m.dir == "" || dir == m.dir || strings.HasPrefix(dir, m.dir+"/") {
			return m
		}
	}
	return &module{}
}

// resolve returns the unit that an import path means in a unit, -1 for none in
// this store: a vendored one first, then the unit's own module, then others.
func (l *layout) resolve(p string, u *unit) int {
	if p == "C" || p == "unsafe" || p == "" {
		return -1
	}
	if strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		d := path.Join(u.dir, p)
		if d == "." {
			d = ""
		}
		return l.at(d)
	}
	for d := u.dir; ; d = dirOfFile(d) {
		if k := l.at(joinDir(joinDir(d, "vendor"), p)); k >= 0 {
			return k
		}
		if d == "" {
			break
		}
	}
	if d, ok := u.module.folder(p); ok {
		if k := l.at(d); k >= 0 {
			return k
		}
	}
	if k, ok := l.byPath[p]; ok {
		return k
	}
	return -1
}

func (l *layout) at(dir string) int {
	if k, ok := l.byDir[dir]; ok && l.units[k].rank() > 0 {
		return k
	}
	return -1
}

// guessModule returns the module path of a tree without go.mod at its root:
// what stands before the folders of the tree in the paths that it imports. It
// takes two folders that agree; "" else.
func guessModule(files []*goFile, mods map[string]string) string {
	dirs := map[string]bool{}
	for _, f := range files {
		dirs[dirOfFile(f.path)] = true
	}
	votes := map[string]map[string]bool{}
	for _, f := range files {
		for _, p := range f.imports {
			first, _, _ := strings.Cut(p, "/")
			if !strings.Contains(first, ".") || dirs[p] {
				continue
			}
			for at := strings.IndexByte(p, '/'); at >= 0; {
				if dir := p[at+1:]; dirs[dir] && !inside(dir, "vendor") {
					if votes[p[:at]] == nil {
						votes[p[:at]] = map[string]bool{}
					}
					votes[p[:at]][dir] = true
				}
				next := strings.IndexByte(p[at+1:], '/')
				if next < 0 {
					break
				}
				at += 1 + next
			}
		}
	}
	best := ""
	for p, ds := range votes {
		if n := len(votes[best]); len(ds) >= 2 && (len(ds) > n || len(ds) == n && p < best) {
			best = p
		}
	}
	for _, p := range mods {
		if p == best {
			return ""
		}
	}
	return best
}

// dependencies fills in which units need which. Imports among base files that
// would make a cycle are cut, always at the same place.
func (l *layout) dependencies() {
	need := func(u *unit, files []*goFile) []int {
		seen := map[int]bool{}
		var out []int
		for _, f := range files {
			for _, p := range f.imports {
				if k, ok := u.imports[p]; ok && l.units[k] != u && !seen[k] {
					seen[k] = true
					out = append(out, k)
				}
			}
		}
		sort.Ints(out)
		return out
	}
	for _, u := range l.units {
		u.apiDeps, u.deps = need(u, u.base), need(u, u.files)
	}
	state := make([]uint8, len(l.units)) // 1: on the way, 2: done
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		u := l.units[i]
		kept := u.apiDeps[:0]
		for _, k := range u.apiDeps {
			if state[k] == 0 {
				visit(k)
			}
			if state[k] == 2 {
				kept = append(kept, k)
			}
		}
		u.apiDeps = kept
		state[i] = 2
	}
	for i := range l.units {
		if state[i] == 0 {
			visit(i)
		}
	}
}

// keys computes what the edges of every unit depend on.
func (l *layout) keys() {
	done := make([]bool, len(l.units))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		u := l.units[i]
		h := sha256.New()
		text := func(s string) { h.Write([]byte(s)); h.Write([]byte{0}) }
		text(u.path)
		text(u.config.os + "/" + u.config.arch)
		for _, f := range u.base {
			text(f.path)
			h.Write(f.skeleton[:])
		}
		for _, k := range u.apiDeps {
			visit(k)
			text(l.units[k].path)
			text(l.units[k].dir)
			u.open = u.open || l.units[k].open
			h.Write(l.units[k].api[:])
		}
		copy(u.api[:], h.Sum(nil))
	}
	for i := range l.units {
		visit(i)
	}
	// A file of another build may use what only other builds of a package have.
	other := make([][]byte, len(l.units))
	for i, u := range l.units {
		h := sha256.New()
		for _, f := range u.files {
			if !f.test() {
				h.Write([]byte(f.path))
				h.Write(f.skeleton[:])
			}
		}
		other[i] = h.Sum(nil)
	}
	for _, u := range l.units {
		h := sha256.New()
		h.Write(u.api[:])
		oneBuild := !slices.ContainsFunc(u.files, func(f *goFile) bool { return !u.config.takes(f) })
		for _, f := range u.files {
			h.Write([]byte(f.path))
			h.Write(f.hash[:])
		}
		for _, k := range u.deps {
			h.Write([]byte(l.units[k].path))
			h.Write(l.units[k].api[:])
			if !oneBuild {
				h.Write(other[k])
			}
			u.open = u.open || l.units[k].open
		}
		copy(u.key[:], h.Sum(nil))
	}
}
