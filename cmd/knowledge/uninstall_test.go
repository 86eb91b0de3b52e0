package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/install"
)

// TestUninstallByAgents: an agent takes this project's stores away and nobody
// else's; the definitions stay unless it says otherwise. The rest is for a person.
func TestUninstallByAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.dir("one"), w.dir("two")
	lib := w.dir("lib")
	for _, d := range []string{one, two, lib} {
		write(t, d, "a.md", []byte("# A\n\nturn the crank clockwise\n"))
	}
	newOrigin(t, one)
	newOrigin(t, two)
	a, b := w.agent(one), w.agent(two)
	a.index("store:create", obj{"name": "lib", "source": lib})
	a.index("store:create", obj{"name": "mine", "source": filepath.Join(one), "paths": []string{"a.md"}, "save": true})
	b.index("store:create", obj{"name": "lib", "source": lib})
	a.index("store:create", obj{"name": "everywhere", "source": lib, "paths": []string{"a.md"}, "scope": "user"})

	if c := a.tool("execute", obj{"command": "uninstall", "args": obj{"global": true}}); !c.isError || !strings.Contains(c.text, "knowledge uninstall --purge") {
		t.Errorf("an agent removes everything: %s", c.text)
	}
	if c := a.tool("execute", obj{"command": "uninstall", "args": obj{"purge": true}}); !c.isError {
		t.Errorf("an agent purges: %s", c.text)
	}
	var d install.Detached
	a.execute(&d, "uninstall", obj{})
	if !slices.Contains(d.Removed, "mine") || !slices.Equal(d.Kept, []string{"lib"}) || d.Definitions != "kept: .knowledge/stores.json" {
		t.Errorf("%+v", d)
	}
	var list app.StoreList
	a.execute(&list, "stores", obj{})
	var names []string
	for _, s := range list.Stores {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"everywhere"}) {
		t.Errorf("this project still has %v", names)
	}
	b.finds("lib", "turn the crank", "clockwise")
	wantSynced(t, "brought back", a.sync(obj{}), []string{"mine"}, nil, nil, nil, nil)

	d = install.Detached{}
	a.execute(&d, "uninstall", obj{"keepDefinitions": false})
	if d.Definitions != "removed: .knowledge/stores.json" {
		t.Errorf("%+v", d)
	}
	if _, err := os.Stat(filepath.Join(one, ".knowledge")); err == nil {
		t.Error("the definitions stay")
	}
	// A person does the same with --stores.
	w.must(two, "uninstall", "--stores")
	if out := w.must(two, "stores", "--json"); strings.Contains(out, `"lib"`) {
		t.Errorf("still there: %s", out)
	}
}

// TestPurge: exactly what is listed goes.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "a.md", []byte("# A\n\nturn the crank clockwise\n"))
	w.must(project, "search", "crank")
	w.must(project, "store:schedule", ".", "@hourly")
	write(t, w.data, "notes.txt", []byte("somebody's own\n"))
	launched := filepath.Join(w.home, ".cache", "knowledge", "bin")
	write(t, launched, "0.1.0/knowledge", []byte("what the plugin's launcher fetched\n"))
	write(t, launched, "0.1.0/knowledge.sum", []byte("its SHA-256\n"))
	w = w.with("XDG_CACHE_HOME=", "LocalAppData=")
	if runtime.GOOS == "windows" {
		launched = filepath.Join(w.home, "AppData", "Local", "knowledge-bin")
		write(t, launched, "0.1.0/knowledge.exe", []byte("what the plugin's launcher fetched\n"))
	}
	all := files(t, w.root)

	var plan install.Purge
	w.decode(&plan, project, "uninstall", "--purge", "--dry-run", "--json")
	if len(plan.Items) < 4 || !slices.Equal(plan.Kept, []string{filepath.Join(w.data, "notes.txt")}) {
		t.Errorf("%+v", plan)
	}
	if !slices.ContainsFunc(plan.Items, func(i install.PurgeItem) bool { return i.Path == launched && i.Files > 0 }) {
		t.Errorf("what the launcher keeps is not listed: %+v", plan.Items)
	}
	if diff := cmp.Diff(all, files(t, w.root)); diff != "" {
		t.Errorf("a dry run changes (-want +got)\n%s", diff)
	}
	if out := w.run(project, "uninstall", "--purge"); out.status != 2 || !strings.Contains(out.err, ": knowledge uninstall --purge --dry-run") {
		t.Errorf("without yes: %+v", out)
	}
	a := w.agent(project)
	a.search(obj{"query": "crank"})
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if _, held := lockfile.Held(filepath.Join(w.data, "jobs", "clock.lock")); held {
			break
		}
	}
	if out := w.run(project, "uninstall", "--purge", "--yes"); out.status != 5 || !strings.Contains(out.err, ": knowledge uninstall --purge") {
		t.Errorf("beside a server: %+v", out)
	}
	a.close()
	w.waitIdle()
	w.must(project, "uninstall", "--purge", "--yes")
	left := slices.DeleteFunc(all, func(f string) bool {
		return slices.ContainsFunc(plan.Items, func(i install.PurgeItem) bool {
			return f == i.Path || strings.HasPrefix(f, i.Path+string(filepath.Separator))
		})
	})
	if diff := cmp.Diff(left, files(t, w.root)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := os.Stat(filepath.Dir(launched)); err == nil && runtime.GOOS != "windows" {
		t.Error("the launcher's folder stays, empty")
	}
}

// TestPurgeByALaunchedProgram: the program that the plugin's launcher keeps
// goes with the rest, and is not said to come from install.sh.
func TestPurgeByALaunchedProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a program that runs cannot be deleted there")
	}
	t.Parallel()
	w := newWorld(t)
	kept := filepath.Join(w.home, ".cache", "knowledge", "bin", "0.1.0", "knowledge")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, b, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := w.command(w.root, "uninstall", "--purge", "--yes")
	cmd.Path = kept
	out := w.finish(cmd)
	if out.status != 0 || strings.Contains(out.out+out.err, "rm ") || strings.Contains(out.out+out.err, "install.sh") {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".cache", "knowledge")); err == nil {
		t.Error("the program stays")
	}
}

// TestPurgeKeepsANamedConfiguration: KNOWLEDGE_CONFIG may name anything, a
// device or a file that others read too.
func TestPurgeKeepsANamedConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named := filepath.Join(w.dir("settings"), "mine.yaml")
	write(t, w.root, "settings/mine.yaml", nil)
	var plan install.Purge
	w.with("KNOWLEDGE_CONFIG="+named).decode(&plan, w.root, "uninstall", "--purge", "--yes", "--json")
	if !slices.Contains(plan.Kept, named) {
		t.Errorf("%+v", plan)
	}
	if _, err := os.Stat(named); err != nil {
		t.Error(err)
	}
	device := w.dir("device") // stands for what is no file at all
	w.with("KNOWLEDGE_CONFIG="+device).run(w.root, "uninstall", "--purge", "--yes")
	if _, err := os.Stat(device); err != nil {
		t.Error(err)
	}
}

// files lists the files below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") { // come and go with the database
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
