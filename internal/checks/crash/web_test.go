package crash

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
)

// crawled is a generated site and a program that may crawl it.
func crawled(t *testing.T, o crawltest.Options, rate float64) (*crawltest.Server, *world) {
	t.Helper()
	srv := crawltest.Start(crawltest.New(o))
	t.Cleanup(srv.Close)
	if rate > 0 {
		opens(t, srv.URL, fmt.Sprintf("  rate: %g\n", rate))
	} else {
		opens(t, srv.URL)
	}
	return srv, newWorld(t)
}

// kept returns the paths of the pages that a store has, sorted.
func kept(t *testing.T, a *app.App, store string) []string {
	t.Helper()
	list, err := web.Pages(t.Context(), a, store, "kept", "", 5000)
	must(t, err)
	files, err := find.Files(t.Context(), a, store, "", 5000, app.Waiting{})
	must(t, err)
	var out []string
	for _, p := range list.Pages {
		u, err := url.Parse(p.URL)
		must(t, err)
		if !slices.Contains(files.Files, p.Path) {
			t.Errorf("%s is kept and not indexed", p.URL)
		}
		out = append(out, cmp.Or(strings.TrimRight(u.Path, "/"), "/"))
	}
	if len(files.Files) != len(out) {
		t.Errorf("%d pages are kept and %d indexed", len(out), len(files.Files))
	}
	slices.Sort(out)
	return out
}

// TestACrawlThatIsKilledGoesOn kills the worker of a crawl twice: what was
// kept is not asked for again, but for what was in flight, and in the end
// every page is there, once.
func TestACrawlThatIsKilledGoesOn(t *testing.T) {
	pages := 80
	if full {
		pages = 2000
	}
	srv, w := crawled(t, crawltest.Options{Pages: pages}, 100)
	a, _ := w.open(false)
	s, err := a.CreateStore(t.Context(), app.CreateStore{Name: "site", Kind: kb.KindWeb, Source: srv.URL, Web: kb.Web{MaxPages: 3000, Headless: "never"}})
	must(t, err)
	pid := 0
	for n := range 2 {
		if pid = w.worker(a, s.Job, pid); pid == 0 {
			t.Fatal("the job ended before it was killed")
		}
		until(t, "pages", func() bool {
			return len(srv.Requests()) > (n+1)*pages/4
		})
		kill(pid)
	}
	w.finish(a, s.Job)
	if got, want := kept(t, a, "site"), srv.Wanted(); !slices.Equal(got, want) {
		t.Errorf("%d pages, not %d", len(got), len(want))
	}
	again := 0
	for _, p := range srv.Wanted() {
		if n := srv.Count(p); n > 1 {
			again += n - 1
		}
	}
	// Each death may cost the pages that are under way: those that are being
	// fetched, and those that wait for one begun before them, as they are kept in
	// that order. The start page is asked for by each run.
	if again > 2*(2*crawl.DefaultParallel+1) {
		t.Errorf("%d pages were asked for again", again)
	}
	w.noComplaints()
}

// TestARefreshFollowsTheSite looks at a site again: unchanged it costs next to
// nothing; what was edited shows, what was removed goes; a crawl that is
// cancelled, or that finds the server down, leaves what was there; and a
// deleted store leaves nothing.
func TestARefreshFollowsTheSite(t *testing.T) {
	srv, w := crawled(t, crawltest.Options{Pages: 60, Lastmod: true}, 0)
	a, _ := w.open(false)
	web := kb.Web{Headless: "never"}
	s, err := a.CreateStore(t.Context(), app.CreateStore{Name: "site", Kind: kb.KindWeb, Source: srv.URL, Web: web})
	must(t, err)
	w.finish(a, s.Job)
	first := srv.Sent()

	refresh := func(force bool) kb.Job {
		s, err := a.IndexStore(t.Context(), "site", force)
		must(t, err)
		return w.wait(a, s.Job)
	}
	if j := refresh(false); j.State != kb.JobCompleted || !strings.Contains(j.Message, "up to date") {
		t.Errorf("%s: %s", j.State, j.Message)
	}
	// A small site's lists weigh more than those of the 2,000 pages that bench/webstore measures.
	if sent := srv.Sent() - first; sent*100 > first*15 {
		t.Errorf("a refresh costs %d bytes of %d", sent, first)
	}

	page := srv.URL + crawltest.Path(7)
	before, err := find.Read(t.Context(), a, "site", page, "", app.Waiting{})
	must(t, err)
	srv.Change(7)
	srv.Remove(8)
	if j := refresh(false); j.State != kb.JobCompleted {
		t.Errorf("%s: %s", j.State, j.Message)
	}
	after, err := find.Read(t.Context(), a, "site", page, "", app.Waiting{})
	must(t, err)
	if before.Text == after.Text {
		t.Error("the edited page shows its old text")
	}
	if _, err := find.Read(t.Context(), a, "site", srv.URL+crawltest.Path(8), "", app.Waiting{}); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("the removed page: %v", err)
	}
	if got := kept(t, a, "site"); !slices.Equal(got, srv.Wanted()) {
		t.Errorf("%d pages, not %d", len(got), len(srv.Wanted()))
	}

	if full { // it is asked several times, with pauses
		srv.Down(true)
		if j := refresh(false); j.State != kb.JobFailed || j.Hint == "" {
			t.Errorf("a server that is down: %s, %s (%s)", j.State, j.Message, j.Hint)
		}
		if got := kept(t, a, "site"); !slices.Equal(got, srv.Wanted()) {
			t.Errorf("%d pages while the server is down", len(got))
		}
		srv.Down(false)
	}
	info, err := a.StoreInfo(t.Context(), "site")
	must(t, err)

	// Slower, so that it can be cancelled.
	path := os.Getenv(configEnv)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(text, "  rate: 10\n"...), 0o600))
	asked := len(srv.Requests())
	s, err = a.IndexStore(t.Context(), "site", true)
	must(t, err)
	until(t, "requests", func() bool { return len(srv.Requests()) > asked+5 })
	began := time.Now()
	if _, err := a.CancelJob(t.Context(), s.Job); err != nil {
		t.Fatal(err)
	}
	if j := w.wait(a, s.Job); j.State != kb.JobCancelled {
		t.Errorf("%s: %s", j.State, j.Message)
	}
	if took := time.Since(began); took > 5*time.Second { // bench/webstore holds it to one
		t.Errorf("it took %s", took)
	}
	now, err := a.StoreInfo(t.Context(), "site")
	must(t, err)
	if now.Generation != info.Generation || now.Documents != info.Documents {
		t.Errorf("generation %d with %d documents became %d with %d", info.Generation, info.Documents, now.Generation, now.Documents)
	}

	// Another selection of the same site is another store.
	s, err = a.CreateStore(t.Context(), app.CreateStore{Name: "one", Kind: kb.KindWeb, Source: srv.URL, Web: kb.Web{MaxPages: 1, Headless: "never"}})
	must(t, err)
	w.finish(a, s.Job)
	if one := kept(t, a, "one"); !slices.Equal(one, []string{"/"}) {
		t.Errorf("one page: %q", one)
	}
	for _, name := range []string{"site", "one"} {
		if _, err := a.DeleteStore(t.Context(), name, false); err != nil {
			t.Error(err)
		}
	}
	until(t, "the kept pages to go", func() bool {
		left, err := os.ReadDir(filepath.Join(w.dir, "web"))
		return err == nil && len(left) == 0
	})
	w.noGarbage()
	w.noComplaints()
}
