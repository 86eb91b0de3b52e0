package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What pruning leaves out is in no answer: candidates and their evidence are
// those of scoring everything, to the bit.
func TestPruningChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	words := make([]string, 200)
	for i := range words {
		words[i] = fmt.Sprintf("word%c%c", 'a'+i/20, 'a'+i%20)
	}
	body := func() string {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			for range 3 + r.IntN(25) {
				f := r.Float64()
				b.WriteString(words[int(f*f*f*float64(len(words)))] + " ")
			}
			b.WriteString("\n\n")
		}
		return b.String()
	}
	w := newWorld(t)
	for i := range 900 {
		w.docs[fmt.Sprintf("%s/%s%d", words[r.IntN(4)], words[r.IntN(9)], i)] = body()
	}
	for i := range 40 { // copies, at several paths
		w.docs[fmt.Sprintf("copy/%d", i)] = w.docs[sortedKeys(w.docs)[r.IntN(300)]]
	}
	w.publish(100)
	for _, p := range sortedKeys(w.docs)[:60] {
		delete(w.docs, p)
	}
	g := w.publish(100)
	pruned := 0
	for range 300 {
		var terms []string
		for range 1 + r.IntN(7) {
			f := r.Float64()
			if term := words[int(f*f*float64(len(words)))]; !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
		st, err := g.Stats(t.Context(), terms, nil)
		if err != nil {
			t.Fatal(err)
		}
		req := kb.Retrieval{Terms: terms, Limit: 1 + r.IntN(30), Near: r.IntN(2) * 7, Vector: vectorOf(strings.Join(terms, " ")),
			Beside: uint64(r.IntN(8)), BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}},
			Average: [kb.Fields]float64{12, 1, 2, 3}}
		for _, n := range st.Frequency {
			req.IDF = append(req.IDF, 30/float64(1+n)*float64(r.IntN(3)))
		}
		if r.IntN(8) == 0 {
			req.IDF[0] = -1
		}
		switch r.IntN(6) {
		case 0:
			req.Under = words[r.IntN(4)]
		case 1:
			req.Phrases = []string{terms[0]}
		case 2:
			for _, p := range sortedKeys(w.docs) {
				if r.IntN(3) == 0 {
					req.Only = append(req.Only, kb.Part{Path: p})
				}
			}
		}
		got, err := g.Retrieve(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		sc := g.getScores()
		_, left, err := g.lexical(t.Context(), &req, sc, func(uint32) bool { return true }, req.Limit)
		if g.putScores(sc); err != nil {
			t.Fatal(err)
		}
		if left {
			pruned++
		}
		g.exhaustive = true
		want, err := g.Retrieve(t.Context(), req)
		g.exhaustive = false
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%+v: exhaustive -, pruned +:\n%s", req, d)
		}
	}
	if pruned < 50 {
		t.Errorf("only %d of 300 retrievals left terms", pruned)
	}
}

func TestPostingsInASet(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		const limit = 3000
		var b []byte
		last := uint32(0)
		for at := uint32(r.IntN(300)); at < limit; at += uint32(1 + r.IntN(1+r.IntN(300))) {
			tf := [numFields]uint16{uint16(r.IntN(3)), uint16(r.IntN(2) * r.IntN(300)), uint16(r.IntN(2) * r.IntN(2))}
			if tf == ([numFields]uint16{}) {
				tf[fieldBody] = uint16(1 + r.IntN(500))
			}
			b = appendPosting(b, at-last, tf)
			last = at
		}
		in := make([]uint64, limit/64+1)
		for range r.IntN(500) {
			c := r.IntN(limit)
			in[c/64] |= 1 << (c % 64)
		}
		var want, got []posting
		if err := eachPosting(b, limit, func(p *posting) {
			if in[p.chunk/64]>>(p.chunk%64)&1 != 0 {
				want = append(want, *p)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := eachPostingIn(b, limit, in, func(p *posting) { got = append(got, *p) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%v, not %v", got, want)
		}
		for n := range b { // cut short it is noticed, or ends at a posting
			if err := eachPosting(b[:n], limit, func(*posting) {}); (err != nil) != (eachPostingIn(b[:n], limit, in, func(*posting) {}) != nil) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
	}
}
