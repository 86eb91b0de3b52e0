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

var npm = ecosystem{
	name: "npm",
	tag:  "v{v}",
	files: map[string]parser{
		"package.json":      decoded(json.Unmarshal, packageJSON),
		"package-lock.json": decoded(json.Unmarshal, packageLock), "npm-shrinkwrap.json": decoded(json.Unmarshal, packageLock),
		"pnpm-lock.yaml": pnpmLock, "yarn.lock": yarnLock, "bun.lock": bunLock,
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

func jsImports(text []byte, emit func(string)) {
	each := func(word string, f func(rest []byte)) {
		for _, rest, ok := bytes.Cut(text, []byte(word)); ok; _, rest, ok = bytes.Cut(rest, []byte(word)) {
			f(rest)
		}
	}
	for _, word := range []string{"from", "require(", "import("} {
		each(word, func(rest []byte) { emitQuoted(rest, emit) })
	}
	each("import", func(rest []byte) { // import "x"
		if len(rest) > 0 && bytes.IndexByte([]byte(` "'`), rest[0]) >= 0 {
			emitQuoted(rest, emit)
		}
	})
}

// emitQuoted emits the string that text begins with, after at most four blanks.
func emitQuoted(text []byte, emit func(string)) {
	rest := bytes.TrimLeft(text[:min(len(text), 4)], " \n\t")
	text = text[min(len(text), 4)-len(rest):]
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' && text[0] != '`' {
		return
	}
	if j := bytes.IndexByte(text[1:min(len(text), 201)], text[0]); j > 0 {
		emit(string(text[1 : 1+j]))
	}
}

// npmFields are the lists of dependencies; the last is for building and testing.
var npmFields = []string{"dependencies", "optionalDependencies", "peerDependencies", "devDependencies"}

// npmLocal are the beginnings of ranges that mean a package of the project itself.
var npmLocal = []string{"workspace:", "link:", "file:", "portal:"}

func packageJSON(p *collector, file string, m map[string]json.RawMessage) {
	var name string
	if json.Unmarshal(m["name"], &name) == nil && name != "" {
		p.owns("npm", name)
	}
	seen := map[string]bool{}
	for _, field := range npmFields {
		var list map[string]string
		if json.Unmarshal(m[field], &list) != nil {
			continue
		}
		for n, rng := range list {
			if strings.HasPrefix(n, "@types/") || seen[n] {
				continue
			}
			seen[n] = true
			if slices.ContainsFunc(npmLocal, func(s string) bool { return strings.HasPrefix(rng, s) }) {
				p.owns("npm", n)
				continue
			}
			d := declared{eco: "npm", name: n, rng: rng, dev: field == "devDependencies", manifest: file}
			if other, ok := strings.CutPrefix(rng, "npm:"); ok { // another package under this name
				d.rng = ""
				if i := strings.LastIndexByte(other, '@'); i > 0 {
					other, d.rng = other[:i], other[i+1:]
				}
				if other != n {
					d.alias, d.name = n, other
				}
			} else if exact := exactVersion(rng); exact != "" {
				d.version = strings.TrimPrefix(exact, "v")
			} else if d.repo = gitSpec(rng); d.repo != "" {
				if _, ref, ok := strings.Cut(rng, "#"); ok {
					d.ref = refNamed(ref)
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

// exactVersion returns a range that is one version, else "".
func exactVersion(rng string) string {
	if !exactRE.MatchString(rng) {
		return ""
	}
	return rng
}

// refNamed reads what follows the # of a git address: a hash, a tag, or a
// branch. Only a name that looks like a version is taken for a tag.
func refNamed(s string) kb.Ref {
	s = strings.TrimPrefix(s, "semver:")
	switch {
	case hashRE.MatchString(s):
		return kb.Ref{Type: kb.RefCommit, Name: s}
	case strings.ContainsAny(s, "0123456789") && !strings.ContainsAny(s, "^~*"):
		return kb.Ref{Type: kb.RefTag, Name: s}
	}
	return kb.Ref{}
}

// refIn finds a tag or another reference in a text: the pattern's groups are
// "tag" or another word, and a name.
func refIn(re lazyregexp.Regexp, text string) kb.Ref {
	m := re.FindStringSubmatch(text)
	switch {
	case m == nil:
		return kb.Ref{}
	case m[1] == "tag":
		return kb.Ref{Type: kb.RefTag, Name: m[2]}
	}
	return refNamed(m[2])
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

type npmLockFile struct {
	Packages map[string]struct {
		Version, Resolved string
		Link              bool
	}
	Dependencies map[string]struct{ Version, Resolved string }
}

func packageLock(p *collector, file string, m npmLockFile) {
	for where, d := range m.Packages {
		at := strings.LastIndex(where, "node_modules/")
		if at >= 0 && !d.Link {
			// A member's own folder holds the version of that member.
			member := path.Join(path.Dir(file), where[:at], "x")
			p.lock("npm", member, where[at+len("node_modules/"):], npmLocked(d.Version, d.Resolved))
		}
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
			if r := refNamed(ref); r.Type == kb.RefCommit {
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
		if l := p.locks[place{"npm", d}][name]; len(l) > 0 {
			return l[0]
		}
	}
	return locked{}
}

// pnpmLock reads the versions of a workspace's members, which come first; the
// rest of the file is as long as the graph is large.
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
		put(p.npmSpecs, path.Join(dir, member), name, version)
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
			switch depth -= 2; depth {
			case -1:
				member = key
			case 0:
				section = key
			}
		}
		switch {
		case !slices.Contains([]string{"dependencies", "devDependencies", "optionalDependencies"}, section):
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
	lines(data, func(line string) {
		m := bunRE.FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.Contains(strings.TrimPrefix(m[1], "@"), "/") && m[1] != m[2]: // of another package
		case strings.HasPrefix(m[3], "workspace:"):
			p.owns("npm", m[2])
		default:
			p.lock("npm", file, m[1], npmLocked(m[3], m[3]))
		}
	})
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
		_ = json.Unmarshal(m.Repository, &o) // another form names nothing
		return o.URL
	}
	return ""
}
