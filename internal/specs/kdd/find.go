package kdd

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

const (
	defaultLimit   = 20
	maxSuggestions = 5
)

// Find returns what a name means, best first: exact id, exact name, alias,
// title or stem, then ids that begin with it, then names that hold it. Without any
// it suggests the nearest names. The filter's limit bounds what is returned.
func (g *Graph) Find(name string, f Filter) ([]*Node, []Suggestion) {
	limit := cmp.Or(max(f.Limit, 0), defaultLimit)
	var out []*Node
	for _, n := range g.lookup(name) {
		if node := &g.nodes[n]; g.lets(node, f) {
			if out = append(out, node); len(out) == limit {
				break
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, g.suggest(name, f)
}

// lets reports whether a filter lets a node through.
func (g *Graph) lets(n *Node, f Filter) bool {
	if n.Doc == nil {
		if f.Kind != "" && !strings.EqualFold(f.Kind, n.Type) || f.Domain != "" || f.Tag != "" || f.Status != "" {
			return false
		}
		return f.Seen.All || slices.ContainsFunc(n.In, func(s Spot) bool { return f.Seen.Sees(s.Doc) })
	}
	return f.matches(n.Doc) && f.sees(n.Doc)
}

// lookup returns the numbers of the nodes that a name means: those of the
// first way of meaning that finds any.
func (g *Graph) lookup(name string) []int32 {
	name = strings.TrimSpace(name)
	want := strings.TrimPrefix(strings.TrimSuffix(name, "]]"), "[[")
	k := key(want)
	if k == "" {
		return nil
	}
	exact, begun := g.named(k)
	// Of equal names, specifications come before other documents.
	kb.SortStableFunc(exact, func(a, b int32) int {
		return cmp.Compare(btoi(g.docs[a].Kind == ""), btoi(g.docs[b].Kind == ""))
	})
	if out := append(exact, g.notDocs(want, k)...); len(out) > 0 {
		return out
	}
	if out := g.inPaths(want); len(out) > 0 {
		return out
	}
	if len(begun) > 0 {
		return begun
	}
	var out []int32
	for i, d := range g.docs {
		if len(k) >= 2 && (strings.HasPrefix(key(d.ID), k) || strings.HasPrefix(key(specdoc.Stem(d.Path)), k)) {
			out = append(out, int32(i))
		}
	}
	if len(out) == 0 && shorter(want) != "" {
		if n, rank, _ := g.names.find(want, -1, -1); rank >= 0 {
			out = append(out, n)
		}
	}
	if len(out) > 0 || len(k) < 3 {
		return out
	}
	return g.holding(k)
}

// named returns the documents that are called k, and those whose id it begins,
// both by rank.
func (g *Graph) named(k string) (exact, begun []int32) {
	head, ok := g.names.first[k]
	if !ok {
		return nil, nil
	}
	var found []entry
	for i := head; i >= 0; i = g.names.entries[i].next {
		found = append(found, g.names.entries[i])
	}
	kb.SortFunc(found, func(a, b entry) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.doc, b.doc)) })
	for _, e := range found {
		if e.rank < byPrefix {
			exact = append(exact, e.doc)
		} else {
			begun = append(begun, e.doc)
		}
	}
	return exact, begun
}

// notDocs returns the nodes without a document that are called want:
// "Concept:security", then "security". Documents have the first among their names.
func (g *Graph) notDocs(want, k string) (out []int32) {
	if typ, rest, ok := strings.Cut(want, ":"); ok && !strings.HasPrefix(rest, ":") {
		for _, n := range g.others[key(rest)] {
			if strings.EqualFold(title(g.nodes[n].Type), typ) {
				out = append(out, n)
			}
		}
	}
	return append(out, g.others[k]...)
}

// inPaths returns what a path, a name with its domain or version, or an id with
// more behind it means in each source.
func (g *Graph) inPaths(want string) (out []int32) {
	if !strings.ContainsAny(want, "/@") && !strings.Contains(want, "::") && trimExt(want) == want {
		return nil
	}
	for source := range g.names.paths {
		if n, rank, _ := g.names.find(want, source, -1); rank >= 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// holding returns the nodes with k in one of their names, the shortest name first.
func (g *Graph) holding(k string) (out []int32) {
	sizes := map[int32]int{}
	for i := range g.nodes {
		if size := holds(&g.nodes[i], k); size > 0 {
			out, sizes[int32(i)] = append(out, int32(i)), size
		}
	}
	kb.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(sizes[a], sizes[b]) })
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds returns the length of the shortest name of a node that holds k, 0 for none.
func holds(n *Node, k string) int {
	best := 0
	try := func(s string) {
		if s = key(s); strings.Contains(s, k) && (best == 0 || len(s) < best) {
			best = len(s)
		}
	}
	try(n.Name)
	if d := n.Doc; d != nil {
		try(d.Title)
		try(specdoc.Stem(d.Path))
		for _, a := range d.Aliases {
			try(a)
		}
	}
	return best
}

// folded is a name of a node as it is compared with one that nothing has.
type folded struct {
	key  string
	name string
	has  uint64 // its bytes, modulo 64
	node int32
}

func bytesOf(s string) (has uint64) {
	for i := range len(s) {
		has |= 1 << (s[i] & 63)
	}
	return has
}

// fold returns all names of the graph but those of attributes and states,
// which suggest little.
func (g *Graph) fold() []folded {
	g.foldOnce.Do(func() {
		add := func(i int, s string) {
			if k := key(s); k != "" {
				g.folded = append(g.folded, folded{k, s, bytesOf(k), int32(i)})
			}
		}
		for i := range g.nodes {
			n := &g.nodes[i]
			if n.Doc == nil && strings.ContainsAny(n.Name, ".:") {
				continue
			}
			add(i, n.Name)
			if d := n.Doc; d != nil {
				add(i, d.Title)
				add(i, specdoc.Stem(d.Path))
				for _, a := range d.Aliases {
					add(i, a)
				}
			}
		}
	})
	return g.folded
}

// suggest returns the names nearest to one that nothing has.
func (g *Graph) suggest(name string, f Filter) []Suggestion {
	k := key(name)
	if k == "" || len(k) > 100 {
		return nil
	}
	type near struct {
		at   *folded
		dist int
	}
	var found []near
	worst := max(2, len(k)/3)
	has := bytesOf(k)
	names := g.fold()
	rows := make([]int, 3*(len(k)+worst+2))
	last := int32(-1)
	for i := range names {
		c := &names[i]
		if len(c.key) > len(k)+worst || len(k) > len(c.key)+worst || bits.OnesCount64(has&^c.has) > worst || bits.OnesCount64(c.has&^has) > worst {
			continue
		}
		d := distance(k, c.key, worst, rows)
		if d > worst || !g.lets(&g.nodes[c.node], Filter{Seen: f.Seen}) {
			continue
		}
		if c.node == last { // of a node's names the nearest
			if n := &found[len(found)-1]; d < n.dist {
				n.at, n.dist = c, d
			}
			continue
		}
		found = append(found, near{c, d})
		last = c.node
	}
	kb.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.dist, b.dist) })
	var out []Suggestion
	for _, x := range found {
		s := Suggestion{x.at.name, g.nodes[x.at.node].ID, g.nodes[x.at.node].Type}
		if len(out) < maxSuggestions && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// distance returns how many insertions, deletions, substitutions and swaps of
// neighbours make b of a, or more than limit. rows is scratch space for three
// times the length of b and three.
func distance(a, b string, limit int, rows []int) int {
	width := len(b) + 1
	before, prev, cur := rows[:width], rows[width:2*width], rows[2*width:3*width]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := btoi(a[i-1] != b[j-1])
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			cur[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

// matches reports whether a filter selects a document, whatever its lifecycle.
func (f *Filter) matches(d *Doc) bool {
	if f.OnlySpecs && d.Kind == "" {
		return false
	}
	if f.Kind != "" && !kindIs(d, f.Kind) {
		return false
	}
	if f.Domain != "" && key(f.Domain) != key(d.Domain) {
		return false
	}
	if f.Tag != "" && !slices.ContainsFunc(d.Tags, func(t string) bool { return key(t) == key(f.Tag) }) {
		return false
	}
	return f.Status == "" || Lifecycle(f.Status) == d.Lifecycle || key(f.Status) == key(d.Status)
}

// sees reports whether the documents that a filter selects may be shown.
func (f *Filter) sees(d *Doc) bool { return f.Status != "" || f.Seen.Sees(d) }

// kindIs reports whether a document is of a kind, by its name or another word
// for it.
func kindIs(d *Doc, kind string) bool {
	if key(kind) == d.Kind {
		return true
	}
	k, ok := specdoc.KindNamed(kind)
	return ok && k.Name == d.Kind
}

// List returns documents in order of source and path.
func (g *Graph) List(f Filter) Listing {
	limit := cmp.Or(max(f.Limit, 0), defaultLimit)
	l := Listing{Hidden: map[string]int{}}
	for _, d := range g.docs {
		switch {
		case !f.matches(d):
		case !f.sees(d):
			l.Hidden[d.Lifecycle]++
		default:
			l.Total++
			if len(l.Docs) < limit {
				l.Docs = append(l.Docs, d)
			}
		}
	}
	return l
}
