package deps

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var maven = ecosystem{
	name: "maven",
	tag:  "v{v}",
	files: map[string]parser{
		"pom.xml": decoded(decodeXML, pomXML), "*.gradle": gradleBuild, "build.gradle.kts": gradleBuild,
		"*.versions.toml": decoded(toml.Unmarshal, gradleCatalog), "gradle.lockfile": gradleLock,
	},
	exts:    []string{".java", ".kt", ".kts", ".scala", ".groovy"},
	imports: javaImports,
	matcher: javaMatcher,
}

// pom holds what is used of one pom.xml.
type pom struct {
	file     string
	Parent   coordinates   `xml:"parent"`
	Props    properties    `xml:"properties"`
	Managed  []coordinates `xml:"dependencyManagement>dependencies>dependency"`
	Deps     []coordinates `xml:"dependencies>dependency"`
	Profiles []struct {
		Props properties    `xml:"properties"`
		Deps  []coordinates `xml:"dependencies>dependency"`
	} `xml:"profiles>profile"`
	coordinates
}

type coordinates struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
	Relative string `xml:"relativePath"`
	Scope    string `xml:"scope"`
}

type properties map[string]string

func (m *properties) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	*m = properties{}
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			var v string
			if err := d.DecodeElement(&v, &t); err != nil {
				return err
			}
			(*m)[t.Name.Local] = strings.TrimSpace(v)
		case xml.EndElement:
			return nil
		}
	}
}

func decodeXML(data []byte, v any) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d.Decode(v)
}

func pomXML(p *collector, file string, m pom) {
	m.file = file
	p.poms[file] = &m
}

// above returns a pom and those of its parents that the project holds.
func (p *collector) above(m *pom) []*pom {
	out := []*pom{m}
	for len(out) < 10 && m.Parent.Artifact != "" {
		at := path.Join(path.Dir(m.file), cmp.Or(m.Parent.Relative, "../pom.xml"))
		next := cmp.Or(p.poms[at], p.poms[path.Join(at, "pom.xml")])
		if next == nil || next.Artifact != m.Parent.Artifact || slices.Contains(out, next) {
			break
		}
		m = next
		out = append(out, m)
	}
	return out
}

var propertyRE = lazyregexp.New(`\$\{([^}]+)\}`)

// expand puts the properties of a pom and its parents into a text.
func expand(chain []*pom, s string) string {
	for range 8 {
		if !strings.Contains(s, "${") {
			break
		}
		s = propertyRE.ReplaceAllStringFunc(s, func(ref string) string { return property(chain, ref[2:len(ref)-1]) })
	}
	return strings.TrimSpace(s)
}

// property returns the value of a property, "?" when none is set.
func property(chain []*pom, name string) string {
	inherited := ""
	for _, m := range chain {
		switch strings.TrimPrefix(name, "pom.") {
		case "project.version", "version":
			inherited = cmp.Or(inherited, m.Version, m.Parent.Version)
		case "project.groupId", "groupId":
			inherited = cmp.Or(inherited, m.Group, m.Parent.Group)
		case "project.parent.version":
			return m.Parent.Version
		}
	}
	if inherited != "" {
		return inherited
	}
	for _, m := range chain {
		if v, ok := m.Props[name]; ok {
			return v
		}
	}
	for _, m := range chain { // the default profiles come first
		for _, f := range m.Profiles {
			if v, ok := f.Props[name]; ok {
				return v
			}
		}
	}
	return "?"
}

func (p *collector) resolveMaven() {
	files := slices.Sorted(maps.Keys(p.poms))
	for _, f := range files {
		m := p.poms[f]
		p.owns("maven", expand(p.above(m), "${project.groupId}")+":"+m.Artifact)
	}
	for _, f := range files {
		m := p.poms[f]
		chain := p.above(m)
		own := expand(chain, "${project.groupId}")
		managed := map[string]coordinates{}
		boms := map[string]string{} // group → version, of imported lists of versions
		for _, a := range chain {
			for _, d := range a.Managed {
				group, version := expand(chain, d.Group), expand(chain, d.Version)
				id := group + ":" + expand(chain, d.Artifact)
				if d.Scope == "import" {
					boms[group] = version
				} else if managed[id].Version == "" {
					managed[id] = coordinates{Version: version, Scope: d.Scope}
				}
			}
		}
		deps := m.Deps
		for _, profile := range m.Profiles {
			deps = append(deps, profile.Deps...)
		}
		for _, d := range deps {
			group := expand(chain, d.Group)
			id := group + ":" + expand(chain, d.Artifact)
			if group == own || strings.Contains(id, "?") {
				continue
			}
			version := expand(chain, d.Version)
			if strings.Contains(version, "?") {
				version = ""
			}
			// A group's list of versions usually names its own artifacts, at its own version.
			version = cmp.Or(version, managed[id].Version, boms[group])
			scope := cmp.Or(d.Scope, managed[id].Scope)
			use := declared{eco: "maven", name: id, rng: version, dev: scope == "test", manifest: f}
			if version != "" && !strings.ContainsAny(version, "?[(,$") {
				use.version = version
			}
			p.declared = append(p.declared, use)
		}
	}
}

// library is an entry of a version catalog of gradle.
type library struct{ name, version string }

type catalogFile struct{ Versions, Libraries map[string]any }

// catalogVersion returns a version that is written as a text or as a table.
func catalogVersion(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, k := range []string{"strictly", "require", "prefer"} {
			if s, ok := v[k].(string); ok {
				return s
			}
		}
	}
	return ""
}

func gradleCatalog(p *collector, file string, m catalogFile) {
	// libs.versions.toml lies in gradle/ and serves the build beside that.
	name, _, _ := strings.Cut(path.Base(file), ".")
	dir := path.Dir(file)
	if path.Base(dir) == "gradle" {
		dir = path.Dir(dir)
	}
	at := path.Join(dir, "#"+name)
	p.catalogs[at] = map[string]library{}
	for alias, v := range m.Libraries {
		var l library
		switch v := v.(type) {
		case string:
			f := strings.Split(v, ":")
			if len(f) < 2 {
				continue
			}
			l.name = f[0] + ":" + f[1]
			if len(f) > 2 {
				l.version = f[2]
			}
		case map[string]any:
			l.name, _ = v["module"].(string)
			if l.name == "" {
				g, _ := v["group"].(string)
				n, _ := v["name"].(string)
				l.name = g + ":" + n
			}
			version := v["version"]
			if t, ok := version.(map[string]any); ok {
				if ref, ok := t["ref"].(string); ok {
					version = m.Versions[ref]
				}
			}
			l.version = catalogVersion(version)
		}
		p.catalogs[at][gradleAccessor(alias)] = l
	}
}

func gradleAccessor(alias string) string {
	return strings.NewReplacer("-", ".", "_", ".").Replace(alias)
}

var (
	gradleConfig = `(?:^|[\s({])([a-zA-Z]*(?:[aA]pi|[iI]mplementation|[cC]ompile|[cC]ompileOnly|[rR]untimeOnly|[kK]apt|` +
		`[kK]sp|[aA]nnotationProcessor|provided|shadow|classpath))\s*[( ]\s*`
	gradleCoord = lazyregexp.New(gradleConfig + `(?:platform\(|enforcedPlatform\()?` +
		`["']([A-Za-z0-9_.-]+):([A-Za-z0-9_.-]+)(?::([^"'@:]+))?[^"']*["']`)
	gradleLibs = lazyregexp.New(`\b([a-zA-Z]*[lL]ibs)((?:\.[a-zA-Z0-9]+)+)`)
	gradleMap  = lazyregexp.New(gradleConfig + `group\s*[:=]\s*["']([^"']+)["'],\s*name\s*[:=]\s*["']([^"']+)["'](?:,\s*version\s*[:=]\s*["']([^"']+)["'])?`)
	gradleTest = lazyregexp.New(`(?i)test|kapt|ksp|annotationprocessor|classpath`)
)

func gradleBuild(p *collector, file string, data []byte) {
	props := map[string]string{}
	lines(data, func(line string) {
		if strings.HasPrefix(line, "//") {
			return
		}
		if k, v, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(k, "(){}") {
			k = strings.TrimSpace(k)
			k = k[strings.LastIndexAny(k, " .")+1:]
			if v = strings.TrimSpace(v); len(v) > 1 && (v[0] == '"' || v[0] == '\'') {
				props[k] = unquote(v)
			}
		}
		for _, re := range []lazyregexp.Regexp{gradleCoord, gradleMap} {
			for _, m := range re.FindAllStringSubmatch(line, -1) {
				d := declared{eco: "maven", name: m[2] + ":" + m[3], rng: m[4], dev: gradleTest.MatchString(m[1]), manifest: file}
				if strings.HasPrefix(d.rng, "$") {
					d.rng = props[strings.Trim(d.rng, "${}")]
				}
				if d.rng != "" && !strings.ContainsAny(d.rng, "+[($") {
					d.version = d.rng
				}
				p.declared = append(p.declared, d)
			}
		}
		for _, m := range gradleLibs.FindAllStringSubmatch(line, -1) {
			p.declared = append(p.declared, declared{
				eco: "gradle", name: m[2][1:], alias: m[1], dev: gradleTest.MatchString(line[:strings.Index(line, m[0])]), manifest: file,
			})
		}
	})
}

// resolveGradle replaces the accessors of catalogs by their libraries.
func (p *collector) resolveGradle() {
	kept := p.declared[:0]
	for _, d := range p.declared {
		if d.eco != "gradle" {
			kept = append(kept, d)
			continue
		}
		for _, dir := range upwards(path.Dir(d.manifest)) {
			c, ok := p.catalogs[path.Join(dir, "#"+d.alias)]
			if !ok {
				continue
			}
			if l, ok := c[strings.TrimSuffix(d.name, ".get")]; ok {
				kept = append(kept, declared{eco: "maven", name: l.name, rng: l.version, version: l.version, dev: d.dev, manifest: d.manifest})
			}
			break
		}
	}
	// The language's own library is no dependency worth a report.
	p.declared = slices.DeleteFunc(kept, func(d declared) bool {
		return d.eco == "maven" && strings.HasPrefix(d.name, "org.jetbrains.kotlin:")
	})
}

func gradleLock(p *collector, file string, data []byte) {
	lines(data, func(line string) {
		line, _, _ = strings.Cut(line, "=")
		if f := strings.Split(line, ":"); len(f) == 3 {
			p.lock("maven", file, f[0]+":"+f[1], locked{version: f[2]})
		}
	})
}

func javaImports(text []byte, emit func(string)) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("import ")); ok {
			rest = bytes.TrimPrefix(bytes.TrimSpace(rest), []byte("static "))
			emitName(rest, '.', func(name string) { emit(strings.Trim(name, ".")) })
		}
	}
}

func javaMatcher(_ *collector, deps []*Dependency) func(string) []*Dependency {
	prefixes := map[string][]*Dependency{}
	add := func(prefix string, d *Dependency) {
		if !slices.Contains(prefixes[prefix], d) {
			prefixes[prefix] = append(prefixes[prefix], d)
		}
	}
	renames := maps.Collect(renamed("maven"))
	for _, d := range deps {
		group, artifact, _ := strings.Cut(d.Name, ":")
		if known := renames[d.Name]; known != nil {
			for _, p := range known {
				add(p, d)
			}
			continue
		}
		words := strings.FieldsFunc(artifact, func(r rune) bool { return r == '-' || r == '.' || r == '_' })
		if strings.Contains(group, ".") {
			add(group, d)
		}
		if len(words) > 0 {
			// The package is often the group and a word of the artifact, and of
			// libraries written in Kotlin the artifact alone.
			add(group+"."+words[len(words)-1], d)
			add(strings.Join(words, "."), d)
			if len(words) > 2 {
				add(strings.Join(words[:2], "."), d)
			}
		}
	}
	return longest(prefixes, ".")
}
