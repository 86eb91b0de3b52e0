package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func (w *world) embedded() int {
	info, err := os.Stat(embeddedPath(w.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	must(w.t, err)
	return int(info.Size())
}

// begin starts indexing a new store and returns its job.
func (w *world) begin(a *app.App, name, src string) string {
	w.t.Helper()
	s, err := a.CreateStore(w.t.Context(), app.CreateStore{Name: name, Kind: kb.KindFolder, Source: src})
	must(w.t, err)
	return s.Job
}

// until waits for a condition that another process brings about.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// TestLittleIsEmbeddedAgain kills a worker when nine tenths are embedded by a
// slow provider: the run that resumes embeds at most a twentieth of them again.
func TestLittleIsEmbeddedAgain(t *testing.T) {
	tr := newTree(t, 20)
	tr.grow(150)
	w := newWorld(t)
	// In full a minute of a provider's time and the product's own bound.
	f := faults{EmbedDelay: 3 * time.Millisecond, EmbedAtOnce: 30 * time.Millisecond}
	if full {
		f = faults{EmbedDelay: 100 * time.Millisecond}
	}
	calm := newWorld(t)
	alone, _ := calm.open(true)
	calm.create(alone, "main", tr.dir)
	st, err := alone.StoreInfo(t.Context(), "main")
	must(t, err)
	total := st.Chunks

	w.suffer(f)
	a, _ := w.open(false)
	job := w.begin(a, "main", tr.dir)
	pid := w.worker(a, job, 0)
	until(t, "nine tenths embedded", func() bool { return w.embedded() >= total*9/10 })
	if !kill(pid) {
		t.Fatal("the worker has ended")
	}
	before := w.embedded()
	w.finish(a, job)
	again := w.embedded() - total
	t.Logf("%d texts; killed at %d; %d embedded again (%.1f %%)", total, before, again, 100*float64(again)/float64(total))
	if again < 0 || again*20 > total {
		t.Errorf("%d of %d texts were embedded again", again, total)
	}
	w.noComplaints()
}

// TestAChangeDuringTheRunIsIndexed changes a file that the running job has
// read already, and adds another.
func TestAChangeDuringTheRunIsIndexed(t *testing.T) {
	tr := newTree(t, 21)
	tr.grow(40)
	tr.write("aa/first.md", "# First\n\nthe albatross circles\n")
	w := newWorld(t)
	w.suffer(faults{EmbedDelay: 2 * time.Millisecond})
	a, _ := w.open(false)
	job := w.begin(a, "main", tr.dir)
	until(t, "some embedded", func() bool { return w.embedded() > 20 })
	tr.write("aa/first.md", "# First\n\nthe cormorant dives\n")
	tr.write("aa/new.md", "# New\n\nthe wheatear arrives\n")
	w.finish(a, job)
	for word, at := range map[string]string{"cormorant": "aa/first.md", "wheatear": "aa/new.md"} {
		got, err := ask(t.Context(), a, word, "main")
		must(t, err)
		if len(got.Hits) == 0 || !strings.HasPrefix(got.Hits[0].At, at) {
			t.Errorf("%s: %v", word, got)
		}
	}
	if got, err := ask(t.Context(), a, "albatross", "main"); err != nil || len(got.Hits) > 0 && strings.Contains(got.Hits[0].Code, "albatross") {
		t.Errorf("the old text is found: %v, %v", got, err)
	}
}

// TestAPoisonousFileIsSkippedAndNamed has workers die at one file.
func TestAPoisonousFileIsSkippedAndNamed(t *testing.T) {
	tr := newTree(t, 22)
	tr.grow(25)
	tr.write("bad/file.md", "# Bad\n\nthis one holds hemlock\n")
	w := newWorld(t)
	w.suffer(faults{Poison: "hemlock"})
	a, _ := w.open(false)
	job := w.begin(a, "main", tr.dir)
	j := w.finish(a, job)
	info, err := a.StoreInfo(t.Context(), "main")
	must(t, err)
	if j.Deaths != 3 || info.Documents != 25 {
		t.Errorf("%d deaths, %d documents: %+v", j.Deaths, info.Documents, j)
	}
	if !strings.Contains(fmt.Sprint(info.Notes), "bad/file.md") {
		t.Errorf("store:info does not name it: %v", info.Notes)
	}
	if !strings.Contains(j.Message+fmt.Sprint(j.Details), "bad/file.md") {
		t.Errorf("the job does not name it: %+v", j)
	}
	// Another run leaves it alone; when it changes it is tried again.
	s, err := a.IndexStore(t.Context(), "main", false)
	must(t, err)
	if j := w.finish(a, s.Job); j.Deaths != 0 {
		t.Errorf("it was tried again unchanged: %+v", j)
	}
	tr.write("bad/file.md", "# Good\n\nthis one holds chamomile now\n")
	s, err = a.IndexStore(t.Context(), "main", false)
	must(t, err)
	w.finish(a, s.Job)
	got, err := ask(t.Context(), a, "chamomile", "main")
	must(t, err)
	info, err = a.StoreInfo(t.Context(), "main")
	must(t, err)
	if len(got.Hits) == 0 || !strings.HasPrefix(got.Hits[0].At, "bad/file.md") || info.Documents != 26 || len(info.Notes) > 0 {
		t.Errorf("after the change: %v, %+v", got, info)
	}
}

// TestThreeDeathsWithoutProgressFailTheJob has every worker die before it has
// made anything durable, at no document.
func TestThreeDeathsWithoutProgressFailTheJob(t *testing.T) {
	tr := newTree(t, 23)
	tr.grow(5)
	w := newWorld(t)
	a, _ := w.open(false)
	w.create(a, "main", tr.dir)
	before := w.answers(a, []string{"harbour", "lantern"}, "main")
	tr.grow(1)
	w.suffer(faults{KillStep: 1})
	s, err := a.IndexStore(t.Context(), "main", false)
	must(t, err)
	j := w.wait(a, s.Job)
	if j.State != kb.JobFailed || j.Deaths != 3 || !strings.Contains(j.Hint, "worker.log") {
		t.Errorf("got %+v", j)
	}
	// Each question tries again, and says that the change is missing.
	got := w.answers(a, []string{"harbour", "lantern"}, "main")
	if fmt.Sprint(settled(got)) != fmt.Sprint(before) {
		t.Errorf("got %v, want %v", got, before)
	}
	for _, g := range got {
		if !strings.Contains(g.late(), "1 file has changed") {
			t.Errorf("nothing is said of what is missing: %q", g.Notes)
		}
	}
	w.suffer(faults{})
	s, err = a.IndexStore(t.Context(), "main", false)
	must(t, err)
	w.finish(a, s.Job)
}

// TestCancelInEveryPhase measures how long a job goes on after it was
// cancelled: until it has ended and its worker has given its locks back.
func TestCancelInEveryPhase(t *testing.T) {
	const generous = 5 * time.Second // a shared machine; the promise is a second
	for _, tt := range []struct {
		phase  string
		faults faults
		source func(t *testing.T) (src string, kind kb.Kind)
		ready  func(w *world, j kb.Job) bool
	}{
		{"clone", faults{}, func(t *testing.T) (string, kb.Kind) {
			return stuck(t) + "/repo.git", kb.KindRepo
		}, func(_ *world, j kb.Job) bool { return j.State == kb.JobRunning }},
		{"walk", faults{}, func(t *testing.T) (string, kb.Kind) {
			tr := newTree(t, 30)
			n := 20000 // a fast machine walks and reads 6,000 before a test can cancel
			if full {
				n = 40000
			}
			for i := range n {
				tr.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%50, i%500, i), "x\n")
			}
			return tr.dir, kb.KindFolder
		}, func(_ *world, j kb.Job) bool { return j.State == kb.JobRunning }},
		{"parse", faults{}, func(t *testing.T) (string, kb.Kind) {
			tr := newTree(t, 31)
			for i := range 12 {
				var b strings.Builder
				b.WriteString("package p\n")
				for b.Len() < 900_000 {
					_, text := tr.source()
					b.WriteString("/*\n" + text + "*/\nfunc " + tr.word() + fmt.Sprint(b.Len()) + "() { println(1) }\n")
				}
				tr.write(fmt.Sprintf("big%d.go", i), b.String())
			}
			return tr.dir, kb.KindFolder
		}, func(_ *world, j kb.Job) bool { return j.State == kb.JobRunning }},
		{"embed", faults{EmbedDelay: 50 * time.Millisecond}, func(t *testing.T) (string, kb.Kind) {
			tr := newTree(t, 32)
			tr.grow(50)
			return tr.dir, kb.KindFolder
		}, func(w *world, _ kb.Job) bool { return w.embedded() > 4 }},
		{"write", faults{StepDelay: 50 * time.Millisecond}, func(t *testing.T) (string, kb.Kind) {
			tr := newTree(t, 33)
			tr.grow(20)
			return tr.dir, kb.KindFolder
		}, func(w *world, _ kb.Job) bool {
			list, _ := filepath.Glob(filepath.Join(w.dir, "segments", "*"))
			return len(list) > 0
		}},
	} {
		t.Run(tt.phase, func(t *testing.T) {
			src, kind := tt.source(t)
			tries := 2
			if full {
				tries = 10
			}
			var worst time.Duration
			ended := 0
			for n := range tries {
				w := newWorld(t)
				w.suffer(tt.faults)
				a, _ := w.open(false)
				s, err := a.CreateStore(t.Context(), app.CreateStore{Name: "main", Kind: kind, Source: src, Yes: true})
				must(t, err)
				until(t, "the phase", func() bool {
					j, err := a.Job(t.Context(), s.Job)
					must(t, err)
					return j.State.Ended() || tt.ready(w, j)
				})
				time.Sleep(time.Duration(n) * 37 * time.Millisecond)
				pid := w.worker(a, s.Job, 0)
				began := time.Now()
				if _, err := a.CancelJob(t.Context(), s.Job); kb.CodeOf(err) == kb.Invalid && err != nil {
					ended++ // too late
					continue
				} else {
					must(t, err)
				}
				j := w.wait(a, s.Job)
				if j.State == kb.JobCompleted {
					ended++ // it was about to end
					continue
				}
				until(t, "the worker is gone", func() bool { return pid == 0 || !alive(pid) })
				took := time.Since(began)
				worst = max(worst, took)
				if j.State != kb.JobCancelled || took > generous {
					t.Errorf("%s after %v: %+v", j.State, took, j)
				}
				// What was to be made is taken back.
				if info, err := a.StoreInfo(t.Context(), "main"); kb.CodeOf(err) != kb.NotFound {
					t.Errorf("a cancelled run left %+v, %v", info, err)
				}
				w.noComplaints()
				if list, _ := filepath.Glob(filepath.Join(w.dir, "segments", "*.seg")); len(list) > 0 {
					t.Errorf("left: %v", list)
				}
			}
			if ended == tries {
				t.Errorf("every run was faster than its cancelling")
			}
			t.Logf("worst of %d: %v", tries-ended, worst)
		})
	}
}

// stuck returns the address of a server that takes requests and never answers.
func stuck(t *testing.T) string {
	ctx, cancel := context.WithCancel(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	}))
	t.Cleanup(func() { cancel(); srv.Close() })
	opens(t, srv.URL)
	return srv.URL
}
