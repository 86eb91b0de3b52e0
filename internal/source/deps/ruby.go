package deps

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var ruby = ecosystem{
	name: "gem",
	tag:  "v{v}",
	files: map[string]parser{
		"Gemfile": gemfile, "gems.rb": gemfile, "*.gemspec": gemfile, "Gemfile.lock": gemLock, "gems.locked": gemLock,
	},
	exts:    []string{".rb", ".rake"},
	imports: rubyImports,
	matcher: rubyMatcher,
}

var (
	gemRE     = lazyregexp.New(`^gem[\s(]+["']([A-Za-z0-9_.-]+)["']\s*(?:,\s*["']([^"']*)["'])?(.*)`)
	gemspecRE = lazyregexp.New(`\.add_(runtime_|development_)?dependency[\s(]+["']([A-Za-z0-9_.-]+)["'](?:\.freeze)?\s*` +
		`(?:,\s*\[?\s*["']([^"']*)["'])?`)
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
			d := declared{eco: "gem", name: m[2], rng: m[3], dev: m[1] == "development_", manifest: file}
			p.declared = append(p.declared, d)
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
			d.repo, d.ref = CleanURL(g[1]), refIn(gemTagRE, m[3])
		}
		d.version = exactVersion(strings.TrimPrefix(strings.TrimSpace(d.rng), "= "))
		p.declared = append(p.declared, d)
	})
}

var gemSpecLineRE = lazyregexp.New(`^    ([A-Za-z0-9_.-]+) \(([^)]+)\)$`)

func gemLock(p *collector, file string, data []byte) {
	section, keys := "", map[string]string{}
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), "\r\n")
		if line != "" && line[0] != ' ' {
			section = line
			clear(keys)
		}
		if m := gemSpecLineRE.FindStringSubmatch(line); m != nil {
			// "1.15.4-x86_64-linux" is a build of 1.15.4
			version, _, _ := strings.Cut(m[2], "-")
			l := locked{version: version}
			switch section {
			case "GIT":
				l.repo, l.commit, l.tag = CleanURL(keys["  remote"]), keys["  revision"], keys["  tag"]
				fallthrough
			case "GEM":
				p.lock("gem", file, m[1], l)
			case "PATH":
				p.owns("gem", m[1])
			}
		} else if k, v, ok := strings.Cut(line, ": "); ok {
			keys[k] = v
		}
	}
}

// rubyImports emits what is required and the constants that are used: Bundler
// requires most gems itself.
func rubyImports(text []byte, emit func(string)) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte("require")); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '(') {
			emitQuoted(rest[1:], emit)
		}
	}
	for i := 0; i < len(text); {
		// A word that begins with a capital letter and is followed by :: or a dot.
		if c := text[i]; c >= 'A' && c <= 'Z' && (i == 0 || !isWord(text[i-1]) && text[i-1] != ':') {
			j := nameEnd(text, i, 0)
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
