package kdd

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// raw is an edge as a document states it, before its ends are resolved.
type raw struct {
	doc, line                int32
	from, target, typ, label int32
	method, sure             uint8
}

// stub reports whether an edge may name what no document is about: an actor,
// an attribute, a concept.
func (e *raw) stub() bool { return methods[e.method] == "table" || methods[e.method] == "pattern" }

// rawNode is a node as a document names it.
type rawNode struct {
	doc, line int32
	name, typ int32
	sure      uint8
}

type interner struct {
	ids  map[string]int32
	list []string
}

func newInterner() *interner { return &interner{ids: map[string]int32{"": 0}, list: []string{""}} }

func (n *interner) id(s string) int32 {
	if id, ok := n.ids[s]; ok {
		return id
	}
	id := int32(len(n.list))
	s = strings.Clone(s) // else it keeps all strings of its document alive
	n.ids[s] = id
	n.list = append(n.list, s)
	return id
}

// Join reads the documents of the sources and joins them.
func Join(ctx context.Context, sources []Source) (*Graph, error) {
	g := &Graph{strings: newInterner(), others: map[string][]int32{}, names: names{first: map[string]int32{}}}
	var edges []raw
	var nodes []rawNode
	for i, src := range sources {
		g.names.paths = append(g.names.paths, map[string]int32{})
		err := src.Docs(ctx, func(e kb.SpecEntry) error {
			if e.Spec == nil {
				return nil
			}
			n := int32(len(g.docs))
			d := newDoc(i, &sources[i], &e)
			g.docs = append(g.docs, d)
			g.names.paths[i][d.Path] = n
			s := g.strings
			for _, x := range e.Spec.Nodes {
				nodes = append(nodes, rawNode{n, int32(x.Line), s.id(x.Name), s.id(x.Type), percent(x.Confidence)})
			}
			for _, x := range e.Spec.Edges {
				edges = append(edges, raw{n, int32(x.Line), s.id(x.From), s.id(x.Target), s.id(x.Type), s.id(x.Label), methodOf(x.Method), percent(x.Confidence)})
			}
			for _, m := range e.Spec.Mentions {
				g.said = append(g.said, mention{n, int32(m.Line), s.id(m.Text)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	g.names.docs = g.docs
	for i, d := range g.docs {
		g.names.addDoc(int32(i), d)
	}
	g.nodes = make([]Node, len(g.docs), len(g.docs)+len(nodes)/4)
	for i, d := range g.docs {
		g.nodes[i] = Node{Name: cmp.Or(d.ID, d.Title), Type: typeOfKind(d.Kind), ID: d.NodeID, Doc: d, Confidence: 1}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j := joiner{Graph: g, memo: make(map[memoKey]resolved, len(edges)/4), dirs: make([]int32, len(g.docs))}
	for i, d := range g.docs {
		j.dirs[i] = g.strings.id(path.Dir(d.Path))
	}
	j.nodes(nodes)
	j.edges(edges)
	j.changes()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.index(j.found)
	return g, nil
}

func percent(f float64) uint8 { return uint8(min(max(int(f*100+0.5), 0), 100)) }

// joiner resolves what documents state.
type joiner struct {
	*Graph
	memo  map[memoKey]resolved
	dirs  []int32         // by document: the number of its folder
	named map[int64]int32 // document and folded name's number → node that it names
	found []edge
}

type memoKey struct {
	dir    int32 // of the document that says it: what lies near may be meant; -1 for all
	source int32
	name   int32
}

type resolved struct {
	doc  int32
	rank int8
	only bool // no other document has the name
}

// document resolves a name to a document, -1 if there is none.
func (j *joiner) document(name int32, doc int32) (int32, int) {
	d := j.docs[doc]
	everywhere := memoKey{-1, int32(d.Source), name}
	r, ok := j.memo[everywhere]
	if ok && r.only {
		return r.doc, int(r.rank)
	}
	here := memoKey{dir: j.dirs[doc], source: everywhere.source, name: name}
	if ok {
		if r, ok := j.memo[here]; ok {
			return r.doc, int(r.rank)
		}
	}
	n, rank, only := j.names.find(j.strings.list[name], d.Source, doc)
	r = resolved{n, int8(rank), only}
	j.memo[everywhere] = r
	if !only {
		j.memo[here] = r
	}
	return n, rank
}

// nodes makes the nodes that documents name and no document is about.
func (j *joiner) nodes(list []rawNode) {
	j.named = make(map[int64]int32, len(list))
	seen := make([]int32, len(j.docs)) // entities by document
	for i := range list {
		r := &list[i]
		d := j.docs[r.doc]
		typ, name := j.strings.list[r.typ], j.strings.list[r.name]
		part := strings.Contains(name, "::") || strings.Contains(name, ".")
		if part && typ == "concept" && d.Kind != "entity" {
			continue // a table of another kind of document that looked like an entity's
		}
		seen[r.doc]++
		if typ != "concept" {
			if n, rank := j.document(r.name, r.doc); n >= 0 && rank < byPrefix {
				j.named[int64(r.doc)<<32|int64(r.name)] = n
				continue
			}
		}
		j.named[int64(r.doc)<<32|int64(r.name)] = j.other(strings.ToUpper(typ), name, r, part)
	}
	for i, d := range j.docs {
		d.Entities = int(seen[i])
		if d.Kind != "" {
			d.Entities++
		}
	}
}

// other returns the node of a name that no document has. Attributes and states
// belong to one document's entity; everything else is one node wherever it is
// named.
func (j *joiner) other(typ, name string, r *rawNode, part bool) int32 {
	k := key(name)
	owner := ""
	if part {
		owner = string(j.docs[r.doc].Store)
	}
	for _, n := range j.others[k] {
		o := &j.Graph.nodes[n]
		if o.Type == typ && (owner == "" || string(o.In[0].Doc.Store) == owner) {
			j.spot(o, r)
			return n
		}
	}
	n := int32(len(j.Graph.nodes))
	node := Node{Name: name, Type: typ, ID: title(typ) + ":" + name}
	j.spot(&node, r)
	j.Graph.nodes = append(j.Graph.nodes, node)
	j.others[k] = append(j.others[k], n)
	return n
}

// spotsKept is how many documents a node remembers that name it.
const spotsKept = 20

func (j *joiner) spot(n *Node, r *rawNode) {
	n.Confidence = max(n.Confidence, float64(r.sure)/100)
	if len(n.In) < spotsKept {
		n.In = append(n.In, j.docs[r.doc].spot(int(r.line)))
	}
}

// title returns a type as ids begin: "Actor" of ACTOR.
func title(typ string) string {
	if typ == "USE_CASE" {
		return "UseCase"
	}
	return typ[:1] + strings.ToLower(typ[1:])
}

// edges resolves the ends of edges and keeps of equal ones the surest.
func (j *joiner) edges(list []raw) {
	used := map[int64]bool{} // document and node: named by an edge
	first := int32(len(j.docs))
	j.found = make([]edge, 0, len(list))
	for i := range list {
		r := &list[i]
		from, ok := j.end(r, r.from)
		if !ok {
			continue
		}
		to, ok := j.end(r, r.target)
		if ok && from == to && from == r.doc && methods[r.method] == "frontmatter" && slices.Contains(acyclic, j.strings.list[r.typ]) {
			j.selfs = append(j.selfs, self{r.doc, r.line, r.typ})
		}
		if !ok || from == to {
			continue
		}
		if methods[r.method] == "pattern" && j.docs[r.doc].Kind == "" && int(from) >= len(j.docs) && int(to) >= len(j.docs) {
			continue // a sentence of a readme about things that have no specification
		}
		if from >= first {
			used[int64(r.doc)<<32|int64(from)] = true
		}
		if to >= first {
			used[int64(r.doc)<<32|int64(to)] = true
		}
		if methods[r.method] == "wiki_link" && int(from) < len(j.docs) && int(to) < len(j.docs) {
			a, b := j.docs[from], j.docs[to]
			a.Linked, b.Linked = a.Linked || b.Kind != "", b.Linked || a.Kind != ""
		}
		j.found = append(j.found, edge{from: from, to: to, doc: r.doc, line: r.line, typ: r.typ, label: r.label, method: r.method, sure: r.sure,
			violation: j.violates(from, to)})
	}
	// A node that no edge names was still found in a document.
	extracted := j.strings.id("EXTRACTED_FROM")
	for n := len(j.docs); n < len(j.Graph.nodes); n++ {
		o := &j.Graph.nodes[n]
		for _, at := range o.In {
			doc := j.names.paths[at.Doc.Source][at.Doc.Path]
			if !used[int64(doc)<<32|int64(n)] {
				j.found = append(j.found, edge{from: int32(n), to: doc, doc: doc, line: int32(at.Line), typ: extracted, method: methodOf("pattern"), sure: percent(o.Confidence)})
			}
		}
	}
}

// end resolves one end of an edge: 0 is the document itself. What cannot be
// resolved is an orphan, if it is meant to be something.
func (j *joiner) end(r *raw, name int32) (int32, bool) {
	if name == 0 {
		return r.doc, true
	}
	text := j.strings.list[name]
	method := methods[r.method]
	if method == "link" {
		return j.link(r, name, text)
	}
	node, named := j.named[int64(r.doc)<<32|int64(name)]
	if linked := method == "wiki_link" || method == "id"; !named || linked {
		if n, rank := j.document(name, r.doc); rank >= 0 {
			j.refers(r.doc)
			return n, true
		}
	}
	if named {
		j.refers(r.doc)
		return node, true
	}
	for _, n := range j.others[key(text)] {
		if o := &j.Graph.nodes[n]; o.Type != "CONCEPT" { // tags have no links
			j.refers(r.doc)
			return n, true
		}
	}
	switch {
	case r.stub() && !specdoc.KnownID(text):
		return 0, false // of a table or sentence that turned out to be none
	case method == "id" && !specdoc.KnownID(text):
		return 0, false // looked like an id: ISO-8601
	case method == "wiki_link" && strings.ContainsAny(text, `"[]{}<>`):
		return 0, false // a list of lists, which looked like a link
	}
	j.orphan(r, name, "nothing has this id, file name, alias or title")
	return 0, false
}

// link resolves the relative path of a Markdown link.
func (j *joiner) link(r *raw, name int32, text string) (int32, bool) {
	d := j.docs[r.doc]
	p := path.Join(path.Dir(d.Path), text)
	if strings.HasPrefix(text, "/") {
		p = strings.TrimPrefix(path.Clean(text), "/")
	}
	if p == ".." || strings.HasPrefix(p, "../") {
		return 0, false // outside of the store
	}
	if n, ok := j.names.paths[d.Source][p]; ok {
		j.refers(r.doc)
		return n, true
	}
	j.orphan(r, name, "the store has no such document")
	return 0, false
}

// changes adds what changes of OpenSpec say by where they lie: a specification
// below one extends that of the same name.
func (j *joiner) changes() {
	for i, d := range j.docs {
		root, rest, ok := strings.Cut(d.Path, "openspec/changes/")
		_, name, below := strings.Cut(rest, "/specs/")
		if !ok || !below {
			continue
		}
		if to, there := j.names.paths[d.Source][root+"openspec/specs/"+name]; there {
			j.found = append(j.found, edge{from: int32(i), to: to, doc: int32(i), line: 1, typ: j.strings.id("EXTENDS"), method: methodOf("link"), sure: 100})
		}
	}
}

// refers counts an edge that names a target. Documents come one after another.
func (j *joiner) refers(doc int32) {
	if n := len(j.refs); n == 0 || j.refs[n-1].doc != doc {
		j.refs = append(j.refs, refs{doc: doc})
	}
	j.refs[len(j.refs)-1].n++
}

func (j *joiner) orphan(r *raw, name int32, reason string) {
	j.refers(r.doc)
	j.orphans = append(j.orphans, orphan{r.doc, r.line, name, r.typ, r.method, reason})
}

// violates reports whether an edge points from a lower layer to a higher one.
// Requirements are outside of the layers.
func (j *joiner) violates(from, to int32) bool {
	if int(from) >= len(j.docs) || int(to) >= len(j.docs) {
		return false
	}
	a, b := j.docs[from], j.docs[to]
	return a.Source == b.Source && a.Layer > 0 && a.Layer < b.Layer
}
