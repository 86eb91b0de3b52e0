package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/pkgdocs"
	"github.com/seed-4f2d999b/knowledge/internal/web/browser"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// siteNeeds returns the set variables that hold secrets for the hosts of a
// site or for a registry: a process without them might not see what this one does.
func siteNeeds(c *app.Core, spec kb.Spec) []string {
	if !source.TraitsOf(spec.Kind).Gathered {
		return nil
	}
	var names []string
	if p, ok := source.PackageOf(spec.Source); ok {
		names = pkgdocs.Needs(p.Registry, c.Env)
	}
	hosts := slices.Clone(spec.Selection.Web.Hosts)
	if u, err := url.Parse(spec.Source); err == nil {
		hosts = append(hosts, u.Host)
	}
	for _, h := range c.Web.Headers {
		if h.Env != "" && slices.Contains(hosts, h.Host) && c.Env(h.Env) != "" && !slices.Contains(names, h.Env) {
			names = append(names, h.Env)
		}
	}
	return names
}

// headers returns the headers that the user named for a host: over https, or
// to a host that the user allowed, and nowhere else.
func headers(c *app.Core) (func(u *url.URL) http.Header, error) {
	type value struct{ host, name, text string }
	var values []value
	for _, h := range c.Web.Headers {
		text := strings.TrimSpace(c.Env(h.Env))
		if h.File != "" {
			var err error
			if text, err = secretFile(h.File); err != nil {
				return nil, err
			}
		}
		if text != "" && !strings.ContainsAny(text, "\r\n\x00") {
			values = append(values, value{h.Host, h.Name, text})
		}
	}
	return func(u *url.URL) http.Header {
		var out http.Header
		for _, v := range values {
			if !sameHost(v.host, u) || u.Scheme != "https" && !slices.Contains(c.Web.Allow, u.Host) && !slices.Contains(c.Web.Allow, u.Hostname()) {
				continue
			}
			if out == nil {
				out = http.Header{}
			}
			out.Set(v.name, v.text)
		}
		return out
	}, nil
}

// sameHost reports whether a configured host, with a port where it is not the
// scheme's, is that of a URL.
func sameHost(host string, u *url.URL) bool {
	return strings.EqualFold(host, u.Host) || strings.EqualFold(host, u.Hostname()) && u.Port() == ""
}

// secretFile reads a file that only its owner may be able to read.
func secretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", kb.Errorf(kb.Denied, "the file %q that web.headers names cannot be read: %w", path, err).WithHint("make it, or take the line out of the configuration")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", kb.Errorf(kb.Denied, "others may read the file %q, which holds a secret", path).WithHint("run: chmod 600 %s", path)
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", kb.Errorf(kb.Invalid, "%q is no file with one header's value", path).WithHint("keep the value alone in it")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", kb.Errorf(kb.Denied, "the file %q that web.headers names cannot be read: %w", path, err).WithHint("check its permissions")
	}
	return strings.TrimSpace(string(b)), nil
}

// sweepPages deletes the kept pages of stores that there are no more.
func sweepPages(ctx context.Context, c *app.Core) error {
	gone, err := unneededPages(ctx, c)
	for _, p := range gone {
		// On Windows a reader may still have a file open; the next sweep has better luck.
		_ = project.Remove(c.Dir, p)
	}
	return err
}

// unneededPages returns the folders of kept pages that no store has.
func unneededPages(ctx context.Context, c *app.Core) ([]string, error) {
	dirs, err := os.ReadDir(c.Opener.WebDir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, kb.Errorf(kb.Denied, "cannot list %q: %w", c.Opener.WebDir, err).WithHint("check the permissions of the data directory")
	}
	var out []string
	for _, d := range dirs {
		id := kb.StoreID(d.Name())
		path := filepath.Join(c.Opener.WebDir, d.Name())
		if !d.IsDir() || !project.Ours(c.Dir, path) {
			continue
		}
		if _, err := c.Catalog.Get(ctx, id); err == nil || kb.CodeOf(err) != kb.NotFound {
			continue
		}
		if _, active, err := c.Jobs.Active(ctx, id); err != nil || active {
			continue // its end sweeps again
		}
		out = append(out, path)
	}
	return out, nil
}

// gather brings the kept pages of a site, or the documents of a package, up to
// date, and returns what a reader should know of it. died says that the worker
// before died, of nothing that indexing is to blame for.
func gather(ctx context.Context, c *app.Core, j kb.Job, st kb.Store, args app.IndexArgs, died bool, details map[string]any) ([]string, error) {
	if died {
		used, err := c.Catalog.Used(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		mark := func(string) uint64 { return uint64(used) + uint64(c.PagesBytes(st.Spec)) }
		if err := c.Jobs.Blame(ctx, st.ID, nil, mark); err != nil {
			return nil, err
		}
		deaths, err := c.Jobs.Blamed(ctx, st.ID, mark)
		if err != nil {
			return nil, err
		}
		if err := c.TooManyDeaths(ctx, st, deaths[""]); err != nil {
			return nil, err
		}
	}
	kept, err := pages.Open(c.Opener.PagesDir(st.Spec))
	if err != nil {
		return nil, err
	}
	defer kept.Close()
	if p, ok := source.PackageOf(st.Spec.Source); ok {
		res, err := pkgdocs.Fetch(ctx, pkgdocs.Config{
			Registry: p.Registry, Name: p.Name, Version: p.Version, Env: c.Env, Policy: c.Policy(), Force: args.Force,
		}, kept)
		if err != nil {
			return nil, err
		}
		details["version"] = res.Version
		return res.Notes, nil
	}
	return takeSite(ctx, c, j, st, args, kept, details)
}

// takeSite crawls a site. The first crawl of one publishes what it has on the way.
func takeSite(ctx context.Context, c *app.Core, j kb.Job, st kb.Store, args app.IndexArgs, kept *pages.Store, details map[string]any) ([]string, error) {
	client, err := outbound.New(c.Policy())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	headers, err := headers(c)
	if err != nil {
		return nil, err
	}
	web := st.Spec.Selection.Web
	renderer := &renderer{core: c, client: client}
	defer renderer.close()
	cfg := crawl.Config{
		Start: []string{st.Spec.Source}, Depth: web.Depth, MaxPages: web.MaxPages,
		Include: web.Include, Exclude: web.Exclude, Hosts: web.Hosts,
		CrawlInstructions: web.Crawl, ExtractInstructions: web.Extract, Embedder: c.Words,
		Headless: crawl.Headless(web.Headless), Render: renderer.render,
		Client: client, Pages: kept, Rate: c.Web.Rate, Headers: headers, UserAgent: c.Web.UserAgent, Force: args.Force,
	}
	if web.Headless == string(crawl.HeadlessNever) {
		cfg.Render = nil
	}
	early := startEarly(ctx, c, j, st)
	began := time.Now()
	cfg.Watch = func(s crawl.Stats) {
		p := kb.Progress{Phase: "crawl", Done: int64(s.Pages), Total: int64(s.Pages + s.Queued)}
		if most := int64(web.MaxPages); most > 0 && p.Total > most {
			p.Total = most
		}
		if t := time.Since(began).Seconds(); t > 1 {
			p.Rate = float64(s.Pages) / t
		}
		kb.Report(ctx, p)
		early.look(s.Pages)
	}
	res, err := crawl.Run(ctx, cfg)
	early.stop()
	describe(details, res.Stats)
	if err != nil {
		return nil, err
	}
	notes := res.Notes
	if renderer.missing != nil && web.Headless != string(crawl.HeadlessNever) {
		notes = append(notes, fmt.Sprintf("pages that only scripts fill were read without: %v", renderer.missing))
	}
	for _, f := range []struct {
		what  string
		count map[string]int
	}{{"failed", res.Failures}, {"left out", res.LeftOut}} {
		if len(f.count) > 0 {
			notes = append(notes, fmt.Sprintf("addresses that %s: %s; see: store:pages", strings.Replace(f.what, "left out", "were left out", 1), counts(f.count)))
		}
	}
	return notes, nil
}

// counts writes "12 not found, 3 slow", most first.
func counts(m map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if n := m[b] - m[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d %s", m[k], k)
	}
	return strings.Join(keys, ", ")
}

// describe puts what a crawl did into the details of its job.
func describe(details map[string]any, s crawl.Stats) {
	details["pages"], details["queued"], details["requests"], details["bytesReceived"] = s.Pages, s.Queued, s.Requests, s.Bytes
	for _, x := range []struct {
		name string
		n    int
	}{{"unchanged", s.Unchanged}, {"folded", s.Folded}, {"rendered", s.Rendered}, {"gone", s.Gone}} {
		if x.n > 0 {
			details[x.name] = x.n
		}
	}
	if len(s.Failures) > 0 {
		details["failures"] = s.Failures
	}
	if len(s.LeftOut) > 0 {
		details["notTaken"] = s.LeftOut
	}
}

// early publishes parts of a first index while its site is being crawled: when
// there are pages after earlyLook, and then each time that it has taken twice as long.
type early struct {
	core   *app.Core
	ctx    context.Context
	cancel context.CancelFunc
	job    string
	store  kb.StoreID
	off    bool
	began  time.Time
	next   time.Duration
	busy   sync.Mutex // held by the run that publishes
	wg     sync.WaitGroup
}

const earlyLook = 3 * time.Second

func startEarly(ctx context.Context, c *app.Core, j kb.Job, st kb.Store) *early {
	// The progress that is shown is the crawl's.
	ctx, cancel := context.WithCancel(kb.WithProgress(ctx, func(kb.Progress) {}))
	return &early{core: c, ctx: ctx, cancel: cancel, job: j.ID, store: st.ID, began: time.Now(), next: earlyLook,
		off: st.Head != nil && !st.Head.Partial}
}

// look starts a run when it is time to; it does not wait.
func (e *early) look(pages int) {
	since := time.Since(e.began)
	if e.off || pages == 0 || since < e.next || !e.busy.TryLock() {
		return
	}
	e.next = 2 * since
	e.wg.Go(func() {
		defer e.busy.Unlock()
		// An error here comes again at the end, and is reported there.
		_ = e.publish()
	})
}

func (e *early) publish() error {
	c := e.core
	st, err := c.Catalog.Get(e.ctx, e.store)
	if err != nil {
		return err
	}
	snap, err := c.Opener.Open(e.ctx, st.Spec)
	if err != nil {
		return err
	}
	defer snap.Close()
	return c.Indexer.RunPart(e.ctx, e.job, st, snap)
}

// stop ends a run that is under way.
func (e *early) stop() {
	e.off = true
	e.cancel()
	e.wg.Wait()
}

// renderer starts a browser when the first page needs one.
type renderer struct {
	core    *app.Core
	client  *outbound.Client
	once    sync.Once
	browser *browser.Browser
	missing error // why there is none
}

func (r *renderer) render(ctx context.Context, url string) ([]byte, string, error) {
	r.once.Do(func() {
		// It lives as long as the crawl: ctx is that of one page.
		r.browser, r.missing = browser.Open(context.WithoutCancel(ctx), browser.Config{
			Path: r.core.Web.Browser, DialContext: r.client.DialContext, UserAgent: r.core.Web.UserAgent,
		})
	})
	if r.missing != nil {
		return nil, "", r.missing
	}
	html, final, err := r.browser.Render(ctx, url)
	return []byte(html), final, err
}

func (r *renderer) close() {
	r.once.Do(func() {})
	if r.browser != nil {
		_ = r.browser.Close()
	}
}
