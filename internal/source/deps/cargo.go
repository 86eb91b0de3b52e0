package deps

import (
	"bytes"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var cargo = ecosystem{
	name:    "cargo",
	tag:     "v{v}",
	files:   map[string]parser{"Cargo.toml": decoded(toml.Unmarshal, cargoToml), "Cargo.lock": cargoLock},
	exts:    []string{".rs"},
	imports: rustImports,
	matcher: func(p *collector, deps []*Dependency) func(string) []*Dependency {
		module := func(name string) string { return strings.ReplaceAll(name, "-", "_") }
		byName := map[string][]*Dependency{}
		for _, d := range deps {
			byName[module(d.Name)] = append(byName[module(d.Name)], d)
		}
		for alias, name := range p.aliases("cargo") {
			byName[module(alias)] = byName[module(name)]
		}
		return func(imp string) []*Dependency { return byName[imp] }
	},
}

type cargoTable map[string]any

type cargoFile struct {
	Package   struct{ Name string }
	Deps      cargoTable `toml:"dependencies"`
	Dev       cargoTable `toml:"dev-dependencies"`
	Build     cargoTable `toml:"build-dependencies"`
	Target    map[string]cargoFile
	Workspace struct {
		Deps cargoTable `toml:"dependencies"`
	}
}

func cargoToml(p *collector, file string, m cargoFile) {
	if m.Package.Name != "" {
		p.owns("cargo", m.Package.Name)
	}
	if m.Workspace.Deps != nil {
		p.inherited[path.Dir(file)] = m.Workspace.Deps
	}
	cargoDeps(p, file, m)
	for _, t := range m.Target {
		cargoDeps(p, file, t)
	}
}

func cargoDeps(p *collector, file string, m cargoFile) {
	for i, list := range []cargoTable{m.Deps, m.Dev, m.Build} {
		for n, v := range list {
			if d, ok := cargoDep(file, n, v); ok {
				d.dev = i > 0
				p.declared = append(p.declared, d)
			}
		}
	}
}

// cargoDep reads one dependency; ok is false for one of the project's own.
func cargoDep(file, name string, v any) (d declared, ok bool) {
	d = declared{eco: "cargo", name: name, manifest: file}
	switch v := v.(type) {
	case string:
		d.rng = v
	case map[string]any:
		if v["path"] != nil {
			return d, false
		}
		if w, _ := v["workspace"].(bool); w {
			d.rng = "workspace"
			return d, true
		}
		if pkg, _ := v["package"].(string); pkg != "" {
			d.alias, d.name = name, pkg
		}
		d.rng, _ = v["version"].(string)
		d.repo, d.ref = sourceOf(v)
	}
	if strings.HasPrefix(d.rng, "=") {
		d.version = strings.TrimSpace(d.rng[1:])
	}
	return d, true
}

// resolveCargo completes what members inherit from their workspace.
func (p *collector) resolveCargo() {
	kept := p.declared[:0]
	for _, d := range p.declared {
		if d.eco != "cargo" || d.rng != "workspace" {
			kept = append(kept, d)
			continue
		}
		for _, dir := range upwards(path.Dir(d.manifest)) {
			v, ok := p.inherited[dir][d.name]
			if !ok {
				continue
			}
			if full, ok := cargoDep(d.manifest, d.name, v); ok {
				full.dev = d.dev
				kept = append(kept, full)
			}
			break
		}
	}
	p.declared = kept
}

func cargoLock(p *collector, file string, data []byte) {
	packages(data, func(pkg map[string]string) {
		if pkg["name"] == "" || pkg["source"] == "" {
			return // of the project itself
		}
		l := locked{version: unquote(pkg["version"])}
		if addr, ok := strings.CutPrefix(unquote(pkg["source"]), "git+"); ok {
			l.pin(addr)
		}
		p.lock("cargo", file, unquote(pkg["name"]), l)
	})
}

// pin sets repository, commit and tag from "https://…?tag=v1#hash".
func (l *locked) pin(addr string) {
	addr, l.commit, _ = strings.Cut(addr, "#")
	addr, query, _ := strings.Cut(addr, "?")
	l.repo = CleanURL(addr)
	if tag, ok := strings.CutPrefix(query, "tag="); ok {
		l.tag = tag
	}
}

// packages calls f with the keys of each table [[package]] of a lockfile, as
// they are written; those of a table within follow its name, "[package.source]url".
// It reads lines, because the rest of such a file is many times as long.
func packages(data []byte, f func(pkg map[string]string)) {
	var pkg map[string]string
	section := ""
	lines(data, func(line string) {
		switch {
		case line == "[[package]]":
			if pkg != nil {
				f(pkg)
			}
			pkg, section = map[string]string{}, ""
		case strings.HasPrefix(line, "["):
			section = line
		case pkg != nil && line != "" && isWord(line[0]):
			if k, v, ok := strings.Cut(line, " = "); ok {
				pkg[section+k] = v
			}
		}
	})
	if pkg != nil {
		f(pkg)
	}
}

// rustImports emits the first name of each path "a::b" and those after
// extern crate and use.
func rustImports(text []byte, emit func(string)) {
	for i := 0; ; i += 2 {
		k := bytes.Index(text[i:], []byte("::"))
		if k < 0 {
			break
		}
		i += k
		j := i
		for j > 0 && isWord(text[j-1]) {
			j--
		}
		if j < i && (j < 2 || text[j-1] != ':') {
			emit(string(text[j:i]))
		}
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimLeft(line, " \t")
		for _, word := range rustWords {
			if rest, ok := bytes.CutPrefix(line, word); ok {
				emitName(rest, 0, emit)
			}
		}
	}
}

var rustWords = [][]byte{[]byte("use "), []byte("pub use "), []byte("extern crate ")}
