package crash

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestKilledAtRandomMoments kills workers (and, while they delete, terminals)
// at random moments while they index, merge, publish and delete: some by the
// clock, some at a step of writing files. After each kill the store answers as
// before or as after the run, the job is resumed by another process, and at
// the end the index is what an undisturbed one is.
func TestKilledAtRandomMoments(t *testing.T) {
	want := 10
	if full {
		want = 200
	}
	k := newKiller(t)
	for k.kills < want {
		if k.rounds++; k.rounds > 20*want {
			t.Fatalf("only %d kills in %d rounds", k.kills, k.rounds)
		}
		switch n := k.rng.IntN(10); {
		case n == 0:
			k.round("force", func() {}, true)
		case n < 3:
			k.round("many", func() { k.tree.edit(30) }, false)
		case n < 5:
			k.deletion()
		default:
			k.round("edit", func() { k.tree.edit(1 + k.rng.IntN(3)) }, false)
		}
	}
	k.end()
}

type killer struct {
	t        *testing.T
	rng      *rand.Rand
	tree     *tree // of the store "main"
	other    *tree // of the store "other", which comes and goes
	w        *world
	calm     *world // the same without disturbance
	app, ref *app.App
	queries  []string
	now      []answer // of the store "main" as it is

	rounds, kills, byClock, late, twice, deletions, merges int
	moments                                                map[string]int
	took                                                   map[string]time.Duration
	steps                                                  map[string]int
	worst                                                  time.Duration // of a search after a kill
}

func newKiller(t *testing.T) *killer {
	k := &killer{t: t, rng: rand.New(rand.NewPCG(3, 3)), tree: newTree(t, 1), other: newTree(t, 2), w: newWorld(t), calm: newWorld(t),
		moments: map[string]int{}, took: map[string]time.Duration{}, steps: map[string]int{}}
	k.tree.grow(120)
	if full {
		k.tree.golang("sort", "text/template")
	}
	k.other.grow(40)
	k.queries = k.tree.queries(6)
	k.app, _ = k.w.open(false)
	k.ref, _ = k.calm.open(true)
	k.w.create(k.app, "main", k.tree.dir)
	k.calm.create(k.ref, "main", k.tree.dir)
	k.now = k.calm.answers(k.ref, k.queries, "main")
	return k
}

// round changes the tree, indexes it, and kills the worker, once or twice.
func (k *killer) round(what string, change func(), force bool) {
	t := k.t
	change()
	s, err := k.ref.IndexStore(t.Context(), "main", force)
	must(t, err)
	k.calm.finish(k.ref, s.Job)
	next := k.calm.answers(k.ref, k.queries, "main")

	before := k.segments()
	byStep := k.rng.IntN(2) == 0
	if byStep {
		k.w.suffer(faults{KillStep: 1 + k.rng.IntN(cmp.Or(k.steps[what], 30))})
	} else {
		// Slower in different ways, so that the clock strikes in every phase.
		k.w.suffer([]faults{{}, {EmbedDelay: time.Millisecond}, {StepDelay: 4 * time.Millisecond}}[k.rng.IntN(3)])
	}
	began := time.Now()
	s, err = k.app.IndexStore(t.Context(), "main", force)
	must(t, err)
	pid, kills := 0, 0
	for range 2 {
		if pid = k.w.worker(k.app, s.Job, pid); pid == 0 {
			break
		}
		if !k.strike(what, s.Job, pid, byStep) {
			break
		}
		kills++
		twice := kills == 1 && k.rng.IntN(3) == 0
		// Any request has the job go on. The second time it dies by the clock, as
		// a step may come in each run anew, and is slow enough for that.
		if twice {
			k.w.suffer(faults{StepDelay: 30 * time.Millisecond})
		} else {
			k.w.suffer(faults{})
		}
		k.stands(next)
		if !twice {
			break
		}
		byStep = false
		_, err := k.w.run("jobs")
		must(t, err)
	}
	k.w.suffer(faults{})
	if kills > 0 {
		k.kills += kills
		if kills == 2 {
			k.twice++
		}
		// Another process looks, and the job goes on.
		_, err := k.w.run("jobs", "--all", "--follow")
		must(t, err)
	}
	k.w.finish(k.app, s.Job)
	if kills == 0 {
		k.late++
		k.took[what] = time.Since(began)
		if b, err := os.ReadFile(stepsPath(k.w.dir)); err == nil {
			k.steps[what], _ = strconv.Atoi(string(b))
		}
	}
	k.now = next
	k.stands(next)
	if after := k.segments(); after < before {
		k.merges++
	}
}

// strike kills a worker, or lets it kill itself; false when it was faster.
func (k *killer) strike(what, job string, pid int, byStep bool) bool {
	if byStep {
		os.Remove(diedPath(k.w.dir))
		for {
			if b, err := os.ReadFile(diedPath(k.w.dir)); err == nil && len(b) > 0 {
				k.moments[string(b)]++
				return k.gone(pid)
			}
			if at, err := k.app.Job(k.t.Context(), job); err == nil && at.State.Ended() {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	most := k.took[what]
	if most == 0 {
		most = 150 * time.Millisecond
	}
	moment := time.Duration(k.rng.Int64N(int64(most)))
	time.Sleep(moment)
	if j, err := k.app.Job(k.t.Context(), job); err != nil || j.State.Ended() {
		return false
	}
	if !kill(pid) || !k.gone(pid) {
		return false
	}
	j, err := k.app.Job(k.t.Context(), job)
	must(k.t, err)
	if j.State.Ended() {
		return false
	}
	k.byClock++
	k.moments[fmt.Sprintf("%d0 %% of the run", 10*moment/most)]++
	return true
}

// gone waits until a killed process holds no lock any more.
func (k *killer) gone(pid int) bool {
	for range 2000 {
		if !alive(pid) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	k.t.Errorf("process %d does not die", pid)
	return false
}

// stands checks that the store answers, in a process that starts now and in
// one that runs since long, as it did or as it will. To ask has the job go on.
func (k *killer) stands(next []answer) {
	t := k.t
	t.Helper()
	fresh, end := k.w.open(false)
	defer end()
	for _, a := range []*app.App{fresh, k.app} {
		began := time.Now()
		got := k.w.answers(a, k.queries, "main")
		k.worst = max(k.worst, time.Since(began)/time.Duration(len(got)))
		for i := range got { // one by one: the job may be resumed and publish meanwhile
			now := got[i].settled()
			if reflect.DeepEqual(now, next[i]) {
				continue
			}
			if !reflect.DeepEqual(now, k.now[i]) {
				t.Fatalf("round %d: %q is answered neither as before nor as after:\nbefore %s\nafter  %s\nnow    %s", k.rounds, k.queries[i], k.now[i], next[i], got[i])
			}
			if got[i].late() == "" {
				t.Errorf("round %d: %q is answered as before, and it is not said that files have changed: %s", k.rounds, k.queries[i], got[i])
			}
		}
	}
}

// deletion kills the process that makes a second store, then the one that deletes it.
func (k *killer) deletion() {
	t := k.t
	k.w.suffer(faults{KillStep: 1 + k.rng.IntN(20)})
	s, err := k.app.CreateStore(t.Context(), app.CreateStore{Name: "other", Kind: kb.KindFolder, Source: k.other.dir})
	must(t, err)
	if pid := k.w.worker(k.app, s.Job, 0); pid != 0 && k.strike("first", s.Job, pid, true) {
		k.kills++
		k.stands(k.now)
	}
	k.w.suffer(faults{})
	if k.rng.IntN(2) == 0 {
		k.w.finish(k.app, s.Job)
	} // else its job is under way when it is deleted
	most := k.took["delete"]
	if most == 0 {
		most = 200 * time.Millisecond
	}
	began := time.Now()
	cmd := k.w.command("store:delete", "other")
	must(t, cmd.Start())
	time.Sleep(time.Duration(k.rng.Int64N(int64(most))))
	cmd.Process.Kill()
	if err := cmd.Wait(); err == nil {
		k.took["delete"] = time.Since(began)
	} else {
		k.kills++
		k.deletions++
		k.stands(k.now)
	}
	// The next process ends what was begun.
	if _, err := k.w.run("store:delete", "other"); err != nil && !strings.Contains(err.Error(), "no store") {
		t.Fatal(err)
	}
	_, err = k.w.run("jobs", "--all", "--follow")
	must(t, err)
	k.stands(k.now)
}

func (k *killer) segments() int {
	list, err := filepath.Glob(filepath.Join(k.w.dir, "segments", "*.seg"))
	must(k.t, err)
	return len(list)
}

// end compares the survivor with an index made at once from the same folder.
func (k *killer) end() {
	t := k.t
	k.w.ageUnfinished()
	k.tree.edit(2)
	s, err := k.app.IndexStore(t.Context(), "main", false)
	must(t, err)
	k.w.finish(k.app, s.Job)

	fresh := newWorld(t)
	a, _ := fresh.open(true)
	fresh.create(a, "main", k.tree.dir)
	want, got := fresh.documents("main"), k.w.documents("main")
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the index differs from an undisturbed one:\n%.4000s", diff)
	}
	if list := k.tree.files(); len(list) != len(got) {
		t.Errorf("%d documents of %d files", len(got), len(list))
	}
	queries := k.tree.queries(40)
	if full {
		queries = k.tree.queries(100)
	}
	expect, have := fresh.answers(a, queries, "main"), k.w.answers(k.app, queries, "main")
	for i := range queries {
		if diff := gocmp.Diff(expect[i], have[i]); diff != "" {
			t.Errorf("search %q:\n%.2000s", queries[i], diff)
		}
	}
	jobs, err := k.app.Jobs(t.Context(), app.JobFilter{Active: true, All: true})
	must(t, err)
	if len(jobs.Jobs) > 0 {
		t.Errorf("jobs have not ended: %+v", jobs.Jobs)
	}
	k.w.noGarbage()
	k.w.noComplaints()
	var at []string
	for m, n := range k.moments {
		at = append(at, fmt.Sprintf("%s %d", m, n))
	}
	slices.Sort(at)
	t.Logf("%d kills in %d rounds (%d by the clock, %d while deleting, %d twice in a row; %d came too late), %d merges; worst search after a kill %v; at: %s",
		k.kills, k.rounds, k.byClock, k.deletions, k.twice, k.late, k.merges, k.worst, strings.Join(at, ", "))
}
