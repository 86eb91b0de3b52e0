package deps

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// ruby reads Gemfile, *.gemspec and Gemfile.lock.
var ruby = ecosystem{
	name: "gem",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch {
		case base == "Gemfile" || base == "gems.rb" || strings.HasSuffix(base, ".gemspec"):
			return gemfile
		case base == "Gemfile.lock" || base == "gems.locked":
			return gemLock
		}
		return nil
	},
	exts:    []string{".rb", ".rake"},
	imports: rubyImports,
	matcher: rubyMatcher,
}

var (
	gemRE     = lazyregexp.New(`^gem[\s(]+["']([A-Za-z0-9_.-]+)["']\s*(?:,\s*["']([^"']*)["'])?(.*)`)
	gemspecRE = lazyregexp.New(`\.add_(runtime_|development_)?dependency[\s(]+["']([A-Za-z0-9_.-]+)["'](?:\.freeze)?\s*(?:,\s*\[?\s*["']([^"']*)["'])?`)
	gemNameRE = lazyregexp.New(`\.name\s*=\s*["']([A-Za-z0-9_.-]+)["']`)
	gemGitRE  = lazyregexp.New(`(?:git|github)(?::|["']?\s*=>)\s*["']([^"']+)["']`)
	gemTagRE  = lazyregexp.New(`(tag|ref)(?::|["']?\s*=>)\s*["']([^"']+)["']`)
	gemDevRE  = lazyregexp.New(`^group\b.*:(?:test|development|dev|lint|ci|docs?|rdoc|benchmark|site)`)
)

func gemfile(p *collector, file string, data []byte) {
	dev := 0
	lines(data, func(line string) {
		switch {
		case line == "" || line[0] == '#':
			return
		case gemDevRE.MatchString(line) && strings.HasSuffix(line, "do"):
			dev = 1
			return
		case dev > 0 && (strings.HasSuffix(line, " do") || strings.HasPrefix(line, "if ") || strings.HasPrefix(line, "unless ")):
			dev++
			return
		case dev > 0 && line == "end":
			dev--
			return
		}
		if m := gemNameRE.FindStringSubmatch(line); m != nil && strings.HasSuffix(file, ".gemspec") {
			p.owns("gem", m[1])
			return
		}
		if m := gemspecRE.FindStringSubmatch(line); m != nil {
			p.declared = append(p.declared, declared{eco: "gem", name: m[2], rng: m[3], dev: m[1] == "development_", manifest: file})
			return
		}
		m := gemRE.FindStringSubmatch(line)
		if m == nil {
			return
		}
		d := declared{eco: "gem", name: m[1], rng: m[2], dev: dev > 0, manifest: file}
		if strings.Contains(m[3], "path:") || strings.Contains(m[3], ":path") {
			p.owns("gem", d.name)
			return
		}
		if g := gemGitRE.FindStringSubmatch(m[3]); g != nil {
			d.repo = CleanURL(g[1])
			if t := gemTagRE.FindStringSubmatch(m[3]); t != nil {
				d.ref = refNamed(t[2])
				if t[1] == "tag" {
					d.ref = kb.Ref{Type: refTag, Name: t[2]}
				}
			}
		}
		if exactVersion(strings.TrimPrefix(strings.TrimSpace(d.rng), "= ")) {
			d.version = strings.TrimPrefix(strings.TrimSpace(d.rng), "= ")
		}
		p.declared = append(p.declared, d)
	})
}

var gemSpecLineRE = lazyregexp.New(`^    ([A-Za-z0-9_.-]+) \(([^)]+)\)$`)

func gemLock(p *collector, file string, data []byte) {
	var remote, revision, tag, section string
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), "\r\n")
		switch {
		case line == "":
		case line[0] != ' ':
			section, remote, revision, tag = line, "", "", ""
		case strings.HasPrefix(line, "  remote: "):
			remote = line[len("  remote: "):]
		case strings.HasPrefix(line, "  revision: "):
			revision = line[len("  revision: "):]
		case strings.HasPrefix(line, "  tag: "):
			tag = line[len("  tag: "):]
		default:
			m := gemSpecLineRE.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			// "1.15.4-x86_64-linux" is a build of 1.15.4
			version, _, _ := strings.Cut(m[2], "-")
			switch section {
			case "GEM":
				p.lock("gem", file, m[1], locked{version: version})
			case "GIT":
				p.lock("gem", file, m[1], locked{version: version, repo: CleanURL(remote), commit: revision, tag: tag})
			case "PATH":
				p.owns("gem", m[1])
			}
		}
	}
}

// rubyImports emits what is required, and the constants that are used: with
// Bundler most gems are required by nobody.
func rubyImports(text []byte, emit func(string)) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte("require ")); ok {
			emitQuoted(rest, emit)
		} else if rest, ok := bytes.CutPrefix(line, []byte("require(")); ok {
			emitQuoted(rest, emit)
		}
	}
	for i := 0; i < len(text); {
		// A word that begins with a capital letter and is followed by :: or a dot.
		if c := text[i]; c >= 'A' && c <= 'Z' && (i == 0 || !isWord(text[i-1]) && text[i-1] != ':') {
			j := i
			for j < len(text) && isWord(text[j]) {
				j++
			}
			if j < len(text) && (text[j] == '.' || text[j] == ':' && j+1 < len(text) && text[j+1] == ':') {
				emit("::" + string(text[i:j]))
			}
			i = j
		}
		i++
	}
}

func rubyMatcher(p *collector, deps []*Dependency) func(string) []*Dependency {
	paths := map[string][]*Dependency{}
	consts := map[string][]*Dependency{}
	own := map[string]bool{}
	for n := range p.own["gem"] {
		own[rubyConst(n)] = true
	}
	for _, d := range deps {
		for _, s := range []string{d.Name, strings.ReplaceAll(d.Name, "-", "/"), strings.TrimSuffix(d.Name, ".rb")} {
			if !slices.Contains(paths[s], d) {
				paths[s] = append(paths[s], d)
			}
		}
		if c := rubyConst(d.Name); !own[c] {
			consts[c] = append(consts[c], d)
		}
	}
	match := longest(paths, "/")
	return func(imp string) []*Dependency {
		if c, ok := strings.CutPrefix(imp, "::"); ok {
			return consts[strings.ToLower(c)]
		}
		if d := match(imp); d != nil {
			return d
		}
		return match(strings.ReplaceAll(imp, "_", "-"))
	}
}

// rubyConst is a gem's name as its module is called, in lower case; of names
// with a dash there is no custom.
func rubyConst(name string) string {
	if strings.Contains(name, "-") {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(path.Base(name), "_", ""))
}

// php reads composer.json and composer.lock, which names repositories.
var php = ecosystem{
	name: "composer",
	tag:  "v{v}",
	manifest: func(base string) parser {
		switch base {
		case "composer.json":
			return composerJSON
		case "composer.lock":
			return composerLock
		}
		return nil
	},
	exts:    []string{".php"},
	imports: phpImports,
	matcher: phpMatcher,
}
