package crawl_test

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// site starts a generated site that ends with the test.
func site(t testing.TB, o crawltest.Options) *crawltest.Server {
	t.Helper()
	s := crawltest.Start(crawltest.New(o))
	t.Cleanup(s.Close)
	return s
}

func client(t testing.TB, timeout time.Duration) *outbound.Client {
	t.Helper()
	c, err := outbound.New(outbound.Policy{Allow: []string{"127.0.0.1"}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func store(t testing.TB, dir string) *pages.Store {
	t.Helper()
	s, err := pages.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// config is a crawl of a generated site without pauses.
func config(t testing.TB, srv *crawltest.Server) crawl.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	return crawl.Config{
		Start: []string{srv.URL}, Client: client(t, 5*time.Second), Pages: store(t, dir),
		Rate: -1, Parallel: 8, MaxPages: 20_000, Backoff: time.Millisecond,
	}
}

// kept returns the paths of the kept pages as the site knows them.
func kept(t testing.TB, s *pages.Store) []string {
	t.Helper()
	var out []string
	for v := range s.All() {
		if v.Outcome == pages.OutKept {
			u, err := url.Parse(v.URL)
			if err != nil {
				t.Fatal(err)
			}
			p := strings.TrimSuffix(strings.TrimSuffix(u.RequestURI(), "index.html"), "/")
			if p == "" {
				p = "/"
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func run(t testing.TB, c crawl.Config) crawl.Result {
	t.Helper()
	res, err := crawl.Run(context.Background(), c)
	if err != nil {
		t.Fatalf("%v (hint: %s)", err, kb.HintOf(err))
	}
	return res
}

// Everything that can be reached is kept once, nothing that is forbidden is
// asked for, and no trap is followed for long.
func TestSite(t *testing.T) {
	n := 200
	if !testing.Short() && raceless {
		n = 2000
	}
	srv := site(t, crawltest.Options{Pages: n, Traps: true, Slow: 100 * time.Millisecond, LLMs: true})
	c := config(t, srv)
	c.Patterns = 40
	began := time.Now()
	res := run(t, c)
	t.Logf("%d pages in %v, %d requests, %d bytes on the wire; failures %v; left out %v; folded %d; notes %q",
		res.Pages, time.Since(began), res.Requests, srv.Sent(), res.Failures, res.LeftOut, res.Folded, res.Notes)
	var got, trapped []string
	for _, p := range kept(t, c.Pages) {
		if strings.HasPrefix(p, "/calendar/") || strings.HasPrefix(p, "/session/") || strings.HasPrefix(p, "/deep") {
			trapped = append(trapped, p)
			continue
		}
		got = append(got, p)
	}
	if diff := cmp.Diff(srv.Wanted(), got); diff != "" {
		t.Errorf("kept pages (-want +got):\n%s", diff)
	}
	if len(trapped) > 130 {
		t.Errorf("%d pages of traps were kept", len(trapped))
	}
	for _, q := range srv.Requests() {
		if crawltest.Forbidden(q.Path) {
			t.Errorf("asked for %s, which is forbidden", q.Path)
		}
	}
	for _, p := range srv.Wanted() {
		if strings.HasPrefix(p, "/busy") || p == "/flaky" {
			continue // asked for again by design
		}
		asked := 0
		for _, form := range []string{p, p + "/", p + "?utm_source=sitemap"} {
			asked += srv.Count(form)
		}
		if p == "/" {
			asked = srv.Count("/")
		}
		if asked != 1 {
			t.Errorf("asked %d times for %s", asked, p)
		}
	}
	want := map[string]int{"not found": 1, "server error": 1, "no answer": 2, "too large": 2, "redirects in a circle": 2}
	if diff := cmp.Diff(want, res.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}
