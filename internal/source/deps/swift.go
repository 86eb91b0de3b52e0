package deps

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// swift: a package has the name of its repository.
var swift = ecosystem{
	name:  "swift",
	tag:   "{v}",
	files: map[string]parser{"Package.swift": packageSwift, "Package.resolved": decoded(json.Unmarshal, packageResolved)},
	exts:  []string{".swift"},
	imports: func(text []byte, emit func(string)) {
		for line := range bytes.Lines(text) {
			line = bytes.TrimSpace(line)
			for _, a := range []string{"@testable ", "@_exported ", "@preconcurrency ", "public ", "internal ", "private "} {
				line = bytes.TrimPrefix(line, []byte(a))
			}
			rest, ok := bytes.CutPrefix(line, []byte("import "))
			if !ok {
				continue
			}
			w := strings.Fields(string(rest))
			if len(w) == 0 || strings.HasPrefix(w[0], "//") {
				continue
			}
			module := w[0]
			if strings.Contains("struct class enum protocol func let var typealias", w[0]) {
				module = w[len(w)-1] // import struct Foundation.Date
			}
			module, _, _ = strings.Cut(module, ".")
			emit(module)
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

// squeezeSwift returns the usual module of a package, "nio" of swift-nio; a list
// of products names the others.
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

type swiftPin struct {
	Location, RepositoryURL string
	State                   struct{ Version, Revision string }
}

type resolvedFile struct {
	Pins   []swiftPin
	Object struct{ Pins []swiftPin }
}

func packageResolved(p *collector, file string, m resolvedFile) {
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
