// Package deps finds what a project depends on, without a model and without a
// network: from its manifests which packages it names, from its lockfiles
// which version is in use, from its code how many files import each, and from
// lockfiles, module paths, installed packages and a built-in table which
// repository and tag that version comes from.
//
// One file per ecosystem holds its manifests, lockfiles and imports; the table
// ecosystems lists them all. A file that does not parse is noted and skipped: a
// project is analysed as far as it can be read.
package deps

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Dependency is one package that a project names.
type Dependency struct {
	Ecosystem string `json:"ecosystem"` // go, npm, pypi, cargo, maven, gem, composer, hex, nuget, swift
	Name      string `json:"name"`      // as the ecosystem's registry spells it; of maven group:artifact
	Version   string `json:"version,omitempty"`
	Range     string `json:"range,omitempty"` // what the manifest asks for
	Dev       bool   `json:"dev,omitempty"`   // for building and testing only
	Files     int    `json:"files"`           // source files that import it
	Manifest  string `json:"manifest"`        // slash-separated, below the root
	// Repository is the URL of a git repository, "" when nothing on this machine
	// names one; From is its source: lockfile, module path, installed package,
	// table or registry.
	Repository string `json:"repository,omitempty"`
	From       string `json:"from,omitempty"`
	// Tag is the repository's likely tag of the version; Commit is the hash where
	// the lockfile or the version holds one.
	Tag    string `json:"tag,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// ID returns "npm:react".
func (d Dependency) ID() string { return d.Ecosystem + ":" + d.Name }

// Report is what a project depends on.
type Report struct {
	// Dependencies are the packages that manifests name, most imported first,
	// without the project's own.
	Dependencies []Dependency
	Brought      []Dependency // that others bring along, where a manifest lists these, too: Go's
	Manifests    []string     // that were read
	Files        int          // source files that were read
	Notes        []string     // what could not be read
}

// Manifests reads manifests and lockfiles only: Files is 0 everywhere.
func Manifests(ctx context.Context, root string) (Report, error) {
	return analyze(ctx, root, false)
}

// Analyze reads manifests, lockfiles and source files below a folder. Files of
// dependencies, build output and hidden folders are passed over.
func Analyze(ctx context.Context, root string) (Report, error) {
	return analyze(ctx, root, true)
}

func analyze(ctx context.Context, root string, code bool) (Report, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return Report{}, kb.Errorf(kb.NotFound, "the folder %q cannot be read: %w", root, err).
			WithHint("name a folder that exists")
	}
	defer r.Close()
	files, err := list(ctx, r)
	if err != nil {
		return Report{}, err
	}
	p, found, err := read(ctx, r, files.manifests)
	if err != nil {
		return Report{}, err
	}
	rep := Report{Manifests: p.manifests, Notes: p.notes}
	if code {
		rep.Files = count(ctx, r, p, files.sources, found)
		if err := stopped(ctx); err != nil {
			return Report{}, err
		}
	}
	for _, d := range found {
		rep.Dependencies = append(rep.Dependencies, *d)
	}
	kb.SortStableFunc(rep.Dependencies, func(a, b Dependency) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), boolCompare(a.Dev, b.Dev),
			cmp.Compare(a.Ecosystem, b.Ecosystem), cmp.Compare(a.Name, b.Name))
	})
	for i := range rep.Dependencies {
		p.locate(&rep.Dependencies[i])
	}
	for _, d := range p.along(found) {
		p.locate(d)
		rep.Brought = append(rep.Brought, *d)
	}
	return rep, nil
}

// along returns what other packages bring along, each once and without those
// that a manifest asks for itself.
func (p *collector) along(found []*Dependency) (out []*Dependency) {
	seen := map[string]bool{}
	for _, d := range found {
		seen[d.ID()] = true
	}
	for _, d := range p.brought {
		x := &Dependency{Ecosystem: d.eco, Name: d.name, Version: d.version, Manifest: d.manifest}
		if !seen[x.ID()] && !p.own[d.eco][d.name] {
			seen[x.ID()] = true
			out = append(out, x)
		}
	}
	return out
}

func stopped(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return kb.Errorf(kb.Canceled, "stopped on request: %w", err)
	}
	return nil
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ecosystem is one world of packages.
type ecosystem struct {
	name string
	// files maps the names of manifests and lockfiles to their parsers. A "*" in
	// a name matches anything.
	files map[string]parser
	// parts returns the parser of a file whose folder makes it a manifest, nil for
	// others. It may be nil.
	parts func(path string) parser
	exts  []string // of source files, with the dot
	// imports calls emit with each import of a source file, as it is written; the
	// same import may come several times.
	imports func(text []byte, emit func(string))
	// matcher returns a function from an import to the dependencies that it means.
	matcher func(p *collector, deps []*Dependency) func(imp string) []*Dependency
	// tag spells the tag of a version where the table of packages does not;
	// "" when there is no custom.
	tag string
	// installed returns the repository that an installed copy of a package names.
	// It may be nil.
	installed func(p *collector, d *Dependency) string
}

// manifest returns the parser of a file of that name, or nil.
func (e *ecosystem) manifest(base string) parser {
	if parse := e.files[base]; parse != nil {
		return parse
	}
	for pattern, parse := range e.files {
		if ok, _ := path.Match(pattern, base); ok {
			return parse
		}
	}
	return nil
}

type parser func(p *collector, path string, data []byte)

var bom = []byte("\xef\xbb\xbf")

// decoded returns a parser that decodes a file into a T and passes it to use. A
// file that does not decode is noted.
func decoded[T any](decode func([]byte, any) error, use func(p *collector, file string, m T)) parser {
	return func(p *collector, file string, data []byte) {
		var m T
		if err := decode(bytes.TrimPrefix(data, bom), &m); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			p.note("%s does not parse: %s", file, first)
			return
		}
		use(p, file, m)
	}
}

var ecosystems = []*ecosystem{
	&golang, &npm, &python, &cargo, &maven, &ruby, &php, &elixir, &dotnet, &swift,
}

func ecosystemNamed(name string) *ecosystem {
	i := slices.IndexFunc(ecosystems, func(e *ecosystem) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return ecosystems[i]
}

// declared is a package that a manifest names.
type declared struct {
	eco, name string
	rng       string // what is asked for
	version   string // when the manifest itself fixes it
	alias     string // the name it goes by in the lockfile and the code, when another
	dev       bool
	manifest  string
	repo      string // when the manifest names the place
	ref       kb.Ref
}

// locked is one package of a lockfile.
type locked struct {
	version string
	repo    string
	commit  string
	tag     string
}

// collector gathers what the manifests of a project name.
type collector struct {
	root      *os.Root
	manifests []string
	notes     []string
	declared  []declared
	brought   []declared                    // by other packages, as go.mod lists them
	own       map[string]map[string]bool    // ecosystem → names of the project itself
	locks     map[place]map[string][]locked // name → its versions

	npmSpecs  map[string]map[string]string  // of pnpm: directory → name → version
	catalogs  map[string]map[string]library // of gradle: build's directory → accessor → library
	poms      map[string]*pom
	central   map[string]map[string]string // of nuget: directory → id → version
	spaces    map[string]string            // of composer: namespace prefix → package
	products  map[string]string            // of swift: module → package
	inherited map[string]cargoTable        // of cargo: directory of the workspace → its dependencies
}

// place is the directory of a lockfile.
type place struct{ eco, dir string }

func newCollector(r *os.Root) *collector {
	return &collector{
		root: r, own: map[string]map[string]bool{}, locks: map[place]map[string][]locked{},
		npmSpecs: map[string]map[string]string{}, catalogs: map[string]map[string]library{}, poms: map[string]*pom{},
		central: map[string]map[string]string{}, spaces: map[string]string{}, products: map[string]string{},
		inherited: map[string]cargoTable{},
	}
}

// put sets a value in a map of maps.
func put[K, L comparable, V any](m map[K]map[L]V, k K, l L, v V) {
	if m[k] == nil {
		m[k] = map[L]V{}
	}
	m[k][l] = v
}

func (p *collector) owns(eco, name string) { put(p.own, eco, name, true) }

func (p *collector) lock(eco, file, name string, l locked) {
	at := place{eco, path.Dir(file)}
	if all := p.locks[at][name]; !slices.Contains(all, l) {
		put(p.locks, at, name, append(all, l))
	}
}

// lockedNear returns what the lockfile nearest above a directory holds of a name.
func (p *collector) lockedNear(eco, dir, name string) []locked {
	for _, d := range upwards(dir) {
		if l := p.locks[place{eco, d}][name]; len(l) > 0 {
			return l
		}
	}
	return nil
}

// upwards returns a directory and those above it, up to ".".
func upwards(dir string) []string {
	out := []string{dir}
	for dir != "." {
		dir = path.Dir(dir)
		out = append(out, dir)
	}
	return out
}

// resolve makes one dependency of all declarations of a package: that of the
// manifest nearest to the root, with what its lockfile holds. One for running
// goes before one for testing.
func (p *collector) resolve() []*Dependency {
	p.resolveMaven()
	p.resolveGradle()
	p.resolveDotnet()
	p.resolveCargo()
	kb.SortStableFunc(p.declared, func(a, b declared) int {
		return cmp.Or(strings.Count(a.manifest, "/")-strings.Count(b.manifest, "/"), boolCompare(a.dev, b.dev))
	})
	byID := map[string]*Dependency{}
	var out []*Dependency
	for _, d := range p.declared {
		if p.own[d.eco][d.name] || d.name == "" {
			continue
		}
		id := d.eco + ":" + d.name
		have := byID[id]
		if have == nil {
			have = &Dependency{Ecosystem: d.eco, Name: d.name, Range: d.rng, Dev: d.dev, Manifest: d.manifest}
			byID[id] = have
			out = append(out, have)
		}
		have.Dev = have.Dev && d.dev
		if have.Version != "" || have.Commit != "" {
			continue
		}
		l := p.versionOf(d)
		if l.version != "" || have.Manifest == d.manifest || have.Range == "" && d.rng != "" {
			have.Version, have.Commit, have.Repository, have.Tag = l.version, l.commit, l.repo, l.tag
			if l.version != "" {
				have.Manifest, have.Range = d.manifest, d.rng
			}
			if l.repo != "" {
				have.From = "lockfile"
			}
		}
	}
	return out
}

// versionOf returns the version in use of what a manifest names.
func (p *collector) versionOf(d declared) locked {
	dir := path.Dir(d.manifest)
	l := locked{version: d.version}
	if d.eco == npm.name {
		if v := p.npmVersion(dir, cmp.Or(d.alias, d.name)); v != (locked{}) {
			l = v
		}
	} else if all := p.lockedNear(d.eco, dir, d.name); len(all) > 0 {
		l = choose(all, d.rng)
	}
	l.repo = cmp.Or(l.repo, d.repo)
	if l.commit == "" && d.ref.Type == kb.RefCommit {
		l.commit = d.ref.Name
	}
	if l.tag == "" && d.ref.Type == kb.RefTag {
		l.tag = d.ref.Name
	}
	if l.tag != "" {
		l.commit = "" // the tag says the same, and more
	}
	return l
}

// aliases returns the names that the code gives to packages of an ecosystem.
func (p *collector) aliases(eco string) map[string]string {
	out := map[string]string{}
	for _, d := range p.declared {
		if d.eco == eco && d.alias != "" {
			out[d.alias] = d.name
		}
	}
	return out
}

// choose returns the version that a range most likely means: the one that begins
// as the range does, else the last.
func choose(all []locked, rng string) locked {
	want := strings.TrimLeft(strings.TrimSpace(rng), "^~=>< v")
	best, most := all[len(all)-1], -1
	for _, l := range all {
		n := 0
		for n < len(want) && n < len(l.version) && want[n] == l.version[n] {
			n++
		}
		if n >= most {
			best, most = l, n
		}
	}
	return best
}
