package crawl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// A refresh of a site that did not change costs next to nothing, and one of a
// site that did brings what changed and loses what is gone.
func TestRefresh(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     crawltest.Options
		share float64 // of the first crawl's bytes on the wire
	}{
		{"validators", crawltest.Options{Pages: 300}, 0.05},
		{"lastmod", crawltest.Options{Pages: 300, Lastmod: true, LLMs: true}, 0.05},
		{"neither", crawltest.Options{Pages: 300, NoValidators: true}, 1.01},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := site(t, tt.o)
			c := config(t, srv)
			first := run(t, c)
			before := srv.Sent()
			want := kept(t, c.Pages)
			second := run(t, c)
			share := float64(srv.Sent()-before) / float64(before)
			t.Logf("first: %d pages, %d requests, %d bytes; refresh: %d requests, %d bytes, %.1f %%", first.Pages, first.Requests, before, second.Requests, srv.Sent()-before, 100*share)
			if share > tt.share {
				t.Errorf("the refresh cost %.1f %% of the first crawl's bytes", 100*share)
			}
			if second.Unchanged != second.Pages || second.Pages != first.Pages || second.Gone != 0 {
				t.Errorf("first %+v, second %+v", first.Stats, second.Stats)
			}
			if diff := cmp.Diff(want, kept(t, c.Pages)); diff != "" {
				t.Error(diff)
			}

			srv.Change(7)
			srv.Remove(8)
			third := run(t, c)
			if third.Gone != 1 || third.Pages != first.Pages-1 {
				t.Errorf("after a change and a removal: %+v", third.Stats)
			}
			if diff := cmp.Diff(srv.Wanted(), kept(t, c.Pages)); diff != "" {
				t.Error(diff)
			}
			changed := 0
			for v := range c.Pages.All() {
				if v.Outcome == pages.OutKept && v.Changed.Equal(v.Fetched) {
					changed++
				}
			}
			if tt.name != "neither" && changed > 10 { // the page, and those that list or link it
				t.Errorf("%d pages count as changed", changed)
			}
		})
	}
}

// A server that fails for the moment costs no page; one whose start page
// cannot be had at all leaves everything as it was.
func TestFailingServer(t *testing.T) {
	srv := site(t, crawltest.Options{Pages: 30})
	c := config(t, srv)
	first := run(t, c)
	srv.Down(true)
	_, err := crawl.Run(context.Background(), c)
	if kb.CodeOf(err) != kb.Away {
		t.Errorf("a server that fails everywhere: %v", err)
	}
	srv.Down(false)
	if got := kept(t, c.Pages); len(got) != first.Pages {
		t.Errorf("%d of %d pages are left", len(got), first.Pages)
	}
	res := run(t, c)
	if res.Pages != first.Pages || res.Gone != 0 {
		t.Errorf("afterwards: %+v", res.Stats)
	}
}

// A crawl that is killed goes on where it was and asks for no page again but
// those that were in flight.
func TestKill(t *testing.T) {
	if os.Getenv("CRAWL_CHILD") != "" {
		child(t)
		return
	}
	srv := site(t, crawltest.Options{Pages: 400, Traps: true, Slow: time.Millisecond, RetryAfter: "0"})
	dir := filepath.Join(t.TempDir(), "site")
	const workers = 4
	deaths := 0
	for ; deaths < 3; deaths++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "CRAWL_CHILD="+srv.URL, "CRAWL_DIR="+dir, fmt.Sprintf("CRAWL_WORKERS=%d", workers))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(out)
		for n := 0; sc.Scan() && n < 60; {
			if strings.HasPrefix(sc.Text(), "visited") {
				n++
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	c := config(t, srv)
	c.Pages.Close()
	c.Pages = store(t, dir)
	c.Patterns = 20
	c.Rate, c.Parallel, c.Workers = -1, workers, workers
	res := run(t, c)
	if !res.Resumed {
		t.Error("the last crawl did not go on with the one before")
	}
	var got []string
	for _, p := range kept(t, c.Pages) {
		if !strings.HasPrefix(p, "/calendar/") && !strings.HasPrefix(p, "/session/") && !strings.HasPrefix(p, "/deep") {
			got = append(got, p)
		}
	}
	if diff := cmp.Diff(srv.Wanted(), got); diff != "" {
		t.Error(diff)
	}
	again := 0
	for _, p := range srv.Wanted() {
		asked := srv.Count(p) + srv.Count(p+"/") + srv.Count(p+"?utm_source=sitemap")
		if p != "/" && !strings.HasPrefix(p, "/busy") && p != "/flaky" && asked > 1 {
			again += asked - 1
		}
	}
	t.Logf("killed %d times, %d pages asked for again", deaths, again)
	if again > deaths*2*workers {
		t.Errorf("%d pages were asked for again after %d deaths with %d workers", again, deaths, workers)
	}
}

func child(t *testing.T) {
	s, err := pages.Open(os.Getenv("CRAWL_DIR"))
	if err != nil {
		t.Fatal(err)
	}
	var workers int
	fmt.Sscan(os.Getenv("CRAWL_WORKERS"), &workers)
	c := crawl.Config{
		Start: []string{os.Getenv("CRAWL_CHILD")}, Client: client(t, 5*time.Second), Pages: s,
		Rate: -1, Parallel: workers, Workers: workers, MaxPages: 20_000, Backoff: time.Millisecond, Patterns: 20,
		Watch: func(s crawl.Stats) { fmt.Println("visited", s.Visited) },
	}
	_, err = crawl.Run(context.Background(), c)
	t.Log(err)
}

// A cancelled crawl ends at once and the next one goes on.
func TestCancel(t *testing.T) {
	srv := site(t, crawltest.Options{Pages: 50, Traps: true, Slow: time.Minute})
	c := config(t, srv)
	c.Client = client(t, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	c.Watch = func(s crawl.Stats) {
		if s.Pages == 30 {
			at = time.Now()
			cancel()
		}
	}
	_, err := crawl.Run(ctx, c)
	if !errors.Is(err, context.Canceled) || time.Since(at) > 20*time.Second /* the slow page takes a minute */ {
		t.Errorf("%v after %v", err, time.Since(at))
	}
	set, err := pages.View(c.Pages.Dir())
	if err == nil {
		if !set.Partial || len(set.Pages) < 29 {
			t.Errorf("%d pages, partial %v", len(set.Pages), set.Partial)
		}
		set.Close()
	} else {
		t.Error(err)
	}
}

// What is wrong with a crawl is said in one sentence.
func TestRefusals(t *testing.T) {
	srv := site(t, crawltest.Options{Pages: 3, Traps: true})
	for _, tt := range []struct {
		change func(*crawl.Config)
		code   kb.Code
		says   string
	}{
		{func(c *crawl.Config) { c.Start = nil }, kb.Invalid, "needs a page to start at"},
		{func(c *crawl.Config) { c.Start = []string{"docs.example.org"} }, kb.Invalid, "not an address on the web"},
		{func(c *crawl.Config) { c.Start = []string{"ftp://x/"} }, kb.Invalid, "not an address on the web"},
		{func(c *crawl.Config) { c.Start = []string{"http://10.0.0.1/"} }, kb.Denied, "private"},
		{func(c *crawl.Config) { c.Start = []string{"http://127.0.0.1:1/"} }, kb.Denied, "port"},
		{func(c *crawl.Config) { c.Start = []string{srv.URL + "/missing"}; c.Depth = -1 }, kb.NotFound, "no such page"},
		{func(c *crawl.Config) { c.Start = []string{srv.URL + "/private/x"}; c.Depth = -1 }, kb.Denied, "robots.txt"},
		{func(c *crawl.Config) { c.Start = []string{srv.URL + "/loop/a"}; c.Depth = -1 }, kb.Away, "circle"},
		{func(c *crawl.Config) { c.Start = []string{srv.URL + "/app/1"}; c.Depth = -1 }, kb.NotFound, "no page with text"},
		{func(c *crawl.Config) { c.Headless = "maybe" }, kb.Invalid, "headless"},
		{func(c *crawl.Config) { c.Headless = crawl.HeadlessAlways }, kb.Unsupported, "browser"},
		{func(c *crawl.Config) { c.CrawlInstructions = "the API" }, kb.Invalid, "embedder"},
		{func(c *crawl.Config) { c.Hosts = []string{"a b"} }, kb.Invalid, "no host"},
	} {
		c := config(t, srv)
		tt.change(&c)
		_, err := crawl.Run(context.Background(), c)
		if kb.CodeOf(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.says) || kb.HintOf(err) == "" {
			t.Errorf("want %s %q: %v (%s, hint %q)", tt.code, tt.says, err, kb.CodeOf(err), kb.HintOf(err))
		}
	}
}

// TestRefreshLeavesWhatWasTooLarge refreshes a site with everything that a
// crawler meets: what no page may be is not received again.
func TestRefreshLeavesWhatWasTooLarge(t *testing.T) {
	srv := site(t, crawltest.Options{Pages: 50, Traps: true, Slow: time.Millisecond, RetryAfter: "0"})
	c := config(t, srv)
	c.Patterns = 20
	first := run(t, c)
	srv.Reset()
	second := run(t, c)
	if n := srv.Count("/huge") + srv.Count("/bomb"); n != 0 || second.Failures["too large"] != first.Failures["too large"] {
		t.Errorf("asked for %d times; %v, then %v", n, first.Failures, second.Failures)
	}
	c.Force = true
	if run(t, c); srv.Count("/huge") == 0 {
		t.Error("not asked for when everything is to be read again")
	}
}
