package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// After edits documents are as central as if all of it were found anew, to the
// bit.
func TestCentralAfterEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf([]string{"name%03d", "_name%03d", "parsed%c", "query%cies", "init_%d_", "Type%03d", "run%d"}[i%7], 'a'+i%26))
	}
	body := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			for range 2 + r.IntN(9) {
				b.WriteString(names[r.IntN(len(names))] + " ")
			}
			for often := range 3 { // about half of all documents mention each
				if r.IntN(4) == 0 {
					b.WriteString(names[often] + " ")
				}
			}
			b.WriteString("\n\n")
		}
		return b.String()
	}
	w := newWorld(t)
	for i := range 2 * leastCentral {
		w.docs[fmt.Sprintf("d%d/f%03d", i%7, i)] = body()
	}
	w.publish(150)
	again, rounds := 0, 60
	for round := range rounds {
		prev := w.prev
		if p := w.pool.share(prev.name); p != prev {
			t.Fatal("the generation before is not open")
		}
		paths := sortedKeys(w.docs)
		for range 1 + r.IntN(4) {
			p := paths[r.IntN(len(paths))]
			switch r.IntN(10) {
			case 0:
				delete(w.docs, p)
			case 1:
				w.docs[p+"x"] = body()
			case 2: // a copy, before the first or after it
				w.docs[fmt.Sprintf("d%d/copy%d", r.IntN(9), round)] = w.docs[p]
			case 3:
				w.docs["moved/"+p] = w.docs[p]
				delete(w.docs, p)
			case 4, 5: // what it declared it only mentions
				w.docs[p] = names[r.IntN(len(names))] + " " + w.docs[p]
			default:
				w.docs[p] += names[r.IntN(len(names))] + " " + names[r.IntN(len(names))] + "\n"
			}
		}
		g := w.publish(100)
		docs, err := g.Manifest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		index := map[string]int{}
		for i, n := range g.names {
			index[n] = i
		}
		x := recentral{prev: prev, segs: g.segs, docs: docs, at: byNumber(docs, g.segs, index)}
		ok, err := x.again()
		if err != nil {
			t.Fatal(err)
		}
		want, margin, err := centrality(g.segs, len(docs), func(s, d int) int { return int(x.at[s][d]) - 1 })
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			again++
			if x.margin > margin {
				t.Errorf("round %d: margin %d, not more than %d", round, x.margin, margin)
			}
			for i := range want {
				if first := x.at[index[docs[i].Segment]][docs[i].Number] - 1; int(first) == i && x.uses[i] != want[i] {
					t.Fatalf("round %d: %s has %v, not %v", round, docs[i].Path, x.uses[i], want[i])
				}
			}
		}
		for i := range want {
			want[i] = want[x.at[index[docs[i].Segment]][docs[i].Number]-1]
		}
		if !slices.Equal(want, g.uses) {
			t.Fatalf("round %d: what was written is another", round)
		}
		prev.Release()
	}
	if again < rounds/2 {
		t.Errorf("%d of %d rounds were found again", again, rounds)
	}
}
