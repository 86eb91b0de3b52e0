package cluster

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// generation writes a generation of documents, path to text, into the pool.
func generation(t *testing.T, x *Indexes, s kb.Spec, number int64, docs map[string]string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m := kb.Manifest{Store: s.ID(), Chunker: kbtest.IndexChunker, Embedder: kbtest.IndexEmbedder, Generation: number}
	b := x.pool.NewSegment(kbtest.IndexChunker, 8)
	for _, p := range slices.Sorted(maps.Keys(docs)) {
		n, err := b.Add(t.Context(), documentOf(docs[p]))
		must(err)
		m.Documents = append(m.Documents, kb.Located{Path: p, Stamp: 1, Location: kb.Location{Number: n}})
	}
	segment, err := b.Name(t.Context())
	must(err)
	_, err = b.Write(t.Context())
	must(err)
	for i := range m.Documents {
		m.Documents[i].Segment = segment
	}
	g, err := x.pool.NewGeneration(t.Context(), m)
	must(err)
	name := kb.ManifestName(s.ID(), number, "w")
	_, _, err = g.Write(t.Context(), name)
	must(err)
	return name
}

// TestCollect: what was replaced is named first, goes after the time of grace, and what is
// live stays; a store that is removed leaves nothing.
func TestCollect(t *testing.T) {
	for name, addresses := range map[string]string{"double": "", "real": os.Getenv(real)} {
		t.Run(name, func(t *testing.T) {
			switch {
			case name == "double":
				addresses = weaviatetest.New(t).URL
			case addresses == "":
				t.Skip(real + " names no cluster")
			}
			testCollect(t, empty(t, addresses))
		})
	}
}

func testCollect(t *testing.T, x *Indexes) {
	ctx := t.Context()
	later := time.Duration(0)
	x.now = func() time.Time { return x.Client.Now().Add(later) }
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
	docs := map[string]string{"a.go": "alpha text\n"}
	share := func(number int64) string {
		t.Helper()
		m := generation(t, x, spec, number, docs)
		if err := x.Share(ctx, &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: m}}, number-1); err != nil {
			t.Fatal(err)
		}
		return m
	}
	collect := func(dry bool) Collected {
		t.Helper()
		got, err := x.Collect(ctx, dry, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := classesOf(kbtest.IndexEmbedder, kbtest.IndexChunker)
	count := func(of string) (n int64) {
		t.Helper()
		for range 50 { // a copy may be behind
			var err error
			if n, err = x.Client.Count(ctx, of, nil); err != nil {
				t.Fatal(err)
			}
			if n <= 1 {
				return n
			}
			time.Sleep(100 * time.Millisecond)
		}
		return n
	}
	share(1)
	docs["b.go"] = "bravo text\n"
	delete(docs, "a.go")
	live := share(2)
	if got := collect(true); len(got.Files) != 0 || got.Waiting != 3 {
		t.Errorf("dry, at once: %+v", got)
	}
	collect(false)
	later = 59 * time.Minute
	if got := collect(false); len(got.Files) != 0 || got.Waiting != 3 {
		t.Errorf("too early: %+v", got)
	}
	later = 61 * time.Minute
	for _, dry := range []bool{true, false} {
		if got := collect(dry); len(got.Files) != 3 || got.Documents != 1 || got.Chunks != 1 || got.Files[0].Bytes == 0 {
			t.Errorf("dry %v: %+v", dry, got)
		}
	}
	if n, m := count(c.documents), count(c.chunks); n != 1 || m != 1 {
		t.Errorf("%d documents and %d chunks are left", n, m)
	}
	far := New(t.TempDir(), index.NewPool(t.TempDir(), kbtest.IndexEmbedder, ""), x.Client)
	g, err := far.Open(ctx, live)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if d, err := g.Document(ctx, "b.go"); err != nil || d.Body != docs["b.go"] {
		t.Errorf("what is live: %+v, %v", d, err)
	}
	if got := collect(false); len(got.Files)+got.Waiting != 0 {
		t.Errorf("again: %+v", got)
	}

	if err := x.Remove(ctx, spec.ID()); err != nil {
		t.Fatal(err)
	}
	if h, err := x.Head(ctx, spec.ID()); h != nil || err != nil {
		t.Errorf("removed: %+v, %v", h, err)
	}
	if h, err := x.Named(ctx, "a"); h != nil || err != nil {
		t.Errorf("removed, by name: %+v, %v", h, err)
	}
	if err := x.Remove(ctx, spec.ID()); kb.CodeOf(err) != kb.NotFound || err == nil {
		t.Errorf("removed twice: %v", err)
	}
	collect(false)
	later += 61 * time.Minute
	collect(false)
	for _, class := range []string{c.documents, c.chunks, fileClass} {
		if n := count(class); n != 0 {
			t.Errorf("%d of %s are left", n, class)
		}
	}
	docs["c.go"] = "and shared again\n"
	m := generation(t, x, spec, 9, docs)
	if err := x.Share(ctx, &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: m}}, 0); err != nil {
		t.Fatal(err)
	}
	if h, err := x.Named(ctx, "a"); err != nil || h == nil || h.Round != 4 {
		t.Errorf("shared again: %+v, %v", h, err)
	}
}

// TestNodeAway: nothing is deleted while a node is away, which would bring it back, and the
// run after that deletes it all.
func TestNodeAway(t *testing.T) {
	ctx := t.Context()
	double := weaviatetest.New(t)
	x := empty(t, double.URL)
	later := time.Duration(0)
	x.now = func() time.Time { return x.Client.Now().Add(later) }
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
	m := generation(t, x, spec, 1, map[string]string{"a.go": "alpha text\n"})
	if err := x.Share(ctx, &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: m}}, 0); err != nil {
		t.Fatal(err)
	}
	if err := x.Remove(ctx, spec.ID()); err != nil {
		t.Fatal(err)
	}
	double.Away(1)
	if got, err := x.Collect(ctx, false, 0); err != nil || got.Waiting == 0 {
		t.Errorf("what is condemned: %+v, %v", got, err)
	}
	later = 61 * time.Minute
	before := len(double.All(documentClass))
	_, err := x.Collect(ctx, false, 0)
	if kb.CodeOf(err) != kb.Away || !strings.Contains(err.Error(), "1 of the 3 nodes") || before == 0 || len(double.All(documentClass)) != before {
		t.Errorf("a node is away: %v, %d documents of %d", err, len(double.All(documentClass)), before)
	}
	if err := x.Clean(ctx, 0); err != nil {
		t.Errorf("what a job cleans up: %v", err)
	}
	double.Away(0)
	got, err := x.Collect(ctx, false, 0)
	if left := double.All(documentClass); err != nil || got.Documents != int64(before) || len(left) != 0 {
		t.Errorf("it is back: %+v, %v, %d documents", got, err, len(left))
	}
}

// TestLate: a collection that stops before it deletes and goes on hours later takes nothing
// that was written meanwhile.
func TestLate(t *testing.T) {
	x := empty(t, weaviatetest.New(t).URL)
	later := time.Duration(0)
	x.now = func() time.Time { return x.Client.Now().Add(later) }
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
	docs := map[string]string{"a.go": "alpha text\n"}
	share := func(number int64) string {
		t.Helper()
		m := generation(t, x, spec, number, docs)
		if err := x.Share(t.Context(), &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: m}}, number-1); err != nil {
			t.Fatal(err)
		}
		return m
	}
	share(1)
	docs["a.go"] = "bravo text\n"
	share(2)
	if _, err := x.Collect(t.Context(), false, 0); err != nil {
		t.Fatal(err)
	}
	p, err := x.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Condemned, func(c condemned) bool { _, ok := segmentOf(c.Name); return ok })
	if i < 0 {
		t.Fatalf("nothing is condemned: %+v", p)
	}
	// Another machine comes back to the first text, and then the run goes on.
	docs["a.go"] = "alpha text\n"
	live := share(3)
	if err := x.delete(t.Context(), p.Condemned[i].Name, p.Round); err != nil {
		t.Fatal(err)
	}
	far := New(t.TempDir(), index.NewPool(t.TempDir(), kbtest.IndexEmbedder, ""), x.Client)
	g, err := far.Open(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if d, err := g.Document(t.Context(), "a.go"); err != nil || d.Body != docs["a.go"] {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestMeanwhile: what another machine publishes while a run has looked and not yet said what it
// is going to delete is spared.
func TestMeanwhile(t *testing.T) {
	x := empty(t, weaviatetest.New(t).URL)
	later, calls, spec := time.Duration(0), 0, kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
	share := func(number int64, body string) string {
		t.Helper()
		m := generation(t, x, spec, number, map[string]string{"a.go": body})
		if err := x.Share(t.Context(), &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: m}}, number-1); err != nil {
			t.Fatal(err)
		}
		return m
	}
	live := ""
	x.now = func() time.Time {
		if calls--; calls == 0 {
			live = share(3, "alpha text\n")
		}
		return x.Client.Now().Add(later)
	}
	collect := func() {
		t.Helper()
		if _, err := x.Collect(t.Context(), false, 0); err != nil {
			t.Fatal(err)
		}
	}
	share(1, "alpha text\n")
	share(2, "bravo text\n")
	collect()
	later = 61 * time.Minute
	calls = 2 // the second time that a run asks for is when it has looked
	collect()
	if live == "" {
		t.Fatal("nobody published meanwhile")
	}
	far := New(t.TempDir(), index.NewPool(t.TempDir(), kbtest.IndexEmbedder, ""), x.Client)
	g, err := far.Open(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if d, err := g.Document(t.Context(), "a.go"); err != nil || d.Body != "alpha text\n" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestHeld: what a machine is about to publish stays however long that takes, and what one
// left that died goes a day later.
func TestHeld(t *testing.T) {
	x := empty(t, weaviatetest.New(t).URL)
	later := time.Duration(0)
	x.now = func() time.Time { return x.Client.Now().Add(later) }
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
	m := generation(t, x, spec, 1, map[string]string{"a.go": "alpha text\n"})
	needs, err := x.needsOf(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	collect := func() int {
		t.Helper()
		if _, err := x.Collect(t.Context(), false, 0); err != nil {
			t.Fatal(err)
		}
		n, err := x.Client.Count(t.Context(), fileClass, nil)
		if err != nil {
			t.Fatal(err)
		}
		return int(n)
	}
	died := fmt.Errorf("it died")
	err = x.holding(t.Context(), append(needs, m), func(h *hold) error {
		if err := x.send(t.Context(), h, m, needs); err != nil {
			return err
		}
		for range 5 {
			later += 2 * time.Hour
			if n := collect(); n != 3 {
				t.Errorf("%d files are left of a hold of %v", n, later)
			}
		}
		if err := h.keep(t.Context()); err != nil || h.slot.Round != 2 {
			t.Errorf("renewed: %v, %+v", err, h.slot)
		}
		later += 13 * time.Hour
		if err := h.check(t.Context()); kb.CodeOf(err) != kb.Busy || err == nil {
			t.Errorf("a hold that is about to end: %v", err)
		}
		return died
	})
	if err != died {
		t.Fatal(err)
	}
	for i, want := range []int{3, 3, 0} {
		if n := collect(); n != want {
			t.Errorf("run %d: %d files of a machine that died, of %d", i, n, want)
		}
		later += 12 * time.Hour
	}
	slots, err := x.slots(t.Context())
	if err != nil || len(slots) != 1 || !slots[0].free() {
		t.Errorf("slots %+v, %v", slots, err)
	}
}
