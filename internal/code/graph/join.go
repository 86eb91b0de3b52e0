package graph

import (
	"context"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Member is one store of a join.
type Member struct {
	// Name is the folder that its documents lie in: "NAME/cmd/main.go". It has no slash.
	Name string
	// View is of the store's own references, and of its documents as they are
	// now: its tables say which packages there are and what they import.
	View *View
	// Module is the import path of the root of the store where no go.mod there
	// says one; it may be "".
	Module string
}

// Bounds of one join: what lies beyond them is left out, the nearest packages first.
const (
	maxJoined      = 60_000    // documents
	maxJoinedBytes = 512 << 20 // of text
)

// Join finds what the documents of the first member use of what the others
// declare, and makes the view file at path of it: edges out of the first member
// into others, and no other edges. src has the documents of all members,
// each below the folder of its name, of which Join takes those that the first
// member reaches by imports. What did not change since prev, an earlier join of
// the same members or nil, is taken over from it; prev may be the view at path.
//
// Go is resolved by go/types: the first member is checked with its bodies, of
// the others only what importers see. Everything else is resolved from facts,
// as Link does it, packages being found by their manifests; the types of TypeScript
// tell more, which is read with grammars that are kept in the folder of that name, "" for
// without. Errors: those of Link.
func Join(ctx context.Context, src Source, members []Member, prev *View, path string, grammars string, progress func(done, total int)) (Stats, error) {
	j, err := newJoin(ctx, src, members)
	if err != nil {
		return Stats{}, err
	}
	j.grammars = grammars
	b := newBuilder(j.entries, filepath.Dir(path))
	defer b.close()
	report := counter(len(j.entries), progress)
	defer limitMemory(j.goBytes)()
	g := &goLinker{b: b, src: src, fset: token.NewFileSet(), progress: report, join: j}
	return g.view(ctx, prev, path, len(j.entries))
}

// join is what a linker knows of the members of a join.
type join struct {
	own     string                 // the first member's folder, with a slash behind it
	entries []Entry                // that take part, in order of path
	goBytes int64                  // of text among them
	files   map[string]*goFile     // what the members' views know of Go files, by path here
	mods    map[string]string      // module paths of folders without a go.mod
	npm     map[string]*npmPackage // by name; nil when no member has one that another may import

	grammars string // the folder that they are kept in, "" for none
}

// mine reports whether a document is of the first member.
func (j *join) mine(path string) bool { return strings.HasPrefix(path, j.own) }

// crosses reports whether an edge is one that a join keeps.
func (g *goLinker) crosses(from, to int32) bool {
	return g.join == nil || g.join.crosses(g.b, from, to)
}

func (j *join) crosses(b *builder, from, to int32) bool {
	return j.mine(b.docs[from].entry.Path) && !j.mine(b.docs[to].entry.Path)
}

// newJoin chooses the documents that take part in a join.
func newJoin(ctx context.Context, src Source, members []Member) (*join, error) {
	j := &join{own: members[0].Name + "/", files: map[string]*goFile{}, mods: map[string]string{"": ""}}
	r := reach{join: j, at: map[string]int{}, entries: src.Entries(), taken: map[string]bool{}}
	for i, e := range r.entries {
		r.at[e.Path] = i
	}
	for _, m := range members {
		r.member(m)
	}
	if err := r.walk(ctx); err != nil {
		return nil, err
	}
	if err := r.npm(ctx, src, members); err != nil {
		return nil, err
	}
	for i := range r.entries {
		if e := &r.entries[i]; r.taken[e.Path] {
			j.entries = append(j.entries, *e)
			if isGo(e) {
				j.goBytes += e.Size
			}
		}
	}
	return j, nil
}

// reach finds which documents a join needs.
type reach struct {
	join     *join
	entries  []Entry
	at       map[string]int      // path → entry
	packages []map[string]string // of each member: import path → folder here
	folders  map[string][]*goFile
	taken    map[string]bool
	bytes    int64
}

// member notes the packages of one member.
func (r *reach) member(m Member) {
	state := m.View.goState()
	if state == nil {
		state = &goState{}
	}
	paths := map[string]string{}
	_, rooted := r.at[m.Name+"/go.mod"]
	root := ""
	for u := range state.keys {
		if strings.HasSuffix(u.path, "]") || inside(u.dir, "vendor") {
			continue // which no import can name
		}
		p := u.path
		if p == u.dir && !rooted && m.Module != "" { // no module is known
			p = joinDir(m.Module, u.dir)
		}
		paths[p] = joinDir(m.Name, u.dir)
		if rest, ok := strings.CutSuffix(p, u.dir); ok && !rooted {
			root = max(root, strings.TrimSuffix(rest, "/"))
		}
	}
	if !rooted {
		if root == "" {
			root = m.Name // which no import names
		}
		r.join.mods[m.Name] = root
	}
	r.packages = append(r.packages, paths)
	if r.folders == nil {
		r.folders = map[string][]*goFile{}
	}
	for p, f := range state.files {
		f.path = m.Name + "/" + p
		r.join.files[f.path] = f
		r.folders[dirOfFile(f.path)] = append(r.folders[dirOfFile(f.path)], f)
	}
}

// walk takes the first member's Go files and, package by package, what they
// import of the others.
func (r *reach) walk(ctx context.Context) error {
	type need struct {
		path string
		by   int // number of the member that imports it
	}
	var queue []need
	asked := map[need]bool{}
	take := func(f *goFile, member int) {
		i, ok := r.at[f.path]
		if !ok || r.taken[f.path] || len(r.taken) >= maxJoined || r.bytes > maxJoinedBytes {
			return
		}
		r.taken[f.path] = true
		r.bytes += r.entries[i].Size
		for _, p := range f.imports {
			if n := (need{p, member}); !asked[n] {
				asked[n] = true
				queue = append(queue, n)
			}
		}
	}
	var own []*goFile
	for p, f := range r.join.files {
		if r.join.mine(p) {
			own = append(own, f)
		}
	}
	slices.SortFunc(own, byPath)
	for _, f := range own {
		take(f, 0)
	}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return canceled(err)
		}
		n := queue[0]
		queue = queue[1:]
		member, dir := r.find(n.path, n.by)
		if member <= 0 {
			continue
		}
		files := r.folders[dir]
		slices.SortFunc(files, byPath)
		for _, f := range files {
			if !f.test() {
				take(f, member)
			}
		}
	}
	r.manifests()
	return nil
}

func byPath(a, b *goFile) int { return strings.Compare(a.path, b.path) }

// find returns the member and the folder of an import path: of the importer
// itself before all others; -1 when none has it.
func (r *reach) find(p string, by int) (int, string) {
	if dir, ok := r.packages[by][p]; ok {
		return by, dir
	}
	for i, paths := range r.packages {
		if dir, ok := paths[p]; ok {
			return i, dir
		}
	}
	return -1, ""
}

// manifests takes every go.mod above a file that is taken.
func (r *reach) manifests() {
	seen := map[string]bool{}
	for p := range r.taken {
		for d := dirOfFile(p); d != "" && !seen[d]; d = dirOfFile(d) {
			seen[d] = true
		}
	}
	for d := range seen {
		if _, ok := r.at[d+"/go.mod"]; ok {
			r.taken[d+"/go.mod"] = true
		}
	}
}

// known returns what need not be read again: of the join before, and else of the
// members' own views.
func (j *join) known(old *goState) *goState {
	s := &goState{files: j.files}
	if old != nil {
		s.keys = old.keys
	}
	return s
}

// wanted says which units are checked with their bodies: those of the first
// member that reach a package of another by imports.
func (j *join) wanted(l *layout) []bool {
	users := make([][]int, len(l.units))
	var reached []int
	reach := make([]bool, len(l.units))
	for i, u := range l.units {
		for _, k := range u.deps {
			users[k] = append(users[k], i)
		}
		if !j.mine(u.files[0].path) {
			reach[i], reached = true, append(reached, i)
		}
	}
	for len(reached) > 0 {
		last := len(reached) - 1
		i := reached[last]
		reached = reached[:last]
		for _, k := range users[i] {
			if !reach[k] {
				reach[k], reached = true, append(reached, k)
			}
		}
	}
	for i, u := range l.units {
		reach[i] = reach[i] && j.mine(u.files[0].path)
	}
	return reach
}

// joined links the Go files of a join.
func (g *goLinker) joined(ctx context.Context, files []*goFile, mods map[string]string, prev *View, old *goState, stats *Stats) error {
	for dir, p := range g.join.mods {
		if _, ok := mods[dir]; !ok {
			mods[dir] = p
		}
	}
	g.layout = newLayout(files, mods)
	stats.Packages = len(g.layout.units)
	want := g.join.wanted(g.layout)
	var r *reuse
	var copied, anew []int
	if old != nil {
		var err error
		r = &reuse{v: prev, b: g.b, moved: map[int32][]int32{}}
		if copied, anew, err = g.keep(r, want, old); err != nil {
			return err
		}
		stats.Copied = len(copied)
	}
	if err := g.link(ctx, want, anew, workers()); err != nil {
		return err
	}
	g.resolveOthers()
	for _, i := range copied {
		for _, f := range g.layout.units[i].files {
			if err := prev.guard(func() error { return r.edges(f.doc) }); err != nil {
				return err
			}
		}
	}
	g.forgetFailed()
	stats.Checked, stats.Failed = int(g.checked.Load()), int(g.failed.Load())
	return nil
}

// keep takes over from the join before the declarations of every document that
// did not change and had any, and unwants the units whose edges hold: copied.
// It returns which units must be declared anew because such edges may lead there.
func (g *goLinker) keep(r *reuse, want []bool, old *goState) (copied, anew []int, err error) {
	for i, u := range g.layout.units {
		key, ok := old.keys[unitName{u.dir, u.name, u.path}]
		holds, had := ok && key == u.key, false
		for _, f := range u.files {
			err := r.v.guard(func() error {
				doc := r.v.core.doc(f.path)
				if doc < 0 || r.v.core.decls[doc] == 0 {
					return nil
				}
				had = true
				sum, err := r.v.core.hash(doc)
				if err != nil || string(sum) != string(f.hash[:]) {
					return err
				}
				return r.declare(f.doc)
			})
			if err != nil {
				return nil, nil, err
			}
		}
		switch {
		case want[i] && holds:
			want[i], copied = false, append(copied, i)
			g.progress(len(u.files))
		case !want[i] && !holds && had:
			anew = append(anew, i)
		}
	}
	return copied, anew, nil
}
