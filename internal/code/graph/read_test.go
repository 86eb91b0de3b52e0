package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The edges to one target are those of all that lead there.
func TestReadArrowsTo(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for round := range 200 {
		n := r.IntN(40)
		es := make([]edge, n)
		line := int32(0)
		for i := range es {
			line += int32(r.IntN(300))
			es[i] = edge{line: line, target: ref{int32(r.IntN(3)), int32(r.IntN(4))}, kind: kb.UseKind(r.IntN(int(kb.UseKinds))), conf: 100}
			if round%2 == 0 {
				es[i].conf = uint8(r.IntN(101))
			}
		}
		var e enc
		writeEdges(&e, es)
		all := dec{b: slices.Clone(e.b)}
		want := readArrows(&all, n)
		if all.bad || len(all.b) > 0 || len(want) != n {
			t.Fatalf("%d of %d edges", len(want), n)
		}
		for doc := range int32(3) {
			for decl := range int32(4) {
				to := ref{doc, decl}
				d := dec{b: slices.Clone(e.b)}
				got := readArrowsTo(&d, n, func(r ref) bool { return r == to })
				var those []arrow
				for _, a := range want {
					if a.target == to {
						those = append(those, a)
					}
				}
				if d.bad || !slices.Equal(got, those) {
					t.Fatalf("to %v: %v, want %v", to, got, those)
				}
			}
		}
		for cut := range e.b { // damage is told, and nothing panics
			d := dec{b: slices.Clone(e.b[:cut])}
			readArrowsTo(&d, n, func(r ref) bool { return r == (ref{1, 1}) })
		}
	}
}

// Passing over numbers ends where reading them does.
func TestSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	var e enc
	for range 300 {
		e.uint(r.Uint64() >> r.IntN(64))
	}
	for n := range 302 {
		read, skipped := dec{b: e.b}, dec{b: e.b}
		for range n {
			read.uint()
		}
		skipped.skip(n)
		if len(read.b) != len(skipped.b) || read.bad != skipped.bad {
			t.Fatalf("%d numbers: %d bytes left and %v, want %d and %v", n, len(skipped.b), skipped.bad, len(read.b), read.bad)
		}
	}
}
