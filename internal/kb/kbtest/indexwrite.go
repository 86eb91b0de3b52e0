package kbtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func testSpecs(t *testing.T, w *writer) {
	for i := range 5 {
		w.docs[fmt.Sprintf("s%d.md", i)] = fmt.Sprintf("spec %d\n", i)
		w.docs[fmt.Sprintf("t%d.md", i)] = fmt.Sprintf("text %d\n", i)
	}
	x := w.open(w.publish(""))
	all, err := x.Specs(t.Context(), "", 100)
	w.must(err)
	if len(all) != 5 || all[4].Path != "s4.md" || all[4].Chunks != 1 || all[4].Stamp != kb.StampHash("s4.md") || !cmp.Equal(all[4].Spec, document(w.docs["s4.md"]).Facts.Spec) {
		t.Fatalf("specifications %+v", all)
	}
	var paged []kb.SpecEntry
	for after := ""; ; after = paged[len(paged)-1].Path {
		page, err := x.Specs(t.Context(), after, 2)
		w.must(err)
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	w.equal("pages", all, paged)
	rest, err := x.Specs(t.Context(), "s2.markdown", 9) // which is no document
	w.must(err)
	w.equal("after a path", all[2:], rest)

	totals := func(x kb.Index) kb.Totals {
		i, err := x.Info(t.Context())
		w.must(err)
		return i.Totals
	}
	before := totals(x)
	w.docs["t1.md"] = "another text\n"
	same := totals(w.open(w.publish("")))
	w.docs["s1.md"] = "another spec\n"
	other := totals(w.open(w.publish("")))
	if before.SpecSum == 0 || same.SpecSum != before.SpecSum || other.SpecSum == same.SpecSum {
		t.Errorf("sums of specifications: %x, then %x with another text, then %x with another specification", before.SpecSum, same.SpecSum, other.SpecSum)
	}
}

func testIDs(t *testing.T, w *writer) {
	first := w.sample()
	d, err := first.Document(t.Context(), "a/server.go")
	w.must(err)
	gone, err := first.Document(t.Context(), "a-b.go")
	w.must(err)
	w.docs["a/server.go"] = "listen opens a port\n\nserve answers differently\n"
	delete(w.docs, "a-b.go")
	list, err := w.indexes.Kept(t.Context())
	w.must(err)
	i := slices.IndexFunc(list, func(k kb.Kept) bool { return kb.IsManifest(k.Name) })
	second := w.open(w.publish(list[i].Name))
	found, err := second.Resolve(t.Context(), append(d.IDs, gone.IDs...))
	w.must(err)
	now, err := second.Document(t.Context(), "a/server.go")
	w.must(err)
	w.equal("ids", []kb.Resolution{
		{ID: d.IDs[0], Places: []kb.Resolved{{Place: kb.Place{Path: "a/server.go", Chunk: 0}, ID: d.IDs[0]}}},
		{ID: d.IDs[1], Places: []kb.Resolved{{Place: kb.Place{Path: "a/server.go", Chunk: 1}, ID: now.IDs[1], Changed: true}}},
		{ID: gone.IDs[0], Gone: &kb.GonePlace{Path: "a-b.go", Start: 1, End: 1}},
	}, found)
}

func testSnapshotOfIndex(t *testing.T, w *writer) {
	first := w.sample()
	before, err := first.Documents(t.Context(), "")
	w.must(err)
	w.docs = map[string]string{"new.go": "fresh text\n"}
	second := w.open(w.publish(""))
	after, err := first.Documents(t.Context(), "")
	w.must(err)
	w.equal("the first", before, after)
	now, err := second.Documents(t.Context(), "")
	w.must(err)
	w.equal("the second", []string{"new.go"}, now)
	if !first.Current(t.Context()) || !second.Current(t.Context()) {
		t.Error("an index whose files are in their places is not current")
	}
}

func testShared(t *testing.T, w *writer) {
	w.docs = map[string]string{"a.go": "twin text\n", "b.go": "twin text\n", "c.go": "other words\n"}
	x := w.open(w.publish(""))
	w.equal("twins", []string{"a.go#0", "b.go#0"}, w.places(x, w.query(x, "twin")))
	a, err := x.Document(t.Context(), "a.go")
	w.must(err)
	b, err := x.Document(t.Context(), "b.go")
	w.must(err)
	if a.IDs[0] == b.IDs[0] || a.Hash != b.Hash {
		t.Errorf("ids %q and %q", a.IDs, b.IDs)
	}
}

func testNames(t *testing.T, w *writer) {
	ctx := t.Context()
	build := func(bodies ...string) kb.SegmentWriter {
		b := w.indexes.NewSegment(chunker, indexDims)
		bytes := int64(0)
		for i, body := range bodies {
			n, err := b.Add(ctx, document(body))
			w.must(err)
			if bytes += int64(len(body)); n != i || b.Documents() != i+1 || b.TextBytes() != bytes {
				t.Errorf("document %d is number %d of %d, %d bytes", i, n, b.Documents(), b.TextBytes())
			}
		}
		return b
	}
	one, again, other := w.write(build("one\n", "two\n")), w.write(build("one\n", "two\n")), w.write(build("two\n", "one\n"))
	if one != again || one == other {
		t.Errorf("names %q, %q, %q", one, again, other)
	}
	names, err := w.indexes.Segments(ctx)
	w.must(err)
	want := []string{one, other}
	slices.Sort(want)
	w.equal("segments", want, names)
	sizes, err := w.indexes.Sizes(ctx, []string{one, other})
	w.must(err)
	w.equal("sizes", [][]int64{{4, 4}, {4, 4}}, sizes)
	s, err := w.indexes.Segment(ctx, one)
	w.must(err)
	key := func(body string) kb.DocKey { return kb.DocKey{Hash: kb.HashDocument([]byte(body)), Language: "go"} }
	w.equal("segment", kb.Segment{Chunker: chunker, Dims: indexDims, Keys: []kb.DocKey{key("one\n"), key("two\n")}}, s)
	stored, err := w.indexes.Stored(ctx, one, []int{1})
	w.must(err)
	want1 := document("two\n")
	want1.Vectors = nil
	w.equal("stored", []kb.SegmentDocument{want1}, stored)
	if _, err := w.indexes.Stored(ctx, one, []int{2}); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("a document that the segment lacks: %v", err)
	}
	imported, err := w.indexes.Imported(ctx, names)
	w.must(err)
	w.equal("imported", []string(nil), imported)
}

func testTake(t *testing.T, w *writer) {
	x := w.sample()
	q := w.query(x, "parser")
	q.Vector = vectorOf("parser reads")
	want, err := x.Retrieve(t.Context(), q)
	w.must(err)
	from := w.at[w.docs["a-b.go"]].Segment
	b := w.indexes.NewSegment(chunker, indexDims)
	moved := map[string]int{}
	for _, p := range []string{"b/parser.go", "a-b.go", "b/notes.md", "a/server.go"} {
		n, err := b.Take(t.Context(), from, []int{w.at[w.docs[p]].Number})
		w.must(err)
		moved[p] = n[0]
	}
	name := w.write(b)
	for p, n := range moved {
		w.at[w.docs[p]] = kb.Location{Segment: name, Number: n}
	}
	got, err := w.open(w.publish("")).Retrieve(t.Context(), q)
	w.must(err)
	w.equal("candidates", want, got)
}

func testVectors(t *testing.T, w *writer) {
	x := w.sample()
	q := kb.Retrieval{Vector: vectorOf("reads a header"), Near: 4}
	want, err := x.Retrieve(t.Context(), q)
	w.must(err)
	name := w.at[w.docs["a-b.go"]].Segment
	bodies := make([]string, len(w.docs))
	for _, body := range w.docs {
		bodies[w.at[body].Number] = body
	}
	few := w.indexes.NewVectors(name, indexDims)
	w.must(few.Add(t.Context(), [][]float32{vectorOf("one")}))
	if err := few.Write(t.Context()); err == nil {
		t.Error("one vector for many chunks is written")
	}
	v := w.indexes.NewVectors(name, indexDims)
	for _, body := range bodies {
		w.must(v.Add(t.Context(), document(body).Vectors))
	}
	w.must(v.Write(t.Context()))
	w.indexes.Forget([]string{name})
	got, err := w.open(w.publish("")).Retrieve(t.Context(), q)
	w.must(err)
	w.equal("candidates", want, got)
}

func testDelete(t *testing.T, w *writer) {
	ctx := t.Context()
	x := w.sample()
	manifest := ""
	kept, err := w.indexes.Kept(ctx)
	w.must(err)
	for _, k := range kept {
		if time.Since(k.Written) > time.Hour {
			t.Errorf("%s is of %s", k.Name, k.Written)
		}
		if kb.IsManifest(k.Name) {
			manifest = k.Name
		}
	}
	if len(kept) != 3 || manifest == "" { // manifest, segment and layout
		t.Fatalf("kept %v", kept)
	}
	for _, dry := range []bool{true, false} {
		for _, k := range kept {
			gone, err := w.indexes.Delete(ctx, k.Name, dry)
			w.must(err)
			if len(gone) == 0 || gone[0].Bytes == 0 {
				t.Errorf("%s: %v", k.Name, gone)
			}
		}
		left, err := w.indexes.Kept(ctx)
		w.must(err)
		if len(left) != map[bool]int{true: 3, false: 0}[dry] {
			t.Errorf("dry %v: %v is left", dry, left)
		}
	}
	if _, err := x.Document(ctx, "a-b.go"); err != nil {
		t.Errorf("an open index lost its documents: %v", err)
	}
	if x.Current(ctx) {
		t.Error("an index without files is current")
	}
	if _, err := w.indexes.Open(ctx, manifest); kb.CodeOf(err) != kb.NotFound || err == nil {
		t.Errorf("what was deleted opens: %v", err)
	}
	again, err := w.indexes.Delete(ctx, manifest, false)
	w.must(err)
	w.equal("deleted again", []kb.Deleted(nil), again)
	w.must(w.indexes.Clean(ctx, time.Hour))
}

func testCancelled(t *testing.T, w *writer) {
	x := w.sample()
	q := w.query(x, "parser")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, stats := x.Stats(ctx, q.Terms, nil)
	_, retrieve := x.Retrieve(ctx, q)
	_, passages := x.Passages(ctx, []kb.Place{{Path: "a-b.go"}})
	_, outlines := x.Outlines(ctx, []string{"a-b.go"})
	for what, err := range map[string]error{"statistics": stats, "candidates": retrieve, "passages": passages, "outlines": outlines} {
		if kb.CodeOf(err) != kb.Canceled {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func testConcurrent(t *testing.T, w *writer) {
	x := w.sample()
	var wg sync.WaitGroup
	for _, word := range []string{"parser", "header", "serve", "port"} {
		q := w.query(x, word)
		q.Vector = vectorOf(word)
		want, err := x.Retrieve(t.Context(), q)
		w.must(err)
		wg.Go(func() {
			for range 5 {
				if got, err := x.Retrieve(t.Context(), q); err != nil || !cmp.Equal(want, got) {
					t.Errorf("%s: %v, %v", word, got, err)
				}
			}
		})
	}
	wg.Wait()
}
