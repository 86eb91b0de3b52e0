package kbtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What the suite of indexes writes is cut by Chunker, and its vectors are of
// IndexEmbedder, with indexDims dimensions.
const (
	IndexEmbedder = "suite-8"
	indexDims     = 8
	chunker       = 7
)

// Indexes tests what kb.Indexes and kb.Index promise. open returns empty
// indexes for vectors of IndexEmbedder.
func Indexes(t *testing.T, open func(t *testing.T) kb.Indexes) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *writer)
	}{
		{"a document is read as it was written", testDocuments},
		{"paths are listed in byte order", testPaths},
		{"what is not there is not found", testAbsent},
		{"terms are counted", testStats},
		{"candidates are found by word, vector, path and phrase", testRetrieve},
		{"parts narrow statistics and candidates", testOnly},
		{"specifications come in pages", testSpecs},
		{"ids outlive edits", testIDs},
		{"an open index stays what it is", testSnapshotOfIndex},
		{"a path may share its content", testShared},
		{"a segment is named by its content", testNames},
		{"documents are taken over with their vectors", testTake},
		{"vectors are made anew", testVectors},
		{"a deletion takes what it names", testDelete},
		{"a call can be cancelled", testCancelled},
		{"readers do not disturb each other", testConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, &writer{t: t, indexes: open(t), docs: map[string]string{}, at: map[string]kb.Location{}})
		})
	}
}

// writer is a folder of documents and the indexes that follow it.
type writer struct {
	t       *testing.T
	indexes kb.Indexes
	docs    map[string]string
	at      map[string]kb.Location // by text
	last    int64
}

func (w *writer) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// document makes of a text what ingest would: a chunk a paragraph, each named
// by its first word, and a specification of what begins with "spec".
func document(body string) kb.SegmentDocument {
	d := kb.SegmentDocument{Hash: kb.HashDocument([]byte(body)), Text: kb.Text{Body: body, Language: "go", Flags: kb.FlagProse}}
	line, from := 1, 0
	for _, part := range strings.SplitAfter(body, "\n\n") {
		if part == "" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		lines := strings.Count(part, "\n")
		c := kb.Chunk{From: from, To: from + len(part), Start: line, End: line + max(lines-1, 0), Kind: "function", Decl: []string{name},
			Symbols: []kb.Symbol{{Name: name, Kind: "function", Signature: "func " + name, Start: line, End: line + max(lines-1, 0), Line: line}}}
		d.Chunks = append(d.Chunks, c)
		d.Vectors = append(d.Vectors, vector(part))
		from, line = c.To, line+lines
	}
	d.Facts.Package = "suite"
	d.Facts.Imports = []kb.Import{{Path: "net/http", Local: "http", Line: 1}}
	d.Facts.References = []kb.Reference{{Name: "Serve", Qualifier: "http", Kind: kb.UseCall, Line: 2, Args: 2}}
	d.Facts.Bindings = []kb.Binding{{Name: "s", Type: "Server", From: 1, To: 2}}
	if strings.HasPrefix(body, "spec") {
		d.Facts.Spec = &kb.SpecDoc{Kind: "adr", ID: "ADR-1", Title: body[:4], Tags: []string{"x"},
			Edges: []kb.SpecEdge{{Target: "ADR-2", Type: "DEPENDS_ON", Method: "id", Line: 1, Confidence: 0.9}}}
	}
	return d
}

// vector hashes words, so that texts of the same words have the same vector.
func vector(text string) []float32 {
	v := make([]float32, indexDims)
	for _, word := range strings.Fields(text) {
		h := kb.HashDocument([]byte(word))
		v[h[0]%indexDims] += 1 + float32(h[1])/256
	}
	return v
}

// publish writes what is new into one segment, and a generation after previous.
func (w *writer) publish(previous string) (manifest string) {
	w.t.Helper()
	ctx := w.t.Context()
	w.last++
	m := kb.Manifest{Store: "abcdefghijklmnop", Generation: w.last, Commit: "c", Chunker: chunker, Embedder: IndexEmbedder, Previous: previous}
	b := w.indexes.NewSegment(chunker, indexDims)
	fresh := map[string]int{}
	for _, p := range sorted(w.docs) {
		body := w.docs[p]
		if _, ok := w.at[body]; ok {
			continue
		}
		if _, ok := fresh[body]; ok {
			continue
		}
		n, err := b.Add(ctx, document(body))
		w.must(err)
		fresh[body] = n
	}
	if len(fresh) > 0 {
		name := w.write(b)
		for body, n := range fresh {
			w.at[body] = kb.Location{Segment: name, Number: n}
		}
	}
	for p, body := range w.docs {
		m.Documents = append(m.Documents, kb.Located{Path: p, Stamp: kb.StampHash(p), Location: w.at[body]})
	}
	g, err := w.indexes.NewGeneration(ctx, m)
	w.must(err)
	manifest = kb.ManifestName(m.Store, m.Generation, "suite")
	t, size, err := g.Write(ctx, manifest)
	w.must(err)
	if t.Documents != len(w.docs) || size <= 0 || g.Layout() == "" {
		w.t.Errorf("wrote %d documents, %d bytes, layout %q", t.Documents, size, g.Layout())
	}
	return manifest
}

func (w *writer) write(b kb.SegmentWriter) string {
	w.t.Helper()
	name, err := b.Name(w.t.Context())
	w.must(err)
	size, err := b.Write(w.t.Context())
	w.must(err)
	if size <= 0 {
		w.t.Errorf("a segment of %d bytes", size)
	}
	return name
}

func (w *writer) open(manifest string) kb.Index {
	w.t.Helper()
	x, err := w.indexes.Open(w.t.Context(), manifest)
	w.must(err)
	w.t.Cleanup(x.Release)
	return x
}

func sorted(docs map[string]string) (paths []string) {
	for p := range docs {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

func (w *writer) equal(what string, want, got any) {
	w.t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.t.Errorf("%s: -want +got\n%s", what, d)
	}
}

// sample fills the folder and returns the open index of it.
func (w *writer) sample() kb.Index {
	w.docs = map[string]string{
		"a/server.go": "listen opens a port\n\nserve answers requests with a parser\n",
		"a-b.go":      "parser reads a header\n",
		"b/notes.md":  "specification of the parser\n\nheader first then body\n",
		"b/parser.go": "spec two\n",
	}
	return w.open(w.publish(""))
}

func testDocuments(t *testing.T, w *writer) {
	x := w.sample()
	info, err := x.Info(t.Context())
	w.must(err)
	if info.Generation != 1 || info.Commit != "c" || info.Chunker != chunker || info.Embedder != IndexEmbedder ||
		len(info.Segments) != 1 || len(info.Bare) != 0 || info.Totals.Documents != 4 || info.Totals.Chunks != 6 {
		t.Errorf("info %+v", info)
	}
	var outlines []kb.Outline
	for _, p := range sorted(w.docs) {
		want := document(w.docs[p])
		d, err := x.Document(t.Context(), p)
		w.must(err)
		w.equal(p, kb.DocumentText{Path: p, Body: want.Text.Body, Language: "go", Flags: kb.FlagProse, Hash: want.Hash, Chunks: want.Chunks,
			Facts: want.Facts, Stamp: kb.StampHash(p), IDs: d.IDs}, d)
		o := kb.Outline{Path: p, Hash: want.Hash, Language: "go", Flags: kb.FlagProse, Facts: want.Facts}
		var places []kb.Place
		for i, c := range want.Chunks {
			o.Symbols = append(o.Symbols, c.Symbols...)
			places = append(places, kb.Place{Path: p, Chunk: i})
		}
		outlines = append(outlines, o)
		passages, err := x.Passages(t.Context(), places)
		w.must(err)
		for i, c := range want.Chunks {
			c.Symbols[0].Line, c.Symbols[0].Path = passages[i].Chunk.Symbols[0].Line, nil // facts, which passages may lack
			w.equal(p, kb.Passage{Place: places[i], Chunk: c, Text: want.Text.Body[c.From:c.To], Language: "go"}, passages[i])
		}
		found, err := x.Resolve(t.Context(), d.IDs)
		w.must(err)
		for i, r := range found {
			w.equal(d.IDs[i], []kb.Resolved{{Place: places[i], ID: d.IDs[i]}}, r.Places)
		}
	}
	slices.Reverse(outlines)
	paths := sorted(w.docs)
	slices.Reverse(paths)
	got, err := x.Outlines(t.Context(), paths)
	w.must(err)
	w.equal("outlines", outlines, got)
}

func testPaths(t *testing.T, w *writer) {
	x := w.sample()
	for under, want := range map[string][]string{
		"":         {"a-b.go", "a/server.go", "b/notes.md", "b/parser.go"},
		"a":        {"a/server.go"},
		"b":        {"b/notes.md", "b/parser.go"},
		"b/notes":  nil,
		"a-b.go":   {"a-b.go"},
		"nowhere/": nil,
	} {
		got, err := x.Documents(t.Context(), under)
		w.must(err)
		w.equal("under "+under, want, got)
	}
	list, err := x.Manifest(t.Context())
	w.must(err)
	all, err := x.Identities(t.Context(), nil)
	w.must(err)
	for i, p := range sorted(w.docs) {
		w.equal(p, kb.Located{Path: p, Stamp: kb.StampHash(p), Location: w.at[w.docs[p]]}, list[i])
		key := kb.DocKey{Hash: kb.HashDocument([]byte(w.docs[p])), Language: "go"}
		w.equal(p, kb.Identity{Path: p, DocKey: key, Stamp: kb.StampHash(p), Bytes: int64(len(w.docs[p]))}, all[i])
	}
	some, err := x.Identities(t.Context(), []string{"b/parser.go", "nowhere.go", "a-b.go"})
	w.must(err)
	w.equal("identities", []kb.Identity{all[3], all[0]}, some)
	none, err := x.Identities(t.Context(), []string{})
	w.must(err)
	w.equal("no identities", []kb.Identity(nil), none)
}

func testAbsent(t *testing.T, w *writer) {
	x := w.sample()
	ctx := t.Context()
	_, document := x.Document(ctx, "nowhere.go")
	_, outline := x.Outlines(ctx, []string{"a-b.go", "nowhere.go"})
	_, passage := x.Passages(ctx, []kb.Place{{Path: "a-b.go", Chunk: 1}})
	_, index := w.indexes.Open(ctx, kb.ManifestName("abcdefghijklmnop", 99, "suite"))
	_, segment := w.indexes.Segment(ctx, "nosegment")
	for what, err := range map[string]error{"document": document, "outline": outline, "passage": passage, "index": index, "segment": segment} {
		if kb.CodeOf(err) != kb.NotFound || err == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	missing, err := w.indexes.Missing(ctx, []string{"nosegment", w.at[w.docs["a-b.go"]].Segment})
	w.must(err)
	w.equal("missing", []string{"nosegment"}, missing)
	found, err := x.Resolve(ctx, []string{"aaaaaaaaaaa", "no id"})
	w.must(err)
	w.equal("resolved", []kb.Resolution{{ID: "aaaaaaaaaaa"}, {ID: "no id"}}, found)
}

func testStats(t *testing.T, w *writer) {
	x := w.sample()
	st, err := x.Stats(t.Context(), []string{"parser", "nothing"}, nil)
	w.must(err)
	if st.Documents != 4 || st.Chunks != 6 {
		t.Errorf("%d documents, %d chunks", st.Documents, st.Chunks)
	}
	w.equal("frequency", []int64{3, 0}, st.Frequency)
	w.equal("frequency in paths", []int64{1, 0}, st.PathFrequency)
	if st.Lengths[kb.FieldBody] == 0 || st.Lengths[kb.FieldSymbols] == 0 || st.Lengths[kb.FieldHeadings] == 0 || st.Lengths[kb.FieldPath] == 0 {
		t.Errorf("lengths %v", st.Lengths)
	}
}

// query returns the retrieval of words.
func (w *writer) query(x kb.Index, words ...string) kb.Retrieval {
	w.t.Helper()
	st, err := x.Stats(w.t.Context(), words, nil)
	w.must(err)
	r := kb.Retrieval{Terms: words, Limit: 5, Near: 5, BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}}}
	for i := range words {
		r.IDF = append(r.IDF, 1/float64(1+st.Frequency[i]))
	}
	for f := range r.Average {
		r.Average[f] = float64(st.Lengths[f]) / float64(max(st.Chunks, 1))
	}
	return r
}

// places returns where candidates are, as "path#chunk", sorted.
func (w *writer) places(x kb.Index, r kb.Retrieval) []string {
	w.t.Helper()
	list, err := x.Retrieve(w.t.Context(), r)
	w.must(err)
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s#%d", c.Path, c.Chunk))
	}
	slices.Sort(out)
	return out
}

func testRetrieve(t *testing.T, w *writer) {
	x := w.sample()
	header := w.query(x, "header")
	under, path, phrase := header, w.query(x, "parser"), w.query(x, "parser")
	under.Under, path.Under = "b", "b"
	phrase.Phrases = []string{"A PARSER"}
	best := w.query(x, "parser")
	best.Limit = 1
	for _, c := range []struct {
		name string
		r    kb.Retrieval
		want []string
	}{
		{"word", header, []string{"a-b.go#0", "b/notes.md#1"}},
		{"path", path, []string{"b/notes.md#0", "b/parser.go#0"}},
		{"under", under, []string{"b/notes.md#1"}},
		{"phrase", phrase, []string{"a/server.go#1"}},
		{"limit", best, []string{"a-b.go#0"}},
		{"vector", kb.Retrieval{Vector: vector("listen opens a port"), Near: 1}, []string{"a/server.go#0"}},
		{"nothing", w.query(x, "absent"), nil},
	} {
		w.equal(c.name, c.want, w.places(x, c.r))
	}
	header.Vector = vector("parser reads a header")
	list, err := x.Retrieve(t.Context(), header)
	w.must(err)
	c := list[slices.IndexFunc(list, func(c kb.Candidate) bool { return c.Path == "a-b.go" })]
	if c.Lexical <= 0 || c.Cosine < 0.99 || c.Matched != 1 || c.Defines != 0 || c.InPath != 0 || c.Chunks != 1 || c.Stamp != kb.StampHash("a-b.go") ||
		c.Start != 1 || c.End != 1 || c.Language != "go" || c.Flags != kb.FlagProse || c.Sum != c.Lexical {
		t.Errorf("candidate %+v", c)
	}
	long := kb.Retrieval{Terms: make([]string, 65), IDF: make([]float64, 65)}
	if _, err := x.Retrieve(t.Context(), long); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("65 terms: %v", err)
	}
}

func testOnly(t *testing.T, w *writer) {
	x := w.sample()
	r := w.query(x, "parser")
	for _, c := range []struct {
		name      string
		only      []kb.Part
		want      []string
		frequency int64
	}{
		{"nothing", []kb.Part{}, nil, 0},
		{"document", []kb.Part{{Path: "a-b.go"}, {Path: "nowhere.go"}}, []string{"a-b.go#0"}, 1},
		{"lines", []kb.Part{{Path: "a-b.go", Lines: [][2]int{{5, 9}}}, {Path: "a/server.go", Lines: [][2]int{{3, 3}}}}, []string{"a/server.go#1"}, 1},
	} {
		r.Only = c.only
		w.equal(c.name, c.want, w.places(x, r))
		st, err := x.Stats(t.Context(), []string{"parser"}, c.only)
		w.must(err)
		w.equal(c.name, []int64{c.frequency}, st.Frequency)
	}
}

func testSpecs(t *testing.T, w *writer) {
	for i := range 5 {
		w.docs[fmt.Sprintf("s%d.md", i)] = fmt.Sprintf("spec %d\n", i)
		w.docs[fmt.Sprintf("t%d.md", i)] = fmt.Sprintf("text %d\n", i)
	}
	x := w.open(w.publish(""))
	all, err := x.Specs(t.Context(), "", 100)
	w.must(err)
	if len(all) != 5 || all[4].Path != "s4.md" || all[4].Chunks != 1 || !cmp.Equal(all[4].Spec, document(w.docs["s4.md"]).Facts.Spec) {
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
	q.Vector = vector("parser reads")
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
	q := kb.Retrieval{Vector: vector("reads a header"), Near: 4}
	want, err := x.Retrieve(t.Context(), q)
	w.must(err)
	name := w.at[w.docs["a-b.go"]].Segment
	bodies := make([]string, len(w.docs))
	for _, body := range w.docs {
		bodies[w.at[body].Number] = body
	}
	few := w.indexes.NewVectors(name, indexDims)
	w.must(few.Add(t.Context(), [][]float32{vector("one")}))
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
		q.Vector = vector(word)
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
