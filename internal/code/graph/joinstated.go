package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Files that state the types of a package declare much of it as properties,
// "readonly red: this", which are no symbols: in code they would be most of
// what there is. In a join they are what others call.

// maxStated bounds the size of a file whose properties are read, in bytes.
const maxStated = 2 << 20

var (
	propertyRE = lazyregexp.New(`^\s*(?:(?:public|readonly|static|declare)\s+)*([\pL_$][\pL\pN_$]*)\??\s*:\s*(.*)$`)
	defaultRE  = lazyregexp.New(`^\s*export\s+default\s+(?:async\s+)?function\s*[(<]`)
)

// stated adds to a document that states types the properties of its types, and
// a default export without a name.
func stated(d *Document) {
	if !strings.Contains(path.Base(d.Path), ".d.") {
		return
	}
	body, err := d.Body()
	if err != nil || len(body) > maxStated {
		return
	}
	lines := strings.Split(body, "\n")
	types := typeLines(d.Symbols, len(lines))
	seen := map[string]bool{}
	for i := range d.Symbols {
		seen[d.Symbols[i].Qualified()] = true
	}
	self := map[string]string{} // type of a property "this", by its binding's name and line
	depth, comment := 0, false
	var open []int // depth at which each type around was opened
	var around []*kb.Symbol
	for n, line := range lines {
		code := uncommented(line, &comment)
		if s := types[n+1]; s != nil {
			around, open = append(around, s), append(open, depth)
		}
		if k := len(around) - 1; k >= 0 && depth == open[k]+1 {
			if m := propertyRE.FindStringSubmatch(code); m != nil {
				s := kb.Symbol{Name: m[1], Kind: "property", Line: n + 1, Start: n + 1, End: n + 1, Path: append(slices.Clone(around[k].Path), around[k].Name)}
				if strings.TrimRight(strings.TrimSpace(m[2]), ";,") == "this" {
					self["self."+m[1]] = around[k].Name
				}
				if !seen[s.Qualified()] {
					seen[s.Qualified()] = true
					d.Symbols = append(d.Symbols, s)
				}
			}
		} else if depth == 0 && !seen["default"] && defaultRE.MatchString(code) {
			seen["default"] = true
			d.Symbols = append(d.Symbols, kb.Symbol{Name: "default", Kind: "function", Line: n + 1, Start: n + 1, End: n + 1, Signature: kb.Clip(strings.TrimSpace(code), 200)})
		}
		depth += strings.Count(code, "{") - strings.Count(code, "}")
		for k := len(around) - 1; k >= 0 && (depth <= open[k] && strings.Contains(code, "}") || n+1 >= around[k].End); k-- {
			around, open = around[:k], open[:k]
		}
	}
	d.Facts.Bindings = slices.Clone(d.Facts.Bindings)
	for i := range d.Facts.Bindings {
		if b := &d.Facts.Bindings[i]; b.Type == "" && self[b.Name] != "" {
			b.Type = self[b.Name]
		}
	}
}

// typeLines returns the types of a document by the lines of their names.
func typeLines(symbols []kb.Symbol, lines int) map[int]*kb.Symbol {
	out := map[int]*kb.Symbol{}
	for i := range symbols {
		if s := &symbols[i]; kindOf(s.Kind) == isType && s.End > s.Line && lineOf(s) <= lines {
			out[lineOf(s)] = s
		}
	}
	return out
}

// uncommented returns a line without its comments; in says whether it begins, and
// then ends, within one.
func uncommented(line string, in *bool) string {
	var b strings.Builder
	for line != "" {
		if *in {
			_, rest, ok := strings.Cut(line, "*/")
			if !ok {
				break
			}
			*in, line = false, rest
			continue
		}
		i := strings.Index(line, "/*")
		if k := strings.Index(line, "//"); k >= 0 && (i < 0 || k < i) {
			b.WriteString(line[:k])
			break
		}
		if i < 0 {
			b.WriteString(line)
			break
		}
		b.WriteString(line[:i])
		*in, line = true, line[i+2:]
	}
	return b.String()
}
