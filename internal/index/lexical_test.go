package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What pruning leaves out is in no answer: candidates and their evidence are
// those of scoring everything, to the bit.
func TestPruningChangesNothing(t *testing.T) {
	for _, per := range []int{100, 5000} { // documents to a segment: in large ones postings have skips
		t.Run(fmt.Sprint(per), func(t *testing.T) { pruningChangesNothing(t, per) })
	}
}

func pruningChangesNothing(t *testing.T, per int) {
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
	w.publish(per)
	for _, p := range sortedKeys(w.docs)[:60] {
		delete(w.docs, p)
	}
	g := w.publish(per)
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
		if err := eachPostingIn(b, 0, limit, limit, in, func(p *posting) { got = append(got, *p) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%v, not %v", got, want)
		}
		for n := range b { // cut short it is noticed, or ends at a posting
			if err := eachPosting(b[:n], limit, func(*posting) {}); (err != nil) != (eachPostingIn(b[:n], 0, limit, limit, in, func(*posting) {}) != nil) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
	}
}

// plain is a section that needs no verification.
type plain []byte

func (p plain) Len() int64                         { return int64(len(p)) }
func (p plain) Bytes(off, n int64) ([]byte, error) { return p[off : off+n], nil }

func TestSkipsLeadToTheSamePostings(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const limit = 60_000
	var w dictWriter
	var lists [][]byte
	for k := range 12 {
		var b []byte
		last, n := uint32(0), 0
		for at := uint32(r.IntN(90)); at < limit; at += uint32(1 + r.IntN(1+k*k*6)) {
			b = appendPosting(b, at-last, [numFields]uint16{uint16(1 + r.IntN(3)), uint16(r.IntN(9) / 8 * 200)})
			last, n = at, n+1
		}
		w.add(fmt.Sprintf("term%02d", k), n, b)
		lists = append(lists, b)
	}
	if len(w.skipidx) == 0 || len(w.skipidx) == 12*skipRecord {
		t.Fatalf("%d lists have skips", len(w.skipidx)/skipRecord)
	}
	d, err := openDict(plain(w.terms), plain(w.index), plain(w.post))
	if err != nil {
		t.Fatal(err)
	}
	d.skips, d.skipidx = plain(w.skips), w.skipidx
	for k, list := range lists {
		at, err := d.find(fmt.Sprintf("term%02d", k))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.checkSkips(at, list); err != nil {
			t.Error(err)
		}
		for _, chunks := range []int{0, 1, 20, 3000} {
			in := make(bitset, limit/64+1)
			for range chunks {
				in.add(uint32(r.IntN(limit)))
			}
			var want, got []posting
			err := eachPosting(list, limit, func(p *posting) {
				if in.has(p.chunk) {
					want = append(want, *p)
				}
			})
			if err == nil {
				err = d.eachIn(at, limit, in, func(p *posting) { got = append(got, *p) })
			}
			if err != nil || !slices.Equal(want, got) {
				t.Fatalf("list %d, %d chunks: %d postings, not %d; %v", k, chunks, len(got), len(want), err)
			}
		}
	}
	// Damage is noticed, or costs postings; nothing else.
	for range 300 {
		bad := dict{terms: d.terms, post: d.post, index: d.index, skipidx: d.skipidx, heads: make([]atomic.Uint64, len(d.heads))}
		skips := slices.Clone(w.skips)
		skips[r.IntN(len(skips))] ^= byte(1 + r.IntN(255))
		bad.skips = plain(skips)
		found := false
		for k, list := range lists {
			at, _ := d.find(fmt.Sprintf("term%02d", k))
			in := make(bitset, limit/64+1)
			in.add(uint32(r.IntN(limit)))
			_ = bad.eachIn(at, limit, in, func(*posting) {})
			found = found || bad.checkSkips(at, list) != nil
		}
		if !found {
			t.Error("changed skips pass for the list's own")
		}
	}
}
