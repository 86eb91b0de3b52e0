package deps

import (
	"bytes"
	"encoding/xml"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// maven reads pom.xml, and of gradle the build files, version catalogs and
// dependency locks.
var maven = ecosystem{
	name: "maven",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch {
		case base == "pom.xml":
			return pomXML
		case base == "build.gradle" || base == "build.gradle.kts" || strings.HasSuffix(base, ".gradle"):
			return gradleBuild
		case strings.HasSuffix(base, ".versions.toml"):
			return gradleCatalog
		case base == "gradle.lockfile":
			return gradleLock
		}
		return nil
	},
	exts:    []string{".java", ".kt", ".kts", ".scala", ".groovy"},
	imports: javaImports,
	matcher: javaMatcher,
}

// pom is one pom.xml, as far as it matters here.
type pom struct {
	file    string
	Parent  coordinates `xml:"parent"`
	Props   properties  `xml:"properties"`
	Managed []struct {
		coordinates
		Scope string `xml:"scope"`
	} `xml:"dependencyManagement>dependencies>dependency"`
	Deps []struct {
		coordinates
		Scope string `xml:"scope"`
	} `xml:"dependencies>dependency"`
	Profiles []struct {
		Props properties `xml:"properties"`
		Deps  []struct {
			coordinates
			Scope string `xml:"scope"`
		} `xml:"dependencies>dependency"`
	} `xml:"profiles>profile"`
	coordinates
}

type coordinates struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
	Relative string `xml:"relativePath"`
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

func pomXML(p *collector, file string, data []byte) {
	m := &pom{file: file}
	if err := decodeXML(data, m); err != nil {
		p.note("%s does not parse: %v", file, firstLine(err))
		return
	}
	p.poms[file] = m
}

// above returns a pom and the parents of it that are in the project.
func (p *collector) above(m *pom) []*pom {
	out := []*pom{m}
	for len(out) < 10 && m.Parent.Artifact != "" {
		rel := m.Parent.Relative
		if rel == "" {
			rel = "../pom.xml"
		}
		at := path.Join(path.Dir(m.file), rel)
		next := p.poms[at]
		if next == nil {
			next = p.poms[path.Join(at, "pom.xml")]
		}
		if next == nil || next.Artifact != m.Parent.Artifact || slices.Contains(out, next) {
			break
		}
		m = next
		out = append(out, m)
	}
	return out
}

var propertyRE = lazyregexp.New(`\$\{([^}]+)\}`)

// value puts the properties of a pom and its parents into a text.
func (p *collector) value(chain []*pom, s string) string {
	for range 8 {
		if !strings.Contains(s, "${") {
			break
		}
		s = propertyRE.ReplaceAllStringFunc(s, func(ref string) string {
			name := ref[2 : len(ref)-1]
			switch strings.TrimPrefix(name, "pom.") {
			case "project.version", "version":
				for _, m := range chain {
					if m.Version != "" {
						return m.Version
					}
					if m.Parent.Version != "" {
						return m.Parent.Version
					}
				}
			case "project.groupId", "groupId":
				for _, m := range chain {
					if m.Group != "" {
						return m.Group
					}
					if m.Parent.Group != "" {
						return m.Parent.Group
					}
				}
			case "project.parent.version":
				return chain[0].Parent.Version
			}
			for _, m := range chain {
				if v, ok := m.Props[name]; ok {
					return v
				}
			}
			for _, m := range chain { // those that are set by default come first
				for _, f := range m.Profiles {
					if v, ok := f.Props[name]; ok {
						return v
					}
				}
			}
			return "?"
		})
	}
	return strings.TrimSpace(s)
}

func (p *collector) resolveMaven() {
	files := make([]string, 0, len(p.poms))
	for f := range p.poms {
		files = append(files, f)
	}
	slices.Sort(files)
	for _, f := range files {
		m := p.poms[f]
		chain := p.above(m)
		p.owns("maven", p.value(chain, "${project.groupId}")+":"+m.Artifact)
	}
	for _, f := range files {
		m := p.poms[f]
		chain := p.above(m)
		own := p.value(chain, "${project.groupId}")
		managed, scopes := map[string]string{}, map[string]string{}
		boms := map[string]string{} // group → version, of lists of versions that are imported
		for _, a := range chain {
			for _, d := range a.Managed {
				if d.Scope == "import" {
					boms[p.value(chain, d.Group)] = p.value(chain, d.Version)
					continue
				}
				id := p.value(chain, d.Group) + ":" + p.value(chain, d.Artifact)
				if managed[id] == "" {
					managed[id], scopes[id] = p.value(chain, d.Version), d.Scope
				}
			}
		}
		add := func(group, artifact, version, scope string) {
			group, artifact = p.value(chain, group), p.value(chain, artifact)
			id := group + ":" + artifact
			if group == own || strings.Contains(id, "?") {
				return
			}
			version = p.value(chain, version)
			if version == "" || strings.Contains(version, "?") {
				version = managed[id]
			}
			if version == "" {
				version = boms[group] // as a rule a group lists its own artifacts, of its own version
			}
			if scope == "" {
				scope = scopes[id]
			}
			d := declared{eco: "maven", name: id, rng: version, dev: scope == "test", manifest: f}
			if version != "" && !strings.ContainsAny(version, "?[(,$") {
				d.version = version
			}
			p.declared = append(p.declared, d)
		}
		for _, d := range m.Deps {
			add(d.Group, d.Artifact, d.Version, d.Scope)
		}
		for _, prof := range m.Profiles {
			for _, d := range prof.Deps {
				add(d.Group, d.Artifact, d.Version, d.Scope)
			}
		}
	}
}

// catalog is a version catalog of gradle: accessor → library.
type catalog struct{ libs map[string]library }

type library struct{ name, version string }

func gradleCatalog(p *collector, file string, data []byte) {
	var m struct {
		Versions  map[string]any
		Libraries map[string]any
	}
	if err := toml.Unmarshal(data, &m); err != nil {
		p.note("%s does not parse: %v", file, firstLine(err))
		return
	}
	text := func(v any) string {
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
	c := catalog{libs: map[string]library{}}
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
			switch ver := v["version"].(type) {
			case map[string]any:
				if ref, ok := ver["ref"].(string); ok {
					l.version = text(m.Versions[ref])
				} else {
					l.version = text(ver)
				}
			default:
				l.version = text(ver)
			}
		}
		c.libs[gradleAccessor(alias)] = l
	}
	// libs.versions.toml lies in gradle/ and serves the build beside that.
	name, _, _ := strings.Cut(path.Base(file), ".")
	dir := path.Dir(file)
	if path.Base(dir) == "gradle" {
		dir = path.Dir(dir)
	}
	p.catalogs[path.Join(dir, "#"+name)] = c
}

func gradleAccessor(alias string) string {
	return strings.NewReplacer("-", ".", "_", ".").Replace(alias)
}

var (
	gradleConfig = `(?:^|[\s({])([a-zA-Z]*(?:[aA]pi|[iI]mplementation|[cC]ompile|[cC]ompileOnly|[rR]untimeOnly|[kK]apt|[kK]sp|[aA]nnotationProcessor|provided|shadow|classpath))\s*[( ]\s*`
	gradleCoord  = lazyregexp.New(gradleConfig + `(?:platform\(|enforcedPlatform\()?["']([A-Za-z0-9_.-]+):([A-Za-z0-9_.-]+)(?::([^"'@:]+))?[^"']*["']`)
	gradleLibs   = lazyregexp.New(`\b([a-zA-Z]*[lL]ibs)((?:\.[a-zA-Z0-9]+)+)`)
	gradleMap    = lazyregexp.New(gradleConfig + `group\s*[:=]\s*["']([^"']+)["'],\s*name\s*[:=]\s*["']([^"']+)["'](?:,\s*version\s*[:=]\s*["']([^"']+)["'])?`)
	gradleTest   = lazyregexp.New(`(?i)test|kapt|ksp|annotationprocessor|classpath`)
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

// resolveGradle puts libraries into the place of the accessors of catalogs.
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
			name := strings.TrimSuffix(d.name, ".get")
			if l, ok := c.libs[name]; ok {
				kept = append(kept, declared{eco: "maven", name: l.name, rng: l.version, version: l.version, dev: d.dev, manifest: d.manifest})
			}
			break
		}
	}
	p.declared = kept
	// The language's own library is not what anybody means by a dependency.
	p.declared = slices.DeleteFunc(p.declared, func(d declared) bool {
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
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("import "))
		if !ok {
			continue
		}
		rest = bytes.TrimPrefix(bytes.TrimSpace(rest), []byte("static "))
		n := 0
		for n < len(rest) && (isWord(rest[n]) || rest[n] == '.') {
			n++
		}
		if n > 0 {
			emit(string(bytes.Trim(rest[:n], ".")))
		}
	}
}

// javaPackages are packages that neither group nor artifact tell.
var javaPackages = map[string][]string{
	"com.google.guava:guava": {"com.google.common"}, "com.google.code.gson:gson": {"com.google.gson"}, "com.google.inject:guice": {"com.google.inject"},
	"junit:junit": {"org.junit", "junit.framework"}, "commons-io:commons-io": {"org.apache.commons.io"}, "commons-codec:commons-codec": {"org.apache.commons.codec"},
	"commons-logging:commons-logging": {"org.apache.commons.logging"}, "commons-lang:commons-lang": {"org.apache.commons.lang"},
	"org.apache.commons:commons-lang3": {"org.apache.commons.lang3"}, "org.apache.commons:commons-collections4": {"org.apache.commons.collections4"},
	"org.apache.httpcomponents:httpclient": {"org.apache.http"}, "org.apache.httpcomponents.client5:httpclient5": {"org.apache.hc"},
	"com.fasterxml.jackson.core:jackson-databind": {"com.fasterxml.jackson.databind"}, "com.fasterxml.jackson.core:jackson-core": {"com.fasterxml.jackson.core"},
	"com.fasterxml.jackson.core:jackson-annotations": {"com.fasterxml.jackson.annotation"}, "com.h2database:h2": {"org.h2"},
	"org.lz4:lz4-java": {"net.jpountz"}, "org.hamcrest:hamcrest-library": {"org.hamcrest"}, "org.hamcrest:hamcrest-core": {"org.hamcrest"},
	"javax.servlet:javax.servlet-api": {"javax.servlet"}, "javax.inject:javax.inject": {"javax.inject"}, "jakarta.servlet:jakarta.servlet-api": {"jakarta.servlet"},
	"com.zaxxer:HikariCP": {"com.zaxxer.hikari"}, "io.reactivex.rxjava2:rxjava": {"io.reactivex"}, "org.yaml:snakeyaml": {"org.yaml.snakeyaml"},
	"com.squareup.retrofit2:retrofit": {"retrofit2"}, "com.squareup.okhttp3:okhttp": {"okhttp3"}, "com.squareup:javapoet": {"com.squareup.javapoet"},
	"org.codehaus.mojo:animal-sniffer-annotations": {"org.codehaus.mojo.animal_sniffer"}, "org.mock-server:mockserver-client-java": {"org.mockserver"},
	"org.mock-server:mockserver-client-java-no-dependencies": {"org.mockserver"}, "com.google.code.findbugs:jsr305": {"javax.annotation"},
	"redis.clients:jedis": {"redis.clients.jedis"}, "joda-time:joda-time": {"org.joda.time"}, "org.jooq:jooq": {"org.jooq"},
	"software.amazon.cryptools:AmazonCorrettoCryptoProvider": {"com.amazon.corretto"}, "org.graalvm.nativeimage:svm": {"com.oracle.svm", "org.graalvm.nativeimage"},
}

func javaMatcher(_ *collector, deps []*Dependency) func(string) []*Dependency {
	prefixes := map[string][]*Dependency{}
	add := func(prefix string, d *Dependency) {
		if !slices.Contains(prefixes[prefix], d) {
			prefixes[prefix] = append(prefixes[prefix], d)
		}
	}
	for _, d := range deps {
		group, artifact, _ := strings.Cut(d.Name, ":")
		if known := javaPackages[d.Name]; known != nil {
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
