package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// folder is a source in memory. A content that begins with "!" cannot be read.
type folder struct {
	docs    map[string]string
	version string
	reads   int
	onRead  func()
}

func (f *folder) Version() string { return f.version }
func (f *folder) Walk(ctx context.Context, fn func(kb.Entry) error) error {
	for _, p := range slices.Sorted(maps.Keys(f.docs)) {
		if err := fn(kb.Entry{Path: p, Size: int64(len(f.docs[p])), Stamp: f.docs[p]}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
func (f *folder) Read(_ context.Context, e kb.Entry) ([]byte, error) {
	f.reads++
	if f.onRead != nil {
		f.onRead()
	}
	body := f.docs[e.Path]
	switch {
	case strings.HasPrefix(body, "!binary"):
		return nil, kb.Errorf(kb.Unsupported, "binary")
	case strings.HasPrefix(body, "!"):
		return nil, kb.Errorf(kb.Denied, "no permission")
	}
	return []byte(body), nil
}
func (f *folder) Skipped() map[string]int { return map[string]int{"binary": 1} }
func (f *folder) Notes() []string         { return nil }
func (f *folder) Close() error            { return nil }
func (f *folder) Open(context.Context, kb.Spec) (kb.Snapshot, error) {
	return f, nil
}

// embedder counts texts and can fail.
type embedder struct {
	texts int
	err   error
}

func (e *embedder) ID() string { return "test-4" }
func (e *embedder) Dims() int  { return 4 }
func (e *embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.texts += len(texts)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		h := kb.HashDocument([]byte(t))
		out[i] = []float32{float32(h[0]) + 1, float32(h[1]), float32(h[2]), float32(h[3])}
	}
	return out, nil
}

type fixture struct {
	*testing.T
	x     *Indexer
	pool  *index.Pool
	emb   *embedder
	src   *folder
	store kb.StoreID
	jobs  int
}

func newFixture(t *testing.T) *fixture {
	dir := t.TempDir()
	d, err := db.Open(t.Context(), filepath.Join(dir, "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	f := &fixture{T: t, emb: &embedder{}, src: &folder{docs: map[string]string{}}}
	f.pool = index.NewPool(dir, "test-4", "")
	f.x = &Indexer{Catalog: catalog.New(d, nil), Indexes: f.pool, Embedder: f.emb, Workers: 1}
	f.store = f.put("/src")
	return f
}

func (f *fixture) put(source string) kb.StoreID {
	st, err := f.x.Catalog.Put(f.Context(), kb.Spec{Kind: kb.KindFolder, Source: source})
	if err != nil {
		f.Fatal(err)
	}
	return st.ID
}

func (f *fixture) get() kb.Store {
	f.Helper()
	st, err := f.x.Catalog.Get(f.Context(), f.store)
	if err != nil {
		f.Fatal(err)
	}
	return st
}

func (f *fixture) try(ctx context.Context, force bool) (Result, error) {
	f.Helper()
	f.jobs++
	job := fmt.Sprint("job", f.jobs)
	res, err := f.x.Run(ctx, job, f.get(), f.src, Options{Force: force})
	if e := f.x.Catalog.ReleaseUses(f.Context(), job); e != nil {
		f.Fatal(e)
	}
	if e := f.x.Sweep(f.Context()); e != nil {
		f.Fatal(e)
	}
	return res, err
}

func (f *fixture) run() Result {
	f.Helper()
	res, err := f.try(f.Context(), false)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// open opens the live generation.
func (f *fixture) open() kb.Index {
	f.Helper()
	g, err := f.x.Indexes.Open(f.Context(), f.get().Head.Manifest)
	if err != nil {
		f.Fatal(err)
	}
	return g
}

// content reads the whole store back.
func (f *fixture) content() map[string]string {
	f.Helper()
	g := f.open()
	defer g.Release()
	paths, err := g.Documents(f.Context(), "")
	if err != nil {
		f.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range paths {
		t, err := g.Document(f.Context(), p)
		if err != nil {
			f.Fatal(err)
		}
		out[p] = t.Body
	}
	return out
}

func (f *fixture) expect(want map[string]string) {
	f.Helper()
	if diff := cmp.Diff(want, f.content()); diff != "" {
		f.Fatalf("(-want +got)\n%s", diff)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "two\n", "c.txt": "two\n"}
	if r := f.run(); r.Indexed != 2 || r.Shared != 1 || r.Head.Documents != 3 {
		t.Errorf("first: %+v", r)
	}
	f.src.reads = 0
	if r := f.run(); !r.UpToDate || f.src.reads != 0 || f.get().Head.Generation != 1 {
		t.Errorf("nothing changed: %+v, %d reads", r, f.src.reads)
	}
	f.src.docs["a.txt"] = "changed\n"
	delete(f.src.docs, "b.txt")
	if r := f.run(); r.Indexed != 1 || r.Removed != 1 || f.src.reads != 1 {
		t.Errorf("one edit: %+v, %d reads", r, f.src.reads)
	}
	f.expect(map[string]string{"a.txt": "changed\n", "c.txt": "two\n"})
}

func TestStoresShareSegments(t *testing.T) {
	f := newFixture(t)
	for i := range 20 {
		f.src.docs[fmt.Sprintf("f%d.txt", i)] = fmt.Sprintf("text %d\n", i)
	}
	f.run()
	f.emb.texts = 0
	f.store = f.put("/copy")
	if r := f.run(); r.Indexed != 0 || r.Shared != 20 || f.emb.texts != 0 {
		t.Errorf("got %+v, %d texts embedded", r, f.emb.texts)
	}
	f.expect(f.src.docs)
}

func TestManyEditsStayFewSegments(t *testing.T) {
	f := newFixture(t)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 150 {
		f.src.docs[fmt.Sprintf("f%02d.txt", r.IntN(40))] = fmt.Sprintf("text %d\n\nmore of %d\n", i, r.IntN(3))
		if i%7 == 6 {
			delete(f.src.docs, fmt.Sprintf("f%02d.txt", r.IntN(40)))
		}
		f.run()
	}
	f.expect(f.src.docs)
	head := f.get().Head
	if len(head.Segments) > 12 {
		t.Errorf("%d segments", len(head.Segments))
	}
	files, err := os.ReadDir(f.pool.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2*len(head.Segments)+1 { // with vectors, and the layout
		t.Errorf("%d files for %d segments: garbage was left", len(files), len(head.Segments))
	}
	if gens, _ := os.ReadDir(f.pool.Generations); len(gens) != 1 {
		t.Errorf("%d manifests", len(gens))
	}
}

func TestMergingCopiesVectors(t *testing.T) {
	f := newFixture(t)
	for i := range 9 {
		f.src.docs[fmt.Sprintf("f%02d.txt", i)] = fmt.Sprintf("text %d\n", i)
		f.run()
	}
	if f.emb.texts != 9 {
		t.Errorf("%d texts embedded for 9 chunks", f.emb.texts)
	}
	if n := len(f.get().Head.Segments); n != 1 {
		t.Errorf("%d segments, want them merged", n)
	}
}

func TestWhatCannotBeReadIsNamedAndTheRestIsIndexed(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "!", "c.bin": "!binary"}
	r := f.run()
	if r.Head.Documents != 1 || len(r.Head.Notes) != 1 || !strings.Contains(r.Head.Notes[0], "b.txt") {
		t.Errorf("got %+v", r.Head)
	}
	if changed, err := f.x.Changed(t.Context(), f.get(), f.src); err != nil || !changed {
		t.Errorf("b.txt may be readable by now: %v, %v", changed, err)
	}
	delete(f.src.docs, "b.txt")
	f.run()
	if changed, err := f.x.Changed(t.Context(), f.get(), f.src); err != nil || changed {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
}

func TestAFailingProviderFailsTheRun(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n"}
	f.run()
	f.src.docs["b.txt"] = "two\n"
	f.emb.err = kb.Errorf(kb.Away, "429 too many requests")
	if _, err := f.try(t.Context(), false); err == nil || err.Error() != "429 too many requests" {
		t.Errorf("got %v", err)
	}
	f.expect(map[string]string{"a.txt": "one\n"}) // the generation before is still served
	f.emb.err = nil
	f.run()
	f.expect(f.src.docs)
}

func TestCancelledRunLeavesTheGenerationBefore(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n"}
	f.run()
	ctx, cancel := context.WithCancel(t.Context())
	f.src.docs["b.txt"] = "two\n"
	f.src.docs["c.txt"] = "three\n"
	f.src.onRead = cancel
	if _, err := f.try(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f.expect(map[string]string{"a.txt": "one\n"})
	files, _ := os.ReadDir(f.pool.Dir)
	if len(files) != 3 { // segment, vectors and layout
		t.Errorf("%d files: the cancelled run left some", len(files))
	}
}

func TestTwoWritersDoNotOverwriteEachOther(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n"}
	before := f.get()
	f.run()
	if _, err := f.x.Run(t.Context(), "late", before, f.src, Options{}); kb.CodeOf(err) != kb.Busy {
		t.Errorf("got %v", err)
	}
}

func TestDamagedIndexIsRebuilt(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "two\n"}
	f.run()
	files, _ := filepath.Glob(filepath.Join(f.pool.Dir, "*"+index.Ext))
	for _, name := range files {
		if err := os.Truncate(name, 100); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.try(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	f.expect(f.src.docs)
}

func TestDocumentsThatKilledWorkersComeLastAndAlone(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n", "d.txt": "four\n"}
	var order []string
	o := Options{Last: []string{"a.txt", "b.txt"}, Skip: map[string]string{"c.txt": "three workers died at it"}, At: func(_ int, p string) {
		if p != "" {
			files, _ := filepath.Glob(filepath.Join(f.pool.Dir, "*"+index.Ext))
			order = append(order, fmt.Sprint(p, len(files)))
		}
	}}
	res, err := f.x.Run(t.Context(), "j", f.get(), f.src, o)
	if err != nil {
		t.Fatal(err)
	}
	// Each is begun when what came before is durable.
	if diff := cmp.Diff([]string{"d.txt0", "a.txt1", "b.txt2"}, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"skipped: c.txt: three workers died at it"}, res.Head.Notes); diff != "" {
		t.Error(diff)
	}
	if changed, err := f.x.Changed(t.Context(), f.get(), f.src); err != nil || changed {
		t.Errorf("a skipped document is no change: %v, %v", changed, err)
	}
}

func TestSlowEmbeddingIsMadeDurableSoon(t *testing.T) {
	f := newFixture(t)
	f.x.EmbedAtOnce = time.Nanosecond
	for i := range 5 {
		f.src.docs[fmt.Sprint(i)] = fmt.Sprint("text ", i)
	}
	f.x.EmbedAtOnce = 1
	f.emb.texts = 0
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	f.src.onRead = func() {
		if n++; n == 5 {
			cancel()
		}
	}
	if _, err := f.x.Run(ctx, "j", f.get(), f.src, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	done := f.emb.texts
	if _, err := f.x.Run(t.Context(), "j", f.get(), f.src, Options{}); err != nil {
		t.Fatal(err)
	}
	if f.emb.texts-done > 1 {
		t.Errorf("%d of 5 texts were embedded again", f.emb.texts-done+5-5)
	}
}

func TestAFirstIndexIsShownBeforeItIsComplete(t *testing.T) {
	f := newFixture(t)
	f.x.FirstLook = time.Nanosecond
	big := strings.Repeat("many words\n", 2<<20/11) // more than fits the first segment
	for i := range 4 {
		f.src.docs[fmt.Sprint(i)] = fmt.Sprintf("text %d\n%s", i, big)
	}
	var seen []int
	f.src.onRead = func() {
		if h := f.get().Head; h != nil {
			if !h.Partial {
				t.Error("a part is taken for the whole")
			}
			seen = append(seen, len(f.content()))
		}
	}
	r := f.run()
	if len(seen) == 0 || r.Head.Partial || f.get().Head.Partial {
		t.Errorf("seen %v, %+v", seen, r.Head)
	}
	f.expect(f.src.docs)
	// One that was interrupted is gone on with.
	h := *f.get().Head
	h.Generation++
	h.Partial = true
	if err := f.x.Catalog.Publish(t.Context(), f.store, h.Generation-1, h); err != nil {
		t.Fatal(err)
	}
	f.src.onRead = nil
	f.src.reads = 0
	if r := f.run(); r.UpToDate || r.Head.Partial || f.src.reads != 0 {
		t.Errorf("%+v, %d reads", r, f.src.reads)
	}
}

// Joining that takes long is not waited for: what was edited is published before, of
// several groups one run joins one, and while somebody waits many segments are let be.
func TestJoiningIsNotWaitedFor(t *testing.T) {
	f := newFixture(t)
	large := func(i int) string {
		var b strings.Builder
		for n := range 20_000 {
			fmt.Fprintf(&b, "word%d of %d\n", n, i)
		}
		return b.String()
	}
	last := f.run().Head
	heads := 0
	edit := func(i int, waited bool) int {
		t.Helper()
		f.src.docs[fmt.Sprintf("f%02d.txt", i)] = large(i)
		st := f.get()
		r, err := f.x.Run(t.Context(), "job", st, f.src, Options{Waited: waited})
		if err != nil {
			t.Fatal(err)
		}
		heads = int(r.Head.Generation - st.Head.Generation)
		return len(r.Head.Segments)
	}
	if last.Documents != 0 {
		t.Fatalf("%+v", last)
	}
	for i := range 20 {
		if n := edit(i, true); n != i+1 || heads != 1 {
			t.Fatalf("edit %d that is waited for: %d segments, published %d times", i, n, heads)
		}
	}
	if n := edit(20, false); n != 1 || heads != 2 {
		t.Errorf("an edit that nobody waits for: %d segments, published %d times", n, heads)
	}
	f.expect(f.src.docs)
}

func TestForceReadsEverythingAgain(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "two\n"}
	f.run()
	f.src.reads = 0
	if _, err := f.try(t.Context(), true); err != nil || f.src.reads != 2 {
		t.Errorf("%d reads, %v", f.src.reads, err)
	}
	if f.get().Head.Generation != 2 {
		t.Error("no new generation")
	}
	f.expect(f.src.docs)
}

func TestNewerIndexIsNotTouched(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n"}
	f.run()
	st := f.get()
	b := index.NewBuilder(chunk.Version+1, 4)
	name, _, err := b.Write(f.pool.Dir, "test-4")
	if err != nil {
		t.Fatal(err)
	}
	m := kb.Manifest{Store: st.ID, Generation: 2, Chunker: chunk.Version + 1, Embedder: "test-4"}
	g, err := f.pool.NewGeneration(t.Context(), m)
	if err == nil {
		_, _, err = g.Write(t.Context(), "new.gen")
	}
	if err != nil {
		t.Fatal(err)
	}
	head := *st.Head
	head.Generation, head.Manifest, head.Segments = 2, "new.gen", []string{name}
	if err := f.x.Catalog.Publish(t.Context(), st.ID, 1, head); err != nil {
		t.Fatal(err)
	}
	if _, err := f.try(t.Context(), true); kb.CodeOf(err) != kb.Newer || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}

func TestBatchesKeepOrderAndSize(t *testing.T) {
	var entries []kb.Entry
	for i := range 1000 {
		entries = append(entries, kb.Entry{Path: fmt.Sprintf("%04d", i), Size: int64(i * 100)})
	}
	var got []kb.Entry
	for _, b := range batch(entries, 2) {
		var n int64
		for _, e := range b {
			n += e.Size
		}
		if n > segmentBytes {
			t.Errorf("a batch of %d bytes", n)
		}
		got = append(got, b...)
	}
	if diff := cmp.Diff(entries, got); diff != "" {
		t.Error(diff)
	}
}

func TestClockIsTheOneGiven(t *testing.T) {
	f := newFixture(t)
	at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	f.x.Now = func() time.Time { return at }
	f.src.docs = map[string]string{"a.txt": "one\n"}
	if r := f.run(); !r.Head.Indexed.Equal(at) {
		t.Errorf("got %v", r.Head.Indexed)
	}
}
