package kdd

import (
	"cmp"
	"path"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// mention is a file or symbol that a document names.
type mention struct{ doc, line, text int32 }

// lazyMentions finds mentions by the last element of a file's path or by a
// symbol's folded spelling; it is made when first asked for.
type lazyMentions struct {
	once sync.Once
	at   map[string][]int32
}

// Mention is a specification that names a file or a symbol.
type Mention struct {
	Spot
	Text string // as the specification writes it
	// Exact is set for a path, not set for a base name or a symbol.
	Exact bool
}

// symbol returns a symbol as it is compared: "Server.Serve" of
// "Server::Serve()", "Server#serve".
func symbol(s string) string {
	s = strings.TrimSuffix(s, "()")
	s = strings.ReplaceAll(s, "::", ".")
	return strings.ReplaceAll(s, "#", ".")
}

// Mentions returns where specifications name a file, by its path, the end of it or its
// base name, or one of the qualified symbols that it declares; the surest first,
// one of each document.
func (g *Graph) Mentions(file string, symbols []string, seen Seen) []Mention {
	g.byText.once.Do(func() {
		g.byText.at = make(map[string][]int32, len(g.said))
		for i := range g.said {
			text := g.strings.list[g.said[i].text]
			k := symbol(text)
			if strings.Contains(text, "/") {
				k = path.Base(text)
			}
			g.byText.at[k] = append(g.byText.at[k], int32(i))
		}
	})
	type hit struct {
		m    Mention
		rank int
		doc  int32
	}
	best := map[int32]hit{}
	note := func(i int32, rank int) {
		m := &g.said[i]
		d := g.docs[m.doc]
		if d.Path == file || !seen.Sees(d) {
			return
		}
		if old, ok := best[m.doc]; !ok || rank < old.rank || rank == old.rank && int(m.line) < old.m.Line {
			best[m.doc] = hit{Mention{d.spot(int(m.line)), g.strings.list[m.text], rank < 2}, rank, m.doc}
		}
	}
	base := path.Base(file)
	for _, i := range g.byText.at[base] {
		m := &g.said[i]
		text := strings.TrimPrefix(g.strings.list[m.text], "./")
		d := g.docs[m.doc]
		switch {
		case text == file || strings.HasPrefix(text, ".") && path.Join(path.Dir(d.Path), text) == file:
			note(i, 0)
		case strings.Contains(text, "/"):
			up := text
			for strings.HasPrefix(up, "../") {
				up = up[3:]
			}
			if strings.HasSuffix("/"+file, "/"+strings.TrimPrefix(up, "/")) || path.Join(path.Dir(d.Path), text) == file {
				note(i, 1)
			}
		case strings.Contains(base, ".") && !commonplace(base):
			note(i, 2)
		}
	}
	for _, s := range symbols {
		for _, i := range g.byText.at[symbol(s)] {
			if !strings.Contains(g.strings.list[g.said[i].text], "/") {
				note(i, 3)
			}
		}
	}
	list := make([]hit, 0, len(best))
	for _, h := range best {
		list = append(list, h)
	}
	kb.SortFunc(list, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(btoi(g.docs[a.doc].Kind == ""), btoi(g.docs[b.doc].Kind == "")), cmp.Compare(a.doc, b.doc))
	})
	out := make([]Mention, len(list))
	for i, h := range list {
		out[i] = h.m
	}
	return out
}

// Named returns the files and symbols that a document names, as it writes them.
func (g *Graph) Named(d *Doc) []string {
	n := g.names.paths[d.Source][d.Path]
	var out []string
	from := sort.Search(len(g.said), func(i int) bool { return g.said[i].doc >= n })
	for i := from; i < len(g.said) && g.said[i].doc == n; i++ {
		out = append(out, g.strings.list[g.said[i].text])
	}
	return out
}

// commonplace reports whether so many files have a base name that it says nothing.
func commonplace(base string) bool {
	switch strings.ToLower(base) {
	case "readme.md", "index.js", "index.ts", "index.tsx", "index.html", "index.md", "main.go", "main.py", "__init__.py", "mod.rs", "lib.rs", "main.rs", "package.json", "go.mod", "setup.py", "doc.go", "utils.py", "types.ts", "license", "changelog.md":
		return true
	}
	return false
}
