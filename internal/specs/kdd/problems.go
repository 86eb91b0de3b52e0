package kdd

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Problems returns what is wrong with the documents that a filter selects and
// sees, as far as the graph shows it; r is what Check says of them. It is
// ordered by store and path.
func (g *Graph) Problems(f Filter, r *Report) []Problem {
	var out []Problem
	looked := func(i int) bool { return f.matches(g.docs[i]) && f.sees(g.docs[i]) && !g.docs[i].fixture() }
	ids := g.numbering()
	for i, d := range g.docs {
		if looked(i) {
			out = append(out, d.problems(ids[numbering{d.Source, d.Kind}])...)
		}
	}
	out = append(out, g.duplicates(looked)...)
	for _, x := range g.selfs {
		if looked(int(x.doc)) {
			out = append(out, SelfProblem(g.docs[x.doc], g.strings.list[x.typ], int(x.line)))
		}
	}
	for _, typ := range acyclic {
		for _, circle := range g.circles(typ) {
			if !looked(int(circle[0].from)) {
				continue
			}
			names := make([]string, 0, len(circle)+1)
			for _, e := range circle {
				names = append(names, g.nodes[e.from].Name)
			}
			out = append(out, Problem{Rule: Circular, Doc: g.docs[circle[0].from], Line: int(circle[0].line),
				Text: fmt.Sprintf("%s itself in a circle: %s", phrase(typ), strings.Join(append(names, names[0]), " → ")),
				Mend: "take one of these relations out"})
		}
	}
	for _, e := range r.Violations {
		out = append(out, Problem{Rule: LayerUpwards, Doc: e.At.Doc, Line: e.At.Line,
			Text: fmt.Sprintf("%s of %s %s %s of %s, a higher layer", e.From.Name, LayerName(e.From.Doc.Layer), e.Type, e.To.Name, LayerName(e.To.Doc.Layer)),
			Mend: "let the higher one name the lower"})
	}
	for _, o := range r.Orphans {
		mend := "write what it names, or correct the name"
		if o.Near != "" {
			mend = "did you mean " + o.Near + "?"
		}
		out = append(out, Problem{Rule: DanglingLink, Doc: o.At.Doc, Line: o.At.Line,
			Text: fmt.Sprintf("%s %q, and %s", phrase(o.Type), o.Target, o.Reason), Mend: mend})
	}
	for _, c := range r.Coverage {
		out = append(out, Problem{Rule: Incomplete, Doc: c.Doc, Text: fmt.Sprintf("has %d %% of what its kind asks for", c.Percent),
			Mend: "add " + strings.Join(c.Missing, "; ")})
	}
	kb.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Doc.Source, b.Doc.Source), strings.Compare(a.Doc.Path, b.Doc.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return out
}

// Acyclic reports whether a circle of relations of a type makes no sense.
func Acyclic(typ string) bool { return slices.Contains(acyclic, typ) }

// SelfProblem is a relation of a document to itself.
func SelfProblem(d *Doc, typ string, line int) Problem {
	return Problem{Rule: SelfReference, Doc: d, Line: line, Text: phrase(typ) + " itself", Mend: "take its own name out of the list"}
}

// numbering is a kind of document of one store.
type numbering struct {
	source int
	kind   string
}

// numbering returns the kinds of which most documents have ids: a team that
// does without any has not forgotten one.
func (g *Graph) numbering() map[numbering]bool {
	count := map[numbering]int{}
	for _, d := range g.docs {
		switch n := (numbering{d.Source, d.Kind}); {
		case !d.single() || d.fixture():
		case d.numbered():
			count[n]++
		default:
			count[n]--
		}
	}
	out := map[numbering]bool{}
	for n, c := range count {
		out[n] = c > 0 && within(numbered, n.kind)
	}
	return out
}

// numbered reports whether a document has an id or a number by which it is
// named, or is the form that others are written after.
func (d *Doc) numbered() bool {
	stem := strings.ToLower(specdoc.Stem(d.Path))
	return d.ID != "" || strings.Contains(stem, "template") || strings.Contains(stem, "plantilla") ||
		strings.ContainsAny(specdoc.Stem(d.Path)+d.Title, "0123456789")
}

// single reports whether a document is one thing with one id, not a list of
// requirements, needs or scenarios that have theirs.
func (d *Doc) single() bool {
	ext := strings.ToLower(path.Ext(d.Path))
	return ext == ".md" || ext == ".mdx" || ext == ".markdown"
}

// fixture reports whether a document is data of tests, which may be wrong on
// purpose and says everything twice.
func (d *Doc) fixture() bool {
	for part := range strings.SplitSeq(path.Dir(d.Path), "/") {
		switch part {
		case "testdata", "fixtures", "__fixtures__":
			return true
		case "test", "tests":
			return !strings.HasSuffix(d.Path, ".feature")
		}
	}
	return false
}

// Archived reports whether a document lies in an archive, which is not kept up.
func (d *Doc) Archived() bool {
	return slices.ContainsFunc(strings.Split(path.Dir(d.Path), "/"), func(part string) bool {
		return part == "archive" || part == "archived" || part == "archivo"
	})
}

// problems are those that a document has alone; ids says that others of its
// kind have ids.
func (d *Doc) problems(ids bool) []Problem {
	var out []Problem
	if near := nearKind(d.Kind); near != "" && !specKind(d.Kind) {
		out = append(out, Problem{Rule: UnknownKind, Doc: d, Key: "kind", Text: fmt.Sprintf("its kind %q is none", d.Kind), Mend: fmt.Sprintf("did you mean %s?", near)})
	}
	if d.Status != "" && specKind(d.Kind) && !means(d.Status) {
		out = append(out, Problem{Rule: UnknownStatus, Doc: d, Key: "status", Text: fmt.Sprintf("its status %q is none, and counts as approved", d.Status),
			Mend: "there are " + strings.Join(Lifecycles, ", ")})
	}
	if ids && d.single() && !d.numbered() {
		out = append(out, Problem{Rule: TitleNoID, Doc: d, Text: "it has no id, as others of its kind " + d.Kind + " have",
			Mend: fmt.Sprintf("give it one in its front matter, such as id: %s-001", specdoc.Known(d.Kind).Prefix)})
	}
	return out
}

// numbered are the kinds whose documents are named by id.
const numbered = "requirement business-rule business-policy cross-policy use-case command query adr"

// duplicates are the documents of one store that say to have the same id.
func (g *Graph) duplicates(looked func(int) bool) []Problem {
	type called struct {
		source int
		id     string
	}
	byID := map[called][]int{}
	for i, d := range g.docs {
		if d.ID != "" && specKind(d.Kind) && !d.fixture() {
			c := called{d.Source, key(d.ID)}
			byID[c] = append(byID[c], i)
		}
	}
	var out []Problem
	for _, same := range byID {
		for n, i := range same {
			if len(same) > 1 && looked(i) {
				other := g.docs[same[(n+1)%len(same)]]
				out = append(out, Problem{Rule: DuplicateID, Doc: g.docs[i], Key: "id", Text: fmt.Sprintf("its id %s is also that of %s", g.docs[i].ID, other.Path),
					Mend: "give one of them another"})
			}
		}
	}
	return out
}

// acyclic are the relations of which a circle makes no sense: what stands
// higher, came later or is made of the other.
var acyclic = []string{"DEPENDS_ON", "IMPLEMENTS", "EXTENDS", "PART_OF", "SUPERSEDES"}

// phrase puts the type of a relation into words: "depends on".
func phrase(typ string) string { return strings.ToLower(strings.ReplaceAll(typ, "_", " ")) }

// specKind reports whether a kind is one of specifications.
func specKind(kind string) bool {
	return slices.ContainsFunc(specdoc.Kinds, func(k specdoc.Kind) bool { return k.Name == kind })
}

// nearKind names the kind that was probably meant, "" for none: documents may
// be of other kinds than those of specifications.
func nearKind(word string) string {
	names := make([]string, len(specdoc.Kinds))
	for i, k := range specdoc.Kinds {
		names[i] = k.Name
	}
	return kb.Nearest(word, names)
}

// means reports whether a status as written has a word that Lifecycle knows.
func means(status string) bool {
	k := key(status)
	first, _, _ := strings.Cut(k, "-")
	return KnownStatus(k) || KnownStatus(strings.Trim(first, ".,:;()"))
}

// circles returns the circles of edges of one type between documents, each
// once, found from its first document: of every group that depends on itself
// the shortest way round.
func (g *Graph) circles(typ string) [][]edge {
	n := len(g.docs)
	next := make([][]edge, n)
	for i := range g.edges {
		e := &g.edges[i]
		// What a sentence says besides may be true of parts; of dependencies it counts.
		if stated := typ == "DEPENDS_ON" || methods[e.method] == "frontmatter"; int(e.from) < n && int(e.to) < n && stated && g.strings.list[e.typ] == typ {
			next[e.from] = append(next[e.from], *e)
		}
	}
	for removed := true; removed; { // what nothing points at, and what points nowhere, is in no circle
		removed = false
		in := make([]int, n)
		for from := range next {
			for _, e := range next[from] {
				in[e.to]++
			}
		}
		for from := range next {
			kept := slices.DeleteFunc(next[from], func(e edge) bool { return in[from] == 0 || len(next[e.to]) == 0 })
			removed = removed || len(kept) < len(next[from])
			next[from] = kept
		}
	}
	var out [][]edge
	done := make([]bool, n) // has been in a circle that was reported
	for start := range int32(n) {
		if done[start] || len(next[start]) == 0 {
			continue
		}
		// Breadth first from start: the first edge that returns closes the shortest circle.
		by := map[int32]edge{}
		queue := []int32{start}
	search:
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, e := range next[at] {
				if e.to != start {
					if _, seen := by[e.to]; !seen {
						by[e.to] = e
						queue = append(queue, e.to)
					}
					continue
				}
				circle := []edge{e}
				for v := at; v != start; v = by[v].from {
					circle = append(circle, by[v])
				}
				slices.Reverse(circle)
				for _, x := range circle {
					done[x.from] = true
				}
				out = append(out, circle)
				break search
			}
		}
	}
	return out
}
