package deps

import (
	_ "embed"
	"iter"
	"strings"
)

// modulesText lists what code imports from packages whose name does not say
// so, one package a line: ecosystem, package, modules.
//
//go:embed modules.txt
var modulesText string

// renamed yields the packages of an ecosystem in modules.txt and their modules.
func renamed(eco string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for f := range rows(modulesText) {
			if f[0] == eco && !yield(f[1], f[2:]) {
				return
			}
		}
	}
}

// rows yields the fields of each line of a table that has three at least.
func rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if f := strings.Fields(line); len(f) > 2 && f[0][0] != '#' && !yield(f) {
				return
			}
		}
	}
}

// longest returns a matcher that finds the dependencies of the longest prefix of
// an import that ends at a separator.
func longest(prefixes map[string][]*Dependency, sep string) func(string) []*Dependency {
	return func(imp string) []*Dependency {
		for {
			if d := prefixes[imp]; d != nil {
				return d
			}
			i := strings.LastIndex(imp, sep)
			if i < 0 {
				return nil
			}
			imp = imp[:i]
		}
	}
}

// emitName emits the name that text begins with. The byte also may be part of it.
func emitName(text []byte, also byte, emit func(string)) {
	if n := nameEnd(text, 0, also); n > 0 {
		emit(string(text[:n]))
	}
}

// nameEnd returns the end of the name that begins at i.
func nameEnd(text []byte, i int, also byte) int {
	for i < len(text) && (isWord(text[i]) || text[i] == also) {
		i++
	}
	return i
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
