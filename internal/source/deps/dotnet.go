package deps

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// dotnet reads project files, central package versions and packages.lock.json.
var dotnet = ecosystem{
	name: "nuget",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch ext := path.Ext(base); {
		case strings.EqualFold(base, "Directory.Packages.props"):
			return centralVersions
		case ext == ".csproj" || ext == ".fsproj" || ext == ".vbproj" || ext == ".props" || ext == ".targets":
			return csproj
		case base == "packages.lock.json":
			return nugetLock
		}
		return nil
	},
	exts:    []string{".cs", ".fs", ".csproj", ".fsproj", ".props", ".targets"},
	imports: dotnetImports,
	matcher: func(_ *collector, deps []*Dependency) func(string) []*Dependency {
		prefixes := map[string][]*Dependency{}
		for _, d := range deps {
			prefixes[strings.ToLower(d.Name)] = append(prefixes[strings.ToLower(d.Name)], d)
		}
		for ns, name := range dotnetSpaces {
			if d := prefixes[strings.ToLower(name)]; d != nil && prefixes[ns] == nil {
				prefixes[ns] = d
			}
		}
		match := longest(prefixes, ".")
		return func(imp string) []*Dependency { return match(strings.ToLower(imp)) }
	},
}

// dotnetSpaces are namespaces whose package is called otherwise, in lower case.
var dotnetSpaces = map[string]string{
	"microsoft.extensions.time.testing": "Microsoft.Extensions.TimeProvider.Testing", "refit": "Refit.HttpClientFactory", "flurl": "Flurl.Http.Signed",
	"fscheck": "FsCheck.Xunit", "system.text.json": "System.Text.Json", "nunit.framework": "NUnit", "moq": "Moq", "grpc.core": "Grpc.Core",
	"microsoft.visualstudio.testtools": "MSTest.TestFramework", "automapper": "AutoMapper", "mediatr": "MediatR",
}

var (
	packageRefRE = lazyregexp.New(`(?s)<PackageReference\s([^>]*?)(/>|>(.*?)</PackageReference>)`)
	packageVerRE = lazyregexp.New(`<PackageVersion\s([^>]*?)/?>`)
	attributeRE  = lazyregexp.New(`([A-Za-z]+)\s*=\s*"([^"]*)"`)
	versionElRE  = lazyregexp.New(`<Version>\s*([^<]+?)\s*</Version>`)
	propertyElRE = lazyregexp.New(`<([A-Za-z][A-Za-z0-9_.]*)>([^<$]+)</`)
	packageIDRE  = lazyregexp.New(`<PackageId>\s*([^<]+?)\s*</PackageId>`)
)

func attributes(s string) map[string]string {
	out := map[string]string{}
	for _, m := range attributeRE.FindAllStringSubmatch(s, -1) {
		out[m[1]] = strings.TrimSpace(m[2])
	}
	return out
}

// centralVersions keeps the first version of each package: those that hold for
// one target framework only come later.
func centralVersions(p *collector, file string, data []byte) {
	props := map[string]string{}
	for _, m := range propertyElRE.FindAllSubmatch(data, -1) {
		props[string(m[1])] = strings.TrimSpace(string(m[2]))
	}
	dir := path.Dir(file)
	if p.central[dir] == nil {
		p.central[dir] = map[string]string{}
	}
	for _, m := range packageVerRE.FindAllSubmatch(data, -1) {
		a := attributes(string(m[1]))
		v := a["Version"]
		if strings.HasPrefix(v, "$(") {
			v = props[strings.Trim(v, "$()")]
		}
		if id := strings.ToLower(a["Include"]); id != "" && p.central[dir][id] == "" {
			p.central[dir][id] = v
		}
	}
}

func csproj(p *collector, file string, data []byte) {
	base := path.Base(file)
	if ext := path.Ext(base); strings.HasSuffix(ext, "proj") {
		p.owns("nuget", strings.TrimSuffix(base, ext))
		if m := packageIDRE.FindSubmatch(data); m != nil {
			p.owns("nuget", string(m[1]))
		}
	}
	props := map[string]string{}
	for _, m := range propertyElRE.FindAllSubmatch(data, -1) {
		props[string(m[1])] = strings.TrimSpace(string(m[2]))
	}
	for _, m := range packageRefRE.FindAllSubmatch(data, -1) {
		a := attributes(string(m[1]))
		if a["Include"] == "" {
			continue
		}
		d := declared{eco: "nuget", name: a["Include"], manifest: file}
		private := strings.EqualFold(a["PrivateAssets"], "all") || bytes.Contains(m[3], []byte("<PrivateAssets>all"))
		d.dev = private || devPath(file)
		d.rng = a["VersionOverride"]
		if d.rng == "" {
			d.rng = a["Version"]
		}
		if d.rng == "" {
			if v := versionElRE.FindSubmatch(m[3]); v != nil {
				d.rng = string(v[1])
			}
		}
		if strings.HasPrefix(d.rng, "$(") {
			d.rng = props[strings.Trim(d.rng, "$()")]
		}
		p.declared = append(p.declared, d)
	}
}

// resolveDotnet takes versions from where they are kept centrally.
func (p *collector) resolveDotnet() {
	for i := range p.declared {
		d := &p.declared[i]
		if d.eco != "nuget" {
			continue
		}
		for _, dir := range upwards(path.Dir(d.manifest)) {
			if v := p.central[dir][strings.ToLower(d.name)]; v != "" && d.rng == "" {
				d.rng = v
			}
		}
		if v := strings.Trim(d.rng, "[]"); v != "" && !strings.ContainsAny(v, "*,($") {
			d.version = v
		}
	}
}

func nugetLock(p *collector, file string, data []byte) {
	var m struct {
		Dependencies map[string]map[string]struct{ Type, Resolved string }
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &m); err != nil {
		p.note("%s does not parse: %v", file, err)
		return
	}
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
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		line = bytes.TrimPrefix(line, []byte("global "))
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
		if _, right, found := bytes.Cut(rest, []byte("=")); found && !bytes.HasPrefix(line, []byte("<")) {
			rest = bytes.TrimSpace(right) // an alias
		}
		n := 0
		for n < len(rest) && (isWord(rest[n]) || rest[n] == '.') {
			n++
		}
		if n > 0 {
			emit(string(rest[:n]))
		}
	}
}
