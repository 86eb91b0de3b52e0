package kbtest

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// testTexts compares what is read of documents to be shown with the whole of them.
func testTexts(t *testing.T, w *writer) {
	x := w.sample()
	ctx := t.Context()
	paths := sorted(w.docs)
	slices.Reverse(paths)
	paths = append(paths, paths[0]) // twice
	var shown, bare []kb.DocumentText
	for _, p := range paths {
		d, err := x.Document(ctx, p)
		w.must(err)
		var places []kb.Place
		for i := range d.Chunks {
			places = append(places, kb.Place{Path: p, Chunk: i})
		}
		ids, err := x.IDs(ctx, places)
		w.must(err)
		w.equal("ids of "+p, d.IDs, ids)
		passages, err := x.Passages(ctx, places)
		w.must(err)
		for i := range passages {
			c := &passages[i].Chunk
			*c = kb.Chunk{From: c.From, To: c.To, Start: c.Start, End: c.End}
		}
		excerpts, err := x.Excerpts(ctx, places)
		w.must(err)
		w.equal("excerpts of "+p, passages, excerpts)
		d.Facts, d.IDs = kb.Facts{}, nil
		shown = append(shown, d)
		d.Body = ""
		bare = append(bare, d)
	}
	got, err := x.Texts(ctx, paths, true)
	w.must(err)
	w.equal("texts", shown, got)
	got, err = x.Texts(ctx, paths, false)
	w.must(err)
	w.equal("texts without bodies", bare, got)
	_, text := x.Texts(ctx, []string{"a-b.go", "nowhere.go"}, true)
	_, id := x.IDs(ctx, []kb.Place{{Path: "a-b.go", Chunk: 99}})
	_, gone := x.IDs(ctx, []kb.Place{{Path: "nowhere.go"}})
	_, excerpt := x.Excerpts(ctx, []kb.Place{{Path: "a-b.go", Chunk: 1}})
	for what, err := range map[string]error{"excerpt": excerpt, "text": text, "id": id, "id of no document": gone} {
		if kb.CodeOf(err) != kb.NotFound || err == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
