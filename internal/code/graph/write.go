package graph

import (
	"context"
	"slices"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// use says that a document uses a declaration.
type use struct {
	decl uint64 // document << 32 | declaration
	from int32
}

// write makes the view file of what was collected, or none when ctx ends. state
// is the section "go".
func (b *builder) write(ctx context.Context, path string, state func(e *enc, str func(string) int)) (edges, decls int, err error) {
	sorted := slices.Clone(b.strs.list)
	sort.Strings(sorted)
	number := make([]int, len(sorted)) // of an interned string in the file
	for id, s := range b.strs.list {
		number[id], _ = slices.BinarySearch(sorted, s)
	}
	p, err := newPacker(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	defer p.w.Abort()

	for i := range b.docs {
		edges += b.docs[i].count
		decls += len(b.docs[i].decls)
	}
	uses, inDegree := b.uses()
	steps := []func() error{
		func() error {
			var e enc
			share(&e, sorted)
			return p.single("strings", e.b)
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
			return nil
		},
		func() error {
			return p.pack("decls", len(b.docs), docsPerFrame, func(e *enc, i int) { b.writeDecls(e, i, number) })
		},
		func() error {
			var es []edge
			return p.pack("edges", len(b.docs), sourcesPerFrame, func(e *enc, i int) {
				es = b.docs[i].unpack(es[:0])
				writeEdges(e, es)
			})
		},
		func() error {
			rest := uses
			return p.pack("into", len(b.docs), docsPerFrame, func(e *enc, i int) {
				n := sort.Search(len(rest), func(k int) bool { return rest[k].decl>>32 > uint64(i) })
				writeUses(e, rest[:n])
				rest = rest[n:]
			})
		},
		func() error { return b.writeNames(p, sorted, number) },
		func() error {
			var e enc
			state(&e, func(s string) int { return number[b.strs.ids[s]] })
			return p.single("go", e.b)
		},
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

// writeDocs writes paths, languages and numbers of the documents.
func (b *builder) writeDocs(p *packer, inDegree []int) error {
	var e enc
	paths := make([]string, len(b.docs))
	for i := range b.docs {
		paths[i] = b.docs[i].entry.Path
	}
	share(&e, paths)
	for i := range b.docs {
		e.string(b.docs[i].entry.Language)
	}
	for i := range b.docs {
		e.int(len(b.docs[i].decls))
	}
	for i := range b.docs {
		e.int(b.docs[i].count)
	}
	for _, n := range inDegree[:len(b.docs)] {
		e.int(n)
	}
	return p.single("docs", e.b)
}

// uses lists which documents use which declarations, in order, each pair
// once, and counts for every document the others that use it.
func (b *builder) uses() ([]use, []int) {
	var uses []use
	inDegree := make([]int, len(b.docs))
	var targets []ref
	var es []edge
	for i := range b.docs {
		targets, es = targets[:0], b.docs[i].unpack(es[:0])
		for _, e := range es {
			targets = append(targets, e.target)
		}
		slices.SortFunc(targets, compareRefs)
		last := int32(-1)
		for _, t := range slices.Compact(targets) {
			uses = append(uses, use{uint64(t.doc)<<32 | uint64(t.decl), int32(i)})
			if t.doc != last && int(t.doc) != i {
				inDegree[t.doc]++
			}
			last = t.doc
		}
	}
	// Stable, so that the documents of a declaration stay in order.
	slices.SortStableFunc(uses, func(a, b use) int {
		switch {
		case a.decl < b.decl:
			return -1
		case a.decl > b.decl:
			return 1
		}
		return 0
	})
	return uses, inDegree
}

func compareRefs(a, b ref) int {
	if a.doc != b.doc {
		return int(a.doc) - int(b.doc)
	}
	return int(a.decl) - int(b.decl)
}

func (b *builder) writeDecls(e *enc, i int, number []int) {
	ds := b.docs[i].decls
	prev := 0
	for _, d := range ds {
		e.zig(number[d.name] - prev)
		prev = number[d.name]
	}
	for _, d := range ds {
		e.int(number[d.qual]) // "" is 0 in every view
	}
	for _, d := range ds {
		e.int(number[d.kind])
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
		d := int(uint32(uses[0].decl))
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
func (b *builder) writeNames(p *packer, sorted []string, number []int) error {
	type pair struct{ name, doc int32 }
	var pairs []pair
	for i := range b.docs {
		for _, d := range b.docs[i].decls {
			pairs = append(pairs, pair{int32(number[d.name]), int32(i)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.name != b.name {
			return int(a.name) - int(b.name)
		}
		return int(a.doc) - int(b.doc)
	})
	pairs = slices.Compact(pairs)
	return p.pack("names", len(sorted), stringsPerFrame, func(e *enc, i int) {
		n := 0
		for n < len(pairs) && int(pairs[n].name) == i {
			n++
		}
		e.int(n)
		last := 0
		for _, x := range pairs[:n] {
			e.int(int(x.doc) - last)
			last = int(x.doc)
		}
		pairs = pairs[n:]
	})
}

func canceled(err error) error {
	return kb.Errorf(kb.Canceled, "linking was stopped: %w", err)
}
