package kbtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The documents of the suite of indexes are cut by IndexChunker, and their vectors
// are of IndexEmbedder, with indexDims dimensions.
const (
	IndexEmbedder = "suite-8"
	indexDims     = 8
	chunker       = IndexChunker
	// IndexChunker is the version of the chunker that cut them.
	IndexChunker = 7
)

// Indexes tests what kb.Indexes and kb.Index promise. open returns empty
// indexes for vectors of IndexEmbedder.
func Indexes(t *testing.T, open func(t *testing.T) kb.Indexes) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *writer)
	}{
		{"a document is read as it was written", testDocuments},
		{"a document is read as it is shown", testTexts},
		{"paths are listed in byte order", testPaths},
		{"what is not there is not found", testAbsent},
		{"terms are counted", testStats},
		{"terms are found by what is written almost like them", testSpelt},
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
		d.Vectors = append(d.Vectors, vectorOf(part))
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

// vectorOf hashes words, so that texts of the same words have the same vector.
func vectorOf(text string) []float32 {
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

func testSpelt(t *testing.T, w *writer) {
	x := w.sample()
	got, err := x.Spelt(t.Context(), []string{"paresr", "header", "haeder", "zeader", "specifikatoin", "q"})
	w.must(err)
	w.equal("terms written alike", [][]string{{"parser"}, {"header"}, {"header"}, nil, {"specification"}, nil}, got)
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
	weights := kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}}
	st, err := x.Stats(w.t.Context(), words, nil)
	w.must(err)
	r := kb.Retrieval{Terms: words, Limit: 5, Near: 5, BM25F: weights}
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
		{"vector", kb.Retrieval{Vector: vectorOf("listen opens a port"), Near: 1}, []string{"a/server.go#0"}},
		{"nothing", w.query(x, "absent"), nil},
	} {
		w.equal(c.name, c.want, w.places(x, c.r))
	}
	header.Vector = vectorOf("parser reads a header")
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
