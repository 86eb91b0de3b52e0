package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// large makes every store a large one: it is linked by a job of its own.
const large = 1

// TestKilledWhileLinking kills what resolves references: the job that indexed a
// small store, and the link job of a large one, at steps of writing the view
// and by the clock. The store is searched as it is, the references are
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
				f := faults{LinkAtOnce: atOnce, ViewDelay: 3 * time.Millisecond, KillOnce: true}
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
					if _, err := code.Ask(t.Context(), a, codeRequest(queries[0], time.Nanosecond)); err != nil {
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
				for _, b := range []*app.App{fresh, a} { // searched meanwhile, as it is
					for _, q := range queries {
						if got, err := ask(t.Context(), b, q, "main"); err != nil || len(got.Hits) == 0 || len(got.settled().Notes) > 0 {
							t.Errorf("search %q: %v, %v", q, got, err)
						}
					}
				}
				end()
				_, err = w.run("jobs", "--all", "--follow")
				must(t, err)
				if j := w.wait(a, id); j.State != kb.JobCompleted {
					t.Errorf("the job: %+v", j)
				}
				w.checkCalls(a, c.truth(), queries)
			}
			// The job of a small store may have died at its segments, too.
			w.ageUnfinished()
			c.change(20) // more than a few, so that a large store is linked again
			w.update(a)
			_, err := w.run("jobs", "--all", "--follow")
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
// index is made all the same, replies name the cause, what references the
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

// TestCancelWhileLinking cancels link jobs while they check packages and
// while they write, each a little later than the one before. A job that was
// quicker is cancelled sooner the next time, so that the speed of the machine
// does not matter.
func TestCancelWhileLinking(t *testing.T) {
	const generous = 5 * time.Second // a shared machine; the promise is a second
	tries := 2
	if full {
		tries = 20
	}
	tr := newTree(t, 90)
	tr.write("go/go.mod", "module example.org/big\n\ngo 1.22\n")
	tr.golang("go/types", "go/ast", "go/token")
	c := newCalling(t, 91, 60)
	must(t, os.CopyFS(filepath.Join(tr.dir, "calling"), os.DirFS(c.dir)))
	w := newWorld(t)
	w.linkAtOnce = large
	a, _ := w.open(false)
	w.suffer(faults{LinkAtOnce: large, FailView: atomicfile.OpCreate})
	w.create(a, "main", tr.dir)
	_, err := w.run("jobs", "--all", "--follow")
	must(t, err)
	var worst time.Duration
	var waits [2]time.Duration // before a job is cancelled that checks, and one that writes
	late := 0
	for n := 0; n < tries; {
		f, wait := faults{LinkAtOnce: large}, &waits[n%2]
		if n%2 == 1 {
			f.ViewDelay = 300 * time.Millisecond
		}
		took, ended := w.cancelLink(a, c.name(0, 0), f, *wait)
		if ended {
			if late++; late > 2*tries+6 {
				t.Fatalf("%d runs went on to their end, %d were cancelled", late, n)
			}
			*wait /= 2
			continue
		}
		worst = max(worst, took)
		if took > generous {
			t.Errorf("cancelled after %v", took)
		}
		if v := w.views(); len(v) > 0 {
			t.Errorf("left: %v", v)
		}
		*wait += 150 * time.Millisecond
		n++
	}
	t.Logf("worst of %d: %v; %d ended before", tries, worst, late)
	w.noComplaints()
}

// cancelLink has a link job begin, cancels it after a while, counted from its
// first writing where that is delayed, and returns how long that took; ended
// says that the job was complete before.
func (w *world) cancelLink(a *app.App, symbol string, f faults, after time.Duration) (took time.Duration, ended bool) {
	t := w.t
	t.Helper()
	w.suffer(f)
	for _, v := range w.views() {
		must(t, os.Remove(v))
	}
	if _, err := code.Ask(t.Context(), a, codeRequest(symbol, time.Nanosecond)); err != nil {
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
	time.Sleep(after)
	began := time.Now()
	if _, err := a.CancelJob(t.Context(), j.ID); err != nil {
		if kb.CodeOf(err) == kb.Invalid {
			return 0, true
		}
		t.Fatal(err)
	}
	if j = w.wait(a, j.ID); j.State == kb.JobCompleted {
		return 0, true
	}
	until(t, "the worker is gone", func() bool { return pid == 0 || !alive(pid) })
	if j.State != kb.JobCancelled {
		t.Errorf("%s: %+v", j.State, j)
	}
	return time.Since(began), false
}

// TestAnOldVersionMeetsALinkJob has a program that knows no link jobs look
// after one whose worker died: it sees it, leaves it, and says why it does not
// go on with it; its own jobs run; the present version does the rest.
func TestAnOldVersionMeetsALinkJob(t *testing.T) {
	w := newWorld(t)
	w.linkAtOnce = large
	c := newCalling(t, 92, 4)
	a, end := w.open(false)
	w.suffer(faults{LinkAtOnce: large, KillView: 1, KillOnce: true})
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
	var seen kb.Job
	until(t, "the locks are free", func() bool {
		var err error
		seen, err = old.Get(t.Context(), j.ID)
		return err == nil && (seen.State == kb.JobInterrupted || seen.State.Ended())
	})
	if seen.State.Ended() {
		must(t, old.Close(t.Context()))
		must(t, d.Close())
		t.Skip("the worker of the index job went on with it before the old version looked")
	}
	resumed, err := old.Resume(t.Context())
	if err != nil || len(resumed) > 0 {
		t.Errorf("resumed %v, %v", resumed, err)
	}
	list, err := old.List(t.Context(), "", true)
	if err != nil || len(list) != 1 || list[0].ID != j.ID {
		t.Errorf("list %v, %v", list, err)
	}
	met, err := old.Wait(t.Context(), j.ID, nil)
	if err == nil && met.State == kb.JobCompleted {
		must(t, old.Close(t.Context()))
		must(t, d.Close())
		t.Skip("the worker of the index job went on with it before the old version looked")
	}
	if kb.CodeOf(err) != kb.Unsupported || !strings.Contains(err.Error(), "version") || !strings.Contains(kb.HintOf(err), "newer") {
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
	_, err = w.run("jobs", "--all", "--follow")
	must(t, err)
	if now := w.wait(b, j.ID); now.State != kb.JobCompleted || now.Deaths == 0 { // the worker of the index job may have tried it too
		t.Errorf("in the end: %+v", now)
	}
	w.checkCalls(b, c.truth(), c.some(c.truth(), 3))
}
