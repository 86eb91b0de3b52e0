package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
)

// defines writes the definitions of a project.
func defines(t *testing.T, project string, stores ...obj) {
	t.Helper()
	b, err := json.MarshalIndent(obj{"version": 1, "stores": stores}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, project, ".knowledge/stores.json", b)
}

// library is a repository with a state for each text, tagged v1, v2, …; the
// branch next stands at the last.
func library(t *testing.T, w *world, name string, texts ...string) (source string) {
	t.Helper()
	o := newOrigin(t, w.dir(name))
	for i, text := range texts {
		write(t, o.dir, "lib.md", []byte("# Lib\n\n"+text+"\n"))
		o.commit()
		head, err := o.repo.Head()
		if err == nil {
			_, err = o.repo.CreateTag("v"+string(rune('1'+i))+".0.0", head.Hash(), nil)
		}
		if err == nil {
			err = o.repo.Storer.SetReference(plumbing.NewHashReference("refs/heads/next", head.Hash()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	source, _ = o.serve(nil)
	w.opens(source)
	return source
}

// finds checks that the best hit of a search in a store holds a word.
func (a *agent) finds(store, query, word string) {
	a.t.Helper()
	r := a.search(obj{"query": query, "stores": []string{store}})
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Code, word) {
		a.t.Errorf("%s: %q finds %+v, want %q", store, query, r.Hits, word)
	}
}

// sync runs stores:sync and sees its jobs completed.
func (a *agent) sync(args obj) follow.Synced {
	a.t.Helper()
	return a.follow("stores:sync", args)
}

func (a *agent) follow(command string, args obj) follow.Synced {
	a.t.Helper()
	var s follow.Synced
	a.execute(&s, command, args)
	for _, j := range s.Jobs {
		if done := a.wait(j.Job); done.State != "completed" {
			a.t.Errorf("%s: job of %s: %s: %s", command, j.Store, done.State, done.Message)
		}
	}
	return s
}

func wantSynced(t *testing.T, what string, got follow.Synced, created, updated, skipped, orphans, pruned []string) {
	t.Helper()
	for _, l := range []struct {
		name      string
		got, want []string
	}{{"created", got.Created, created}, {"updated", got.Updated, updated}, {"skipped", got.Skipped, skipped}, {"orphans", got.Orphans, orphans}, {"pruned", got.Pruned, pruned}} {
		if !slices.Equal(slices.Sorted(slices.Values(l.got)), slices.Sorted(slices.Values(l.want))) {
			t.Errorf("%s: %s %q, want %q", what, l.name, l.got, l.want)
		}
	}
	if len(got.Failed) > 0 {
		t.Errorf("%s: %+v", what, got.Failed)
	}
}

// TestSync: the stores of a project follow its definitions.
func TestSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := library(t, w, "one", "the widget frobnicates once", "the widget frobnicates twice")
	two := library(t, w, "two", "gaskets are greased on Mondays")
	other := library(t, w, "other", "sprockets are counted by hand")
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "guides/start.md", []byte("# Start\n\nturn the crank clockwise\n"))
	defs := []obj{
		{"name": "one", "type": "repo", "source": one, "tag": "v1.0.0", "description": "widgets", "tags": []string{"lib"}},
		{"name": "two", "type": "repo", "url": two},
		{"name": "guides", "type": "file", "path": "guides"},
	}
	defines(t, project, defs...)
	a := w.agent(project)

	var dry follow.Synced
	a.execute(&dry, "stores:sync", obj{"dryRun": true})
	wantSynced(t, "dry run", dry, []string{"one", "two", "guides"}, nil, nil, nil, nil)
	if len(dry.Jobs) != 0 {
		t.Errorf("a dry run starts %+v", dry.Jobs)
	}
	var list app.StoreList
	if a.execute(&list, "stores", obj{}); len(list.Stores) != 0 {
		t.Errorf("a dry run makes %+v", list.Stores)
	}

	s := a.sync(obj{})
	wantSynced(t, "first", s, []string{"one", "two", "guides"}, nil, nil, nil, nil)
	a.finds("one", "widget frobnicates", "once")
	a.finds("two", "gaskets", "Mondays")
	a.finds("guides", "turn the crank", "clockwise")
	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": "one"})
	if info.Ref != "tag:v1.0.0" || len(info.Commit) != 40 || info.Documents != 1 || info.Chunks < 1 || info.TextBytes == 0 || info.IndexBytes == 0 ||
		info.Generation != 1 || info.Embedder == "" || info.Languages["markdown"] != 1 || info.Status != "ready" || info.Description != "widgets" || info.DiskBytes < info.IndexBytes {
		t.Errorf("store:info: %+v", info)
	}
	wantSynced(t, "again", a.sync(obj{}), nil, nil, []string{"one", "two", "guides"}, nil, nil)
	if s := a.sync(obj{"reindex": true}); len(s.Updated) != 3 || len(s.Jobs) != 3 {
		t.Errorf("reindex: %+v", s)
	}

	// A ref and a URL that are changed by hand, and options.
	defs[0]["tag"], defs[1]["url"] = "v2.0.0", other
	defines(t, project, defs...)
	s = a.sync(obj{})
	wantSynced(t, "changed", s, nil, []string{"one", "two"}, []string{"guides"}, nil, nil)
	if len(s.Changes) != 2 || !strings.Contains(s.Changes[0], "tag:v1.0.0 → tag:v2.0.0") {
		t.Errorf("changes %q", s.Changes)
	}
	a.finds("one", "widget frobnicates", "twice")
	a.finds("two", "sprockets", "counted")
	defs[1]["paths"] = []string{"nothing"}
	defines(t, project, defs...)
	wantSynced(t, "options", a.sync(obj{}), nil, []string{"two"}, []string{"one", "guides"}, nil, nil)
	if r := a.search(obj{"query": "sprockets", "stores": []string{"two"}}); len(r.Hits) != 0 {
		t.Errorf("paths are ignored: %+v", r.Hits)
	}

	// One that is defined no more stays until it is pruned; one made by hand stays anyway.
	defines(t, project, defs[0])
	os.Remove(filepath.Join(project, ".knowledge/stores.json.bak"))
	wantSynced(t, "removed", a.sync(obj{}), nil, nil, []string{"one"}, []string{"two", "guides"}, nil)
	a.finds("guides", "turn the crank", "clockwise")
	wantSynced(t, "prune, dry", a.sync(obj{"prune": true, "dryRun": true}), nil, nil, []string{"one"}, []string{"two", "guides"}, nil)
	wantSynced(t, "prune", a.sync(obj{"prune": true}), nil, nil, []string{"one"}, nil, []string{"two", "guides"})
	if c := a.tool("execute", obj{"command": "store:info", "args": obj{"store": "guides"}}); !c.isError {
		t.Errorf("what was pruned is there: %s", c.text)
	}

	// What one definition does wrong costs no other.
	defines(t, project, defs[0], obj{"name": "bad", "type": "file", "source": "no/such/folder"}, obj{"name": "worse", "typo": 1, "source": "guides"},
		obj{"name": "good", "type": "file", "source": "guides"})
	s = follow.Synced{}
	a.execute(&s, "stores:sync", obj{})
	if len(s.Failed) != 2 || s.Failed[0].Name != "bad" || s.Failed[0].Hint == "" || s.Failed[1].Name != "worse" || !slices.Equal(s.Created, []string{"good"}) {
		t.Errorf("faults: %+v", s)
	}
	for _, j := range s.Jobs {
		a.wait(j.Job)
	}

	// On the command line a sync waits for its jobs.
	clone := w.dir("clone")
	newOrigin(t, clone)
	write(t, clone, "guides/start.md", []byte("# Start\n\nturn the crank clockwise\n"))
	defs[1]["paths"] = nil
	defines(t, clone, defs...)
	out := w.must(clone, "sync")
	for _, want := range []string{"one\tcreated", "two\tcreated", "guides\tcreated"} {
		if !strings.Contains(out, want) {
			t.Errorf("sync prints\n%s", out)
		}
	}
	if out := w.must(clone, "search", "turn the crank", "--stores", "guides"); !strings.Contains(out, "start.md") {
		t.Errorf("after sync: %s", out)
	}
	if out := w.must(clone, "sync", "--dry-run", "--prune", "--reindex", "--format", "json"); !strings.Contains(out, `"dryRun":true`) {
		t.Errorf("sync --format json: %s", out)
	}
}

// TestOlderDefinitions: the file of the older plugin is read, and not written.
func TestOlderDefinitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := library(t, w, "one", "the widget frobnicates once", "the widget frobnicates twice")
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "docs/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	raw := []byte(`{"version":1,"stores":[{"type":"repo","name":"one","url":"` + one + `","branch":"next"},{"type":"file","name":"docs","path":"./docs","description":"ours","extra":1},
		{"type":"web","name":"site","url":"http://127.0.0.2/docs","depth":2}]}`)
	write(t, project, ".bluera/bluera-knowledge/stores.config.json", raw)
	a := w.agent(project)
	var s follow.Synced
	a.execute(&s, "stores:sync", obj{})
	for _, j := range s.Jobs {
		a.wait(j.Job)
	}
	if !slices.Equal(s.Created, []string{"one", "docs"}) || len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Hint, "web.allow") {
		t.Errorf("%+v", s)
	}
	a.finds("one", "widget frobnicates", "twice")
	a.finds("docs", "turn the crank", "clockwise")
	if after, err := os.ReadFile(filepath.Join(project, ".bluera/bluera-knowledge/stores.config.json")); err != nil || string(after) != string(raw) {
		t.Errorf("it was written: %v", err)
	}
	if _, err := os.Stat(filepath.Join(project, ".knowledge")); err == nil {
		t.Error("definitions were written without being asked for")
	}
}

// TestDefinitionsOfStrangers: what an entry asks for beyond the project is
// nobody's to do until a person vouches for the file; the rest is done.
func TestDefinitionsOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.vouched = nil
	project, secret := w.dir("project"), w.dir("secret")
	newOrigin(t, project)
	write(t, project, "docs/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	write(t, secret, "keys.md", []byte("# Keys\n\nunder the doormat\n"))
	if err := os.Symlink(secret, filepath.Join(project, "link")); err != nil {
		t.Skip(err)
	}
	harmless := obj{"name": "docs", "type": "file", "source": "docs"}
	for name, risky := range map[string]obj{
		"absolute": {"name": "x", "type": "file", "source": secret},
		"above":    {"name": "x", "type": "file", "source": "../secret"},
		"link":     {"name": "x", "type": "file", "source": "link"},
		"schedule": {"name": "x", "type": "file", "source": "docs", "schedule": "@hourly"},
	} {
		defines(t, project, harmless, risky)
		a := w.agent(project)
		for _, args := range []obj{{}, {"reindex": true}, {"prune": true}} {
			var s follow.Synced
			a.execute(&s, "stores:sync", args)
			if len(s.Untrusted) != 1 || !strings.Contains(s.Untrusted[0], "x in .knowledge/stores.json") || !strings.Contains(s.Note, "show your user") || strings.Contains(s.Note, "knowledge trust") ||
				slices.Contains(slices.Concat(s.Created, s.Updated, s.Skipped, s.Pruned, s.Orphans), "x") || len(s.Failed) != 0 {
				t.Errorf("%s: %+v", name, s)
			}
			for _, j := range s.Jobs {
				a.wait(j.Job)
			}
		}
		var list app.StoreList
		if a.execute(&list, "stores", obj{}); len(list.Stores) != 1 || list.Stores[0].Name != "docs" {
			t.Errorf("%s: made %+v", name, list.Stores)
		}
		a.close()
	}
	// A schedule that a person vouched for is kept, until the definition drops it.
	defines(t, project, obj{"name": "docs", "type": "file", "source": "docs", "schedule": "@hourly"})
	w.vouch(project, ".knowledge/stores.json")
	out := w.run(project, "sync")
	if out.status != 0 || !strings.HasPrefix(out.out, "docs\tunchanged") {
		t.Errorf("a trusted schedule: %+v", out)
	}
	if out := w.run(project, "schedules"); !strings.HasPrefix(out.out, "docs\t@hourly\t") {
		t.Errorf("it is not kept: %+v", out)
	}
	defines(t, project, obj{"name": "docs", "type": "file", "source": "docs"})
	w.must(project, "sync")
	if out := w.run(project, "schedules"); out.out != "" {
		t.Errorf("it is kept though the definition dropped it: %+v", out)
	}
	w.must(project, "store:delete", "docs")

	// An agent cannot vouch; a person can, for this content and no other.
	defines(t, project, harmless, obj{"name": "x", "type": "file", "source": secret})
	a := w.agent(project)
	if c := a.tool("execute", obj{"command": "trust", "args": obj{"path": ".knowledge/stores.json"}}); !c.isError {
		t.Errorf("an agent vouches: %s", c.text)
	}
	w.vouch(project, ".knowledge/stores.json")
	wantSynced(t, "trusted", a.sync(obj{}), []string{"docs", "x"}, nil, nil, nil, nil)
	a.finds("x", "doormat", "under")
	defines(t, project, harmless, obj{"name": "x", "type": "file", "source": secret, "description": "changed"})
	var s follow.Synced
	if a.execute(&s, "stores:sync", obj{"prune": true}); len(s.Untrusted) != 1 || len(s.Orphans)+len(s.Pruned) != 0 {
		t.Errorf("changed after trust: %+v", s)
	}
}

// TestPinsSideBySide: two projects use two versions under one name.
func TestPinsSideBySide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib := library(t, w, "lib", "the widget frobnicates once", "the widget frobnicates twice")
	p1, p2 := w.dir("p1"), w.dir("p2")
	newOrigin(t, p1)
	newOrigin(t, p2)
	a, b := w.agent(p1), w.agent(p2)
	a.index("store:create", obj{"name": "lib", "source": lib, "tag": "v1.0.0"})
	b.index("store:create", obj{"name": "lib", "source": lib, "branch": "next"})
	a.finds("lib", "widget frobnicates", "once")
	b.finds("lib", "widget frobnicates", "twice")
	var d app.Deleted
	a.execute(&d, "store:delete", obj{"store": "lib"})
	if !d.Removed {
		t.Errorf("deleted: %+v", d)
	}
	b.finds("lib", "widget frobnicates", "twice")
	var list app.StoreList
	if a.execute(&list, "stores", obj{}); len(list.Stores) != 0 {
		t.Errorf("still there: %+v", list.Stores)
	}
}

// TestSavedDefinitions: what is saved in one clone makes the stores of another.
func TestSavedDefinitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib := library(t, w, "lib", "the widget frobnicates once")
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "docs/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	a := w.agent(project)
	file := filepath.Join(project, ".knowledge/stores.json")
	a.index("store:create", obj{"name": "plain", "source": filepath.Join(project, "docs")})
	if _, err := os.Stat(file); err == nil {
		t.Fatal("definitions were written without being asked for")
	}
	a.index("store:create", obj{"name": "lib", "source": lib, "tag": "v1.0.0", "save": true, "description": "widgets"})
	a.index("store:create", obj{"name": "docs", "source": filepath.Join(project, "docs"), "paths": []string{"a.md"}}) // the file exists now
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version int
		Stores  []follow.Definition
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := []follow.Definition{
		{Name: "lib", Type: "repo", Source: strings.TrimSuffix(lib, "/"), Tag: "v1.0.0", Description: "widgets"},
		{Name: "docs", Type: "file", Source: "docs", Paths: []string{"a.md"}},
	}
	if len(got.Stores) == 2 {
		want[0].Source = got.Stores[0].Source // as it is canonical
	}
	if diff := cmp.Diff(want, got.Stores); diff != "" || got.Version != 1 {
		t.Errorf("(-want +got)\n%s", diff)
	}
	clone := w.dir("clone")
	newOrigin(t, clone)
	write(t, clone, "docs/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	write(t, clone, ".knowledge/stores.json", raw)
	b := w.agent(clone)
	wantSynced(t, "clone", b.sync(obj{}), []string{"lib", "docs"}, nil, nil, nil, nil)
	b.finds("lib", "widget frobnicates", "once")
	b.finds("docs", "turn the crank", "clockwise")
	var d app.Deleted
	if b.execute(&d, "store:delete", obj{"store": "docs"}); !strings.Contains(d.Note, "stores:sync") {
		t.Errorf("deleting what is defined: %+v", d)
	}
}
