package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// TestEngines: both vector engines find the same.
func TestEngines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	goSources(t, small...).and(oddities()).write(t, dir)
	flat := w.agent(project)
	flat.index("store:create", obj{"name": "tree", "source": dir})
	chromem := w.with("KNOWLEDGE_VECTORS_ENGINE=chromem").agent(project)
	found := 0
	for _, mode := range []string{"hybrid", "vector", "fts"} {
		for _, q := range questions {
			req := obj{"query": q, "mode": mode, "detail": "full"}
			x, y := flat.search(req), chromem.search(req)
			found += len(x.Hits)
			if !reflect.DeepEqual(x.Hits, y.Hits) || x.Confidence != y.Confidence {
				t.Errorf("%v:\nflat    %+v\nchromem %+v", req, x.Hits, y.Hits)
			}
		}
	}
	if found < 300 {
		t.Errorf("%d hits", found)
	}
	r := w.with("KNOWLEDGE_VECTORS_ENGINE=faiss").run(project, "search", "sort")
	if r.status != 2 {
		t.Errorf("an unknown engine ends with status %d: %s", r.status, r.err)
	}
	said := lines(r.err)
	if len(said) != 2 {
		t.Fatalf("%q", said)
	}
	plainParts(t, "unknown engine", said[0], said[1])
}

// TestFirstUse: searching needs nothing before it.
func TestFirstUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("code")
	goSources(t, small...).and(oddities()).write(t, dir)
	generations := func() string {
		var s app.StoreList
		w.decode(&s, dir, "stores")
		if len(s.Stores) != 1 {
			t.Fatalf("stores: %+v", s)
		}
		var info app.StoreInfo
		w.decode(&info, dir, "store:info", s.Stores[0].ID)
		if info.Scope != "own" || info.Name != "code" {
			t.Errorf("the own folder: %+v", info)
		}
		return string(rune('0' + info.Generation))
	}

	// Tab-separated lines for a script, six fields each, nothing else.
	first := w.must(dir, "--format", "plain", "search", "steep", "the", "oolong")
	for _, l := range lines(first) {
		if len(strings.Split(l, "\t")) != 6 {
			t.Errorf("not six fields: %q", l)
		}
	}
	f := strings.Split(first, "\t")
	if !strings.HasPrefix(f[1], "odd/sections.md:L") {
		t.Errorf("found %q", first)
	}
	// A first index that takes its time is published in parts.
	made := generations()
	if again := w.must(dir, "--format", "plain", "search", "steep the oolong"); again != first {
		t.Errorf("the second search differs:\n%s\n%s", first, again)
	}
	if g := generations(); g != made {
		t.Errorf("generation %s after a search of what had not changed, %s before", g, made)
	}

	// show prints the very lines.
	at := spotOf(t, f[1])
	text := lines(read(t, dir, at.path))
	shown := w.must(dir, "show", f[0])
	for _, l := range text[at.start-1 : at.end] {
		if !strings.Contains(shown, l) {
			t.Errorf("show %s lacks the line %q:\n%s", f[0], l, shown)
		}
	}
	var c find.Context
	w.decode(&c, dir, "show", f[0])
	if c.Code != strings.Join(text[c.Start-1:c.End], "\n") {
		t.Errorf("show --json: %+v", c)
	}

	// An edit in between is found, and a deletion is not.
	write(t, dir, "odd/later.md", []byte("# Brewing later\n\nsteep the lapsang for four minutes\n"))
	if err := os.Remove(filepath.Join(dir, "odd", "sections.md")); err != nil {
		t.Fatal(err)
	}
	var r find.SearchReply
	w.decode(&r, dir, "search", "steep the lapsang")
	if len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "odd/later.md:") {
		t.Errorf("the edit is not found: %+v", r)
	}
	for _, h := range r.Hits {
		if strings.HasPrefix(h.At, "odd/sections.md") {
			t.Errorf("a deleted file is found: %+v", h)
		}
		if h.Note != "" {
			t.Errorf("a hit of a fresh index notes %q", h.Note)
		}
	}
	if g := generations(); len(g) != 1 || g[0] != made[0]+1 {
		t.Errorf("generation %s after an edit, %s before", g, made)
	}

	// Narrowed to a folder.
	w.decode(&r, dir, "search", "sort", "--in", "sort", "--limit", "5")
	if len(r.Hits) == 0 {
		t.Error("nothing below sort")
	}
	for _, h := range r.Hits {
		if !strings.HasPrefix(h.At, "sort/") {
			t.Errorf("%s is not below sort", h.At)
		}
	}
}

// TestFirstUseOfAgent: an agent's first search answers from what is ready.
func TestFirstUseOfAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("code")
	goSources(t, medium...).and(oddities()).write(t, dir)
	a := w.agent(dir)
	r := a.search(obj{"query": "steep the oolong"})
	if len(r.Hits) == 0 && (len(r.Notes) == 0 || !strings.Contains(strings.Join(r.Notes, " "), "job")) {
		t.Errorf("neither hits nor a note: %+v", r)
	}
	t.Logf("%d hits at once, notes %q", len(r.Hits), r.Notes)
	var list app.JobList
	a.execute(&list, "jobs", obj{})
	if len(list.Jobs) != 1 {
		t.Fatalf("jobs: %+v", list)
	}
	a.wait(list.Jobs[0].ID)
	r = a.search(obj{"query": "steep the oolong"})
	if len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "odd/sections.md") {
		t.Errorf("when the job has ended: %+v", r)
	}
	// Nothing is written into the user's folder.
	for _, name := range []string{".knowledge", ".gitignore", ".git"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made in the user's folder", name)
		}
	}
}

// TestHome: a home directory is only indexed by who means it.
func TestHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, w.home, "notes/tea.md", []byte("# Tea\n\nsteep the oolong\n"))
	r := w.run(w.home, "search", "oolong")
	said := lines(r.err)
	if r.status != 2 || len(said) != 2 {
		t.Fatalf("status %d: %q", r.status, said)
	}
	plainParts(t, "home", said[0], said[1])
	a := w.agent(w.home)
	c := a.tool("search", obj{"query": "oolong"})
	if !c.isError || !strings.Contains(c.text, "knowledge ") {
		t.Errorf("over MCP: %+v", c)
	}
	plainly(t, "home over MCP", c.text)
	c = a.tool("execute", obj{"command": "store:create", "args": obj{"source": w.home, "yes": true}})
	if !c.isError {
		t.Errorf("an agent may say yes: %s", c.text)
	}
	plainly(t, "yes over MCP", c.text)
	c = a.tool("execute", obj{"command": "store:create", "args": obj{"source": w.home}})
	if !c.isError {
		t.Errorf("an agent may index the home directory: %s", c.text)
	}
	plainly(t, "home as a store", c.text)
	if out := w.must(w.home, "search", "oolong", "--yes"); !strings.Contains(out, "notes/tea.md:1-3") {
		t.Errorf("with --yes: %q", out)
	}
}
