package graph

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// use says that a document uses a declaration of another that is known.
type use struct{ decl, from int32 }

// numbering orders the strings of a view.
type numbering struct {
	strs   *words
	sorted []uint32 // numbers of words, in order of their bytes
	number []uint32 // of a word in the file
}

func (b *builder) numbering() *numbering {
	n := &numbering{strs: b.strs, sorted: b.strs.marked(inFile)}
	slices.SortFunc(n.sorted, func(x, y uint32) int { return strings.Compare(b.strs.word(x), b.strs.word(y)) })
	n.number = make([]uint32, len(b.strs.at))
	for i, w := range n.sorted {
		n.number[w] = uint32(i)
	}
	return n
}

// of returns the number that the file has for a word.
func (n *numbering) of(word uint32) int { return int(n.number[word]) }

// write makes the view file of what was collected, or none when ctx ends. state
// is the section "go".
func (b *builder) write(ctx context.Context, path string, state func(e *enc, str func(string) int)) (edges, decls int, err error) {
	p, err := newPacker(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	defer p.w.Abort()

	for i := range b.docs {
		edges += b.docs[i].count
		decls += b.docs[i].size()
	}
	uses, inDegree := b.uses()
	n := b.numbering()
	perDecls, perEdges := documentsPerFrame(viewVersion)
	steps := []func() error{
		func() error {
			return p.writeTexts(len(n.sorted), func(i int) string { return b.strs.word(n.sorted[i]) })
		},
		func() error { return b.writeDocs(p, inDegree) },
		func() error {
			if err := p.w.Section("hashes"); err != nil {
				return err
			}
			for i := range b.docs {
				if _, err := p.w.Write(b.docs[i].entry.Hash[:hashBytes]); err != nil {
					return err
				}
			}
			return b.writeStamp(p)
		},
		func() error {
			var ds []declared
			return p.pack("decls", len(b.docs), perDecls, func(e *enc, i int) {
				ds = b.declsOf(i, ds)
				writeDecls(e, ds, n)
			})
		},
		func() error {
			var es []edge
			return p.pack("edges", len(b.docs), perEdges, func(e *enc, i int) {
				es = b.unpack(i, es[:0])
				writeEdges(e, es)
			})
		},
		func() error {
			in := arriving{b: b, count: uses}
			return p.pack("into", len(b.docs), perDecls, func(e *enc, i int) { writeUses(e, in.at(i)) })
		},
		func() error { return b.writeNames(p, n) },
		func() error {
			var e enc
			state(&e, func(s string) int { return n.of(b.name(s)) })
			return p.single("go", e.b)
		},
		b.err,
		p.w.Commit,
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return 0, 0, canceled(err)
		}
		if err := step(); err != nil {
			return 0, 0, err
		}
	}
	return edges, decls, nil
}

// writeStamp writes what View.Stamp returns, as bytes.
func (b *builder) writeStamp(p *packer) error {
	h := sha256.New()
	for i := range b.docs {
		stampOne(h, b.docs[i].entry.Path, b.docs[i].entry.Hash[:hashBytes])
	}
	if err := p.w.Section("stamp"); err != nil {
		return err
	}
	_, err := p.w.Write(h.Sum(nil)[:16])
	return err
}

// writeDocs writes paths, languages and numbers of the documents.
func (b *builder) writeDocs(p *packer, inDegree []int) error {
	var e enc
	share(&e, len(b.docs), func(i int) string { return b.docs[i].entry.Path })
	for i := range b.docs {
		e.string(b.docs[i].entry.Language)
	}
	for i := range b.docs {
		e.int(b.docs[i].size())
	}
	for i := range b.docs {
		e.int(b.docs[i].count)
	}
	for _, n := range inDegree[:len(b.docs)] {
		e.int(n)
	}
	return p.single("docs", e.b)
}

// uses counts for every document by which documents its declarations are used,
// each pair once, and the other documents that use it.
func (b *builder) uses() (uses, inDegree []int) {
	uses, inDegree = make([]int, len(b.docs)), make([]int, len(b.docs))
	b.eachUse(func(last, to ref, from int32) {
		uses[to.doc]++
		if to.doc != last.doc && to.doc != from {
			inDegree[to.doc]++
		}
	})
	return uses, inDegree
}

// eachUse calls f for every declaration that a document uses, once, with the one
// of that document before it: in order of the documents, then of the declarations.
func (b *builder) eachUse(f func(last, to ref, from int32)) {
	var targets []ref
	var es []edge
	for i := range b.docs {
		targets, es = targets[:0], b.unpack(i, es[:0])
		for _, e := range es {
			targets = append(targets, e.target)
		}
		slices.SortFunc(targets, compareRefs)
		last := noRef
		for _, t := range slices.Compact(targets) {
			f(last, t, int32(i))
			last = t
		}
	}
}

// arriving lists the uses of each document's declarations, of so many documents
// at a time that they fit mostUses.
type arriving struct {
	b        *builder
	count    []int // by document
	from, to int   // documents of uses
	uses     [][]use
}

// mostUses is how many uses are in memory at once: eight bytes each.
const mostUses = 4 << 20

// at returns the uses of the declarations of a document, in order; documents are
// asked for one after the other.
func (a *arriving) at(doc int) []use {
	if doc < a.to {
		return a.uses[doc-a.from]
	}
	a.from, a.uses = doc, nil
	sum := 0
	for a.to = doc; a.to < len(a.count) && (a.to == doc || sum+a.count[a.to] <= mostUses); a.to++ {
		sum += a.count[a.to]
	}
	all := make([]use, sum)
	for _, n := range a.count[a.from:a.to] {
		a.uses, all = append(a.uses, all[:0:n]), all[n:]
	}
	a.b.eachUse(func(_, to ref, from int32) {
		if i := int(to.doc) - a.from; i >= 0 && i < len(a.uses) {
			a.uses[i] = append(a.uses[i], use{to.decl, from})
		}
	})
	for _, us := range a.uses { // stable, so that the documents of a declaration stay in order
		slices.SortStableFunc(us, func(x, y use) int { return cmp.Compare(x.decl, y.decl) })
	}
	return a.uses[0]
}

func compareRefs(a, b ref) int {
	if a.doc != b.doc {
		return int(a.doc) - int(b.doc)
	}
	return int(a.decl) - int(b.decl)
}

func writeDecls(e *enc, ds []declared, n *numbering) {
	prev := 0
	for _, d := range ds {
		e.zig(n.of(d.name) - prev)
		prev = n.of(d.name)
	}
	for _, d := range ds {
		e.int(n.of(d.qual)) // "" is 0 in every view
	}
	for _, d := range ds {
		e.int(n.of(d.kind))
	}
	prev = 0
	for _, d := range ds {
		e.int(int(d.line) - prev)
		prev = int(d.line)
	}
	for _, d := range ds {
		e.int(int(d.line - d.start))
	}
	for _, d := range ds {
		e.int(int(d.end - d.line))
	}
}

func writeEdges(e *enc, es []edge) {
	targets := make([]ref, 0, len(es))
	sure := true
	for _, x := range es {
		targets = append(targets, x.target)
		sure = sure && x.conf == 100
	}
	slices.SortFunc(targets, compareRefs)
	targets = slices.Compact(targets)
	e.int(len(targets))
	last := ref{}
	for _, t := range targets {
		e.int(int(t.doc - last.doc))
		if t.doc == last.doc {
			e.int(int(t.decl - last.decl))
		} else {
			e.int(int(t.decl))
		}
		last = t
	}
	prev := 0
	for _, x := range es {
		e.int(int(x.line) - prev)
		prev = int(x.line)
	}
	for _, x := range es {
		k, _ := slices.BinarySearchFunc(targets, x.target, compareRefs)
		e.int(k)
	}
	for _, x := range es {
		e.int(int(x.kind))
	}
	if sure {
		e.int(0)
		return
	}
	e.int(1)
	for _, x := range es {
		e.int(int(x.conf))
	}
}

// writeUses writes the uses of the declarations of one document.
func writeUses(e *enc, uses []use) {
	n := 0
	for i := range uses {
		if i == 0 || uses[i].decl != uses[i-1].decl {
			n++
		}
	}
	e.int(n)
	last := 0
	for len(uses) > 0 {
		k := 1
		for k < len(uses) && uses[k].decl == uses[0].decl {
			k++
		}
		d := int(uses[0].decl)
		e.int(d - last)
		last = d
		e.int(k)
		from := 0
		for _, u := range uses[:k] {
			e.int(int(u.from) - from)
			from = int(u.from)
		}
		uses = uses[k:]
	}
}

// writeNames writes which documents declare a name.
func (b *builder) writeNames(p *packer, n *numbering) error {
	ends := make([]uint32, len(n.sorted)+1) // of the documents of a name; while they are put there, where the next goes
	var ds []declared
	for i := range b.docs {
		ds = b.declsOf(i, ds)
		for _, d := range ds {
			ends[n.of(d.name)+1]++
		}
	}
	for i := range n.sorted {
		ends[i+1] += ends[i]
	}
	docs := make([]int32, ends[len(n.sorted)])
	for i := range b.docs {
		ds = b.declsOf(i, ds)
		for _, d := range ds {
			next := &ends[n.of(d.name)]
			docs[*next] = int32(i)
			*next++
		}
	}
	first := uint32(0)
	return p.pack("names", len(n.sorted), stringsPerFrame, func(e *enc, i int) {
		mine := slices.Compact(docs[first:ends[i]])
		first = ends[i]
		e.int(len(mine))
		last := 0
		for _, doc := range mine {
			e.int(int(doc) - last)
			last = int(doc)
		}
	})
}

func canceled(err error) error {
	return kb.Errorf(kb.Canceled, "linking was stopped: %w", err)
}
