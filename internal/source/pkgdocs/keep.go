package pkgdocs

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var (
	// chores are no documentation of a package, by the stem of the name in capitals.
	chores = kb.WordsOf(`CHANGELOG CHANGES HISTORY LICENSE LICENCE COPYING NOTICE CONTRIBUTING CONTRIBUTORS AUTHORS CODE_OF_CONDUCT
		SECURITY GOVERNANCE THIRDPARTYNOTICES THIRD_PARTY_NOTICES PATENTS CODEOWNERS MAINTAINERS`)
	proseExts = kb.WordsOf(".md .mdx .markdown .rst .adoc")
	// skippedDirs hold no documentation, in any registry.
	skippedDirs = kb.WordsOf("node_modules vendor testdata __tests__ __fixtures__ fixtures")
)

// proseReason returns why a file is prose to keep, or "".
func proseReason(p string) string {
	name := path.Base(p)
	ext := strings.ToLower(path.Ext(name))
	stem := strings.ToUpper(strings.TrimSuffix(name, path.Ext(name)))
	switch {
	case chores[stem]:
		return ""
	case strings.HasPrefix(stem, "README") && (proseExts[ext] || ext == "" || ext == ".txt"):
		return "README"
	case proseExts[ext]:
		return "guide"
	}
	return ""
}

// changes reports whether a file says what changed between versions.
func changes(p string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(path.Base(p)), ".")
	return !below(p, nil) && (stem == "CHANGELOG" || stem == "CHANGES" || stem == "HISTORY")
}

// below reports whether p lies in a directory that is skipped.
func below(p string, skip func(dir string) bool) bool {
	dirs := strings.Split(p, "/")
	return slices.ContainsFunc(dirs[:len(dirs)-1], func(d string) bool {
		return skippedDirs[d] || strings.HasPrefix(d, ".") || skip != nil && skip(d)
	})
}

// npmReason returns why a file of an npm package is kept, or "".
func npmReason(p string) string {
	switch {
	case p == "package.json":
		return "manifest"
	case below(p, nil):
		return ""
	case strings.HasSuffix(p, ".d.ts"), strings.HasSuffix(p, ".d.mts"), strings.HasSuffix(p, ".d.cts"):
		return "types"
	}
	return proseReason(p)
}

// goReason returns why a file of a Go module is kept, or "": prose, sources of
// packages that others can import, and examples, which go doc shows.
func goReason(p string) string {
	switch {
	case p == "go.mod":
		return "manifest"
	case below(p, func(d string) bool { return d == "internal" || strings.HasPrefix(d, "_") }):
		return ""
	case strings.HasSuffix(p, "_test.go"):
		if strings.HasPrefix(path.Base(p), "example") {
			return "examples"
		}
		return ""
	case strings.HasSuffix(p, ".go"):
		return "source"
	}
	return proseReason(p)
}

// safePath returns the slash-separated path of an archive's entry, or "" for
// one that leads elsewhere.
func safePath(name string) string {
	name = strings.TrimPrefix(name, "./")
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") || path.Clean(name) != name ||
		strings.HasPrefix(name, "../") || name == ".." {
		return ""
	}
	return name
}

// once drops declarations that are there for another module system as well.
func (b *bundle) once() {
	have := map[string]bool{}
	for _, d := range b.docs {
		have[d.path] = true
	}
	b.docs = slices.DeleteFunc(b.docs, func(d document) bool {
		for _, ext := range []string{".d.mts", ".d.cts"} {
			if stem, ok := strings.CutSuffix(d.path, ext); ok && (have[stem+".d.ts"] || ext == ".d.cts" && have[stem+".d.mts"]) {
				return true
			}
		}
		return false
	})
}
