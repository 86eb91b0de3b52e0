package crawl_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// bag embeds a text as the words in it.
type bag struct{}

func (bag) ID() string { return "bag" }
func (bag) Dims() int  { return 512 }
func (bag) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, 512)
		sum := 0.0
		for _, w := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return r < 'a' || r > 'z' }) {
			h := fnv.New32a()
			io.WriteString(h, w)
			v[h.Sum32()%512]++
		}
		for _, x := range v {
			sum += float64(x * x)
		}
		if sum > 0 {
			for j := range v {
				v[j] /= float32(math.Sqrt(sum))
			}
		}
		out[i] = v
	}
	return out, nil
}

// small is a site made of a map: path to what is served there. A value that begins with
// "#" is Markdown, with a digit a status, with "->" a redirect, else HTML.
type small struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
	asked []string
	times []time.Time
	heads []http.Header
}

func newSmall(t *testing.T, pages map[string]string) *small {
	t.Helper()
	s := &small{pages: pages}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *small) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked, s.times, s.heads = append(s.asked, r.URL.RequestURI()), append(s.times, time.Now()), append(s.heads, r.Header.Clone())
	body, ok := s.pages[r.URL.RequestURI()]
	s.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
	case strings.HasPrefix(body, "->"):
		http.Redirect(w, r, body[2:], http.StatusFound)
	case len(body) == 3 && body[0] >= '0' && body[0] <= '9':
		var code int
		fmt.Sscan(body, &code)
		w.WriteHeader(code)
	case strings.HasPrefix(body, "#"):
		w.Header().Set("Content-Type", "text/markdown")
		io.WriteString(w, body)
	case strings.HasPrefix(r.URL.Path, "/robots.txt"), strings.HasPrefix(r.URL.Path, "/llms"):
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, body)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, body)
	}
}

func (s *small) requests() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.asked) }

// page is a page of HTML with links: "text>href".
func page(title, text string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><title>%s</title><main><h1>%s</h1><p>%s</p>", title, title, text)
	for _, l := range links {
		text, href, _ := strings.Cut(l, ">")
		fmt.Fprintf(&b, "<p><a href=%q>%s</a></p>", href, text)
	}
	return b.String() + "</main>"
}

func smallConfig(t *testing.T, s *small) crawl.Config {
	t.Helper()
	return crawl.Config{Start: []string{s.URL + "/"}, Client: client(t, 5*time.Second), Pages: store(t, filepath.Join(t.TempDir(), "s")), Rate: -1, Backoff: time.Millisecond, Workers: 1}
}

// What an instruction is about comes first, whatever the order of the links,
// and what it leaves out comes last.
func TestInstructions(t *testing.T) {
	p := map[string]string{"/": page("Home", "welcome to all of it", "Blog>/blog", "News>/news", "Guide>/guide", "Routing>/routing", "Imprint>/imprint")}
	p["/blog"] = page("Blog", "what we wrote about routing", "Routing in our blog>/blog/routing", "Party>/blog/party")
	p["/news"] = page("News", "new things of the day", "Old news>/news/old")
	p["/guide"] = page("Guide", "how it is used", "Setup>/guide/setup", "Middleware and routing>/guide/routing")
	p["/routing"] = page("Routing", "routing of requests to handlers by routing tables", "Parameters>/routing/parameters", "Groups>/routing/groups")
	for _, x := range []string{"/imprint", "/blog/routing", "/blog/party", "/news/old", "/guide/setup", "/guide/routing", "/routing/parameters", "/routing/groups"} {
		p[x] = page(x, "text of "+strings.ReplaceAll(x, "/", " ")+" alone")
	}
	s := newSmall(t, p)
	c := smallConfig(t, s)
	c.CrawlInstructions, c.Embedder = "only the pages about routing, but not the blog", bag{}
	run(t, c)
	var order []string
	for _, a := range s.requests() {
		if _, ok := p[a]; ok && a != "/" {
			order = append(order, a)
		}
	}
	first := slices.Sorted(slices.Values(order[:2]))
	if order[0] != "/routing" || !slices.Contains(order[:5], "/routing/parameters") || !slices.Contains(order[:6], "/guide/routing") {
		t.Errorf("in this order: %v (%v)", order, first)
	}
	for _, b := range []string{"/blog", "/blog/routing", "/blog/party"} {
		if slices.Index(order, b) < 6 {
			t.Errorf("%s comes as number %d of %v", b, slices.Index(order, b), order)
		}
	}
	for v := range c.Pages.All() {
		if strings.HasSuffix(v.URL, "/routing/groups") && (!strings.Contains(v.Reason, `link "Groups"`) || !strings.Contains(v.Reason, "similarity")) {
			t.Errorf("the reason is %q", v.Reason)
		}
	}
	// The same again goes the same way.
	s2 := newSmall(t, p)
	c2 := smallConfig(t, s2)
	c2.CrawlInstructions, c2.Embedder = c.CrawlInstructions, bag{}
	run(t, c2)
	if diff := cmp.Diff(s.requests(), s2.requests()); diff != "" {
		t.Error(diff)
	}
}

func TestExtract(t *testing.T) {
	s := newSmall(t, map[string]string{"/": "# Server\n\nAll about it.\n\n## Timeouts\n\nHow long it waits.\n\n### Idle timeout\n\nseconds of idle time\n\n```sh\n# not a heading\n```\n\n## Logging\n\nwhat it writes down\n\n## Errors\n\nwhat goes wrong\n"})
	c := smallConfig(t, s)
	c.ExtractInstructions, c.Embedder = "the idle timeout", bag{}
	run(t, c)
	text := func() string {
		set, err := pages.View(c.Pages.Dir())
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		b, err := set.Read(set.Pages[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := text(); !strings.Contains(got, "# not a heading") || !strings.Contains(got, "## Timeouts") || strings.Contains(got, "Logging") || strings.Contains(got, "Errors") {
		t.Errorf("kept:\n%s", got)
	}
	// Another instruction makes other pages of the same answers.
	c.ExtractInstructions = "logging"
	run(t, c)
	if got := text(); !strings.Contains(got, "Logging") || strings.Contains(got, "Idle") {
		t.Errorf("kept:\n%s", got)
	}
	// One that nothing is about keeps something.
	c.ExtractInstructions = "zebras"
	run(t, c)
	if text() == "" {
		t.Error("nothing was kept")
	}
}

// Depth, globs, hosts and the limit of pages hold.
func TestBounds(t *testing.T) {
	other := newSmall(t, map[string]string{"/x": page("Other", "elsewhere")})
	p := map[string]string{
		"/":       page("Home", "start", "A>/docs/a", "B>/docs/b", "Blog>/blog/1", "Other>"+other.URL+"/x", "Q>/docs/a?page=2"),
		"/docs/a": page("A", "one", "C>/docs/deep/c"), "/docs/b": page("B", "two"), "/blog/1": page("Blog", "post"),
		"/docs/deep/c": page("C", "three", "D>/docs/deep/d"), "/docs/deep/d": page("D", "four"), "/docs/a?page=2": page("A2", "another"),
	}
	u, _ := url.Parse(other.URL)
	for _, tt := range []struct {
		name   string
		change func(*crawl.Config)
		want   []string
	}{
		{"all", func(c *crawl.Config) {}, []string{"/", "/blog/1", "/docs/a", "/docs/a?page=2", "/docs/b", "/docs/deep/c", "/docs/deep/d"}},
		{"start alone", func(c *crawl.Config) { c.Depth = -1 }, []string{"/"}},
		{"depth", func(c *crawl.Config) { c.Depth = 1 }, []string{"/", "/blog/1", "/docs/a", "/docs/a?page=2", "/docs/b"}},
		{"include", func(c *crawl.Config) { c.Include = []string{"/docs/*"} }, []string{"/", "/docs/a", "/docs/a?page=2", "/docs/b"}},
		{"exclude", func(c *crawl.Config) { c.Exclude = []string{"blog/**", "/docs/deep/"} }, []string{"/", "/docs/a", "/docs/a?page=2", "/docs/b"}},
		{"hosts", func(c *crawl.Config) {
			c.Hosts = []string{u.Host}
			c.Depth = 1
			c.Exclude = []string{"/docs/", "/blog/"}
		}, []string{"/", "/x"}},
		{"limit", func(c *crawl.Config) { c.MaxPages = 3 }, []string{"/", "/docs/a", "/docs/b"}},
		{"folder first", func(c *crawl.Config) { c.Start[0] += "docs/a"; c.MaxPages = 2 }, []string{"/docs/a", "/docs/deep/c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSmall(t, p)
			c := smallConfig(t, s)
			tt.change(&c)
			run(t, c)
			if diff := cmp.Diff(tt.want, kept(t, c.Pages)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// robots.txt that cannot be had forbids everything; one that is not there nothing.
func TestRobotsFailing(t *testing.T) {
	p := map[string]string{"/": page("Home", "start", "A>/a"), "/a": page("A", "one"), "/robots.txt": "503"}
	s := newSmall(t, p)
	c := smallConfig(t, s)
	if _, err := crawl.Run(context.Background(), c); kb.CodeOf(err) != kb.Denied || slices.Contains(s.requests(), "/") {
		t.Errorf("%v, asked %v", err, s.requests())
	}
	p["/robots.txt"] = "User-agent: *\nDisallow: /a\nCrawl-delay: 0.05\n"
	began := time.Now()
	if res := run(t, c); res.Pages != 1 {
		t.Errorf("%+v", res.Stats)
	}
	s.mu.Lock()
	// After the failing ones and the file itself. One that arrives late on a busy
	// machine shortens the time to the next, so they are held to the beginning.
	for i := 5; i < len(s.times); i++ {
		if d := s.times[i].Sub(began); d < time.Duration(i-4)*50*time.Millisecond {
			t.Errorf("request %d, %s, came after %v", i, s.asked[i], d)
		}
	}
	s.mu.Unlock()
	// What it said before holds while it fails.
	p["/robots.txt"] = "500"
	s.mu.Lock()
	s.asked = nil
	s.mu.Unlock()
	if res := run(t, c); res.Pages != 1 || slices.Contains(s.requests(), "/a") {
		t.Errorf("%+v, asked %v", res.Stats, s.requests())
	}
}

// A start page that leads to another host makes that the site; credentials stay with
// the origin that they are for.
func TestMovedAndCredentials(t *testing.T) {
	second := newSmall(t, map[string]string{"/docs/": page("Docs", "moved here", "A>/docs/a"), "/docs/a": page("A", "one"), "/sitemap.xml": `<urlset><url><loc>/docs/listed</loc></url></urlset>`, "/docs/listed": page("L", "listed")})
	first := newSmall(t, map[string]string{"/": "->" + second.URL + "/docs/"})
	c := smallConfig(t, first)
	c.Headers = func(u *url.URL) http.Header {
		if "http://"+u.Host == first.URL {
			return http.Header{"Authorization": {"Bearer secret"}}
		}
		return nil
	}
	run(t, c)
	if diff := cmp.Diff([]string{"/docs", "/docs/a"}, kept(t, c.Pages)); diff != "" && !slices.Contains(kept(t, c.Pages), "/docs/listed") {
		t.Error(diff)
	}
	for _, h := range second.heads {
		if h.Get("Authorization") != "" {
			t.Error("another host got the credentials")
		}
	}
	if first.heads[len(first.heads)-1].Get("Authorization") != "Bearer secret" {
		t.Error("the host they are for did not")
	}
}

// A browser reads what has no text without one, and nothing else.
func TestHeadless(t *testing.T) {
	p := map[string]string{
		"/":    page("Home", "start with some words of text", "App>/app"),
		"/app": `<!doctype html><title>App</title><script src="/x.js"></script><div id="root"></div>`,
	}
	for _, mode := range []crawl.Headless{crawl.HeadlessAuto, crawl.HeadlessAlways, crawl.HeadlessNever} {
		s := newSmall(t, p)
		c := smallConfig(t, s)
		c.Headless = mode
		var rendered []string
		c.Render = func(_ context.Context, u string) ([]byte, string, error) {
			rendered = append(rendered, strings.TrimPrefix(u, s.URL))
			return []byte(page("Rendered", "text that a script made of nothing", "More>/more")), u, nil
		}
		s.pages["/more"] = page("More", "found by script")
		res := run(t, c)
		want := map[crawl.Headless][]string{crawl.HeadlessAuto: {"/app"}, crawl.HeadlessAlways: {"/", "/more"}}[mode]
		slices.Sort(rendered)
		if diff := cmp.Diff(want, rendered); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		delete(s.pages, "/more")
		if mode == crawl.HeadlessAuto && (res.Pages != 3 || res.Rendered != 1) || mode == crawl.HeadlessNever && res.Pages != 1 {
			t.Errorf("%s: %+v", mode, res.Stats)
		}
	}
	s := newSmall(t, p)
	c := smallConfig(t, s)
	c.Render = func(context.Context, string) ([]byte, string, error) { return nil, "", fmt.Errorf("no display") }
	if res := run(t, c); res.Pages != 1 || res.LeftOut["no text without a browser"] != 1 {
		t.Errorf("%+v", res.Stats)
	}
}

// llms.txt comes before links, and a folder's own lists count.
func TestListsFirst(t *testing.T) {
	p := map[string]string{
		"/docs/": page("Docs", "start", "Linked>/docs/linked"), "/docs/linked": page("Linked", "by link"),
		"/docs/llms.txt": "# Docs\n\n- [Hidden](/docs/hidden): what no page links\n", "/docs/hidden": "# Hidden\n\nwhat no page links\n",
	}
	s := newSmall(t, p)
	c := smallConfig(t, s)
	c.Start[0] += "docs/"
	run(t, c)
	a := s.requests()
	if i, j := slices.Index(a, "/docs/hidden"), slices.Index(a, "/docs/linked"); i < 0 || j < i {
		t.Errorf("asked %v", a)
	}
}

// Nothing is left running.
func TestLeak(t *testing.T) {
	srv := crawltest.Start(crawltest.New(crawltest.Options{Pages: 20, Traps: true, Slow: time.Second}))
	before := goleak.IgnoreCurrent()
	cl := client(t, time.Minute)
	s, err := pages.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err = crawl.Run(ctx, crawl.Config{Start: []string{srv.URL}, Client: cl, Pages: s, Rate: -1})
	if kb.CodeOf(err) != kb.Canceled {
		t.Error(err)
	}
	s.Close()
	cl.Close()
	srv.Close()
	goleak.VerifyNone(t, before)
}

// A page that llms.txt names as Markdown and the sitemap as HTML is taken once;
// one that only sends its reader on is no page.
func TestOnce(t *testing.T) {
	p := map[string]string{
		"/":               `<!doctype html><title>Go</title><meta http-equiv="refresh" content="0; url=/docs/">`,
		"/docs/":          page("Docs", "start"),
		"/llms.txt":       "# Docs\n\n- [A](/docs/a.md): one\n- [B](/docs/b.md): two\n",
		"/sitemap.xml":    "<urlset><url><loc>SITE/docs/a</loc></url></urlset>",
		"/docs/a":         page("A", "one of them"),
		"/docs/a.md":      "# A\n\none of them",
		"/docs/b.md":      "# B\n\ntwo of them",
		"/docs/llms.txt":  "404",
		"/docs/other.txt": "",
	}
	s := newSmall(t, p)
	p["/sitemap.xml"] = strings.ReplaceAll(p["/sitemap.xml"], "SITE", s.URL)
	c := smallConfig(t, s)
	run(t, c)
	if diff := cmp.Diff([]string{"/docs", "/docs/a", "/docs/b.md"}, kept(t, c.Pages)); diff != "" {
		t.Errorf("%s\nasked %v", diff, s.requests())
	}
}

// A start page of one version or language keeps the crawl to it; one of none does not.
func TestVariants(t *testing.T) {
	long := strings.Repeat("words that every version says just the same way in its own place and time ", 12)
	p := map[string]string{
		"/":           page("Home", "choose", "Stable>/en/stable/", "Old>/en/1.0/", "German>/de/stable/", "About>/about"),
		"/en/stable/": page("Docs", long, "A>/en/stable/a", "Old>/en/1.0/a", "German>/de/stable/a", "Release 2>/en/stable/v2/notes", "About>/about"),
		"/en/1.0/":    page("Docs", long, "A>/en/1.0/a"), "/de/stable/": page("Docs", "auf deutsch", "A>/de/stable/a"),
		"/en/stable/a": page("A", long+"one"), "/en/1.0/a": page("A", long+"one"), "/de/stable/a": page("A", "eins"),
		"/en/stable/v2/notes": page("Notes", "what is new"), "/about": page("About", "us"),
		"/docs": "->/en/stable/",
	}
	for _, tt := range []struct {
		start   []string
		include []string
		want    []string
	}{
		{[]string{"/en/stable/"}, nil, []string{"/about", "/en/stable", "/en/stable/a", "/en/stable/v2/notes"}},
		{[]string{"/en/stable/", "/en/1.0/"}, nil, []string{"/about", "/en/1.0", "/en/1.0/a", "/en/stable", "/en/stable/a", "/en/stable/v2/notes"}},
		{[]string{"/"}, nil, []string{"/", "/about", "/de/stable", "/de/stable/a", "/en/1.0", "/en/1.0/a", "/en/stable", "/en/stable/a", "/en/stable/v2/notes"}},
		{[]string{"/docs"}, nil, []string{"/about", "/en/stable", "/en/stable/a", "/en/stable/v2/notes"}},
		{[]string{"/en/stable/"}, []string{"/en/1.0/"}, []string{"/en/1.0/a", "/en/stable"}},
	} {
		s := newSmall(t, p)
		c := smallConfig(t, s)
		c.Start = nil
		for _, x := range tt.start {
			c.Start = append(c.Start, s.URL+x)
		}
		c.Include = tt.include
		run(t, c)
		if diff := cmp.Diff(tt.want, kept(t, c.Pages)); diff != "" {
			t.Errorf("%v %v: %s", tt.start, tt.include, diff)
		}
	}
}

// A server that puts off every request is left alone in the end.
func TestBusyForever(t *testing.T) {
	p := map[string]string{"/": page("Home", "start")}
	for i := range 60 {
		href := fmt.Sprintf("/p/%c%c", 'a'+i%26, 'a'+i/26)
		p["/"] += fmt.Sprintf("<a href=%q>x</a>", href)
		p[href] = "429"
	}
	s := newSmall(t, p)
	res := run(t, smallConfig(t, s))
	if n := len(s.requests()); n > 60 || res.Pages != 1 || res.Failures["server stopped answering"] == 0 {
		t.Errorf("%d requests, %+v", n, res.Stats)
	}
}

// A sitemap whose lastmod does not show what changed is found out, and then
// everything is asked for.
func TestLyingSitemap(t *testing.T) {
	p := map[string]string{"/": page("Home", "start")}
	var list strings.Builder
	for i := range 60 {
		path := fmt.Sprintf("/p/%c%c", 'a'+i%26, 'a'+i/26)
		p[path] = page(path, "text of "+path)
		fmt.Fprintf(&list, "<url><loc>%s</loc><lastmod>2026-01-02</lastmod></url>", path)
	}
	p["/sitemap.xml"] = "<urlset>" + list.String() + "</urlset>"
	s := newSmall(t, p)
	c := smallConfig(t, s)
	// The site's addresses are absolute in a sitemap.
	p["/sitemap.xml"] = strings.ReplaceAll(p["/sitemap.xml"], "<loc>", "<loc>"+s.URL)
	if res := run(t, c); res.Pages != 61 {
		t.Fatalf("%+v", res.Stats)
	}
	s.mu.Lock()
	s.asked = nil
	s.mu.Unlock()
	if res := run(t, c); res.Unchanged != 61 || len(s.requests()) > 20 {
		t.Errorf("%d requests, %+v", len(s.requests()), res.Stats)
	}
	s.mu.Lock()
	for k, v := range p {
		if strings.HasPrefix(k, "/p/") {
			p[k] = v + "<p>and more</p>"
		}
	}
	s.mu.Unlock()
	res := run(t, c)
	if res.Pages != 61 || len(res.Notes) != 1 {
		t.Errorf("%+v", res)
	}
	changed := 0
	for v := range c.Pages.All() {
		if v.Outcome == pages.OutKept && v.Changed.Equal(v.Fetched) {
			changed++
		}
	}
	if changed < 60 {
		t.Errorf("%d of 60 changed pages were noticed", changed)
	}
}
