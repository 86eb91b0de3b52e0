package deps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

var php = ecosystem{
	name: "composer",
	tag:  "v{v}",
	files: map[string]parser{
		"composer.json": decoded(json.Unmarshal, composerJSON), "composer.lock": decoded(json.Unmarshal, composerLock),
	},
	exts:    []string{".php"},
	imports: phpImports,
	matcher: phpMatcher,
}

type composerFile struct {
	Name    string
	Require map[string]string
	Dev     map[string]string `json:"require-dev"`
}

func composerJSON(p *collector, file string, m composerFile) {
	if m.Name != "" {
		p.owns("composer", m.Name)
	}
	for i, list := range []map[string]string{m.Require, m.Dev} {
		for n, rng := range list {
			// php and ext-… are no packages; a polyfill is of no interest.
			if strings.Contains(n, "/") && !strings.HasPrefix(n, "symfony/polyfill-") {
				p.declared = append(p.declared, declared{
					eco: "composer", name: strings.ToLower(n), rng: rng, version: exactVersion(rng), dev: i > 0, manifest: file,
				})
			}
		}
	}
}

type composerPackage struct {
	Name, Version string
	Source, Dist  struct{ Type, URL, Reference string }
	Autoload      struct {
		PSR4 map[string]any `json:"psr-4"`
		PSR0 map[string]any `json:"psr-0"`
	}
}

type composerLockFile struct {
	Packages []composerPackage
	Dev      []composerPackage `json:"packages-dev"`
}

func composerLock(p *collector, file string, m composerLockFile) {
	for _, x := range append(m.Packages, m.Dev...) {
		name := strings.ToLower(x.Name)
		l := locked{version: x.Version}
		if x.Source.Type == "git" {
			l.repo = CleanURL(x.Source.URL)
		}
		l.repo = cmp.Or(l.repo, zipRepo(x.Dist.URL))
		if strings.HasPrefix(x.Version, "dev-") || strings.HasSuffix(x.Version, "-dev") {
			l.commit = x.Source.Reference // a branch
		} else {
			l.tag = x.Version // composer's versions are the names of tags
		}
		p.lock("composer", file, name, l)
		for _, spaces := range []map[string]any{x.Autoload.PSR4, x.Autoload.PSR0} {
			for ns := range spaces {
				if ns = strings.Trim(ns, `\`); ns != "" {
					p.spaces[ns] = name
				}
			}
		}
	}
}

// zipRepo finds the repository of an archive that GitHub makes.
func zipRepo(u string) string {
	if rest, ok := strings.CutPrefix(u, "https://api.github.com/repos/"); ok {
		return CleanURL("https://github.com/" + rest)
	}
	return ""
}

func phpImports(text []byte, emit func(string)) {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("use "))
		if !ok {
			continue
		}
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("function ")), []byte("const "))
		emitName(bytes.TrimPrefix(rest, []byte(`\`)), '\\', func(name string) {
			if strings.IndexByte(name, '\\') > 0 {
				emit(strings.Trim(name, `\`))
			}
		})
	}
}

func phpMatcher(p *collector, deps []*Dependency) func(string) []*Dependency {
	prefixes := map[string][]*Dependency{}
	plain := map[string][]*Dependency{}
	for _, d := range deps {
		for ns, name := range p.spaces {
			if name == d.Name {
				prefixes[ns] = append(prefixes[ns], d)
			}
		}
		vendor, name, _ := strings.Cut(d.Name, "/")
		squeeze := strings.NewReplacer("-", "", "_", "").Replace
		for _, s := range []string{squeeze(vendor + name), squeeze(name)} {
			plain[s] = append(plain[s], d)
		}
	}
	match := longest(prefixes, `\`)
	return func(imp string) []*Dependency {
		if d := match(imp); d != nil || len(prefixes) > 0 {
			return d
		}
		// Without a lockfile: Monolog\Logger is of monolog/monolog,
		// Symfony\Component\Console of symfony/console.
		words := strings.Split(strings.ToLower(strings.ReplaceAll(imp, `\Component\`, `\`)), `\`)
		for n := min(3, len(words)); n > 0; n-- {
			if d := plain[strings.Join(words[:n], "")]; d != nil {
				return d
			}
		}
		return nil
	}
}
