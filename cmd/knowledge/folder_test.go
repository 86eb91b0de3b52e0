package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// TestFolder: every line that an agent is shown of a folder stands in the
// file; ten hits keep to their budget; a copy shares the index.
func TestFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	material := goSources(t, large...).and(oddities())
	material.write(t, dir)
	a := w.agentOf(true, project)
	a.index("store:create", obj{"name": "tree", "type": "file", "source": dir})
	var list app.StoreList
	a.execute(&list, "stores", obj{})
	if len(list.Stores) != 1 || list.Stores[0].Kind != kb.KindFolder || list.Stores[0].Status != "ready" {
		t.Errorf("stores: %+v", list)
	}
	n := trueHits(t, a, []string{"tree"}, questions, func(p string) string { return read(t, dir, p) })
	if n < 100 {
		t.Errorf("%d hits for %d questions", n, len(questions))
	}
	budget(t, a, dir)
	sharing(t, w, a, material)
}

// budget: ten hits with their lines cost an agent at most 1,000 tokens.
func budget(t *testing.T, a *agent, dir string) {
	for _, q := range []string{
		"how is a chunked transfer encoding read", "parse template actions", "Server.Shutdown", "cookie jar domain matching",
		"json decoder token stream", "error: http: request body too large", "func (d *decodeState) value", "net/http/transport.go",
		"huffman decoder", "redirect policy", "tls handshake timeout", "where are struct fields cached",
	} {
		c := a.tool("search", obj{"query": q, "stores": []string{"tree"}, "detail": "minimal"})
		if c.isError {
			t.Fatal(c.text)
		}
		var r find.SearchReply
		if err := json.Unmarshal([]byte(c.text), &r); err != nil {
			t.Fatal(err)
		}
		n := tokens.Estimate(c.text)
		t.Logf("%-45s %2d hits, %4d tokens, %4d bytes", q, len(r.Hits), n, len(c.text))
		if n > 1000 || r.Tokens < n || len(r.Hits) != 10 || r.Count != 10 {
			t.Errorf("%s: %d hits (count %d), %d tokens, said to be %d", q, len(r.Hits), r.Count, n, r.Tokens)
		}
		for _, h := range r.Hits {
			if len(strings.TrimSpace(h.Code)) < 10 {
				t.Errorf("%s: %s shows %q", q, h.At, h.Code)
			}
			trueCode(t, h, read(t, dir, spotOf(t, h.At).path))
		}
	}
}

// sharing: a copy of a tree costs next to nothing on the disk, and is as good
// as the first when that goes.
func sharing(t *testing.T, w *world, a *agent, material corpus) {
	two := w.dir("two")
	material.write(t, two)
	segments, generations := filepath.Join(w.data, "segments"), filepath.Join(w.data, "generations")
	segs, all := diskUse(t, segments), diskUse(t, segments, generations)
	a.index("store:create", obj{"name": "two", "source": two})
	segs2, all2 := diskUse(t, segments), diskUse(t, segments, generations)
	t.Logf("text %d bytes; segments %d, then %d; with generations %d, then %d (+%.2f %%)",
		material.bytes(), segs, segs2, all, all2, 100*float64(all2-all)/float64(all))
	if segs2 != segs || float64(all2) > 1.02*float64(all) {
		t.Error("a copy adds more than 2 %")
	}
	if float64(all) > 1.05*float64(material.bytes()) {
		t.Error("the index is larger than the text")
	}
	var d app.Deleted
	a.execute(&d, "store:delete", obj{"store": "tree"})
	if n := trueHits(t, a, []string{"two"}, questions[:4], func(p string) string { return read(t, two, p) }); n == 0 {
		t.Error("the copy is gone with the first")
	}
	a.execute(&d, "store:delete", obj{"store": "two"})
	if n := diskUse(t, segments); n > 0 {
		t.Errorf("%d bytes of segments are left when no store is", n)
	}
}
