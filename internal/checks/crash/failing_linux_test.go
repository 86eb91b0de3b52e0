package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// failingCalls is how many calls to the file system are made to fail, one at a
// time, of each life.
const failingCalls = 2000

// TestAnyOneCallFails takes a process through its life (it opens a new data
// directory, indexes, searches, follows edits, deletes, tidies up, ends and
// opens it again) once for each of its first calls to the file system, of
// SQLite's and of our own, opening included, and lets that one fail: every
// second time for want of space, else as an error of the device. What fails
// says so with the right code and a next step, and can be done again at once;
// no answer is another than that of one of the states that the store was in,
// unless it says what it lacks; afterwards everything that was accepted is
// there, and answers are those of a life without faults.
func TestAnyOneCallFails(t *testing.T) {
	interpose()
	l := newLife(t)
	l.live(0, false)
	l.learnt = true
	calls := int(l.calls.Load())
	if calls < failingCalls/4 {
		t.Fatalf("a life has %d calls only: not all are seen", calls)
	}
	report, _ := os.Create(os.Getenv("KNOWLEDGE_CRASH_REPORT"))
	defer report.Close()
	numbers := make([]int, 0, failingCalls)
	for n := 1; n <= min(failingCalls, calls); n++ {
		numbers = append(numbers, n)
	}
	if !full {
		rng := rand.New(rand.NewPCG(20, 1))
		rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		numbers = numbers[:30]
	}
	for _, n := range numbers {
		bad := t.Failed()
		what := l.live(n, n%2 == 0)
		if t.Failed() && !bad {
			t.Logf("the first was call %d, %s", n, what)
		}
		if report != nil {
			fmt.Fprintf(report, "%d\t%s\t%s\n", n, what, strings.Join(l.said, "; "))
		}
	}
	t.Logf("%d of the %d calls of a life have failed", len(numbers), calls)
}

// TestEveryCallFailsFromOneOn: the disk is full from some call on, until the
// process ends.
func TestEveryCallFailsFromOneOn(t *testing.T) {
	interpose()
	l := newLife(t)
	l.live(0, false)
	l.learnt, l.ever = true, true
	rng := rand.New(rand.NewPCG(20, 2))
	for range map[bool]int{false: 6, true: 200}[full] {
		l.live(1+rng.IntN(int(l.calls.Load())), true)
	}
}

// life is what is done again and again.
type life struct {
	t    *testing.T
	dir  string // of the folders that are indexed: ids of chunks depend on it
	ever bool   // of the lives to come: all calls from the failing one on fail

	learnt bool              // the life without faults is over
	right  map[string]bool   // answers that were right in that life, by query
	last   map[string]string // and at its end
	docs   map[string]map[string]document

	*fault
	said []string
	w    *world
}

// A fault is what one life suffers. Each life has its own: a connection that
// database/sql opens while its pool is closed may still count calls when the
// next life has begun.
type fault struct {
	n      int64 // the call that fails, 0 is none
	full   bool  // for want of space
	ever   bool  // and so do all that follow
	calls  atomic.Int64
	failed atomic.Pointer[string] // the call that failed first
}

func newLife(t *testing.T) *life {
	return &life{t: t, dir: t.TempDir(), fault: &fault{}, right: map[string]bool{}, last: map[string]string{}, docs: map[string]map[string]document{}}
}

// fails counts a call, and says whether it is to fail.
func (f *fault) fails(what string) bool {
	n := f.calls.Add(1)
	if f.n == 0 || n < f.n || n > f.n && !f.ever {
		return false
	}
	f.failed.CompareAndSwap(nil, &what)
	return true
}

var lifeQueries = []string{"harbour lantern", "what does the keeper count", "func Tally"}

// live lets call n fail, none when it is 0, and returns which that was.
func (l *life) live(n int, full bool) string {
	t := l.t
	fault := &fault{n: int64(n), full: full, ever: l.ever}
	l.fault, l.said = fault, nil
	l.w = newWorld(t)
	dir := l.w.dir
	defer os.RemoveAll(filepath.Dir(l.w.dir))
	must(t, os.RemoveAll(filepath.Join(l.dir, "main")))
	must(t, os.RemoveAll(filepath.Join(l.dir, "side")))
	for i := range 6 {
		l.write("main", fmt.Sprintf("doc%d.md", i), fmt.Sprintf("# Harbour %d\n\nThe lantern of harbour %d is lit at dusk. The keeper counts %d boats.\n", i, i, i*7))
	}
	l.write("main", "tally.go", "package main\n\n// Tally counts boats.\nfunc Tally(n int) int { return n + 1 }\n\nfunc main() { Tally(2) }\n")
	l.write("side", "note.md", "# Side\n\nA lantern aside.\n")

	sqlite := func(c *ioCall) (bool, bool) { return fault.fails("sqlite " + c.name), full }
	failing.Store(&sqlite)
	restore := atomicfile.Inject(func(op atomicfile.Op, path string) error {
		if !strings.HasPrefix(path, dir) || !fault.fails(string(op)+" "+filepath.Ext(path)) {
			return nil
		}
		if full && op != atomicfile.OpOpen {
			return syscall.ENOSPC
		}
		return syscall.EIO
	})
	heal := func() {
		failing.Store(nil)
		restore()
	}
	defer heal()

	a, end := l.w.open(true)
	l.index(a, "create main", func(ctx context.Context) (app.Started, error) {
		s, err := a.CreateStore(ctx, app.CreateStore{Name: "main", Kind: kb.KindFolder, Source: filepath.Join(l.dir, "main")})
		if kb.CodeOf(err) == kb.Exists && err != nil { // what failed came after that
			return a.IndexStore(ctx, "main", false)
		}
		return s, err
	})
	l.search(a)
	l.write("main", "doc1.md", "# Harbour 1\n\nThe lantern was replaced by a lamp. The keeper counts gulls.\n")
	must(t, os.Remove(filepath.Join(l.dir, "main", "doc2.md")))
	l.index(a, "index main", func(ctx context.Context) (app.Started, error) { return a.IndexStore(ctx, "main", false) })
	l.search(a)
	l.index(a, "create side", func(ctx context.Context) (app.Started, error) {
		s, err := a.CreateStore(ctx, app.CreateStore{Name: "side", Kind: kb.KindFolder, Source: filepath.Join(l.dir, "side")})
		if kb.CodeOf(err) == kb.Exists && err != nil {
			return a.IndexStore(ctx, "side", false)
		}
		return s, err
	})
	deleted := l.do("delete side", func(ctx context.Context) error {
		_, err := a.DeleteStore(ctx, "side", false)
		if kb.CodeOf(err) == kb.NotFound {
			return nil // the first try has done it, or it was never made
		}
		return err
	})
	l.do("gc", func(ctx context.Context) error { _, err := care.Collect(ctx, a, false); return err })
	end()
	a, end = l.w.open(true) // another process
	l.do("stores", func(ctx context.Context) error { _, err := a.Stores(ctx, "", true); return err })
	l.search(a)
	l.index(a, "index again", func(ctx context.Context) (app.Started, error) { return a.IndexStore(ctx, "main", true) })
	for i := range 4 {
		l.write("main", fmt.Sprintf("late%d.md", i), fmt.Sprintf("# Late %d\n\nThe keeper of harbour %d counts late boats.\n", i, i))
		l.index(a, "index an edit", func(ctx context.Context) (app.Started, error) { return a.IndexStore(ctx, "main", false) })
		l.search(a)
		l.do("callers", func(ctx context.Context) error {
			r, err := code.Ask(ctx, a, code.CodeRequest{Stores: []string{"main"}, Waiting: app.Waiting{Wait: time.Minute}, CodeRequest: search.CodeRequest{What: search.Callers, Symbol: "Tally", Limit: 10}})
			if err == nil && len(r.Uses) == 0 && len(r.Notes) == 0 {
				l.complain("nobody calls Tally: %+v", r)
			}
			return err
		})
	}
	end()
	heal()

	// Without faults: what was accepted is there, and nothing else is.
	a, end = l.w.open(true)
	defer end()
	list, err := a.Stores(t.Context(), "", true)
	must(t, err)
	if slices.ContainsFunc(list.Stores, func(r app.StoreRow) bool { return r.Name == "side" }) && deleted {
		l.complain("the store that was deleted is there")
	}
	if !l.ever || slices.ContainsFunc(list.Stores, func(r app.StoreRow) bool { return r.Name == "main" }) {
		s, err := a.IndexStore(t.Context(), "main", false)
		must(t, err)
		if j := l.w.wait(a, s.Job); j.State != kb.JobCompleted {
			l.complain("the next job: %s: %s", j.State, j.Message)
		}
		for _, q := range lifeQueries {
			got, err := ask(t.Context(), a, q, "main")
			if err != nil {
				l.complain("search afterwards: %v", err)
			}
			if !l.learnt {
				l.last[q] = got.String()
			} else if got.String() != l.last[q] {
				l.complain("afterwards %q finds %v instead of %v", q, got, l.last[q])
			}
		}
		if docs := l.w.documents("main"); !l.learnt {
			l.docs["main"] = docs
		} else if !reflect.DeepEqual(docs, l.docs["main"]) {
			l.complain("%d documents instead of %d, or others", len(docs), len(l.docs["main"]))
		}
	}
	v, err := care.Verify(t.Context(), a, "", false)
	must(t, err)
	for _, f := range v.Findings {
		if f.Status != "left" && f.Status != "" && f.Status != "open" {
			l.complain("verify: %s %s: %s", f.Status, f.File, f.Text)
		}
	}
	if what := l.failed.Load(); what != nil {
		return *what
	}
	return "none"
}

func (l *life) write(folder, name, text string) {
	p := filepath.Join(l.dir, folder, name)
	must(l.t, os.MkdirAll(filepath.Dir(p), 0o700))
	must(l.t, os.WriteFile(p, []byte(text), 0o600))
}

func (l *life) complain(format string, args ...any) {
	l.t.Helper()
	what := "none"
	if f := l.failed.Load(); f != nil {
		what = *f
	}
	l.t.Errorf("call %d (%s, full %v): %s", l.n, what, l.full, fmt.Sprintf(format, args...))
}

// do takes one step, and a second time when it fails, which then succeeds;
// done says that it did.
func (l *life) do(step string, f func(context.Context) error) (done bool) {
	l.t.Helper()
	for try := range 2 {
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
		err := f(ctx)
		cancel()
		if err == nil {
			return true
		}
		l.said = append(l.said, fmt.Sprintf("%s: %s: %v", step, kb.CodeOf(err), err))
		l.judge(step, kb.CodeOf(err), err.Error(), kb.HintOf(err))
		if try == 1 && !l.ever {
			l.complain("%s failed twice: %v", step, err)
		}
	}
	return false
}

// judge looks at how a failure is reported.
func (l *life) judge(step string, code kb.Code, text, hint string) {
	l.t.Helper()
	switch {
	case l.n == 0:
		l.complain("%s fails without a fault: %s", step, text)
	case hint == "":
		l.complain("%s: %q says not what to do", step, text)
	case code == kb.Full && l.full, code == kb.Internal: // SQLite may keep to itself that it was space
	case code == kb.Denied && !l.full && strings.Contains(text, "permission"):
		l.complain("%s: an error of the device is told as one of permissions: %s", step, text)
	case l.ever && code == kb.NotFound: // of what could not be made
	default:
		l.complain("%s: %s: %s", step, code, text)
	}
	if l.full && code == kb.Internal && l.failed.Load() != nil && !strings.HasPrefix(*l.failed.Load(), "sqlite") && !strings.HasPrefix(*l.failed.Load(), "open") && !l.ever {
		l.complain("%s: no space is told as %s: %s", step, code, text)
	}
}

var errJob = errors.New("the job failed")

// index takes a step that starts a job, and sees that to its end.
func (l *life) index(a *app.App, step string, f func(context.Context) (app.Started, error)) {
	l.t.Helper()
	l.do(step, func(ctx context.Context) error {
		s, err := f(ctx)
		if err != nil {
			return err
		}
		if s.Job == "" {
			return nil
		}
		j, err := a.WaitJob(ctx, s.Job)
		if err != nil {
			if kb.CodeOf(err) == kb.Canceled || kb.CodeOf(err) == kb.NotFound {
				l.complain("%s: job %s was accepted and is lost: %v", step, s.Job, err)
			}
			if j, err = a.WaitJob(ctx, s.Job); err != nil { // it goes on all the same
				return err
			}
		}
		if j.State == kb.JobCompleted {
			return nil
		}
		if j.State != kb.JobFailed || j.Message == "" {
			l.complain("%s: job %s is %s: %s", step, j.ID, j.State, j.Message)
		}
		return kb.Errorf(j.Code, "%w: %s", errJob, j.Message).WithHint("%s", j.Hint)
	})
}

// search asks every query. An answer is one of those that were right at that
// point or before, or says what it lacks.
func (l *life) search(a *app.App) {
	l.t.Helper()
	for _, q := range lifeQueries {
		l.do("search", func(ctx context.Context) error {
			got, err := ask(ctx, a, q, "main")
			got = got.settled() // what is behind its folder is as it was, and no worse
			switch key := q + "\x00" + got.String(); {
			case err != nil:
			case !l.learnt:
				l.right[key] = true
			case !l.right[key] && len(got.Notes) == 0:
				l.complain("%q finds %v, which never was right", q, got)
			}
			return err
		})
	}
}
