package deps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var dotnet = ecosystem{
	name: "nuget",
	tag:  "v{v}",
	files: map[string]parser{
		"*.csproj": csproj, "*.fsproj": csproj, "*.vbproj": csproj, "*.props": csproj, "*.targets": csproj,
		"packages.lock.json": decoded(json.Unmarshal, nugetLock),
	},
	exts:    []string{".cs", ".fs", ".csproj", ".fsproj", ".props", ".targets"},
	imports: dotnetImports,
	matcher: func(_ *collector, deps []*Dependency) func(string) []*Dependency {
		prefixes := map[string][]*Dependency{}
		for _, d := range deps {
			prefixes[strings.ToLower(d.Name)] = append(prefixes[strings.ToLower(d.Name)], d)
		}
		for name, spaces := range renamed("nuget") {
			for _, ns := range spaces {
				if d := prefixes[strings.ToLower(name)]; d != nil && prefixes[ns] == nil {
					prefixes[ns] = d
				}
			}
		}
		match := longest(prefixes, ".")
		return func(imp string) []*Dependency { return match(strings.ToLower(imp)) }
	},
}

var (
	packageRefRE = lazyregexp.New(`(?s)<PackageReference\s([^>]*?)(/>|>(.*?)</PackageReference>)`)
	packageVerRE = lazyregexp.New(`<PackageVersion\s([^>]*?)/?>`)
	attributeRE  = lazyregexp.New(`([A-Za-z]+)\s*=\s*"([^"]*)"`)
	versionElRE  = lazyregexp.New(`<Version>\s*([^<]+?)\s*</Version>`)
	propertyElRE = lazyregexp.New(`<([A-Za-z][A-Za-z0-9_.]*)>([^<$]+)</`)
	packageIDRE  = lazyregexp.New(`<PackageId>\s*([^<]+?)\s*</PackageId>`)
)

// pairs returns the two groups of every match, as a map.
func pairs(re lazyregexp.Regexp, text []byte) map[string]string {
	out := map[string]string{}
	for _, m := range re.FindAllSubmatch(text, -1) {
		out[string(m[1])] = strings.TrimSpace(string(m[2]))
	}
	return out
}

// centralVersions keeps the first version of each package: the later ones hold
// for one target framework only.
func centralVersions(p *collector, file string, data []byte) {
	props := pairs(propertyElRE, data)
	dir := path.Dir(file)
	for _, m := range packageVerRE.FindAllSubmatch(data, -1) {
		a := pairs(attributeRE, m[1])
		v := a["Version"]
		if strings.HasPrefix(v, "$(") {
			v = props[strings.Trim(v, "$()")]
		}
		if id := strings.ToLower(a["Include"]); id != "" && p.central[dir][id] == "" {
			put(p.central, dir, id, v)
		}
	}
}

func csproj(p *collector, file string, data []byte) {
	base := path.Base(file)
	if strings.EqualFold(base, "Directory.Packages.props") {
		centralVersions(p, file, data)
		return
	}
	if ext := path.Ext(base); strings.HasSuffix(ext, "proj") {
		p.owns("nuget", strings.TrimSuffix(base, ext))
		if m := packageIDRE.FindSubmatch(data); m != nil {
			p.owns("nuget", string(m[1]))
		}
	}
	props := pairs(propertyElRE, data)
	for _, m := range packageRefRE.FindAllSubmatch(data, -1) {
		a := pairs(attributeRE, m[1])
		if a["Include"] == "" {
			continue
		}
		d := declared{eco: "nuget", name: a["Include"], manifest: file}
		private := strings.EqualFold(a["PrivateAssets"], "all") || bytes.Contains(m[3], []byte("<PrivateAssets>all"))
		d.dev = private || devPath(file)
		d.rng = cmp.Or(a["VersionOverride"], a["Version"])
		if v := versionElRE.FindSubmatch(m[3]); d.rng == "" && v != nil {
			d.rng = string(v[1])
		}
		if strings.HasPrefix(d.rng, "$(") {
			d.rng = props[strings.Trim(d.rng, "$()")]
		}
		p.declared = append(p.declared, d)
	}
}

// resolveDotnet takes versions from the central files.
func (p *collector) resolveDotnet() {
	for i := range p.declared {
		d := &p.declared[i]
		if d.eco != "nuget" {
			continue
		}
		for _, dir := range upwards(path.Dir(d.manifest)) {
			d.rng = cmp.Or(d.rng, p.central[dir][strings.ToLower(d.name)])
		}
		if v := strings.Trim(d.rng, "[]"); v != "" && !strings.ContainsAny(v, "*,($") {
			d.version = v
		}
	}
}

type nugetFile struct {
	Dependencies map[string]map[string]struct{ Type, Resolved string }
}

func nugetLock(p *collector, file string, m nugetFile) {
	for _, framework := range m.Dependencies {
		for name, d := range framework {
			if d.Type != "Project" {
				p.lock("nuget", file, name, locked{version: d.Resolved})
			}
		}
	}
}

func dotnetImports(text []byte, emit func(string)) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimPrefix(bytes.TrimSpace(bytes.TrimPrefix(line, bom)), []byte("global "))
		rest, ok := bytes.CutPrefix(line, []byte("using "))
		if !ok {
			rest, ok = bytes.CutPrefix(line, []byte("open ")) // F#
		}
		if !ok {
			rest, ok = bytes.CutPrefix(line, []byte(`<Using Include="`))
		}
		if !ok {
			continue
		}
		rest = bytes.TrimPrefix(rest, []byte("static "))
		if _, right, found := bytes.Cut(rest, []byte("=")); found && line[0] != '<' {
			rest = bytes.TrimSpace(right) // an alias
		}
		emitName(rest, '.', emit)
	}
}
