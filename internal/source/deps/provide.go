package deps

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Package is a package that a manifest defines.
type Package struct {
	Ecosystem string // go, npm
	Name      string // as code imports it
	Version   string // as the manifest says it, "" for none
	Dir       string // of the manifest, "" for the root
}

// Requirement is a package that a manifest asks for.
type Requirement struct {
	Ecosystem string
	Name      string // as code imports it
	Version   string // that is in use, "" when the manifest alone does not say it
	Range     string // as the manifest writes it
	Local     bool   // it lies beside the project: a replacement by a folder, a workspace
	From      string // the package that goes by this name, when another: of an alias or a fork
}

// Manifest is what one manifest defines and asks for.
type Manifest struct {
	Packages     []Package
	Requirements []Requirement
}

// IsManifest reports whether ReadManifest reads a file of that path: one of a
// project itself, not of samples or of what is installed there.
func IsManifest(p string) bool {
	switch path.Base(p) {
	case "go.mod", "package.json":
	default:
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if pruned[dir] {
			return false
		}
	}
	return strings.Count(p, "/") <= maxDepth
}

// ReadManifest reads a manifest. One that does not parse defines nothing and
// asks for nothing. Unlike Manifests it knows of indirect requirements of Go
// modules, whose types reach code that does not name them.
func ReadManifest(p string, data []byte) Manifest {
	dir := path.Dir(p)
	if dir == "." {
		dir = ""
	}
	data = bytes.TrimPrefix(data, bom)
	if path.Base(p) == "go.mod" {
		return readGoMod(dir, data)
	}
	return readPackageJSON(dir, data)
}

func readGoMod(dir string, data []byte) (m Manifest) {
	f, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil || f.Module == nil {
		return m
	}
	m.Packages = []Package{{Ecosystem: golang.name, Name: f.Module.Mod.Path, Dir: dir}}
	// ParseLax passes over replacements, which strict reading of the rest may refuse.
	replaced := map[string]module.Version{}
	if strict, err := modfile.Parse("go.mod", data, nil); err == nil {
		for _, r := range strict.Replace {
			replaced[r.Old.Path] = r.New
		}
	}
	for _, r := range f.Require {
		q := Requirement{Ecosystem: golang.name, Name: r.Mod.Path, Version: r.Mod.Version, Range: r.Mod.Version}
		if to, ok := replaced[q.Name]; ok {
			if q.Version, q.Local = to.Version, to.Version == ""; to.Path != q.Name && !q.Local {
				q.From = to.Path
			}
		}
		m.Requirements = append(m.Requirements, q)
	}
	return m
}

func readPackageJSON(dir string, data []byte) (m Manifest) {
	var f map[string]json.RawMessage
	if json.Unmarshal(data, &f) != nil {
		return m
	}
	text := func(field string) (s string) {
		_ = json.Unmarshal(f[field], &s) // of another type it says nothing
		return s
	}
	if name := text("name"); name != "" {
		m.Packages = []Package{{Ecosystem: npm.name, Name: name, Version: text("version"), Dir: dir}}
	}
	seen := map[string]bool{}
	for _, field := range npmFields {
		var list map[string]string
		if json.Unmarshal(f[field], &list) != nil {
			continue
		}
		for name, rng := range list {
			if seen[name] {
				continue
			}
			seen[name] = true
			q := Requirement{Ecosystem: npm.name, Name: name, Range: rng, Version: strings.TrimPrefix(exactVersion(rng), "v")}
			for _, s := range npmLocal {
				q.Local = q.Local || strings.HasPrefix(rng, s)
			}
			if other, ok := strings.CutPrefix(rng, "npm:"); ok {
				q.From, q.Range, q.Version = other, "", ""
				if i := strings.LastIndexByte(other, '@'); i > 0 {
					q.From, q.Range = other[:i], other[i+1:]
					q.Version = exactVersion(q.Range)
				}
			}
			m.Requirements = append(m.Requirements, q)
		}
	}
	return m
}

// Held is how a store holds a package: where its text came from.
type Held struct {
	Ref    kb.Ref // as it was asked for
	Commit string // the state that is indexed: a hash, or the version of a package
	Folder string // a folder of this machine, "" for what does not change by itself
}

// One reports whether a build has one version of the package, whoever asks for it.
func (r Requirement) One() bool { return r.Ecosystem == golang.name }

var goMajorDirRE = lazyregexp.New(`(^|/)v[0-9]+$`)

// Fits reports whether a package that a store holds is the one that a
// requirement means: at the version in use or, of folders without a version,
// beside the project. why says what it is instead; it may be "".
func (r Requirement) Fits(p Package, h Held) (fits bool, why string) {
	if r.Ecosystem != p.Ecosystem || r.Name != p.Name && r.From != p.Name {
		return false, ""
	}
	if r.Local {
		return h.Folder != "", ""
	}
	if r.Ecosystem == golang.name {
		return r.fitsGo(p, h)
	}
	return r.fitsVersion(p, h)
}

func (r Requirement) fitsGo(p Package, h Held) (bool, string) {
	version := strings.TrimSuffix(r.Version, "+incompatible")
	if h.Folder != "" {
		// A folder of the cache of modules is named for its version; one without is a work tree.
		if _, at, ok := strings.Cut(path.Base(h.Folder), "@v"); ok && p.Dir == "" && "v"+at != r.Version {
			return false, "v" + at
		}
		return true, ""
	}
	if m := goPseudoRE.FindStringSubmatch(version); m != nil {
		if strings.HasPrefix(h.Commit, m[1]) || h.Ref.Type == kb.RefCommit && strings.HasPrefix(h.Ref.Name, m[1]) {
			return true, ""
		}
		return false, state(h)
	}
	sub := strings.TrimSuffix(goMajorDirRE.ReplaceAllString(p.Dir, ""), "/")
	if h.Commit == version || h.Ref.Type == kb.RefTag && h.Ref.Name == path.Join(sub, version) {
		return true, ""
	}
	return false, state(h)
}

func (r Requirement) fitsVersion(p Package, h Held) (bool, string) {
	version := r.Version
	switch {
	case version == "" && h.Folder != "" && inRange(r.Range, p.Version):
		return true, ""
	case version == "":
		return false, p.Version
	case strings.TrimPrefix(p.Version, "v") == version || strings.TrimPrefix(h.Commit, "v") == version:
		return true, ""
	}
	if h.Ref.Type == kb.RefTag {
		for _, t := range (Dependency{Ecosystem: r.Ecosystem, Name: r.Name, Version: version}).TagCandidates() {
			if t == h.Ref.Name {
				return true, ""
			}
		}
	}
	if h.Folder != "" && (p.Version == "" || p.Version == "0.0.0") { // never published: a work tree
		return true, ""
	}
	if p.Version != "" {
		return false, p.Version
	}
	return false, state(h)
}

// inRange reports whether a version may be one that a range of npm means: the
// first number is the same, or the range names none.
func inRange(rng, version string) bool {
	want := strings.TrimLeft(strings.TrimSpace(rng), "^~=>< v")
	if want == "" || want[0] < '0' || want[0] > '9' || version == "" {
		return true
	}
	a, _, _ := strings.Cut(want, ".")
	b, _, _ := strings.Cut(version, ".")
	return a == b || strings.HasPrefix(strings.TrimSpace(rng), ">")
}

// state names what a store holds.
func state(h Held) string {
	if h.Ref.Type != "" && h.Ref.Type != kb.RefDefault {
		return h.Ref.Name
	}
	return kb.ShortCommit(h.Commit)
}
