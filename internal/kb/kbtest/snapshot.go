package kbtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Source is a source of documents under test.
type Source struct {
	Put  func(docs map[string]string)   // makes it hold these documents and no others
	Open func(t *testing.T) kb.Snapshot // as it is now
}

// Snapshot tests what kb.Snapshot promises. make returns a source that is empty.
func Snapshot(t *testing.T, make func(t *testing.T) Source) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Source)
	}{
		{"documents are listed in byte order and read", testListing},
		{"an error ends a walk", testWalkEnds},
		{"a stamp changes with its document", testStamps},
		{"what is not there is not read", testUnread},
		{"readers do not disturb each other", testReaders},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, make(t)) })
	}
}

// ordered are documents whose order by bytes is not that of a file manager.
var ordered = map[string]string{
	"a-b/x.md": "one\n", "a.b/x.md": "two\r\n", "a/x.md": "three", "B.md": "four\n\n", "über/ñ.md": "cinco\n", "z.md": "six\n",
}

func entries(t *testing.T, s kb.Snapshot) (out []kb.Entry) {
	t.Helper()
	if err := s.Walk(t.Context(), func(e kb.Entry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func testListing(t *testing.T, src Source) {
	src.Put(ordered)
	s := src.Open(t)
	for range 2 { // a snapshot can be walked again
		var paths []string
		for _, e := range entries(t, s) {
			paths = append(paths, e.Path)
			text := ordered[e.Path]
			if e.Size >= 0 && e.Size != int64(len(text)) || !utf8.ValidString(e.Path) {
				t.Errorf("entry %+v of %d bytes", e, len(text))
			}
			if raw, err := s.Read(t.Context(), e); err != nil || string(raw) != text {
				t.Errorf("%s: %q, %v", e.Path, raw, err)
			}
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(ordered)), paths); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
	if len(s.Skipped()) > 0 || len(s.Notes()) > 0 {
		t.Errorf("skipped %v, notes %q", s.Skipped(), s.Notes())
	}
}

func testWalkEnds(t *testing.T, src Source) {
	src.Put(ordered)
	s := src.Open(t)
	enough, n := errors.New("enough"), 0
	err := s.Walk(t.Context(), func(kb.Entry) error { n++; return enough })
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%d documents, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Walk(ctx, func(kb.Entry) error { return ctx.Err() }); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func testStamps(t *testing.T, src Source) {
	docs := map[string]string{"same.md": "same\n", "edited.md": "before\n", "gone.md": "gone\n"}
	src.Put(docs)
	first, again := src.Open(t), src.Open(t)
	before := entries(t, first)
	if d := cmp.Diff(before, entries(t, again)); d != "" || first.Version() != again.Version() {
		t.Errorf("versions %q and %q of the same state\n%s", first.Version(), again.Version(), d)
	}
	docs = map[string]string{"same.md": "same\n", "edited.md": "afterwards\n", "new.md": "new\n"}
	src.Put(docs)
	s := src.Open(t)
	var paths []string
	for _, e := range entries(t, s) {
		paths = append(paths, e.Path)
		i := slices.IndexFunc(before, func(b kb.Entry) bool { return b.Path == e.Path })
		if i >= 0 && e.Stamp != "" && (before[i].Stamp == e.Stamp) != (e.Path == "same.md") {
			t.Errorf("%s: stamp %q, before %q", e.Path, e.Stamp, before[i].Stamp)
		}
		if raw, err := s.Read(t.Context(), e); err != nil || string(raw) != docs[e.Path] {
			t.Errorf("%s: %q, %v", e.Path, raw, err)
		}
	}
	if d := cmp.Diff([]string{"edited.md", "new.md", "same.md"}, paths); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func testUnread(t *testing.T, src Source) {
	src.Put(ordered)
	s := src.Open(t)
	for _, p := range []string{"nowhere.md", "a", "../z.md", "/etc/passwd", "a/../z.md", ""} {
		if raw, err := s.Read(t.Context(), kb.Entry{Path: p}); err == nil {
			t.Errorf("%q is read: %q", p, raw)
		}
	}
}

func testReaders(t *testing.T, src Source) {
	docs := map[string]string{}
	for _, c := range "abcdefgh" {
		docs[string(c)+".md"] = strings.Repeat(string(c)+"\n", 1000)
	}
	src.Put(docs)
	s := src.Open(t)
	var wg sync.WaitGroup
	for _, e := range entries(t, s) {
		wg.Go(func() {
			for range 5 {
				if raw, err := s.Read(t.Context(), e); err != nil || string(raw) != docs[e.Path] {
					t.Errorf("%s: %d bytes, %v", e.Path, len(raw), err)
				}
			}
		})
	}
	wg.Wait()
}
