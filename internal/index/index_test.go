package index

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	testDims     = 16
	testEmbedder = "test-16"
	testChunker  = 7
)

// cutText makes a chunk of every paragraph; its first word is its declaration.
func cutText(body string) []kb.Chunk {
	var out []kb.Chunk
	line, from := 1, 0
	for from < len(body) {
		to := len(body)
		if i := strings.Index(body[from:], "\n\n"); i >= 0 {
			to = from + i + 2
		}
		text := body[from:to]
		n := strings.Count(text, "\n")
		c := kb.Chunk{From: from, To: to, Start: line, End: line + max(n-1, 0), Kind: "block"}
		if name, _, ok := strings.Cut(text, " "); ok {
			c.Decl = []string{"file", name}
			c.Symbols = []kb.Symbol{{Name: name, Kind: "function", Signature: "func " + name, Doc: "Does.", Start: c.Start, End: c.End}}
		}
		out = append(out, c)
		line += n
		from = to
	}
	return out
}

// vectorOf hashes words into a vector, so that equal texts have equal vectors.
func vectorOf(text string) []float32 {
	v := make([]float32, testDims)
	for w := range strings.FieldsSeq(text) {
		h := kb.HashDocument([]byte(w))
		v[int(h[0])%testDims] += 1 + float32(h[1])/256
	}
	return v
}

// world is a folder of documents and the index that follows it.
type world struct {
	t       *testing.T
	pool    *Pool
	docs    map[string]string
	prev    *Generation
	located map[kb.DocKey]kb.Location
	number  int64
}

func testPool(t *testing.T) *Pool {
	p := NewPool(t.TempDir(), testEmbedder, "")
	for _, d := range []string{p.Dir, p.Generations} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, pool: testPool(t), docs: map[string]string{}, located: map[kb.DocKey]kb.Location{}}
	t.Cleanup(func() {
		if w.prev != nil {
			w.prev.Release()
		}
	})
	return w
}

// publish indexes what is new, per documents to a segment, and writes a generation.
func (w *world) publish(per int) *Generation {
	w.t.Helper()
	var b *Builder
	pending := map[kb.DocKey]int{}
	flush := func() {
		if b == nil || b.Documents() == 0 {
			return
		}
		name, _, err := b.Write(w.pool.Dir, testEmbedder)
		if err != nil {
			w.t.Fatal(err)
		}
		for k, n := range pending {
			w.located[k] = kb.Location{Segment: name, Number: n}
		}
		b, pending = nil, map[kb.DocKey]int{}
	}
	paths := sortedKeys(w.docs)
	for _, p := range paths {
		body := w.docs[p]
		k := kb.DocKey{Hash: kb.HashDocument([]byte(body)), Language: "text"}
		if _, ok := w.located[k]; ok {
			continue
		}
		if _, ok := pending[k]; ok {
			continue
		}
		if b == nil {
			b = NewBuilder(testChunker, testDims)
		}
		chunks := cutText(body)
		pending[k] = b.Add(k.Hash, kb.Text{Body: body, Language: "text"}, chunks, &kb.Facts{})
		for _, c := range chunks {
			b.Vectors().Add(vectorOf(body[c.From:c.To]))
		}
		if b.Documents() >= per {
			flush()
		}
	}
	flush()
	w.number++
	m := kb.Manifest{Store: "store", Generation: w.number, Chunker: testChunker, Embedder: testEmbedder}
	if w.prev != nil {
		m.Previous = w.prev.name
	}
	for _, p := range paths {
		at := w.located[kb.DocKey{Hash: kb.HashDocument([]byte(w.docs[p])), Language: "text"}]
		m.Documents = append(m.Documents, kb.Located{Path: p, Location: at})
	}
	name := fmt.Sprintf("%d%s", w.number, kb.ManifestExt)
	draft, err := w.pool.NewGeneration(w.t.Context(), m)
	if err == nil {
		_, _, err = draft.Write(w.t.Context(), name)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := w.pool.previous(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.prev != nil {
		w.prev.Release()
	}
	w.prev = g
	return g
}

func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

var vocabulary = strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa parseHeader parse_body Server client lambda mu")

func randomBody(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		for range 1 + r.IntN(3) {
			for range 1 + r.IntN(8) {
				b.WriteString(vocabulary[r.IntN(len(vocabulary))] + " ")
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func retrieve(t *testing.T, g *Generation, terms []string, under string, phrases ...string) []kb.Candidate {
	t.Helper()
	st, err := g.Stats(context.Background(), terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := kb.Retrieval{Terms: terms, Limit: 7, Near: 7, Under: under, Vector: vectorOf(strings.Join(terms, " ")), Phrases: phrases,
		BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}}}
	for i := range terms {
		r.IDF = append(r.IDF, 1/float64(1+st.Frequency[i]))
	}
	for f := range r.Average {
		n := st.Chunks
		if f == kb.FieldPath {
			n = st.Documents
		}
		r.Average[f] = float64(st.Lengths[f]) / float64(max(n, 1))
	}
	out, err := g.Retrieve(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An index that grew by edits answers like a fresh one of the same content:
// same candidates, same scores to the bit, same ids.
func TestIncrementalEqualsFresh(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t)
	for i := range 30 {
		w.docs[fmt.Sprintf("dir%d/sub/file%02d.txt", i%4, i)] = randomBody(r)
	}
	w.publish(10)
	for i := range 200 {
		paths := sortedKeys(w.docs)
		p := paths[r.IntN(len(paths))]
		switch r.IntN(5) {
		case 0:
			delete(w.docs, p)
		case 1:
			w.docs[fmt.Sprintf("new%d.txt", i)] = randomBody(r)
		case 2: // a copy: two paths of one content
			w.docs[fmt.Sprintf("copy/%d.txt", i)] = w.docs[p]
		default:
			w.docs[p] = randomBody(r)
		}
		w.publish(3)
	}
	fresh := newWorld(t)
	fresh.docs = w.docs
	g := fresh.publish(1000)
	for i := range 100 {
		var terms []string
		for range 1 + i%4 {
			terms = append(terms, strings.ToLower(vocabulary[r.IntN(len(vocabulary))]))
		}
		under := ""
		if i%5 == 0 {
			under = "copy"
		}
		want, got := retrieve(t, g, terms, under), retrieve(t, w.prev, terms, under)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("query %v (-fresh +incremental):\n%s", terms, diff)
		}
	}
}

func TestDocumentsComeBackWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w := newWorld(t)
	for i := range 40 {
		w.docs[fmt.Sprintf("f%d", i)] = randomBody(r)
	}
	w.docs["big"] = strings.Repeat(randomBody(r), 4000) // several blocks of text
	w.docs["empty"] = ""
	g := w.publish(15)
	for p, body := range w.docs {
		d, err := g.Document(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if d.Body != body {
			t.Fatalf("%s: text differs", p)
		}
		if diff := cmp.Diff(cutText(body), d.Chunks, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s: %s", p, diff)
		}
		for i, c := range d.Chunks {
			ps, err := g.Passages(context.Background(), []kb.Place{{Path: p, Chunk: i}})
			if err != nil {
				t.Fatal(err)
			}
			if ps[0].Text != body[c.From:c.To] {
				t.Fatalf("%s chunk %d: passage differs", p, i)
			}
			if i > 50 {
				break
			}
		}
	}
}

func TestIDs(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.docs["a.txt"] = "one alpha\nbeta\n\ntwo gamma\n\n"
	w.docs["b.txt"] = "three delta\n\n"
	g := w.publish(9)
	d, err := g.Document(ctx, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	b, err := g.Document(ctx, "b.txt")
	if err != nil {
		t.Fatal(err)
	}
	one, two, three := d.IDs[0], d.IDs[1], b.IDs[0]

	w.docs["a.txt"] = "zero new\n\none alpha\nbeta\n\ntwo changed\n\n"
	delete(w.docs, "b.txt")
	g = w.publish(9)
	res, err := g.Resolve(ctx, []string{one, two, three, "aaaaaaaaaaa", "not an id"})
	if err != nil {
		t.Fatal(err)
	}
	if p := res[0].Places; len(p) != 1 || p[0].Changed || p[0].Chunk != 1 || p[0].ID != one {
		t.Errorf("a place that moved: %+v", p)
	}
	if p := res[1].Places; len(p) != 1 || !p[0].Changed || p[0].ID == two || p[0].ID[:8] != two[:8] {
		t.Errorf("a place that changed: %+v", p)
	}
	if diff := cmp.Diff(&kb.GonePlace{Path: "b.txt", Start: 1, End: 2}, res[2].Gone); diff != "" {
		t.Errorf("a place that is gone: %s", diff)
	}
	if len(res[3].Places)+len(res[4].Places) > 0 || res[3].Gone != nil || res[4].Gone != nil {
		t.Errorf("ids of nothing resolve: %+v", res[3:])
	}
	// The tombstone survives further generations, until the place is back.
	w.docs["c.txt"] = "four x\n\n"
	g = w.publish(9)
	if res, _ = g.Resolve(ctx, []string{three}); res[0].Gone == nil {
		t.Error("tombstone lost")
	}
	w.docs["b.txt"] = "three delta\n\n"
	g = w.publish(9)
	if res, _ = g.Resolve(ctx, []string{three}); res[0].Gone != nil || len(res[0].Places) != 1 || res[0].Places[0].Changed {
		t.Errorf("a place that came back: %+v", res[0])
	}
}

func TestPhrasesMustStandInTheText(t *testing.T) {
	w := newWorld(t)
	w.docs["a"] = "f alpha beta gamma\n"
	w.docs["b"] = "g beta alpha gamma\n"
	g := w.publish(9)
	got := retrieve(t, g, []string{"alpha", "beta"}, "", "Alpha Beta")
	if len(got) != 1 || got[0].Path != "a" {
		t.Errorf("got %+v, want a alone", got)
	}
}

func TestUnder(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"a/x", "a-b/x", "a/y/z", "ab", "b/x"} {
		w.docs[p] = "f " + p + "\n"
	}
	g := w.publish(9)
	for under, want := range map[string]int{"": 5, ".": 5, "a": 2, "a/": 2, "a/y": 1, "a-b": 1, "ab": 1, "nope": 0, "a/x": 1} {
		got, err := g.Documents(context.Background(), under)
		if err != nil || len(got) != want {
			t.Errorf("Documents(%q) = %v, %v; want %d", under, got, err, want)
		}
	}
}

func TestEmptyStore(t *testing.T) {
	w := newWorld(t)
	g := w.publish(9)
	if got := retrieve(t, g, []string{"alpha"}, ""); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestMissingVectorsLeaveWords(t *testing.T) {
	w := newWorld(t)
	w.docs["a"] = "f alpha\n"
	live := w.publish(9)
	g, err := (&Pool{Dir: live.pool.Dir, Embedder: "another"}).OpenGeneration(live.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if got := retrieve(t, g, []string{"alpha"}, ""); len(got) != 1 || got[0].Cosine != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestAReaderOutlivesTheNamesOfItsFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is mapped cannot be deleted there")
	}
	w := newWorld(t)
	w.docs["a"] = "f alpha\n"
	g := w.publish(9)
	if err := os.RemoveAll(g.pool.Dir); err != nil {
		t.Fatal(err)
	}
	if got := retrieve(t, g, []string{"alpha"}, ""); len(got) != 1 || got[0].Cosine == 0 {
		t.Errorf("got %+v", got)
	}
}

// Generations know documents by their number in a segment.
func TestASegmentsNameTellsTheOrderOfItsDocuments(t *testing.T) {
	a, b := kb.DocKey{Hash: kb.DocHash{1}, Language: "go"}, kb.DocKey{Hash: kb.DocHash{2}, Language: "go"}
	if segmentName(FormatVersion, 1, []kb.DocKey{a, b}) == segmentName(FormatVersion, 1, []kb.DocKey{b, a}) {
		t.Error("two orders have one name")
	}
}

func FuzzPostings(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		_ = eachPosting(b, 1000, func(p *posting) {
			if p.chunk >= 1000 {
				t.Fatalf("chunk %d", p.chunk)
			}
			n++
		})
		if n > len(b) {
			t.Fatal("more postings than bytes")
		}
	})
}
