package deps

import (
	"bytes"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// cargo reads Cargo.toml and Cargo.lock.
var cargo = ecosystem{
	name: "cargo",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch base {
		case "Cargo.toml":
			return cargoToml
		case "Cargo.lock":
			return cargoLock
		}
		return nil
	},
	exts:    []string{".rs"},
	imports: rustImports,
	matcher: func(p *collector, deps []*Dependency) func(string) []*Dependency {
		byName := map[string][]*Dependency{}
		for _, d := range deps {
			byName[strings.ReplaceAll(d.Name, "-", "_")] = append(byName[strings.ReplaceAll(d.Name, "-", "_")], d)
		}
		for alias, name := range p.aliases("cargo") {
			byName[strings.ReplaceAll(alias, "-", "_")] = byName[strings.ReplaceAll(name, "-", "_")]
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

func cargoToml(p *collector, file string, data []byte) {
	var m cargoFile
	if err := toml.Unmarshal(data, &m); err != nil {
		p.note("%s does not parse: %v", file, firstLine(err))
		return
	}
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
	for _, t := range []struct {
		list cargoTable
		dev  bool
	}{{m.Deps, false}, {m.Dev, true}, {m.Build, true}} {
		for n, v := range t.list {
			if d, ok := cargoDep(p, file, n, v); ok {
				d.dev = t.dev
				p.declared = append(p.declared, d)
			}
		}
	}
}

// cargoDep reads one dependency; ok is false for one of the project's own.
func cargoDep(p *collector, file, name string, v any) (d declared, ok bool) {
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

// resolveCargo fills in what members take over from their workspace.
func (p *collector) resolveCargo() {
	kept := p.declared[:0]
	for _, d := range p.declared {
		if d.eco == "cargo" && d.rng == "workspace" {
			found := false
			for _, dir := range upwards(path.Dir(d.manifest)) {
				v, ok := p.inherited[dir][d.name]
				if !ok {
					continue
				}
				dev := d.dev
				if d, found = cargoDep(p, d.manifest, d.name, v); found {
					d.dev = dev
				}
				break
			}
			if !found {
				continue
			}
		}
		// A lockfile knows the package, not the name that the code gives it.
		kept = append(kept, d)
	}
	p.declared = kept
}

func cargoLock(p *collector, file string, data []byte) {
	var name string
	var l locked
	external := false
	flush := func() {
		if name != "" && external {
			p.lock("cargo", file, name, l)
		}
		name, l, external = "", locked{}, false
	}
	lines(data, func(line string) {
		k, v, ok := strings.Cut(line, " = ")
		if line == "[[package]]" {
			flush()
		}
		if !ok {
			return
		}
		switch v = unquote(v); k {
		case "name":
			name = v
		case "version":
			l.version = v
		case "source":
			external = true
			if addr, found := strings.CutPrefix(v, "git+"); found {
				addr, commit, _ := strings.Cut(addr, "#")
				addr, query, _ := strings.Cut(addr, "?")
				l.repo, l.commit = CleanURL(addr), commit
				if tag, ok := strings.CutPrefix(query, "tag="); ok {
					l.tag = tag
				}
			}
		}
	})
	flush()
}

// rustImports emits each name that stands before "::" and after none, and
// those of extern crate and of use.
func rustImports(text []byte, emit func(string)) {
	for i := 0; ; {
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
		i += 2
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimLeft(line, " \t")
		for _, word := range rustWords {
			if rest, ok := bytes.CutPrefix(line, word); ok {
				n := 0
				for n < len(rest) && isWord(rest[n]) {
					n++
				}
				if n > 0 {
					emit(string(rest[:n]))
				}
			}
		}
	}
}

var rustWords = [][]byte{[]byte("use "), []byte("pub use "), []byte("extern crate ")}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
