package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A generation that was written as a patch, over and over, is what one that is
// written whole is: documents, ids, words of paths, hits; and it remembers the same
// places that went.
func TestPatches(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	w, plain := newWorld(t), newWorld(t)
	w.pool.least, plain.pool.least = 1, 1<<40
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa")
	for i := range 400 {
		w.docs[fmt.Sprintf("%s/%s%d", words[r.IntN(4)], words[r.IntN(9)], i)] = randomBody(r)
	}
	plain.docs = w.docs
	w.publish(50)
	plain.publish(50)
	patches, wholes := 0, 0
	ids := map[string]bool{}
	for round := range 24 {
		paths := sortedKeys(w.docs)
		for range 1 + r.IntN(4) {
			p := paths[r.IntN(len(paths))]
			switch r.IntN(7) {
			case 0:
				delete(w.docs, p)
			case 1:
				w.docs[fmt.Sprintf("%s/new%d", words[r.IntN(10)], round)] = randomBody(r)
			case 2:
				w.docs[p+"/copy"] = w.docs[paths[r.IntN(len(paths))]]
			case 3:
				w.docs["moved/"+p] = w.docs[p]
				delete(w.docs, p)
			default:
				w.docs[p] = randomBody(r)
			}
		}
		g, want := w.publish(7), plain.publish(7)
		if want.laid != nil {
			t.Fatal("a patch below the size for one")
		}
		if g.laid == nil {
			wholes++
		} else {
			patches++
		}
		equalGenerations(t, g, want, ids)
		if err := w.pool.CheckGeneration(w.pool.ManifestPath(g.name), "store"); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if patches < 10 || wholes < 1 {
		t.Errorf("%d patches, %d whole", patches, wholes)
	}
}

// equalGenerations compares generations of the same content; ids are all that were
// handed out.
func equalGenerations(t *testing.T, g, want *Generation, ids map[string]bool) {
	t.Helper()
	ctx := t.Context()
	if d := gocmp.Diff(want.paths, g.paths); d != "" {
		t.Fatal(d)
	}
	if d := gocmp.Diff(want.head.Totals, g.head.Totals); d != "" {
		t.Fatal(d)
	}
	if !slices.Equal(g.uses, want.uses) {
		t.Fatal("documents are as central as others")
	}
	for _, p := range g.paths {
		a, err := g.Document(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Document(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(b, a); d != "" {
			t.Fatal(d)
		}
		for _, id := range a.IDs {
			ids[id] = true
		}
	}
	all := []string{}
	for id := range ids {
		all = append(all, id)
	}
	slices.Sort(all)
	a, err := g.Resolve(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Resolve(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(b, a); d != "" {
		t.Fatal(d)
	}
	terms := []string{"alpha", "beta", "moved", "zeta", "server", "new1"}
	x, err := g.Stats(ctx, terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := want.Stats(ctx, terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(y, x); d != "" {
		t.Fatal(d)
	}
	req := kb.Retrieval{Terms: terms, IDF: []float64{3, 2.5, 4, 2, 1, 5}, Limit: 25, Near: 9, Vector: vectorOf("alpha moved"),
		BM25F:   kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}},
		Average: [kb.Fields]float64{12, 1, 2, 3}}
	p, err := g.Retrieve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	q, err := want.Retrieve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(q, p); d != "" {
		t.Fatal(d)
	}
}

// A patch whose base is gone, or another, is damage.
func TestPatchWithoutBase(t *testing.T) {
	w := newWorld(t)
	w.pool.least = 1
	for i := range 300 {
		w.docs[fmt.Sprintf("d%d/f%d", i%7, i)] = fmt.Sprintf("word%d text\n\nmore of it\n", i)
	}
	base := w.publish(100).name
	w.docs["d1/f1"] = "another text\n"
	g := w.publish(100)
	if g.head.Base != base {
		t.Fatalf("the base is %q, not %q", g.head.Base, base)
	}
	path, old := w.pool.ManifestPath(g.name), w.pool.ManifestPath(base)
	raw, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"gone":    func() error { return os.Remove(old) },
		"another": func() error { return os.WriteFile(old, mustRead(t, path), 0o600) },
		"cut":     func() error { return os.WriteFile(old, raw[:len(raw)/2], 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if g.current() {
			t.Errorf("%s: it is current still", what)
		}
		if x, err := w.pool.OpenGeneration(path); err == nil || kb.CodeOf(err) != kb.Corrupt && kb.CodeOf(err) != kb.Newer {
			t.Errorf("%s: opened %v, %v", what, x, err)
		}
		if err := os.WriteFile(old, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
