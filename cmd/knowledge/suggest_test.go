package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
)

// composerLock is a lockfile in which a library is in use at a version.
func composerLock(source, version string) []byte {
	return fmt.Appendf(nil, `{"packages":[{"name":"acme/widgets","version":%q,"source":{"type":"git","url":%q,"reference":"x"},"autoload":{"psr-4":{"Acme\\Widgets\\":"src"}}}]}`, version, source)
}

// TestSuggest: dependencies are suggested, added at the version in use, and
// follow the lockfile.
func TestSuggest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib := library(t, w, "widgets", "the widget frobnicates once", "the widget frobnicates twice")
	if !strings.HasPrefix(lib, "http") {
		t.Skip("there is no HTTP backend of git")
	}
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "composer.json", []byte(`{"name":"me/app","require":{"acme/widgets":"^1.0","nobody/knows":"^2.0"}}`))
	write(t, project, "composer.lock", composerLock(lib, "v1.0.0"))
	write(t, project, "go.mod", []byte("module m\n\nrequire github.com/spf13/cobra v1.10.2\n"))
	write(t, project, "src/A.php", []byte("<?php\nuse Acme\\Widgets\\Widget;\n"))
	write(t, project, "src/B.php", []byte("<?php\nuse Acme\\Widgets\\Other;\n"))
	write(t, project, "main.go", []byte("package m\n\nimport _ \"github.com/spf13/cobra\"\n"))
	a := w.agent(project)
	var s follow.Suggested
	a.execute(&s, "suggest", obj{})
	if len(s.Suggestions) != 2 || s.Manifests != 3 || s.SourceFiles != 3 || len(s.Added) != 0 {
		t.Fatalf("%+v", s)
	}
	first, second := s.Suggestions[0], s.Suggestions[1]
	if first.Name != "acme/widgets" || first.Version != "v1.0.0" || first.Files != 2 || first.Tag != "v1.0.0" || !strings.HasPrefix(first.Repository, "http://127.0.0.1") {
		t.Errorf("%+v", first)
	}
	if second.Name != "github.com/spf13/cobra" || second.Version != "v1.10.2" || second.Repository != "https://github.com/spf13/cobra" || second.Tag != "v1.10.2" {
		t.Errorf("%+v", second)
	}
	var list app.StoreList
	if a.execute(&list, "stores", obj{}); len(list.Stores) != 0 {
		t.Errorf("suggesting makes %+v", list.Stores)
	}

	s = follow.Suggested{}
	a.execute(&s, "suggest", obj{"add": true, "only": []string{"acme/widgets"}})
	if len(s.Added) != 1 || len(s.Failed) != 0 {
		t.Fatalf("%+v", s)
	}
	store := s.Added[0].Store
	if j := a.wait(s.Added[0].Job); j.State != "completed" {
		t.Fatalf("%+v", j)
	}
	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": store})
	if info.Ref != "tag:v1.0.0" || info.Follows != "composer:acme/widgets" || info.DiskBytes <= info.IndexBytes {
		t.Errorf("%+v", info)
	}
	a.finds(store, "widget frobnicates", "once")
	if a.execute(&s, "suggest", obj{"limit": 1}); s.Suggestions[0].Store != store {
		t.Errorf("it has a store: %+v", s.Suggestions)
	}

	wantSynced(t, "as it was", a.follow("store:update", obj{}), nil, nil, []string{store}, nil, nil)
	write(t, project, "composer.lock", composerLock(lib, "v2.0.0"))
	var dry follow.Synced
	a.execute(&dry, "store:update", obj{"dryRun": true})
	wantSynced(t, "dry run", dry, nil, []string{store}, nil, nil, nil)
	up := a.follow("store:update", obj{"store": store})
	wantSynced(t, "lockfile changed", up, nil, []string{store}, nil, nil, nil)
	if len(up.Changes) != 1 || !strings.Contains(up.Changes[0], "tag:v1.0.0 → tag:v2.0.0") {
		t.Errorf("changes %q", up.Changes)
	}
	a.finds(store, "widget frobnicates", "twice")

	// A version that has no tag, and a project without manifests.
	write(t, project, "composer.lock", composerLock(lib, "v9.0.0"))
	other := w.dir("other")
	newOrigin(t, other)
	for name, text := range map[string]string{"composer.json": `{"require":{"acme/widgets":"^9.0"}}`, "src/A.php": "<?php\nuse Acme\\Widgets\\Widget;\n"} {
		write(t, other, name, []byte(text))
	}
	write(t, other, "composer.lock", composerLock(lib, "v9.0.0"))
	b := w.agent(other)
	s = follow.Suggested{}
	b.execute(&s, "suggest", obj{"add": true})
	if len(s.Added) != 1 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "no tag of version v9.0.0") {
		t.Errorf("%+v", s)
	}
	for _, j := range s.Added {
		b.wait(j.Job)
	}
	empty := w.dir("empty")
	newOrigin(t, empty)
	if out := w.run(empty, "suggest"); out.status != 0 || !strings.Contains(out.err, "no manifest") {
		t.Errorf("an empty project: %+v", out)
	}
	if out := w.must(other, "suggest", "--format", "plain"); !strings.HasPrefix(out, "composer:acme/widgets\tv9.0.0\t1\thttp://127.0.0.1") {
		t.Errorf("%q", out)
	}
}

// TestFollowBranch: an update follows the branch of a store.
func TestFollowBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := newOrigin(t, w.dir("lib"))
	write(t, o.dir, "lib.md", []byte("# Lib\n\nthe widget frobnicates once\n"))
	o.commit()
	src, _ := o.serve(nil)
	w.opens(src)
	project := w.dir("project")
	newOrigin(t, project)
	if out := w.must(project, "add-repo", src, "lib"); !strings.HasPrefix(out, "lib\t") {
		t.Errorf("add-repo: %q", out)
	}
	w.must(project, "add-folder", o.dir, "folder")
	write(t, o.dir, "lib.md", []byte("# Lib\n\nthe widget frobnicates twice\n"))
	commit := o.commit()
	a := w.agent(project)
	wantSynced(t, "update", a.follow("store:update", obj{}), nil, []string{"lib", "folder"}, nil, nil, nil)
	a.finds("lib", "widget frobnicates", "twice")
	a.finds("folder", "widget frobnicates", "twice")
	var info app.StoreInfo
	if a.execute(&info, "store:info", obj{"store": "lib"}); info.Commit != commit || info.Generation != 2 {
		t.Errorf("%+v", info)
	}
	w.must(project, "index", "lib", "--force")
	if out := w.must(project, "stores", "--format", "table"); !strings.Contains(out, "STATUS") && !strings.Contains(out, "status") {
		t.Errorf("stores --format table: %s", out)
	}
	if out := w.run(project, "stores", "--format", "yaml"); out.status == 0 || !strings.Contains(out.err, "json, table, plain") {
		t.Errorf("--format yaml: %+v", out)
	}
	// The list of repositories that many want is there, and adds nothing by itself.
	var d follow.Defaults
	a.execute(&d, "stores:defaults", obj{})
	if len(d.Defaults) < 5 || len(d.Added) != 0 {
		t.Errorf("defaults: %+v", d)
	}
}
