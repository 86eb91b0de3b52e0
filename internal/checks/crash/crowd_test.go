package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestEightProcessesAtOnce lets four servers and four terminals create, index,
// search and delete in one data directory. Each has stores of its own, which
// must be as it left them; all index one that stays and make and delete one
// that comes and goes.
func TestEightProcessesAtOnce(t *testing.T) {
	span := 5 * time.Second
	if full {
		span = time.Minute
	}
	if s, err := time.ParseDuration(os.Getenv("KNOWLEDGE_CRASH_SPAN")); err == nil {
		span = s
	}
	w := newWorld(t)
	shared := newTree(t, 40)
	shared.grow(60)
	here, _ := w.open(false)
	w.create(here, "shared", shared.dir)

	c := &crowd{t: t, w: w, until: time.Now().Add(span), span: span, shared: shared, counts: map[string]int{}}
	var wg sync.WaitGroup
	var servers []*server
	var members []*member
	w.vouched = []string{shared.dir}
	for i := range 8 {
		m := &member{crowd: c, n: i, rng: rand.New(rand.NewPCG(uint64(i), 4)), trees: []*tree{newTree(t, uint64(100+2*i)), newTree(t, uint64(101+2*i))}, have: map[string]*tree{}}
		for _, tr := range m.trees {
			tr.grow(15)
			w.vouched = append(w.vouched, tr.dir)
		}
		if i < 4 {
			s, err := w.serve()
			must(t, err)
			servers = append(servers, s)
			m.actor = agent{s}
		} else {
			m.actor = person{w}
		}
		members = append(members, m)
	}
	flat := c.watch(servers)
	for _, m := range members {
		wg.Go(m.live)
	}
	wg.Wait()
	flat()

	// All is quiet: what is there?
	if _, err := w.run("jobs", "--all", "--follow"); err != nil {
		t.Error(err)
	}
	want := []string{"shared"}
	for _, m := range members {
		for name := range m.have {
			want = append(want, name)
		}
	}
	list, err := here.Stores(t.Context(), "", true)
	must(t, err)
	var got []string
	for _, s := range list.Stores {
		if s.Name != "rival" {
			got = append(got, s.Name)
		}
		if s.Status != "ready" {
			t.Errorf("store %s is %s", s.Name, s.Status)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("stores: %s", diff)
	}
	calm := newWorld(t)
	alone, _ := calm.open(true)
	check := func(name string, tr *tree) {
		s, err := here.IndexStore(t.Context(), name, false)
		must(t, err)
		w.finish(here, s.Job)
		calm.create(alone, name, tr.dir)
		if diff := gocmp.Diff(calm.documents(name), w.documents(name)); diff != "" {
			t.Errorf("store %s: %.2000s", name, diff)
		}
		queries := tr.queries(5)
		if diff := gocmp.Diff(calm.answers(alone, queries, name), w.answers(here, queries, name)); diff != "" {
			t.Errorf("store %s: %.2000s", name, diff)
		}
	}
	check("shared", shared)
	for _, m := range members {
		for name, tr := range m.have {
			check(name, tr)
		}
	}
	jobs, err := here.Jobs(t.Context(), app.JobFilter{All: true})
	must(t, err)
	seen := map[string]bool{}
	for _, j := range jobs.Jobs {
		gone := strings.Contains(j.Message, "was deleted meanwhile") || strings.Contains(j.Message, "no store")
		if !j.State.Ended() || j.State == kb.JobFailed && !gone || seen[j.ID] {
			t.Errorf("job %+v", j)
		}
		seen[j.ID] = true
	}
	if len(jobs.Jobs) < 200 { // the history is bounded: older ones are gone
		for id := range c.started {
			if !seen[id] {
				t.Errorf("job %s is lost", id)
			}
		}
	}
	for _, s := range servers {
		if err := s.end(); err != nil {
			t.Errorf("a server ended with %v: %s", err, s.errs.String())
		}
	}
	w.noGarbage()
	w.noComplaints()
	var told []string
	for k, n := range c.counts {
		told = append(told, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(told)
	t.Logf("%v: %s; %d jobs started", span, strings.Join(told, ", "), len(c.started))
}

type crowd struct {
	t      *testing.T
	w      *world
	span   time.Duration
	until  time.Time
	shared *tree

	mu      sync.Mutex
	counts  map[string]int // of what was done
	started map[string]bool
}

func (c *crowd) count(what string, st app.Started) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
	if st.Job != "" {
		if c.started == nil {
			c.started = map[string]bool{}
		}
		c.started[st.Job] = true
	}
}

// member is one of the crowd.
type member struct {
	*crowd
	actor actor
	n     int
	rng   *rand.Rand
	trees []*tree
	have  map[string]*tree // its stores
}

func (m *member) live() {
	for time.Now().Before(m.until) {
		i := m.rng.IntN(2)
		name, tr := fmt.Sprintf("own-%d-%d", m.n, i), m.trees[i]
		var st app.Started
		var err error
		rival := false
		what := ""
		switch n := m.rng.IntN(14); {
		case n < 5:
			what = "search"
			store := "shared"
			if m.have[name] != nil {
				store = name
			}
			_, err = m.actor.search(tr.queriesFrom(m.rng), store)
		case n < 6:
			what = "jobs"
			err = m.actor.jobs()
		case n < 8:
			what, rival = "make the rival", true
			st, err = m.actor.create("rival", m.crowd.shared.dir+"/"+nouns[0])
		case n < 9:
			what, rival = "delete the rival", true
			err = m.actor.remove("rival")
		case n < 10:
			what = "index the shared"
			st, err = m.actor.index("shared", m.rng.IntN(3) == 0)
		case m.have[name] == nil:
			what = "create"
			if st, err = m.actor.create(name, tr.dir); err == nil {
				m.have[name] = tr
			}
		case n < 13:
			what = "index"
			tr.edit(2)
			st, err = m.actor.index(name, false)
		default:
			what = "delete"
			if err = m.actor.remove(name); err == nil {
				delete(m.have, name)
			}
		}
		if err != nil {
			text := err.Error()
			switch {
			case strings.Contains(text, "has kept") || strings.Contains(text, "have kept") || strings.Contains(text, "another process") || strings.Contains(text, `"code": "busy"`):
				what = "busy: " + what
			case rival && (strings.Contains(text, "no store") || strings.Contains(text, "was deleted") || strings.Contains(text, "was cancelled") || strings.Contains(text, "no job")):
				what += " (somebody deleted it)"
			default:
				m.t.Errorf("%d cannot %s: %v", m.n, what, err)
			}
		}
		m.count(what, st)
	}
}

// queriesFrom makes a question of words that the trees are made of.
func (tr *tree) queriesFrom(rng *rand.Rand) string {
	return verbs[rng.IntN(len(verbs))] + " the " + nouns[rng.IntN(len(nouns))]
}

// watch follows memory and open files of the servers; the function that it
// returns ends that and compares the second third of the time with the last.
func (c *crowd) watch(servers []*server) func() {
	type sample struct{ kb, files int }
	samples := make([][]sample, len(servers))
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(c.span / 60)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for i, s := range servers {
				if kb, files, ok := footprint(s.cmd.Process.Pid); ok {
					samples[i] = append(samples[i], sample{kb, files})
				}
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
		for i, list := range samples {
			third := len(list) / 3
			if third == 0 {
				continue // not known on this system
			}
			most := func(l []sample) (s sample) {
				for _, x := range l {
					s.kb, s.files = max(s.kb, x.kb), max(s.files, x.files)
				}
				return s
			}
			mid, last := most(list[third:2*third]), most(list[2*third:])
			c.t.Logf("server %d: resident %d MB in the second third, %d MB in the last; %d and %d open files", i, mid.kb>>10, last.kb>>10, mid.files, last.files)
			if last.kb > mid.kb*5/4+(16<<10) {
				c.t.Errorf("the memory of server %d grows", i)
			}
			if last.files > mid.files+10 {
				c.t.Errorf("the open files of server %d grow", i)
			}
		}
	}
}

// TestTheServerEndsAndItsWorkerDoesNot closes a server's input while its job
// runs: the server ends within a second, the worker completes.
func TestTheServerEndsAndItsWorkerDoesNot(t *testing.T) {
	const generous = 5 * time.Second // a shared machine; the promise is a second
	tr := newTree(t, 50)
	tr.grow(40)
	w := newWorld(t)
	w.suffer(faults{EmbedDelay: 30 * time.Millisecond})
	w.vouched = []string{tr.dir}
	s, err := w.serve()
	must(t, err)
	var st app.Started
	must(t, s.execute("store:create", map[string]any{"name": "main", "type": "file", "source": tr.dir}, &st))
	a, _ := w.open(false)
	pid := w.worker(a, st.Job, 0)
	until(t, "it embeds", func() bool { return w.embedded() > 2 })
	began := time.Now()
	must(t, s.end())
	took := time.Since(began)
	if took > generous {
		t.Errorf("the server took %v to end", took)
	}
	if !alive(pid) {
		t.Error("the worker ended with the server, or was done before")
	}
	if j := w.finish(a, st.Job); j.Deaths != 0 {
		t.Errorf("got %+v", j)
	}
	t.Logf("the server ended in %v", took)
}
