package crash

import (
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
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// checkOld says whether an answer from an older view is true: a declaration
// is where it is now, calls out of changed files are left out or
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
	edits := 4
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
	flips := 24
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
			r, err := find.Search(t.Context(), a, search.Request{Query: name, Intent: []string{"", "find-usage", "find-definition"}[i], Detail: "contextual", Limit: 5}, app.Scope{Stores: []string{"main"}})
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
	jobs, err := a.Jobs(t.Context(), app.JobFilter{All: true})
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
	now, err := a.Jobs(t.Context(), app.JobFilter{All: true})
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
	for i := range 3 {
		w.suffer(faults{LinkAtOnce: large, ViewDelay: 20 * time.Millisecond})
		w.create(a, "other", c.dir)
		if i > 0 { // while it is linked
			time.Sleep(time.Duration(i*i*12) * time.Millisecond)
		} else {
			_, err := w.run("jobs", "--all", "--follow")
			must(t, err)
		}
		_, err := a.DeleteStore(t.Context(), "other", false)
		must(t, err)
		_, err = w.run("jobs", "--all", "--follow")
		must(t, err)
		// A young view may be about to be named: it goes with the next sweep.
		old := time.Now().Add(-2 * time.Hour)
		for _, f := range w.views() {
			if !slices.Contains(before, f) {
				age(t, f, old)
			}
		}
		kept.change(1)
		w.update(a)
		w.checkCalls(a, kept.truth(), kept.some(kept.truth(), 2))
		w.update(a)
		for _, f := range before {
			if strings.HasSuffix(f, ".view") {
				if _, err := os.Stat(f); err == nil {
					age(t, f, old)
				}
			}
		}
		w.update(a)
		if after := w.views(); len(after) != 2 {
			t.Errorf("deleted, try %d: %v", i, after)
		}
		before = w.views()
		list, err := a.Jobs(t.Context(), app.JobFilter{All: true})
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
			gone(t, os.Remove(f))
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
			var r code.CodeReply
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
		var r code.CodeReply
		must(t, s.execute("code:callers", map[string]any{"symbol": name, "stores": []string{"main"}}, &r))
		if got := knownOf(r); fmt.Sprint(got.Calls) != fmt.Sprint(truth[name].Calls) || !stands(got.At, truth[name].At) {
			t.Errorf("in the end callers of %s: %v instead of %v", name, got, *truth[name])
		}
	}
	must(t, s.end())
	t.Logf("%d edits, %d answers", edits, answers)
}
