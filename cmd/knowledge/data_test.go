package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// sources copies parts of this repository, which export-queries.txt asks about.
func sources(t testing.TB, dir string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		from := filepath.Join("..", "..", filepath.FromSlash(p))
		err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(filepath.Join("..", ".."), path)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if ext := filepath.Ext(path); err == nil && (ext == ".go" || ext == ".md" || ext == ".sql") {
				write(t, dir, rel, text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExportedStoresAnswerAlike: a hundred queries, written by somebody who
// does not know how search works, get the same hits, scores and order before
// an export and after the import in another data directory, and the same lines
// for the first ids.
func TestExportedStoresAnswerAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("self"), w.dir("project")
	sources(t, dir, "internal", "docs", "cmd", "ARCHITECTURE.md", "CONTRIBUTING.md")
	a := w.agentOf(true, project)
	a.index("store:create", obj{"name": "self", "type": "file", "source": dir})
	w.waitIdle() // a store of this size has its references resolved by a job of its own
	var made care.Exported
	w.decode(&made, project, "export", "self", "self.kbx", "--project", project)
	there := w.other("there")
	var in care.Imported
	there.decode(&in, project, "import", "self.kbx", "--project", project)
	if in.Documents != made.Documents || in.Shared != 0 {
		t.Errorf("exported %+v, imported %+v", made, in)
	}
	there.waitIdle()
	b := there.agentOf(true, project)
	queries := lines(read(t, "testdata", "export-queries.txt"))
	hits := 0
	for i, q := range queries {
		args := obj{"query": q, "stores": []string{"self"}}
		if i%10 == 0 {
			args["detail"] = "full"
		}
		one, two := a.search(args), b.search(args)
		one.Ms, two.Ms = 0, 0
		hits += len(one.Hits)
		if d := cmp.Diff(one, two); d != "" {
			t.Errorf("%q is answered otherwise:\n%s", q, d)
		}
		if i%10 == 0 && len(one.Hits) > 0 {
			if d := cmp.Diff(a.show(one.Hits[0].ID), b.show(one.Hits[0].ID), cmpopts.IgnoreUnexported(search.Context{})); d != "" {
				t.Errorf("%s is shown otherwise:\n%s", one.Hits[0].ID, d)
			}
		}
	}
	info, err := os.Stat(filepath.Join(project, "self.kbx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d queries, %d hits the same; %d bytes for an index of %d", len(queries), hits, info.Size(), diskUse(t, filepath.Join(w.data, "segments"), filepath.Join(w.data, "generations")))
	if len(queries) != 100 || hits < 500 {
		t.Errorf("%d hits for %d queries", hits, len(queries))
	}
}

// TestVerifyFindsAndMends: each of ten faults that somebody planted who does not
// know the code is found by verify, named by its file, and mended by --repair;
// what is answered then is what was answered before.
func TestVerifyFindsAndMends(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the faults are written for a POSIX shell")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh is installed to plant the faults")
	}
	w := newWorld(t)
	dir, project := w.dir("self"), w.dir("project")
	sources(t, dir, "internal/data/catalog", "internal/data/db", "internal/data/lockfile", "docs/design")
	w.must(project, "store:create", "self", dir, "--scope", "user")
	ask := func(w *world) (r find.SearchReply) {
		t.Helper()
		w.decode(&r, project, "search", "how is a generation published", "--stores", "self")
		r.Ms = 0
		return r
	}
	want := ask(w)
	w.workersEnd()
	for i, fault := range lines(read(t, "testdata", "faults.txt")) {
		what := fault[strings.LastIndex(fault, "# ")+2:]
		f := &world{t: t, root: w.root, home: w.home, data: filepath.Join(w.root, "faulty", string(rune('a'+i)), "data")}
		copyTree(t, w.data, f.data)
		plant := exec.Command(sh, "-c", fault)
		plant.Env = append(os.Environ(), "D="+f.data)
		if out, err := plant.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", what, err, out)
		}
		seen := f.run(project, "verify", "--json")
		var found care.Verified
		if err := json.Unmarshal([]byte(seen.out), &found); err != nil {
			t.Fatalf("%s: %v: %s", what, err, seen.out)
		}
		if seen.status == 0 || len(found.Findings) == 0 {
			t.Errorf("%s: not found", what)
		}
		for _, x := range found.Findings {
			if x.File == "" || x.Text == "" || x.Hint == "" || x.Mended {
				t.Errorf("%s: %+v", what, x)
			}
		}
		mended := f.run(project, "verify", "--repair")
		if mended.status != 0 {
			t.Errorf("%s: not mended, status %d:\n%s%s", what, mended.status, mended.out, mended.err)
		}
		if after := f.run(project, "verify"); after.status != 0 {
			t.Errorf("%s: after mending:\n%s", what, after.out)
		}
		if d := cmp.Diff(want, ask(f)); d != "" {
			t.Errorf("%s: answered otherwise after mending:\n%s", what, d)
		}
		f.workersEnd()
	}
}

// copyTree copies files with their modes.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
