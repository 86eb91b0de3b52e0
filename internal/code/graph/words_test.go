package graph

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestWords(t *testing.T) {
	w := newWords()
	list := []string{"", strings.Repeat("a", longWord-1), strings.Repeat("b", longWord), strings.Repeat("c", 3*wordBlock)}
	for i := range 50_000 {
		list = append(list, fmt.Sprintf("name%d of a declaration that is longer than most", i))
	}
	for round := range 2 {
		for i, s := range list {
			if n := w.id(s, 0); n != uint32(i) || w.text(n) != s {
				t.Fatalf("round %d: string %d of %d bytes has number %d and is %.20q", round, i, len(s), n, w.text(n))
			}
		}
	}
	if _, ok := w.lookup("name7 of a declaration that is longer than most", isKnown); ok {
		t.Error("a word is marked that was not")
	}
	w.id(list[9], isKnown)
	if n, ok := w.lookup(list[9], isKnown); !ok || n != 9 {
		t.Errorf("%d, %v", n, ok)
	}
	if n, ok := w.lookup("nothing", 0xff); ok || n != 0 {
		t.Errorf("%d, %v", n, ok)
	}
	if got := w.marked(isKnown); len(got) != 1 || got[0] != 9 {
		t.Errorf("marked: %v", got)
	}
}

func TestSpill(t *testing.T) {
	dir := t.TempDir()
	s := spill{dir: dir}
	var at []spilled
	piece := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, i%3000) }
	const n = 9000 // some 27 MB
	for i := range n {
		at = append(at, s.add(piece(i)))
	}
	for _, step := range []int{1, 7} {
		for i := 0; i < n; i += step {
			if k := (n - i) % n; !bytes.Equal(s.get(at[i]), piece(i)) || !bytes.Equal(s.get(at[k]), piece(k)) {
				t.Fatalf("piece %d or %d is another", i, k)
			}
		}
	}
	s.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || s.err != nil {
		t.Errorf("left %v, %v, %v", left, err, s.err)
	}
}

// What cannot be written is an error at the end, and the view is not made.
func TestSpillThatFails(t *testing.T) {
	b := newBuilder([]Entry{{Path: "a"}}, t.TempDir()+"/none")
	defer b.close()
	for range 2 * spillAt / 1000 {
		b.spiltEdges.add(make([]byte, 1000))
	}
	if b.spiltEdges.get(spilled{0, 10}) != nil {
		t.Error("something was read")
	}
	path := t.TempDir() + "/view"
	g := &goLinker{b: b, layout: newLayout(nil, nil)}
	if _, _, err := b.write(t.Context(), path, g.writeState); kb.CodeOf(err) != kb.Internal {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a view")
	}
}
