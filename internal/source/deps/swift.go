package deps

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// swift reads Package.swift and Package.resolved. A package is called as its
// repository is.
var swift = ecosystem{
	name: "swift",
	tag:  "{v}",
	manifest: func(base string) parser {
		switch base {
		case "Package.swift":
			return packageSwift
		case "Package.resolved":
			return packageResolved
		}
		return nil
	},
	exts: []string{".swift"},
	imports: func(text []byte, emit func(string)) {
		for line := range bytes.Lines(text) {
			line = bytes.TrimSpace(line)
			for _, a := range []string{"@testable ", "@_exported ", "@preconcurrency ", "public ", "internal ", "private "} {
				line = bytes.TrimPrefix(line, []byte(a))
			}
			if rest, ok := bytes.CutPrefix(line, []byte("import ")); ok {
				if w := strings.Fields(string(rest)); len(w) > 0 {
					module := w[len(w)-1] // import struct Foundation.Date
					if strings.HasPrefix(w[0], "//") {
						continue
					}
					if len(w) == 1 || !strings.Contains("struct class enum protocol func let var typealias", w[0]) {
						module = w[0]
					}
					module, _, _ = strings.Cut(module, ".")
					emit(module)
				}
			}
		}
	},
	matcher: func(p *collector, deps []*Dependency) func(string) []*Dependency {
		byModule := map[string][]*Dependency{}
		for _, d := range deps {
			byModule[strings.ToLower(d.Name)] = []*Dependency{d}
			byModule[squeezeSwift(d.Name)] = []*Dependency{d}
			for module, name := range p.products {
				if strings.EqualFold(name, d.Name) {
					byModule[strings.ToLower(module)] = []*Dependency{d}
				}
			}
		}
		return func(imp string) []*Dependency { return byModule[strings.ToLower(imp)] }
	},
}

// squeezeSwift turns swift-log into log… as modules are called: Logging is the
// exception that its products tell.
func squeezeSwift(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "swift-"), "-", ""))
}

var (
	swiftPackageRE = lazyregexp.New(`(?s)\.package\(\s*(?:name:\s*"([^"]+)",\s*)?url:\s*"([^"]+)"\s*,?\s*([^)]*\)?)`)
	swiftProductRE = lazyregexp.New(`\.product\(\s*name:\s*"([^"]+)",\s*package:\s*"([^"]+)"`)
	swiftExactRE   = lazyregexp.New(`exact\(?:?\s*"([^"]+)"`)
	swiftQuotedRE  = lazyregexp.New(`"([^"]+)"`)
)

func packageSwift(p *collector, file string, data []byte) {
	for _, m := range swiftPackageRE.FindAllSubmatch(data, -1) {
		u := CleanURL(string(m[2]))
		if u == "" {
			continue
		}
		d := declared{eco: "swift", name: path.Base(u), repo: u, manifest: file}
		if x := swiftExactRE.FindSubmatch(m[3]); x != nil {
			d.version, d.rng = string(x[1]), string(x[1])
		} else if q := swiftQuotedRE.FindSubmatch(m[3]); q != nil {
			d.rng = string(q[1])
		}
		p.declared = append(p.declared, d)
	}
	for _, m := range swiftProductRE.FindAllSubmatch(data, -1) {
		p.products[string(m[1])] = string(m[2])
	}
}

func packageResolved(p *collector, file string, data []byte) {
	type pin struct {
		Location, RepositoryURL string
		State                   struct{ Version, Revision, Branch string }
	}
	var m struct {
		Pins   []pin
		Object struct{ Pins []pin }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		p.note("%s does not parse: %v", file, err)
		return
	}
	for _, x := range append(m.Pins, m.Object.Pins...) {
		u := CleanURL(x.Location + x.RepositoryURL)
		if u == "" {
			continue
		}
		l := locked{version: x.State.Version, repo: u}
		if l.version == "" {
			l.commit = x.State.Revision
		}
		p.lock("swift", file, path.Base(u), l)
	}
}
