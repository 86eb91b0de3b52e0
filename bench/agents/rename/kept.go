package main

import (
	"slices"
	"strings"
)

// decideKept finds the names that stay in every file: those of the language and
// its library that are written without saying where they are from, those that
// are imported from elsewhere, and those that nothing here declares. Then it
// marks the members of such names: what they are called is not ours to change.
func (p *project) decideKept() {
	ours := map[string]bool{} // names with an occurrence that is not foreign
	seen := map[string]bool{}
	for _, f := range p.files {
		for _, k := range f.tokens {
			if k.kind != name {
				continue
			}
			n := wordRE.FindString(f.text[k.from:k.to])
			seen[n] = true
			if k.imported {
				p.kept[n] = true
			}
			ours[n] = ours[n] || !k.foreign
		}
	}
	for n := range seen {
		if !ours[n] && !p.own[n] || strings.HasPrefix(n, "__") && strings.HasSuffix(n, "__") {
			p.kept[n] = true
		}
	}
	for _, f := range p.files {
		for n := range libraries[f.language] {
			// In Go's own source the library is the project.
			p.kept[n] = p.kept[n] || f.language != "go" || !isUpper(n[0]) || !slices.Contains(p.goModules, "std")
		}
	}
	for _, f := range p.files {
		if f.language == "go" {
			continue // whose scanner knows it from the imports of the file
		}
		imported := map[string]bool{} // names that the file has from elsewhere
		for _, k := range f.tokens {
			if k.imported {
				imported[f.text[k.from:k.to]] = true
			}
		}
		chain := false // the token before was outside
		last := 0
		for i := range f.tokens {
			k := &f.tokens[i]
			if k.kind != name {
				continue
			}
			if k.owner != "" && !k.outside {
				k.outside = p.kept[k.owner] &&
					(libraries[f.language][k.owner] || chain && last+3 >= k.from || imported[k.owner])
			}
			chain, last = k.outside, k.to
		}
	}
}

// stays reports whether a word is renamed nowhere: short ones, those of plain
// English that carry a sentence, of code that carry a line, and names of standards.
func stays(w string) bool { return len(w) < 3 || staying[w] }
