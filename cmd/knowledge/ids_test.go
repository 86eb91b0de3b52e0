package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// spot is a place that an id was shown for.
type spot struct {
	path       string
	start, end int
}

var spotRE = regexp.MustCompile(`^(.*):L(\d+)(?:-(\d+)|:c\d+-\d+)?$`)

func spotOf(t testing.TB, at string) spot {
	t.Helper()
	m := spotRE.FindStringSubmatch(at)
	if m == nil {
		t.Fatalf("%q is no place", at)
	}
	start, _ := strconv.Atoi(m[2])
	end := start
	if m[3] != "" {
		end, _ = strconv.Atoi(m[3])
	}
	return spot{m[1], start, end}
}

// shownIDs asks questions at every detail, in every face, and returns the
// places of all ids that were shown: of hits, of what is related to them, and
// of what their full context names. An id means a chunk, of which a hit may cite
// one declaration: the place is from the first line cited to the last.
func shownIDs(t *testing.T, w *world, a *agent, dir string, stores []string) map[string]spot {
	t.Helper()
	ids := map[string]spot{}
	note := func(id, at string) {
		s := spotOf(t, at)
		if old, ok := ids[id]; ok {
			if old.path != s.path {
				t.Errorf("id %s is shown for %v and %v", id, old, s)
			}
			s.start, s.end = min(old.start, s.start), max(old.end, s.end)
		}
		ids[id] = s
	}
	hits := func(r find.SearchReply) {
		for _, h := range r.Hits {
			note(h.ID, h.At)
			for _, rel := range h.Related {
				note(rel.ID, rel.At)
			}
		}
	}
	for i, q := range questions {
		for _, detail := range []string{"minimal", "contextual", "full"} {
			hits(a.search(obj{"query": q, "stores": stores, "detail": detail}))
		}
		if i%5 == 0 {
			var r find.SearchReply
			w.decode(&r, dir, "--project", dir, "search", q, "--stores", strings.Join(stores, ","), "--explain", "--detail", "full")
			hits(r)
			out := w.must(dir, "--project", dir, "--format", "plain", "search", q, "--stores", strings.Join(stores, ","))
			for _, l := range lines(out) {
				f := strings.Split(l, "\t")
				if len(f) != 6 {
					t.Fatalf("%q has %d fields", l, len(f))
				}
				note(f[0], f[1])
			}
		}
	}
	for _, id := range some(ids, 60) {
		for _, rel := range a.show(id).Related {
			note(rel.ID, rel.At)
		}
	}
	return ids
}

// some returns n of the ids.
func some(ids map[string]spot, n int) []string {
	all := slices.Sorted(maps.Keys(ids))
	return all[:min(n, len(all))]
}

// TestIDs: every id that was ever shown resolves in another process after a
// restart; an edit and a deletion are said, before and after indexing them.
func TestIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	goSources(t, small...).and(oddities()).write(t, dir)
	a := w.agent(project)
	a.index("store:create", obj{"name": "tree", "source": dir})
	ids := shownIDs(t, w, a, project, []string{"tree"})
	t.Logf("%d ids", len(ids))
	if len(ids) < 150 {
		t.Errorf("only %d ids were shown", len(ids))
	}
	a.close()

	// Another process finds them all, where they were said to be.
	a = w.agentOf(true, project)
	for id, s := range ids {
		c := a.show(id)
		if c.ID != id || c.Note != "" || c.Path != s.path || c.Next == "" && (c.Start > s.start || c.End < s.end) {
			t.Errorf("%s, shown for %v, is %s, note %q", id, s, c.At, c.Note)
		}
	}
	for _, id := range some(ids, 5) {
		var c find.Context
		w.decode(&c, project, "--project", project, "show", id)
		if c.ID != id || c.Path != ids[id].path {
			t.Errorf("show %s: %s, want %v", id, c.At, ids[id])
		}
	}

	// One line of every Go file's places is edited, without moving any; and
	// a whole file is deleted.
	gone := "sort/search.go"
	edited, deleted := map[string]spot{}, map[string]spot{}
	for id, s := range ids {
		switch text := lines(read(t, dir, s.path)); {
		case s.path == gone:
			deleted[id] = s
		case len(edited) < 40 && strings.HasSuffix(s.path, ".go") && strings.HasPrefix(text[s.end-1], "}") && !strings.Contains(strings.Join(text[s.start-1:s.end], "\n"), "// edited"):
			text[s.end-1] += " // edited"
			write(t, dir, s.path, []byte(strings.Join(text, "\n")+"\n"))
			edited[id] = s
		}
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(gone))); err != nil {
		t.Fatal(err)
	}
	if len(edited) < 10 || len(deleted) < 3 {
		t.Fatalf("%d places edited, %d deleted", len(edited), len(deleted))
	}
	for _, x := range []struct {
		when                 string
		edited, deleted, own string // what the notes say
	}{
		{"before", "the file changed since indexing", "the file was deleted since indexing", ""},
		{"after", "changed since the id was given", "deleted since", "// edited"},
	} {
		if x.when == "after" {
			a.index("store:index", obj{"store": "tree"})
		}
		for id, s := range edited {
			c := a.show(id)
			if !strings.Contains(c.Note, x.edited) || c.Path != s.path || !strings.Contains(c.Code, x.own) {
				t.Errorf("%s indexing the edit of %v: %s, note %q", x.when, s, c.At, c.Note)
			}
			if x.when == "after" {
				trueLines(t, a, c, func(p string) string { return read(t, dir, p) })
				if c.ID == id {
					t.Errorf("%s stands for the text before and after the edit", id)
				}
			}
		}
		for id, s := range deleted {
			c := a.show(id)
			if !strings.Contains(c.Note, x.deleted) || c.Path != s.path {
				t.Errorf("%s indexing the deletion of %v: %s, note %q", x.when, s, c.At, c.Note)
			}
			if x.when == "after" && (c.Start != s.start || c.End != s.end || c.Code != "") {
				t.Errorf("a deleted place is shown as %s %q, want %v", c.At, c.Code, s)
			}
		}
	}

	// A fresh process says the same, and other ids are as they were.
	a.close()
	a = w.agent(project)
	for _, id := range some(ids, 100) {
		c, s := a.show(id), ids[id]
		_, isEdited := edited[id]
		_, isDeleted := deleted[id]
		if !isEdited && !isDeleted && c.Note != "" && !strings.Contains(c.Code, "// edited") {
			t.Errorf("%s at %v was not touched, note %q", id, s, c.Note)
		}
	}

	// Without the store nothing is left to say but that.
	var d app.Deleted
	a.execute(&d, "store:delete", obj{"store": "tree"})
	if !d.Removed {
		t.Errorf("store:delete: %+v", d)
	}
	for id := range deleted {
		c := a.tool("get_full_context", obj{"resultId": id})
		if !c.isError {
			t.Errorf("%s of a deleted store: %s", id, c.text)
		}
		plainly(t, "an id of a deleted store", c.text)
		break
	}
}

// TestIncremental: 200 edits over 40 runs leave an index that answers like a
// fresh one of the same content: the same hits, order, scores and ids.
func TestIncremental(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	w.vouched = []string{dir}
	const seed = 20261120
	e := newEditor(seed, goSources(t, "go/parser", "text", "sort", "container", "bufio").and(oddities()))
	e.start(t, dir, 60)
	a := w.agent(project)
	s, _ := a.index("store:create", obj{"name": "tree", "source": dir})
	for range 40 {
		for range 5 {
			e.edit(t, dir)
		}
		a.index("store:index", obj{"store": "tree"})
	}
	t.Logf("seed %d: %v, %d files in the end", seed, e.done, len(e.files))

	fresh := w.other("fresh")
	b := fresh.agent(project)
	if f, _ := b.index("store:create", obj{"name": "tree", "source": dir}); f.ID != s.ID {
		t.Fatalf("the same source is store %s and %s", s.ID, f.ID)
	}
	asked := append(e.questions(100-len(questions)), questions...)
	found := 0
	for i, q := range asked {
		req := obj{"query": q, "stores": []string{"tree"}, "mode": []string{"hybrid", "hybrid", "fts", "vector"}[i%4], "detail": []string{"minimal", "full", "contextual"}[i%3]}
		x, y := a.search(req), b.search(req)
		found += len(x.Hits)
		got, _ := json.Marshal(x.Hits)
		want, _ := json.Marshal(y.Hits)
		if string(got) != string(want) || x.Confidence != y.Confidence {
			t.Errorf("%v:\nincremental %s\nfresh       %s", req, got, want)
		}
	}
	if found < 3*len(asked) {
		t.Errorf("%d questions found %d hits", len(asked), found)
	}
	var x, y app.StoreInfo
	a.execute(&x, "store:info", obj{"store": "tree"})
	b.execute(&y, "store:info", obj{"store": "tree"})
	if x.Documents != y.Documents || x.Chunks != y.Chunks || x.TextBytes != y.TextBytes {
		t.Errorf("incremental %+v\nfresh %+v", x, y)
	}
	t.Logf("%d hits the same; segments: %d and %d, index bytes: %d and %d", found, x.Segments, y.Segments, x.IndexBytes, y.IndexBytes)
}
