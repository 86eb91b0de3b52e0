package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// day is what a busy day holds: one developer who works ten hours with four
// agents' sessions, and a server that programs ask around the clock.
var day = []struct {
	what  string
	times int
	why   string
}{
	{"files saved", 1500, "150 an hour of ten, by hand, by formatters and by agents"},
	{"branch switches", 24, "each touches every fifth file"},
	{"MCP calls", 6000, "four sessions, 150 calls an hour each: searches, reads, greps"},
	{"HTTP calls", 2880, "two a minute, day and night"},
	{"searches at the command line", 300, "30 an hour"},
	{"sessions begun and ended", 60, "six an hour"},
	{"stores created and deleted", 60, "and 30 made, 30 taken away"},
	{"changes of the site", 48, "every half hour"},
}

// What may grow from the first sixth of the time to its end, by the line
// fitted through the lowest reading of each of its parts.
const (
	memoryMayGrow  = 24 << 10 // KiB, a process
	handlesMayGrow = 6
	threadsMayGrow = 6
	tempMayGrow    = 6
)

// soak packs a day into the span.
func soak(s *stage, span time.Duration) error {
	for _, args := range [][]string{
		{"store:create", "fixed", filepath.Join(s.project, "fixed"), "--scope", "user"},
		{"store:create", "repo", s.project, "--type", "repo", "--scope", "user"},
		{"crawl", s.site.URL + "/", "site", "--scope", "user"},
		{"search", "what is published", "--limit", "1"},
		{"store:schedule", "site", "* * * * *"},
		{"store:schedule", "fixed", "* * * * *"},
	} {
		if e := s.run(nil, args...); e.status != 0 {
			return fmt.Errorf("%s ended with %d: %s", strings.Join(args, " "), e.status, e.errs)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), span+10*time.Minute)
	defer cancel()
	crawled := s.fronts.Load() // from now on only the schedule crawls
	watch := exec.CommandContext(ctx, s.bin, "--data-dir", s.data, "watch", "fixed", ".", "--yes")
	watch.Dir, watch.Env = s.project, s.env
	if err := watch.Start(); err != nil {
		return err
	}
	serve, address, err := s.serve(s.bin)
	if err != nil {
		return err
	}
	var agents []*session
	for i := range 2 {
		a := &session{stage: s, bin: s.bin, face: "MCP"}
		if !a.open() {
			return fmt.Errorf("session %d does not begin", i)
		}
		agents = append(agents, a)
	}
	m := &meter{stage: s, span: span, began: time.Now(), subjects: map[string]int{
		"watch": watch.Process.Pid, "serve": serve.Process.Pid, "session 1": agents[0].client.PID(), "session 2": agents[1].client.PID()}}
	until := time.Now().Add(span)
	var wg sync.WaitGroup
	l := &ledger{}
	every := func(what string, share int, do func(rng *rand.Rand)) {
		times := 0
		for _, d := range day {
			if d.what == what {
				times = d.times
			}
		}
		pause := span * time.Duration(share) / time.Duration(times)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(times), 24))
			for next := time.Now(); time.Now().Before(until); next = next.Add(pause) {
				time.Sleep(time.Until(next))
				do(rng)
			}
		})
	}
	every("files saved", 1, s.edit)
	every("branch switches", 1, s.branch)
	for i, a := range agents {
		own := fmt.Sprintf("agent%d", i)
		every("MCP calls", 2, func(rng *rand.Rand) {
			s.count("MCP calls")
			a.step(rng, l, own)
		})
	}
	every("HTTP calls", 1, func(rng *rand.Rand) {
		one, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := s.httpStep(one, rng, address); err != nil {
			s.oddly("HTTP", err, "")
		}
	})
	every("searches at the command line", 1, func(rng *rand.Rand) {
		i := rng.IntN(fixedWords)
		f, e := s.search(s.bin, s.data, "fixed", word(i))
		s.expects(e, nil, "search")
		if e.status == 0 {
			s.known(i, f, "command line")
		}
	})
	every("sessions begun and ended", 1, func(rng *rand.Rand) {
		a := &session{stage: s, bin: s.bin, face: "short MCP"}
		for range 3 {
			a.step(rng, l, "short")
		}
		if a.client != nil {
			if err := a.client.Close(); err != nil {
				s.broken("a session does not end: %v", err)
			}
		}
	})
	every("stores created and deleted", 1, func(rng *rand.Rand) { s.makes(l, rng, fmt.Sprintf("own%d", rng.IntN(3))) })
	every("changes of the site", 1, func(*rand.Rand) { s.pages.Add(1); s.count("changes of the site") })
	stop := make(chan struct{})
	metered := make(chan struct{})
	go func() { m.run(stop); close(metered) }()
	wg.Wait()
	close(stop)
	<-metered
	runs := int(s.fronts.Load() - crawled)
	for _, a := range agents {
		if a.client == nil {
			s.broken("a session died")
		} else if err := a.client.Close(); err != nil {
			s.broken("a session does not end: %v", err)
		}
	}
	for name, cmd := range map[string]*exec.Cmd{"serve": serve, "watch": watch} {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			s.broken("%s ended with %v", name, err)
		}
	}
	s.settle()
	for what, n := range s.odd {
		s.broken("nobody expects this end, %d times: %s", n, what)
	}
	if want := int(span/time.Minute) - 1; runs < want {
		s.broken("schedules of each minute ran %d times in %s", runs, span)
	}

	s.report.Printf("# A day in %s, %s\n\nCommit %s. What a busy day was taken to hold, and what was done of it:\n\n", span, time.Now().UTC().Format(time.DateOnly), s.commit)
	table := [][]string{{"event", "a day", "estimate"}}
	for _, d := range day {
		table = append(table, []string{d.what, strconv.Itoa(d.times), d.why})
	}
	s.report.Table(append(table, []string{"runs of schedules", strconv.Itoa(runs), "of each minute of the run, told by the site that is crawled"})...)
	s.report.Table(rows("done", s.counts)...)
	m.judge()
	return nil
}

// branch does to the files what the switch of a branch does.
func (s *stage) branch(rng *rand.Rand) {
	s.count("branch switches")
	list, _ := filepath.Glob(filepath.Join(s.project, "live", "*", "*.go"))
	for i := range list {
		if i%5 == 0 {
			s.edit(rng)
		}
	}
}

// reading is one look at a process.
type reading struct {
	at                    time.Duration
	rss, handles, threads int // KiB, and numbers
}

// meter looks at what runs long.
type meter struct {
	*stage
	span     time.Duration
	began    time.Time
	subjects map[string]int
	readings map[string][]reading
	temp     []reading // handles: temporary files; rss: KiB of the data directory; threads: files of it
}

func (m *meter) run(stop <-chan struct{}) {
	m.readings = map[string][]reading{}
	tick := time.NewTicker(min(2*time.Second, m.span/120))
	defer tick.Stop()
	for {
		at := time.Since(m.began)
		for name, pid := range m.subjects {
			if r, ok := look(pid); ok {
				r.at = at
				m.readings[name] = append(m.readings[name], r)
			} else {
				m.broken("%s is gone after %s", name, at.Round(time.Second))
			}
		}
		m.temp = append(m.temp, m.leftovers(at))
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// leftovers counts temporary files, and the files of the data directory.
func (m *meter) leftovers(at time.Duration) reading {
	r := reading{at: at}
	for _, dir := range []string{m.data, filepath.Join(m.dir, "tmp")} {
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if dir != m.data || strings.Contains(d.Name(), ".tmp") {
				r.handles++
			}
			if info, err := d.Info(); err == nil && dir == m.data {
				r.rss += int(info.Size() >> 10)
				r.threads++
			}
			return nil
		})
	}
	return r
}

func look(pid int) (reading, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return reading{}, false
	}
	var r reading
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "RssAnon:"): // pages of mapped files come and go as the system likes
			r.rss, _ = strconv.Atoi(f[1])
		case strings.HasPrefix(line, "Threads:"):
			r.threads, _ = strconv.Atoi(f[1])
		}
	}
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	r.handles = len(list)
	return r, err == nil && r.rss > 0
}

// judge fits a line through the lowest readings of 25 parts of the last five
// sixths. The lowest is what is left after a collection of garbage.
func (m *meter) judge() {
	from := m.span / 6
	grows := func(list []reading, of func(reading) int) (first, last int) {
		parts := make([][]int, 25)
		for _, r := range list {
			if r.at >= from {
				i := min(24, int(25*(r.at-from)/(m.span-from)))
				parts[i] = append(parts[i], of(r))
			}
		}
		var x, y []float64
		for i, p := range parts {
			if len(p) > 0 {
				x, y = append(x, float64(i)), append(y, float64(slices.Min(p)))
			}
		}
		if len(x) < 3 {
			return 0, 0
		}
		var sx, sy, sxx, sxy float64
		n := float64(len(x))
		for i := range x {
			sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
		}
		slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		base := (sy - slope*sx) / n
		return int(base + 0.5), int(base + slope*24 + 0.5)
	}
	table := [][]string{{"process", "memory (anonymous)", "descriptors", "threads"}}
	hold := func(what string, first, last, may int) string {
		if last-first > may {
			m.broken("%s grows from %d to %d, more than by %d", what, first, last, may)
		}
		return fmt.Sprintf("%d → %d", first, last)
	}
	for _, name := range lab.Keys(m.readings) {
		list := m.readings[name]
		r1, r2 := grows(list, func(r reading) int { return r.rss })
		h1, h2 := grows(list, func(r reading) int { return r.handles })
		t1, t2 := grows(list, func(r reading) int { return r.threads })
		if r2-r1 > memoryMayGrow {
			m.broken("the memory of %s grows from %d to %d KiB", name, r1, r2)
		}
		table = append(table, []string{name, fmt.Sprintf("%.1f → %.1f MiB", float64(r1)/1024, float64(r2)/1024),
			hold("descriptors of "+name, h1, h2, handlesMayGrow), hold("threads of "+name, t1, t2, threadsMayGrow)})
	}
	t1, t2 := grows(m.temp, func(r reading) int { return r.handles })
	temp := hold("the number of temporary files", t1, t2, tempMayGrow)
	k1, k2 := grows(m.temp, func(r reading) int { return r.rss })
	f1, f2 := grows(m.temp, func(r reading) int { return r.threads })
	m.report.Printf("From minute %.1f to the end, by the line fitted through the lowest reading of each of 25 parts of that time. A process may grow by %d MiB, %d descriptors and %d threads; %d temporary files may come.\n\n", from.Minutes(), memoryMayGrow>>10, handlesMayGrow, threadsMayGrow, tempMayGrow)
	m.report.Table(table...)
	m.report.Printf("Temporary files: %s. Data directory: %.1f → %.1f MiB in %d → %d files.\n", temp, float64(k1)/1024, float64(k2)/1024, f1, f2)
}
