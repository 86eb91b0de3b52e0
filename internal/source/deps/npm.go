package deps

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// npm reads package.json, and the lockfiles of npm, pnpm, yarn and bun.
var npm = ecosystem{
	name: "npm",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch base {
		case "package.json":
			return packageJSON
		case "package-lock.json", "npm-shrinkwrap.json":
			return packageLock
		case "pnpm-lock.yaml":
			return pnpmLock
		case "yarn.lock":
			return yarnLock
		case "bun.lock":
			return bunLock
		}
		return nil
	},
	exts:      []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".astro"},
	imports:   jsImports,
	installed: npmInstalled,
	matcher: func(p *collector, deps []*Dependency) func(string) []*Dependency {
		byName := map[string][]*Dependency{}
		for _, d := range deps {
			byName[d.Name] = []*Dependency{d}
		}
		for alias, name := range p.aliases("npm") {
			byName[alias] = byName[name]
		}
		return func(imp string) []*Dependency { return byName[npmPackage(imp)] }
	},
}

// npmPackage returns the package of an import: "@scope/name/sub" is @scope/name.
func npmPackage(imp string) string {
	if imp == "" || imp[0] == '.' || imp[0] == '/' || strings.HasPrefix(imp, "node:") {
		return ""
	}
	words := strings.SplitN(imp, "/", 3)
	if imp[0] == '@' && len(words) > 1 {
		return words[0] + "/" + words[1]
	}
	return words[0]
}

// jsWords are what stands before the quoted name of an imported module.
var jsWords = [][]byte{[]byte("from"), []byte("require("), []byte("import(")}

func jsImports(text []byte, emit func(string)) {
	for _, word := range jsWords {
		for rest := text; ; {
			i := bytes.Index(rest, word)
			if i < 0 {
				break
			}
			rest = rest[i+len(word):]
			emitQuoted(rest, emit)
		}
	}
	for rest := text; ; { // import "x"
		i := bytes.Index(rest, []byte("import"))
		if i < 0 {
			break
		}
		rest = rest[i+len("import"):]
		if len(rest) > 0 && (rest[0] == ' ' || rest[0] == '"' || rest[0] == '\'') {
			emitQuoted(rest, emit)
		}
	}
}

// emitQuoted emits the string that text begins with, after blanks.
func emitQuoted(text []byte, emit func(string)) {
	i := 0
	for i < len(text) && i < 4 && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t') {
		i++
	}
	if i >= len(text) || text[i] != '"' && text[i] != '\'' && text[i] != '`' {
		return
	}
	q := text[i]
	text = text[i+1:]
	if j := bytes.IndexByte(text[:min(len(text), 200)], q); j > 0 {
		emit(string(text[:j]))
	}
}

// npmOthers are fields of dependencies whose packages are the project's users' to bring.
var npmFields = []struct {
	name string
	dev  bool
}{{"dependencies", false}, {"optionalDependencies", false}, {"peerDependencies", false}, {"devDependencies", true}}

func packageJSON(p *collector, file string, data []byte) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &m); err != nil {
		p.note("%s does not parse: %v", file, err)
		return
	}
	var name string
	if json.Unmarshal(m["name"], &name) == nil && name != "" {
		p.owns("npm", name)
	}
	seen := map[string]bool{}
	for _, f := range npmFields {
		var list map[string]string
		if json.Unmarshal(m[f.name], &list) != nil {
			continue
		}
		for n, rng := range list {
			if strings.HasPrefix(n, "@types/") || seen[n] {
				continue
			}
			seen[n] = true
			d := declared{eco: "npm", name: n, rng: rng, dev: f.dev, manifest: file}
			switch {
			case strings.HasPrefix(rng, "workspace:"), strings.HasPrefix(rng, "link:"), strings.HasPrefix(rng, "file:"), strings.HasPrefix(rng, "portal:"):
				p.owns("npm", n)
				continue
			case strings.HasPrefix(rng, "npm:"): // another package under this name
				other, r := rng[len("npm:"):], ""
				if i := strings.LastIndexByte(other, '@'); i > 0 {
					other, r = other[:i], other[i+1:]
				}
				d.rng = r
				if other != n {
					d.alias = n
					d.name = other
				}
			case exactVersion(rng):
				d.version = strings.TrimPrefix(rng, "v")
			default:
				if repo := gitSpec(rng); repo != "" {
					d.repo = repo
					if _, ref, ok := strings.Cut(rng, "#"); ok {
						d.ref = refNamed(ref)
					}
				}
			}
			p.declared = append(p.declared, d)
		}
	}
}

var (
	exactRE = lazyregexp.New(`^v?[0-9]+\.[0-9]+(\.[0-9]+)*([-+.][0-9A-Za-z.+-]+)?$`)
	hashRE  = lazyregexp.New(`^[0-9a-f]{7,40}$`)
)

func exactVersion(rng string) bool { return exactRE.MatchString(rng) }

// refNamed reads what stands after the # of a git address: a hash, a tag, or
// a branch, of which only what looks like a version is taken for a tag.
func refNamed(s string) kb.Ref {
	s = strings.TrimPrefix(s, "semver:")
	switch {
	case hashRE.MatchString(s):
		return kb.Ref{Type: refCommit, Name: s}
	case strings.ContainsAny(s, "0123456789") && !strings.ContainsAny(s, "^~*"):
		return kb.Ref{Type: refTag, Name: s}
	}
	return kb.Ref{}
}

// gitSpec returns the repository of a git address where a version is expected.
func gitSpec(s string) string {
	s, _, _ = strings.Cut(s, "#")
	if strings.HasPrefix(s, "git") || strings.HasPrefix(s, "bitbucket:") || strings.HasSuffix(s, ".git") ||
		strings.Count(s, "/") == 1 && !strings.ContainsAny(s, "@ :<>=~^") {
		return CleanURL(s)
	}
	return ""
}

func packageLock(p *collector, file string, data []byte) {
	var m struct {
		Packages map[string]struct {
			Version, Resolved, Name string
			Link                    bool
		}
		Dependencies map[string]struct{ Version, Resolved string }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		p.note("%s does not parse: %v", file, err)
		return
	}
	dir := path.Dir(file)
	for where, d := range m.Packages {
		at := strings.LastIndex(where, "node_modules/")
		if at < 0 || d.Link {
			continue
		}
		// What lies in the folder of a member is the version of that member.
		l := npmLocked(d.Version, d.Resolved)
		p.lock("npm", path.Join(dir, where[:at], "x"), where[at+len("node_modules/"):], l)
	}
	if m.Packages == nil {
		for name, d := range m.Dependencies {
			p.lock("npm", file, name, npmLocked(d.Version, d.Resolved))
		}
	}
}

func npmLocked(version, resolved string) locked {
	l := locked{version: version}
	for _, s := range []string{resolved, version} {
		if strings.HasPrefix(s, "git") {
			addr, ref, _ := strings.Cut(s, "#")
			l.repo = CleanURL(addr)
			if r := refNamed(ref); r.Type == refCommit {
				l.commit = r.Name
			}
		}
	}
	if strings.Contains(l.version, "://") || strings.HasPrefix(l.version, "git") {
		l.version = ""
	}
	return l
}

// npmVersion looks where node would: in the member's own folder, then above.
func (p *collector) npmVersion(dir, name string) locked {
	for _, d := range upwards(dir) {
		if v := p.npmSpecs[d][name]; v != "" {
			return npmLocked(v, "")
		}
		if l := p.locks["npm"][d][name]; len(l) > 0 {
			return l[0]
		}
	}
	// yarn and bun hold a package once for every range, wherever it is asked from.
	return locked{}
}

// pnpmLock reads what the members of a workspace resolve to, which stands
// first; the rest of the file is as long as the graph is large.
func pnpmLock(p *collector, file string, data []byte) {
	dir := path.Dir(file)
	member, name, section := ".", "", ""
	inImporters := false
	set := func(member, name, version string) {
		version, _, _ = strings.Cut(unquote(version), "(")
		version, _, _ = strings.Cut(version, "_") // as version 5 writes peers
		if name == "" || version == "" || strings.HasPrefix(version, "link:") || strings.HasPrefix(version, "file:") {
			return
		}
		if i := strings.LastIndexByte(version, '@'); i > 0 && !strings.Contains(version, "://") { // an alias: other@1.2.3
			version = version[i+1:]
		}
		at := path.Join(dir, member)
		if p.npmSpecs[at] == nil {
			p.npmSpecs[at] = map[string]string{}
		}
		p.npmSpecs[at][name] = version
	}
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), "\r\n")
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			continue
		}
		depth := (len(line) - len(text)) / 2
		key, value, _ := strings.Cut(text, ": ")
		key = unquote(strings.TrimSuffix(key, ":"))
		if depth == 0 {
			if key == "packages" || key == "snapshots" {
				return
			}
			inImporters = key == "importers"
			section, member = key, "."
			continue
		}
		if inImporters {
			if depth == 1 {
				member = key
				continue
			}
			if depth == 2 {
				section = key
				continue
			}
			depth -= 2
		}
		switch section {
		case "dependencies", "devDependencies", "optionalDependencies":
		default:
			continue
		}
		switch {
		case depth == 1 && value != "":
			set(member, key, value)
		case depth == 1:
			name = key
		case depth == 2 && key == "version":
			set(member, name, value)
		}
	}
}

func unquote(s string) string { return strings.Trim(strings.TrimSpace(s), `'"`) }

// yarnLock reads both forms: of version 1, and the YAML of later ones.
func yarnLock(p *collector, file string, data []byte) {
	var names []string
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			names = names[:0]
			for spec := range strings.SplitSeq(strings.TrimSuffix(line, ":"), ",") {
				spec = unquote(spec)
				if i := strings.LastIndexByte(spec, '@'); i > 0 {
					if j := strings.Index(spec[1:], "@"); j >= 0 {
						i = j + 1
					}
					if n := spec[:i]; !slices.Contains(names, n) {
						names = append(names, n)
					}
				}
			}
		case strings.HasPrefix(line, "  version"):
			v := unquote(strings.TrimPrefix(strings.TrimPrefix(line, "  version"), ":"))
			for _, n := range names {
				if !strings.HasSuffix(v, "-use.local") {
					p.lock("npm", file, n, locked{version: v})
				}
			}
		case strings.HasPrefix(line, "  resolved"):
			u := unquote(strings.TrimPrefix(line, "  resolved"))
			if l := npmLocked("", u); l.repo != "" {
				for _, n := range names {
					p.lock("npm", file, n, l)
				}
			}
		}
	}
}

var bunRE = lazyregexp.New(`^\s*"([^"]+)": \["(@?[^@"]+)@([^"]+)"`)

func bunLock(p *collector, file string, data []byte) {
	for raw := range bytes.Lines(data) {
		m := bunRE.FindSubmatch(raw)
		if m == nil || strings.Contains(strings.TrimPrefix(string(m[1]), "@"), "/") && string(m[1]) != string(m[2]) {
			continue // of another package
		}
		v := string(m[3])
		if strings.HasPrefix(v, "workspace:") {
			p.owns("npm", string(m[2]))
			continue
		}
		p.lock("npm", file, string(m[1]), npmLocked(v, v))
	}
}

func npmInstalled(p *collector, d *Dependency) string {
	for _, dir := range upwards(path.Dir(d.Manifest)) {
		data, err := readSome(p.root, path.Join(dir, "node_modules", d.Name, "package.json"), maxSource)
		if err != nil {
			continue
		}
		var m struct {
			Version    string
			Repository json.RawMessage
		}
		if json.Unmarshal(data, &m) != nil {
			return ""
		}
		if d.Version == "" {
			d.Version = m.Version
		}
		var s string
		var o struct{ URL string }
		if json.Unmarshal(m.Repository, &s) == nil {
			return s
		}
		_ = json.Unmarshal(m.Repository, &o) // of another form it says nothing
		return o.URL
	}
	return ""
}
