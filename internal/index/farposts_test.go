package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// manyWords is a document of chunks of 60 words each.
func manyWords(chunks int) *kb.SegmentDocument {
	d, r := new(kb.SegmentDocument), rand.New(rand.NewPCG(1, uint64(chunks)))
	var b strings.Builder
	for i := range chunks {
		from := b.Len()
		for range 60 {
			fmt.Fprintf(&b, "word%x ", r.IntN(3000))
		}
		d.Chunks = append(d.Chunks, kb.Chunk{From: from, To: b.Len(), Decl: []string{"Outer", fmt.Sprintf("inner%d", i)},
			Symbols: []kb.Symbol{{Name: fmt.Sprintf("parseHTTP%d", i), Kind: "function"}}})
	}
	d.Text.Body = b.String()
	return d
}

// TestPostsOf: the postings of a document by itself are those that a segment of it has,
// whatever was taken apart before.
func TestPostsOf(t *testing.T) {
	for _, chunks := range []int{8, 300, 0, 1, 40} {
		d := manyWords(chunks)
		b, want := &Builder{terms: map[string]uint32{}}, map[string][]posting{}
		for i := range d.Chunks {
			b.addTerms(d.Text.Body[d.Chunks[i].From:d.Chunks[i].To], &d.Chunks[i])
			b.nchunks++
		}
		for i := range b.posts {
			if err := eachPosting(b.posts[i].buf, b.nchunks, func(p *posting) { want[b.posts[i].term] = append(want[b.posts[i].term], *p) }); err != nil {
				t.Fatal(err)
			}
		}
		got, err := postsOf(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.ends) != len(want) || got.of("absent") != nil {
			t.Errorf("%d chunks: %d terms, want %d", chunks, len(got.ends), len(want))
		}
		some := []string{"absent"}
		for i, term := range slices.Sorted(maps.Keys(want)) {
			if i%50 == 0 {
				some = append(some, term)
			}
			if diff := cmp.Diff(want[term], got.of(term), cmp.AllowUnexported(posting{})); diff != "" {
				t.Fatalf("%d chunks, %q: %s", chunks, term, diff)
			}
		}
		few, err := postsOf(d, some)
		if err != nil || !few.has(some) || few.has([]string{"other"}) {
			t.Errorf("%d chunks, %d terms: %v", chunks, len(some), err)
		}
		for _, term := range some {
			if diff := cmp.Diff(want[term], few.of(term), cmp.AllowUnexported(posting{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%d chunks, %q of %d: %s", chunks, term, len(some), diff)
			}
		}
	}
}

func BenchmarkPostsOf(b *testing.B) {
	d := manyWords(8)
	var few []string
	for i := range 12 {
		few = append(few, fmt.Sprintf("word%x", i))
	}
	for name, terms := range map[string][]string{"all": nil, "twelve": few} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(d.Text.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := postsOf(d, terms); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
