package crash

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestAStepOfWritingFails makes each step of writing files fail, once as an
// error of the device and once for want of space: the job says so, the store
// answers as before, and the next job completes.
func TestAStepOfWritingFails(t *testing.T) {
	w := newWorld(t)
	tr := newTree(t, 70)
	tr.grow(12)
	a, _ := w.open(false)
	w.create(a, "main", tr.dir)
	queries := tr.queries(3)
	for _, op := range []atomicfile.Op{atomicfile.OpCreate, atomicfile.OpWrite, atomicfile.OpSync, atomicfile.OpClose, atomicfile.OpRename, atomicfile.OpSyncDir} {
		for _, full := range []bool{false, true} {
			before := w.answers(a, queries, "main")
			tr.grow(1)
			w.suffer(faults{FailStep: op, FailFull: full})
			s, err := a.IndexStore(t.Context(), "main", false)
			must(t, err)
			j := w.wait(a, s.Job)
			what := errInjected.Error()
			if full {
				what = "no space left"
			}
			if j.State != kb.JobFailed || !strings.Contains(j.Message, what) || j.Hint == "" {
				t.Errorf("%s: %+v", op, j)
			}
			if got := w.answers(a, queries, "main"); !reflect.DeepEqual(settled(got), before) {
				t.Errorf("%s: %v instead of %v", op, got, before)
			}
			w.lacks(a, queries[0], what)
			info, err := a.StoreInfo(t.Context(), "main")
			must(t, err)
			if !strings.Contains(info.LastError, what) {
				t.Errorf("%s: store:info says %q", op, info.LastError)
			}
			w.suffer(faults{})
			s, err = a.IndexStore(t.Context(), "main", false)
			must(t, err)
			w.finish(a, s.Job)
		}
	}
	if n := len(w.documents("main")); n != 24 {
		t.Errorf("%d documents", n)
	}
	w.noGarbage()
}

// lacks checks that a question, which has the store "main" brought up to date
// first, says that one file is missing, why, and what to do.
func (w *world) lacks(a *app.App, query, why string) {
	w.t.Helper()
	r, err := find.Search(w.t.Context(), a, search.Request{Query: query}, app.Scope{Stores: []string{"main"}, Waiting: app.Waiting{Wait: time.Minute}})
	must(w.t, err)
	said := answer{Notes: r.Notes}.late()
	for _, part := range []string{"could not be brought up to date", why, "1 file has changed", "; "} {
		if !strings.Contains(said, part) {
			w.t.Errorf("%q is not said: %q", part, r.Notes)
		}
	}
}

// TestTheDiskIsFull fills a small file system while a store is indexed on it.
func TestTheDiskIsFull(t *testing.T) {
	w := newWorld(t)
	must(t, os.Mkdir(w.dir, 0o700))
	resize, err := mountSmall(t, w.dir, 5<<18)
	if err != nil {
		t.Skipf("no file system of its own can be mounted here: %v; TestAStepOfWritingFails rehearses it", err)
	}
	tr := newTree(t, 71)
	tr.grow(20)
	a, _ := w.open(false)
	w.create(a, "main", tr.dir)
	queries := tr.queries(4)
	before := w.answers(a, queries, "main")

	big := newTree(t, 72)
	big.grow(1600)
	s, err := a.CreateStore(t.Context(), app.CreateStore{Name: "big", Kind: kb.KindFolder, Source: big.dir})
	if err == nil {
		var j kb.Job
		if j, err = a.WaitJob(t.Context(), s.Job); err == nil && (j.State != kb.JobFailed || !strings.Contains(j.Message, "no space left")) {
			t.Errorf("got %+v", j)
		}
	}
	if err != nil && kb.CodeOf(err) != kb.Full {
		t.Errorf("got %v", err)
	}
	// Not a byte is left.
	fill, err := os.Create(filepath.Join(w.dir, "fill"))
	must(t, err)
	io.Copy(fill, zeros{})
	fill.Close()
	fresh, end := w.open(false)
	if got := w.answers(fresh, queries, "main"); !reflect.DeepEqual(got, before) {
		t.Errorf("on a full disk %v instead of %v", got, before)
	}
	end()
	tr.grow(1)
	if s, err := a.IndexStore(t.Context(), "main", false); err == nil {
		if j, err := a.WaitJob(t.Context(), s.Job); err == nil && j.State == kb.JobCompleted {
			t.Errorf("completed on a full disk: %+v", j)
		}
	} else if c := kb.CodeOf(err); c != kb.Full {
		t.Errorf("got %v (%s)", err, c)
	}
	if got := w.answers(a, queries, "main"); !reflect.DeepEqual(settled(got), before) {
		t.Errorf("after a failure %v instead of %v", got, before)
	}
	w.lacks(a, queries[0], "no space left")

	must(t, os.Remove(filepath.Join(w.dir, "fill")))
	must(t, resize(64<<20))
	s, err = a.IndexStore(t.Context(), "main", false)
	must(t, err)
	w.finish(a, s.Job)
	// A store that could not be made has left no name: it is made again.
	s, err = a.CreateStore(t.Context(), app.CreateStore{Name: "big", Kind: kb.KindFolder, Source: big.dir})
	must(t, err)
	w.finish(a, s.Job)
	for name, n := range map[string]int{"main": 21, "big": 1600} {
		if got := len(w.documents(name)); got != n {
			t.Errorf("%s: %d documents", name, got)
		}
	}
	w.noComplaints()
}

// TestAProcessStartsOnAFullDisk: no process has the database open, so that even
// its shared memory has to be made. Searches are answered from what is there,
// also from the own folder when that has changed; what writes says what is
// wrong and ends with its own status; the same process works again when there
// is space.
func TestAProcessStartsOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	must(t, os.Mkdir(w.dir, 0o700))
	if _, err := mountSmall(t, w.dir, 5<<18); err != nil {
		t.Skipf("no file system of its own can be mounted here: %v", err)
	}
	tr := newTree(t, 74)
	tr.grow(10)
	a, end := w.open(false)
	w.create(a, "main", tr.dir)
	queries := tr.queries(4)
	before := w.answers(a, queries, "main")
	end()
	fill := func() {
		f, err := os.Create(filepath.Join(w.dir, "fill"))
		must(t, err)
		io.Copy(f, zeros{})
		f.Close()
	}
	fill()
	a, end = w.open(false)
	if got := w.answers(a, queries, "main"); !reflect.DeepEqual(got, before) {
		t.Errorf("on a full disk %v instead of %v", got, before)
	}
	noSpace := func(what string, err error) {
		t.Helper()
		if kb.CodeOf(err) != kb.Full || !strings.Contains(err.Error(), "no space left") || kb.HintOf(err) == "" {
			t.Errorf("%s: got %v (%s)", what, err, kb.CodeOf(err))
		}
	}
	_, err := a.IndexStore(t.Context(), "main", false)
	noSpace("index", err)
	_, err = a.DeleteStore(t.Context(), "main", false)
	noSpace("delete", err)
	_, err = a.CreateStore(t.Context(), app.CreateStore{Name: "other", Kind: kb.KindFolder, Source: newTree(t, 75).dir})
	if kb.CodeOf(err) != kb.Invalid { // an empty folder: said before anything is written
		noSpace("create", err)
	}
	for _, args := range [][]string{{"search", queries[0], "--stores", "main"}, {"stores"}, {"files", "main"}, {"store:info", "main"}} {
		if out, err := w.run(args...); err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	var status *exec.ExitError
	if _, err := w.run("store:index", "main"); !errors.As(err, &status) || status.ExitCode() != 8 || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("store:index: %v", err)
	}
	must(t, os.Remove(filepath.Join(w.dir, "fill")))
	if got := w.answers(a, queries, "main"); !reflect.DeepEqual(got, before) {
		t.Errorf("with space again %v instead of %v", got, before)
	}
	s, err := a.IndexStore(t.Context(), "main", false) // the same process
	must(t, err)
	w.finish(a, s.Job)
	end()
}

// TestTheOwnFolderOnAFullDisk: an edit cannot be indexed, and everything else
// is found; the answer says what it lacks.
func TestTheOwnFolderOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	must(t, os.Mkdir(w.dir, 0o700))
	if _, err := mountSmall(t, w.dir, 5<<18); err != nil {
		t.Skipf("no file system of its own can be mounted here: %v", err)
	}
	tr := newTree(t, 76)
	tr.grow(10)
	ask := func() (find.SearchReply, error) {
		a, err := product.New(app.Config{DataDir: w.dir, Dir: tr.dir, Project: tr.dir, Env: noEnv})
		must(t, err)
		defer a.Close()
		return find.Search(t.Context(), a, search.Request{Query: tr.queries(1)[0]}, app.Scope{Yes: true, Waiting: app.Waiting{Wait: time.Minute}})
	}
	before, err := ask()
	must(t, err)
	f, err := os.Create(filepath.Join(w.dir, "fill"))
	must(t, err)
	io.Copy(f, zeros{})
	f.Close()
	tr.write("later.md", "# Later\n\nthe ptarmigan\n")
	got, err := ask()
	must(t, err)
	want := fmt.Sprintf("store tree76 could not be brought up to date (no space left to write %q): 1 file has changed since it was indexed, so hits may be missing; "+
		"free some space on that disk, then try again; nothing was changed", filepath.Join(w.dir, "knowledge.db"))
	if len(got.Hits) == 0 || len(got.Hits) != len(before.Hits) || !slices.Equal(got.Notes, []string{want}) {
		t.Errorf("got %d of %d hits, %q", len(got.Hits), len(before.Hits), got.Notes)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestAReadOnlyDirectory uses a data directory that may only be read: what is
// indexed is found, and what would write says so.
func TestAReadOnlyDirectory(t *testing.T) {
	w := newWorld(t)
	tr := newTree(t, 73)
	tr.grow(12)
	a, end := w.open(true)
	w.create(a, "main", tr.dir)
	end()
	// A user without rights, and a copy of the program that it may run.
	root := filepath.Dir(w.dir)
	bin := filepath.Join(root, "program")
	b, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(bin, b, 0o755))
	var dirs []string
	for _, top := range []string{w.dir, w.home, tr.dir} {
		must(t, filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			mode := fs.FileMode(0o444)
			if e.IsDir() {
				mode = 0o555
				dirs = append(dirs, p)
			}
			return os.Chmod(p, mode)
		}))
	}
	t.Cleanup(func() {
		for _, d := range dirs {
			os.Chmod(d, 0o700)
		}
	})
	for p := root; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		os.Chmod(p, 0o755)
	}
	os.Chmod(filepath.Dir(tr.dir), 0o755)
	run := func(args ...string) (string, int) {
		cmd := exec.Command(bin, append([]string{"--data-dir", w.dir}, args...)...)
		cmd.Dir = w.home
		unprivileged(cmd)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Skipf("no process without rights can be started here: %v", err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("search", "harbour lantern", "--stores", "main"); code != 0 || !strings.Contains(out, ":L") && !strings.Contains(out, ":") {
		t.Errorf("search: %d: %s", code, out)
	}
	if out, code := run("store:info", "main"); code != 0 || !strings.Contains(out, "12") {
		t.Errorf("store:info: %d: %s", code, out)
	}
	for _, args := range [][]string{{"store:index", "main"}, {"store:delete", "main"}, {"store:create", "other", tr.dir}} {
		if out, code := run(args...); code != 4 || !strings.Contains(out, "no permission") {
			t.Errorf("%v: %d: %s", args, code, out)
		}
	}
}

// TestTheClockIsSetBack dates all that there is a day ahead, as it looks after
// the clock was set back a day, and goes on working.
func TestTheClockIsSetBack(t *testing.T) {
	w := newWorld(t)
	tr := newTree(t, 74)
	tr.grow(15)
	a, end := w.open(false)
	w.create(a, "main", tr.dir)
	// One job is under way when the clock is set.
	tr.edit(3)
	w.suffer(faults{KillStep: 9})
	s, err := a.IndexStore(t.Context(), "main", false)
	must(t, err)
	pid := w.worker(a, s.Job, 0)
	until(t, "it died", func() bool { return pid == 0 || !alive(pid) })
	end()
	w.suffer(faults{})
	day := 24 * time.Hour
	for _, dir := range []string{w.dir, tr.dir} {
		must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			then := time.Now().Add(day)
			return os.Chtimes(p, then, then)
		}))
	}
	d, err := db.Open(t.Context(), filepath.Join(w.dir, "knowledge.db"))
	must(t, err)
	must(t, d.Write(t.Context(), func(tx *sql.Tx) error {
		for _, q := range []string{"UPDATE jobs SET created = created + ?1, updated = updated + ?1", "UPDATE stores SET created = created + ?1", "UPDATE segment_uses SET created = created + ?1"} {
			if _, err := tx.Exec(q, day.Microseconds()); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, d.Close())
	b, _ := w.open(false)
	if _, err := w.run("jobs", "--all", "--follow"); err != nil {
		t.Error(err)
	}
	if j := w.wait(b, s.Job); j.State != kb.JobCompleted {
		t.Errorf("the job that was under way: %+v", j)
	}
	for i := range 3 {
		tr.edit(2)
		tr.write("now.md", fmt.Sprintf("# Now\n\nthe ptarmigan number %d\n", i))
		s, err := b.IndexStore(t.Context(), "main", false)
		must(t, err)
		w.finish(b, s.Job)
		got, err := ask(t.Context(), b, "ptarmigan", "main")
		must(t, err)
		if len(got.Hits) == 0 || !strings.Contains(got.Hits[0].Code, fmt.Sprint("number ", i)) {
			t.Errorf("edit %d: %v", i, got)
		}
	}
	calm := newWorld(t)
	alone, _ := calm.open(true)
	calm.create(alone, "main", tr.dir)
	if want, got := calm.documents("main"), w.documents("main"); !reflect.DeepEqual(want, got) {
		t.Errorf("%d documents instead of %d", len(got), len(want))
	}
}
