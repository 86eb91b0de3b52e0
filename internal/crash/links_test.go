package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/db"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// large makes every store a large one: it is linked by a job of its own.
const large = 1

// TestKilledWhileLinking kills who resolves references: the job that indexed a
// small store, and the link job of a large one, at steps of writing the view
// and by the clock. The store is searched as it stands, the references are
// those of the files in the end, and nothing is left over.
func TestKilledWhileLinking(t *testing.T) {
	rounds := 3
	if full {
		rounds = 40
	}
	for name, atOnce := range map[string]int64{"small": 0, "large": large} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.linkAtOnce = atOnce
			c := newCalling(t, 80, 15)
			rng := rand.New(rand.NewPCG(8, uint64(atOnce)))
			a, _ := w.open(false)
			w.suffer(faults{LinkAtOnce: atOnce})
			w.create(a, "main", c.dir)
			w.checkCalls(a, c.truth(), c.some(c.truth(), 3))
			kills, byClock, tries := 0, 0, 0
			moments := map[string]int{}
			for kills < rounds {
				if tries++; tries > 20*rounds {
					t.Fatalf("only %d kills in %d rounds", kills, tries)
				}
				c.change(1 + c.n/4)
				queries := c.some(c.truth(), 3)
				byStep := rng.IntN(3) > 0
				f := faults{LinkAtOnce: atOnce, ViewDelay: 3 * time.Millisecond}
				if byStep {
					f.KillView = 1 + rng.IntN(16)
				}
				os.Remove(diedPath(w.dir))
				w.suffer(f)
				s, err := a.IndexStore(t.Context(), "main", false)
				must(t, err)
				id := s.Job
				if atOnce == large {
					w.wait(a, id)
					if _, err := a.Code(t.Context(), codeRequest(queries[0], time.Nanosecond)); err != nil {
						t.Fatal(err) // it asks for the link, and does not wait
					}
					if j, ok := w.linkJob(a); ok {
						id = j.ID
					}
				}
				pid := w.worker(a, id, 0)
				if pid == 0 {
					continue
				}
				struck := false
				if byStep {
					for {
						if b, err := os.ReadFile(diedPath(w.dir)); err == nil && len(b) > 0 {
							moments[string(b)]++
							struck = true
							break
						}
						if j, err := a.Job(t.Context(), id); err == nil && j.State.Ended() {
							break
						}
						time.Sleep(time.Millisecond)
					}
				} else {
					time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
					if j, err := a.Job(t.Context(), id); err == nil && !j.State.Ended() && kill(pid) {
						struck = true
						byClock++
					}
				}
				w.suffer(faults{LinkAtOnce: atOnce})
				if struck {
					kills++
					until(t, "it died", func() bool { return !alive(pid) || byStep })
				}
				fresh, end := w.open(false)
				for _, b := range []*app.App{fresh, a} { // searched meanwhile, as it stands
					for _, q := range queries {
						if got, err := ask(t.Context(), b, q, "main"); err != nil || len(got.Hits) == 0 || len(got.Notes) > 0 {
							t.Errorf("search %q: %v, %v", q, got, err)
						}
					}
				}
				end()
				_, err = w.run("jobs", "--follow")
				must(t, err)
				if j := w.wait(a, id); j.State != kb.JobCompleted {
					t.Errorf("the job: %+v", j)
				}
				w.checkCalls(a, c.truth(), queries)
			}
			old := time.Now().Add(-2 * time.Hour)
			for _, f := range w.views() {
				if strings.HasPrefix(filepath.Base(f), ".tmp-") || strings.HasSuffix(f, ".view") {
					must(t, os.Chtimes(f, old, old))
				}
			}
			c.change(20) // more than a few, so that a large store is linked again
			w.update(a)
			_, err := w.run("jobs", "--follow")
			must(t, err)
			truth := c.truth()
			w.checkCalls(a, truth, c.some(truth, 12))
			w.update(a) // sweeps
			if v := w.views(); len(v) > 3 {
				t.Errorf("left: %v", v)
			}
			for _, v := range w.views() {
				if strings.HasPrefix(filepath.Base(v), ".tmp-") {
					t.Errorf("left: %v", v)
				}
			}
			w.noGarbage()
			w.noComplaints()
			t.Logf("%d kills in %d rounds, %d by the clock; at: %v", kills, tries, byClock, moments)
		})
	}
}

// TestLinkingThatKillsItsWorkerIsGivenUp has every worker die at the view: the
// index is live and searched, the link job fails after three deaths, the
// answer says why, and once the cause is gone the references come.
func TestLinkingThatKillsItsWorkerIsGivenUp(t *testing.T) {
	w := newWorld(t)
	c := newCalling(t, 81, 4)
	w.suffer(faults{KillView: 2})
	a, _ := w.open(false)
	job := w.begin(a, "main", c.dir)
	if j := w.finish(a, job); j.Deaths != 1 {
		t.Errorf("the index job: %+v", j)
	}
	name := c.some(c.truth(), 2)[0]
	_, notes, err := callers(w, a, name)
	if err != nil || !strings.Contains(strings.Join(notes, ";"), "worker.log") {
		t.Errorf("callers: %v, %v", notes, err)
	}
	if j, ok := w.linkJob(a); !ok || j.State != kb.JobFailed || j.Deaths != 3 || j.Hint == "" {
		t.Errorf("the link job: %+v", j)
	}
	if got, err := ask(t.Context(), a, name, "main"); err != nil || len(got.Hits) == 0 {
		t.Errorf("search: %v, %v", got, err)
	}
	w.suffer(faults{})
	truth := c.truth()
	w.checkCalls(a, truth, c.some(truth, 5))
}

// TestAStepOfWritingAViewFails makes each step of writing a view fail: the
// index is made all the same, who asks is told the cause, what references the
// view of before has are served, and the next link completes.
func TestAStepOfWritingAViewFails(t *testing.T) {
	w := newWorld(t)
	c := newCalling(t, 82, 6)
	a, _ := w.open(false)
	w.create(a, "main", c.dir)
	for i, op := range []atomicfile.Op{atomicfile.OpCreate, atomicfile.OpWrite, atomicfile.OpSync, atomicfile.OpClose, atomicfile.OpRename, atomicfile.OpSyncDir} {
		noSpace := i%2 == 0
		before := c.truth()
		changed := c.change(2)
		after := c.truth()
		w.suffer(faults{FailView: op, FailFull: noSpace})
		what := errInjected.Error()
		if noSpace {
			what = "no space left"
		}
		if j := w.update(a); !strings.Contains(fmt.Sprint(j.Details["links"]), what) {
			t.Errorf("%s: the job does not say it: %+v", op, j)
		}
		names := c.some(after, 4)
		for _, name := range names {
			got, notes, err := callers(w, a, name)
			// A view whose folder cannot be synced is there, and may be used.
			if err != nil || !strings.Contains(strings.Join(notes, ";"), what) && op != atomicfile.OpSyncDir {
				t.Errorf("%s: callers of %s: %v, %v", op, name, notes, err)
			}
			checkOld(t, name, got, before[name], after[name], changed)
		}
		if got, err := ask(t.Context(), a, names[0], "main"); err != nil || len(got.Hits) == 0 {
			t.Errorf("%s: search: %v, %v", op, got, err)
		}
		w.suffer(faults{})
		w.checkCalls(a, after, names)
	}
}

// checkOld says whether an answer from an older view is true: a declaration
// stands where it stands now, calls out of changed files are left out or
// those of now, and all others are there.
func checkOld(t *testing.T, name string, got known, before, after *known, changed []string) {
	t.Helper()
	if after == nil {
		if got.At != "" {
			t.Errorf("%s is shown at %s and is gone", name, got.At)
		}
		return
	}
	if !stands(got.At, after.At) {
		t.Errorf("%s stands at %s and is shown at %q", name, after.At, got.At)
	}
	for _, at := range got.Calls {
		if !slices.Contains(after.Calls, at) {
			t.Errorf("%s is not called at %s: %v", name, at, after.Calls)
		}
	}
	for _, at := range after.Calls {
		path, _, _ := strings.Cut(at, ":")
		if before != nil && slices.Contains(before.Calls, at) && !slices.Contains(changed, path) && !slices.Contains(got.Calls, at) {
			t.Errorf("the call of %s at %s is missing: %v", name, at, got.Calls)
		}
	}
}

// TestAnOldViewStaysTrue edits a store again and again while no view can be
// written: what the old one says is true of the files as they are now.
func TestAnOldViewStaysTrue(t *testing.T) {
	edits := 5
	if full {
		edits = 60
	}
	w := newWorld(t)
	c := newCalling(t, 83, 30)
	a, _ := w.open(false)
	w.create(a, "main", c.dir)
	before := c.truth()
	w.suffer(faults{FailView: atomicfile.OpCreate})
	var changed []string
	asked := 0
	for i := range edits {
		changed = append(changed, c.change(1+i%3)...)
		if i%5 == 4 { // a file goes, and what called it calls nothing
			n := 2*c.n - 1 - i/5
			must(t, os.Remove(filepath.Join(c.dir, filepath.FromSlash(c.path(n)))))
			c.pads[n], changed = 0, append(changed, c.path(n))
		}
		w.update(a)
		after := c.truth()
		for _, name := range c.some(before, 8) {
			got, _, err := callers(w, a, name)
			if err != nil && !(kb.CodeOf(err) == kb.NotFound && (after[name] == nil || after[name].At == "")) {
				t.Errorf("edit %d: callers of %s: %v", i, name, err)
				continue
			}
			if err == nil {
				if k := after[name]; k != nil && k.At == "" {
					after[name] = nil
				}
				checkOld(t, name, got, before[name], after[name], changed)
				asked++
			}
		}
	}
	t.Logf("%d edits, %d of %d files changed, %d answers", edits, len(slices.Compact(slices.Sorted(slices.Values(changed)))), 2*c.n, asked)
}

// TestADamagedView flips bits in views, their stamps, and cuts them short:
// what is answered equals what the whole view answers, at once or after a
// relink, and the store is neither left out nor indexed again.
func TestADamagedView(t *testing.T) {
	flips := 40
	if full {
		flips = 1000
	}
	w := newWorld(t)
	c := newCalling(t, 84, 12)
	a, end := w.open(true)
	w.create(a, "main", c.dir)
	truth := c.truth()
	names := c.some(truth, 4)
	hits := func(a *app.App) string {
		var b strings.Builder
		for i, name := range names[:3] {
			r, err := a.Search(t.Context(), app.SearchRequest{Query: name, Intent: []string{"", "find-usage", "find-definition"}[i], Stores: []string{"main"}, Detail: "contextual", Limit: 5})
			must(t, err)
			for _, h := range r.Hits {
				fmt.Fprint(&b, h.ID, h.At, h.Score, h.Why, h.Related, "\n")
			}
			if len(r.Notes) > 0 {
				fmt.Fprint(&b, r.Notes)
			}
		}
		return b.String()
	}
	w.checkCalls(a, truth, names)
	want := hits(a)
	jobs, err := a.Jobs(t.Context(), "", false)
	must(t, err)
	end()
	pristine := map[string][]byte{}
	var files []string
	for _, f := range w.views() {
		b, err := os.ReadFile(f)
		must(t, err)
		pristine[f] = b
		files = append(files, f)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	outcomes := map[string]int{}
	for i := range flips {
		file := files[i%len(files)]
		if i%4 > 0 { // views mostly
			file = files[slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix(f, ".view") })]
		}
		for f, b := range pristine {
			must(t, os.WriteFile(f, b, 0o600))
		}
		b := slices.Clone(pristine[file])
		at := rng.IntN(len(b))
		what := fmt.Sprintf("bit flipped in byte %d of %d of a %s", at, len(b), filepath.Ext(file))
		if i%10 == 9 {
			b, what = b[:at], fmt.Sprintf("%s cut at %d of %d", filepath.Ext(file), at, len(b))
		} else {
			b[at] ^= 1 << rng.IntN(8)
		}
		must(t, os.WriteFile(file, b, 0o600))
		a, end := w.open(true)
		got := hits(a)
		switch {
		case got == want:
			outcomes["search unmoved"]++
		case strings.Contains(got, "made anew"):
			outcomes["search says so"]++
		case filepath.Ext(file) == ".now":
			// The stamp of another state, or of none yet: as before the first link.
			outcomes["search without references"]++
		default:
			t.Errorf("%s: a search finds\n%s\ninstead of\n%s", what, got, want)
		}
		if strings.Contains(got, "left out") {
			t.Errorf("%s: the store is left out: %s", what, got)
		}
		failed := t.Failed()
		w.checkCalls(a, truth, names)
		if t.Failed() && !failed {
			t.Log(what)
		}
		if again := hits(a); again != want {
			t.Errorf("%s: after the relink a search finds\n%s\ninstead of\n%s", what, again, want)
		}
		end()
	}
	a, _ = w.open(true)
	now, err := a.Jobs(t.Context(), "", false)
	must(t, err)
	for _, j := range now.Jobs {
		if j.Type == "index" && !slices.ContainsFunc(jobs.Jobs, func(k kb.Job) bool { return k.ID == j.ID }) {
			t.Errorf("the store was indexed again: %+v", j)
		}
	}
	t.Logf("%d flips and cuts: %v", flips, outcomes)
}

// TestAViewThatIsGoneIsMadeAgain deletes views, stamps and their folder.
func TestAViewThatIsGoneIsMadeAgain(t *testing.T) {
	for _, atOnce := range []int64{0, large} {
		w := newWorld(t)
		w.linkAtOnce = atOnce
		w.suffer(faults{LinkAtOnce: atOnce})
		c := newCalling(t, 85, 5)
		a, _ := w.open(false)
		w.create(a, "main", c.dir)
		truth := c.truth()
		names := c.some(truth, 3)
		w.checkCalls(a, truth, names)
		for _, gone := range []string{"*.view", "*.now", "*", "."} {
			list, err := filepath.Glob(filepath.Join(w.dir, "views", gone))
			must(t, err)
			for _, f := range list {
				must(t, os.RemoveAll(f))
			}
			w.checkCalls(a, truth, names)
			stdout, err := w.run("--json", "code:callers", names[0], "--stores", "main")
			if err != nil || !strings.Contains(stdout, truth[names[0]].Calls[0]) {
				t.Errorf("without %s: %s, %v", gone, stdout, err)
			}
		}
	}
}

// TestTheViewOfADeletedStoreGoes deletes stores when they are linked, and
// while they are: their views go, those of others stay.
func TestTheViewOfADeletedStoreGoes(t *testing.T) {
	w := newWorld(t)
	w.linkAtOnce = large
	w.suffer(faults{LinkAtOnce: large})
	kept, c := newCalling(t, 86, 4), newCalling(t, 87, 30)
	a, _ := w.open(false)
	w.create(a, "main", kept.dir)
	w.checkCalls(a, kept.truth(), kept.some(kept.truth(), 3))
	before := w.views()
	for i := range 4 {
		w.suffer(faults{LinkAtOnce: large, ViewDelay: 20 * time.Millisecond})
		w.create(a, "other", c.dir)
		if i > 0 { // while it is linked
			time.Sleep(time.Duration(i*i*12) * time.Millisecond)
		} else {
			_, err := w.run("jobs", "--follow")
			must(t, err)
		}
		_, err := a.DeleteStore(t.Context(), "other", false)
		must(t, err)
		_, err = w.run("jobs", "--follow")
		must(t, err)
		// A young view may be about to be named: it goes with the next sweep.
		old := time.Now().Add(-2 * time.Hour)
		for _, f := range w.views() {
			if !slices.Contains(before, f) {
				must(t, os.Chtimes(f, old, old))
			}
		}
		kept.change(1)
		w.update(a)
		w.checkCalls(a, kept.truth(), kept.some(kept.truth(), 2))
		w.update(a)
		for _, f := range before {
			if strings.HasSuffix(f, ".view") {
				must(t, os.Chtimes(filepath.Dir(f), old, old))
				if _, err := os.Stat(f); err == nil {
					must(t, os.Chtimes(f, old, old))
				}
			}
		}
		w.update(a)
		if after := w.views(); len(after) != 2 {
			t.Errorf("deleted, try %d: %v", i, after)
		}
		before = w.views()
		list, err := a.Jobs(t.Context(), "", false)
		must(t, err)
		for _, j := range list.Jobs {
			if !j.State.Ended() || j.State == kb.JobFailed {
				t.Errorf("job %+v", j)
			}
		}
	}
}

// TestTwoLinkOneStore has several processes resolve the references of one
// store at once, as a job and in themselves.
func TestTwoLinkOneStore(t *testing.T) {
	w := newWorld(t)
	w.linkAtOnce = large
	c := newCalling(t, 88, 20)
	first, _ := w.open(false)
	w.suffer(faults{LinkAtOnce: large})
	w.create(first, "main", c.dir)
	truth := c.truth()
	names := c.some(truth, 3)
	rounds := 2
	if full {
		rounds = 20
	}
	for range rounds {
		for _, f := range w.views() {
			must(t, os.Remove(f))
		}
		w.suffer(faults{LinkAtOnce: large, ViewDelay: 2 * time.Millisecond})
		var wg sync.WaitGroup
		for i := range 3 {
			a, _ := w.open(i == 0) // one links in itself
			wg.Go(func() { w.checkCalls(a, truth, names) })
		}
		for range 2 { // and whole programs
			wg.Go(func() {
				if stdout, err := w.run("--json", "code:callers", names[0], "--stores", "main"); err != nil || !strings.Contains(stdout, truth[names[0]].Calls[0]) {
					t.Errorf("%s, %v", stdout, err)
				}
			})
		}
		wg.Wait()
		if v := w.views(); len(v) != 2 {
			t.Errorf("views: %v", v)
		}
	}
	w.noComplaints()
}

// TestAViewIsReplacedUnderItsReader has a server answer while the store is
// edited, indexed and linked by others: an answer is that of the files at one
// of the generations, or leaves out what has changed since it was linked.
func TestAViewIsReplacedUnderItsReader(t *testing.T) {
	edits := 4
	if full {
		edits = 40
	}
	w := newWorld(t)
	c := newCalling(t, 89, 15)
	a, _ := w.open(false)
	w.create(a, "main", c.dir)
	s, err := w.serve()
	must(t, err)
	var mu sync.Mutex
	ever := map[string]map[string]bool{} // what was ever true of a name
	note := func() {
		mu.Lock()
		defer mu.Unlock()
		for name, k := range c.truth() {
			if ever[name] == nil {
				ever[name] = map[string]bool{}
			}
			for _, at := range append(slices.Clone(k.Calls), k.At) {
				ever[name][at] = true
			}
		}
	}
	note()
	names := c.some(c.truth(), 8)
	done := make(chan struct{})
	var wg sync.WaitGroup
	answers := 0
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			name := names[i%len(names)]
			var r app.CodeReply
			if err := s.execute("code:callers", map[string]any{"symbol": name, "stores": []string{"main"}}, &r); err != nil {
				t.Errorf("callers of %s: %v", name, err)
				return
			}
			answers++
			got := knownOf(r)
			mu.Lock()
			for _, at := range got.Calls {
				if !ever[name][at] {
					t.Errorf("%s was never at %s", name, at)
				}
			}
			mu.Unlock()
			for _, u := range r.Uses {
				if !strings.Contains(u.Code, name+"(") || strings.HasPrefix(u.Code, "func") {
					t.Errorf("%s is not called in %q", name, u.Code)
				}
			}
		}
	})
	for range edits {
		c.change(3)
		note()
		w.update(a)
	}
	close(done)
	wg.Wait()
	truth := c.truth()
	for _, name := range names {
		var r app.CodeReply
		must(t, s.execute("code:callers", map[string]any{"symbol": name, "stores": []string{"main"}}, &r))
		if got := knownOf(r); fmt.Sprint(got.Calls) != fmt.Sprint(truth[name].Calls) || !stands(got.At, truth[name].At) {
			t.Errorf("in the end callers of %s: %v instead of %v", name, got, *truth[name])
		}
	}
	must(t, s.end())
	t.Logf("%d edits, %d answers", edits, answers)
}

// TestCancelWhileLinking cancels link jobs while they check packages and
// while they write.
func TestCancelWhileLinking(t *testing.T) {
	const generous = 5 * time.Second // a shared machine; the promise is a second
	tries := 4
	if full {
		tries = 20
	}
	tr := newTree(t, 90)
	tr.write("go/go.mod", "module example.org/big\n\ngo 1.22\n")
	tr.golang("go/types", "go/ast", "go/token", "text/template")
	c := newCalling(t, 91, 60)
	must(t, os.CopyFS(filepath.Join(tr.dir, "calling"), os.DirFS(c.dir)))
	w := newWorld(t)
	w.linkAtOnce = large
	a, _ := w.open(false)
	w.suffer(faults{LinkAtOnce: large, FailView: atomicfile.OpCreate})
	w.create(a, "main", tr.dir)
	_, err := w.run("jobs", "--follow")
	must(t, err)
	var worst time.Duration
	late := 0
	for n := range tries {
		f := faults{LinkAtOnce: large}
		if n%2 == 1 {
			f.ViewDelay = 100 * time.Millisecond
		}
		w.suffer(f)
		for _, v := range w.views() {
			must(t, os.Remove(v))
		}
		if _, err := a.Code(t.Context(), codeRequest(c.name(0, 0), time.Nanosecond)); err != nil {
			t.Fatal(err)
		}
		j, ok := w.linkJob(a)
		if !ok {
			t.Fatal("there is no link job")
		}
		pid := w.worker(a, j.ID, 0)
		if f.ViewDelay > 0 {
			until(t, "it writes", func() bool {
				j, err := a.Job(t.Context(), j.ID)
				return err != nil || j.State.Ended() || len(w.views()) > 0
			})
		}
		time.Sleep(time.Duration(n/2) * 150 * time.Millisecond)
		began := time.Now()
		if _, err := a.CancelJob(t.Context(), j.ID); kb.CodeOf(err) == kb.Invalid && err != nil {
			late++
			continue
		} else {
			must(t, err)
		}
		if j = w.wait(a, j.ID); j.State == kb.JobCompleted {
			late++
			continue
		}
		until(t, "the worker is gone", func() bool { return pid == 0 || !alive(pid) })
		took := time.Since(began)
		worst = max(worst, took)
		if j.State != kb.JobCancelled || took > generous {
			t.Errorf("%s after %v: %+v", j.State, took, j)
		}
		if v := w.views(); len(v) > 0 {
			t.Errorf("left: %v", v)
		}
	}
	if late == tries {
		t.Error("every run was faster than its cancelling")
	}
	t.Logf("worst of %d: %v", tries-late, worst)
	w.noComplaints()
}

// TestAnOldVersionMeetsALinkJob has a program that knows no link jobs look
// after one whose worker died: it sees it, leaves it, and says why it does not
// go on with it; its own jobs run; the present version does the rest.
func TestAnOldVersionMeetsALinkJob(t *testing.T) {
	w := newWorld(t)
	w.linkAtOnce = large
	c := newCalling(t, 92, 4)
	a, end := w.open(false)
	w.suffer(faults{LinkAtOnce: large, KillView: 1})
	w.create(a, "main", c.dir)
	var j kb.Job
	until(t, "the worker dies at the link job", func() bool {
		var ok bool
		b, _ := os.ReadFile(diedPath(w.dir))
		j, ok = w.linkJobRow()
		return ok && len(b) > 0
	})
	end()
	w.suffer(faults{LinkAtOnce: large})

	d, err := db.Open(t.Context(), filepath.Join(w.dir, "knowledge.db"))
	must(t, err)
	ran := make(chan struct{}, 1)
	old := job.New(job.Config{DB: d, Dir: filepath.Join(w.dir, "jobs"), Env: noEnv, Handlers: map[string]job.Handler{
		"index": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
			ran <- struct{}{}
			return "indexed", nil, nil
		}}})
	until(t, "the locks are free", func() bool {
		now, err := old.Get(t.Context(), j.ID)
		return err == nil && now.State == kb.JobInterrupted
	})
	resumed, err := old.Resume(t.Context())
	if err != nil || len(resumed) > 0 {
		t.Errorf("resumed %v, %v", resumed, err)
	}
	list, err := old.List(t.Context(), "", true)
	if err != nil || len(list) != 1 || list[0].ID != j.ID {
		t.Errorf("list %v, %v", list, err)
	}
	if _, err := old.Wait(t.Context(), j.ID, nil); kb.CodeOf(err) != kb.Unsupported || !strings.Contains(err.Error(), "version") || !strings.Contains(kb.HintOf(err), "newer") {
		t.Errorf("wait: %v (%s)", err, kb.HintOf(err))
	}
	mine, err := old.Submit(t.Context(), job.Request{Type: "index", Store: "elsewhere"})
	must(t, err)
	if mine, err = old.Wait(t.Context(), mine.ID, nil); err != nil || mine.State != kb.JobCompleted || len(ran) != 1 {
		t.Errorf("its own job: %+v, %v", mine, err)
	}
	must(t, old.Close(t.Context()))
	must(t, d.Close())

	b, _ := w.open(false)
	_, err = w.run("jobs", "--follow")
	must(t, err)
	if now := w.wait(b, j.ID); now.State != kb.JobCompleted || now.Deaths != 1 {
		t.Errorf("in the end: %+v", now)
	}
	w.checkCalls(b, c.truth(), c.some(c.truth(), 3))
}
