package deps

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var elixir = ecosystem{
	name:      "hex",
	tag:       "v{v}",
	files:     map[string]parser{"mix.exs": mixExs, "mix.lock": mixLock},
	exts:      []string{".ex", ".exs", ".heex"},
	imports:   elixirImports,
	matcher:   elixirMatcher,
	installed: mixInstalled,
}

var (
	mixDepRE  = lazyregexp.New(`^\{:([a-z0-9_]+),\s*(?:"([^"]*)")?(.*)`)
	mixAppRE  = lazyregexp.New(`^app:\s*:([a-z0-9_]+)`)
	mixGitRE  = lazyregexp.New(`\b(git|github):\s*"([^"]+)"`)
	mixRefRE  = lazyregexp.New(`\b(tag|ref):\s*"([^"]+)"`)
	mixOnlyRE = lazyregexp.New(`\bonly:\s*(\[[^\]]*\]|:[a-z0-9_]+)`)
	mixHexRE  = lazyregexp.New(`^"([a-z0-9_]+)":\s*\{:hex,\s*:([a-z0-9_]+),\s*"([^"]+)"`)
	mixLockRE = lazyregexp.New(`^"([a-z0-9_]+)":\s*\{:git,\s*"([^"]+)",\s*"([0-9a-f]+)"(?:,\s*\[([^\]]*)\])?`)
)

func mixExs(p *collector, file string, data []byte) {
	lines(data, func(line string) {
		if m := mixAppRE.FindStringSubmatch(line); m != nil {
			p.owns("hex", m[1])
			return
		}
		for _, part := range strings.SplitAfter(line, "},") {
			m := mixDepRE.FindStringSubmatch(strings.TrimLeft(part, " ["))
			if m == nil || m[2] == "" && !strings.Contains(m[3], "git") && !strings.Contains(m[3], "path:") {
				continue
			}
			d := declared{eco: "hex", name: m[1], rng: m[2], manifest: file}
			if strings.Contains(m[3], "path:") || strings.Contains(m[3], "in_umbrella:") {
				p.owns("hex", d.name)
				continue
			}
			if o := mixOnlyRE.FindStringSubmatch(m[3]); o != nil {
				d.dev = !strings.Contains(o[1], "prod")
			}
			if g := mixGitRE.FindStringSubmatch(m[3]); g != nil {
				d.repo, d.ref = CleanURL(g[2]), refIn(mixRefRE, m[3])
			}
			d.version = exactVersion(strings.TrimPrefix(d.rng, "== "))
			p.declared = append(p.declared, d)
		}
	})
}

func mixLock(p *collector, file string, data []byte) {
	lines(data, func(line string) {
		if m := mixHexRE.FindStringSubmatch(line); m != nil {
			p.lock("hex", file, m[1], locked{version: m[3]})
		} else if m := mixLockRE.FindStringSubmatch(line); m != nil {
			l := locked{repo: CleanURL(m[2]), commit: m[3]}
			if t := mixRefRE.FindStringSubmatch(m[4]); t != nil && t[1] == "tag" {
				l.tag, l.version = t[2], strings.TrimPrefix(t[2], "v")
			}
			p.lock("hex", file, m[1], l)
		}
	})
}

// elixirImports emits modules, "Phoenix.HTML", and called modules of Erlang,
// ":telemetry".
func elixirImports(text []byte, emit func(string)) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if i > 0 && (isWord(text[i-1]) || text[i-1] == '.' || text[i-1] == ':') {
			continue
		}
		switch {
		case c >= 'A' && c <= 'Z':
			j := nameEnd(text, i, '.')
			emit(strings.Trim(string(text[i:j]), "."))
			i = j
		case c == ':' && i+1 < len(text) && text[i+1] >= 'a' && text[i+1] <= 'z':
			j := nameEnd(text, i+1, 0)
			if j < len(text) && text[j] == '.' {
				emit(string(text[i:j]))
			}
			i = j
		}
	}
}

func elixirMatcher(p *collector, deps []*Dependency) func(string) []*Dependency {
	plain := strings.NewReplacer("_", "", ".", "")
	squeeze := func(s string) string { return strings.ToLower(plain.Replace(s)) }
	byName := map[string][]*Dependency{}
	for _, d := range deps {
		byName[squeeze(d.Name)] = []*Dependency{d}
	}
	for n := range p.own["hex"] {
		byName[squeeze(n)] = []*Dependency{}
	}
	return func(imp string) []*Dependency {
		if erl, ok := strings.CutPrefix(imp, ":"); ok {
			return byName[squeeze(erl)]
		}
		// Phoenix.HTML.Form is of phoenix_html, Phoenix.Router of phoenix.
		for {
			if d, ok := byName[squeeze(imp)]; ok {
				return d
			}
			i := strings.LastIndexByte(imp, '.')
			if i < 0 {
				return nil
			}
			imp = imp[:i]
		}
	}
}

var hexLinkRE = lazyregexp.New(`<<"(https://(?:github|gitlab)\.com/[^"]+)">>`)

func mixInstalled(p *collector, d *Dependency) string {
	data, err := readSome(p.root, path.Join(path.Dir(d.Manifest), "deps", d.Name, "hex_metadata.config"), maxSource)
	if err != nil {
		return ""
	}
	if m := hexLinkRE.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}
