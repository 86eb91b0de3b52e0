package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

const (
	maxNotes = 20
	// maxQueue bounds what waits, and with it memory: 100,000 URLs are about 50 MB.
	maxQueue = 100_000
	// maxSeen bounds the URLs that are remembered as known.
	maxSeen = 1_000_000
	// maxPageLinks bounds the links of one page that are kept and followed.
	maxPageLinks = 2000
	// madeBy grows when the same bytes make another page: pages that an older
	// number made are fetched again.
	madeBy = 1
)

// run is one crawl under way. Its fields belong to the goroutine of Run,
// except where they say otherwise.
type run struct {
	Config
	agent            string
	include, exclude globs
	scopeMu          sync.Mutex
	scope            hosts    // written under scopeMu
	folders          []string // of the start pages, as prefixes of keys
	variants         []variant
	seek, take       *wish
	made             string // identifies the settings that a kept visit must share

	sitesMu sync.Mutex
	sites   map[string]*site

	q        queue
	delayed  []*item
	seen     map[string]*item // by key; nil is done or left out
	seq      int
	patterns map[string]int
	folds    folds
	paths    map[string]string // path to key
	stats    Stats
	requests atomic.Int64 // of every goroutine
	bytes    atomic.Int64
	notesMu  sync.Mutex
	notes    []string
	failure  error // of the first start page
	unfolded map[string]bool
	carried  int // pages kept although their requests failed
	trusted  []*item
	liars    atomic.Bool // a sitemap's lastmod was wrong
}

// Run crawls. When it returns without an error the pages of the crawl are the
// site's; otherwise those of the crawl before are, and the next Run with the
// same settings goes on. The error is the context's own when that ended, what
// keeps every start page from being read, or that of the disk or the embedder.
func Run(ctx context.Context, c Config) (Result, error) {
	r, err := prepare(ctx, c)
	if err != nil {
		return Result{}, err
	}
	resumed, err := r.Pages.Begin(r.settings())
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = r.crawl(ctx)
	r.count()
	r.notesMu.Lock()
	res := Result{Stats: r.stats, Resumed: resumed, Notes: slices.Clone(r.notes)}
	r.notesMu.Unlock()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return res, err
	}
	if r.failure != nil && r.stats.Pages == r.carried {
		return res, r.failure // the pages kept before stay
	}
	if r.stats.Pages == 0 {
		return res, kb.Errorf(kb.NotFound, "no page with text was found at %q", r.Start[0]).
			WithHint("check the address; a site that needs scripts needs a browser: headless auto or always")
	}
	for v := range r.Pages.All() {
		if v.Outcome == pages.OutKept {
			if now, ok := r.Pages.Now(v.Key); !ok || now.Outcome != pages.OutKept && now.Outcome != pages.OutFolded {
				res.Gone++
			}
		}
	}
	return res, r.Pages.Commit()
}

func prepare(ctx context.Context, c Config) (*run, error) {
	r := &run{
		Config: c, sites: map[string]*site{}, seen: map[string]*item{}, patterns: map[string]int{},
		paths: map[string]string{}, unfolded: map[string]bool{},
	}
	r.folds.init()
	if c.Client == nil || c.Pages == nil {
		return nil, kb.Errorf(kb.Internal, "a crawl needs a client and a place for its pages")
	}
	var names []string
	for _, s := range c.Start {
		u := parse(nil, s)
		if u == nil {
			return nil, kb.Errorf(kb.Invalid, "%q is not an address on the web", s).
				WithHint("write it like https://docs.example.org/guide/")
		}
		if err := c.Client.CheckURL(u); err != nil {
			return nil, err
		}
		names = append(names, u.Host)
		r.folders = append(r.folders, folderOf(u))
		r.variants = append(r.variants, variantsOf(keyOf(u))...)
	}
	if len(names) == 0 {
		return nil, kb.Errorf(kb.Invalid, "a crawl needs a page to start at").
			WithHint("name it like https://docs.example.org/")
	}
	var err error
	if r.scope, err = parseHosts(append(names, c.Hosts...)); err != nil {
		return nil, err
	}
	if r.include, err = parseGlobs(c.Include); err != nil {
		return nil, err
	}
	if r.exclude, err = parseGlobs(c.Exclude); err != nil {
		return nil, err
	}
	r.defaults()
	r.agent, _, _ = strings.Cut(r.UserAgent, "/")
	switch r.Headless {
	case HeadlessAuto, HeadlessAlways, HeadlessNever:
	default:
		return nil, kb.Errorf(kb.Invalid, "headless cannot be %q", r.Headless).WithHint("it is auto, always or never")
	}
	if r.Headless == HeadlessAlways && r.Render == nil {
		return nil, kb.Errorf(kb.Unsupported, "there is no browser to read pages with").
			WithHint("install Chrome or Chromium, or leave headless at auto")
	}
	if r.seek, err = newWish(ctx, c.Embedder, c.CrawlInstructions); err != nil {
		return nil, err
	}
	if r.take, err = newWish(ctx, c.Embedder, c.ExtractInstructions); err != nil {
		return nil, err
	}
	r.q.wish = r.seek
	made := []string{fmt.Sprint(madeBy), strings.Join(names, " "), strings.Join(c.Hosts, " "), c.ExtractInstructions, ""}
	if r.take != nil {
		made[4] = c.Embedder.ID()
	}
	r.made = short(strings.Join(made, "\n"))
	return r, nil
}

// defaults sets what is zero.
func (c *Config) defaults() {
	if c.Depth == 0 {
		c.Depth = DefaultDepth
	}
	c.Depth = max(0, c.Depth)
	set := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	set(&c.MaxPages, DefaultMaxPages)
	set(&c.Patterns, 200)
	set(&c.Attempts, 3)
	workers := 2 * DefaultParallel
	if c.Parallel > 0 {
		workers = min(2*c.Parallel, 16)
	}
	set(&c.Workers, workers)
	if c.Backoff <= 0 {
		c.Backoff = time.Second
	}
	if c.Read == nil {
		c.Read = webdoc.Read
	}
	c.UserAgent = cmp.Or(c.UserAgent, DefaultUserAgent)
	c.Headless = cmp.Or(c.Headless, HeadlessAuto)
}

// folderOf is the folder of a start page, as a prefix of keys.
func folderOf(u *url.URL) string {
	p := u.EscapedPath()
	// "/guide" may be a page of "/" or the folder of its pages.
	if !strings.HasSuffix(p, "/") && path.Ext(p) != "" {
		p = path.Dir(p)
	}
	return u.Host + strings.TrimSuffix(p, "/")
}

// settings returns what a crawl must share with one that died to continue it.
func (r *run) settings() string {
	b, err := json.Marshal([]any{
		r.made, r.Start, r.Depth, r.MaxPages, r.Include, r.Exclude, r.Hosts, r.CrawlInstructions, r.Headless, r.Force,
	})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return string(b)
}

// inScope is scope.has for any goroutine.
func (r *run) inScope(host string) bool {
	r.scopeMu.Lock()
	defer r.scopeMu.Unlock()
	return r.scope.has(host)
}

// widen adds a host that a start page leads to.
func (r *run) widen(host string) {
	r.scopeMu.Lock()
	defer r.scopeMu.Unlock()
	r.scope.exact[host] = true
}

func (r *run) note(format string, args ...any) {
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, fmt.Sprintf(format, args...))
	}
}

// crawl does all visits. They are taken into account in the order in which they
// began, so that the next page depends on the pages' contents and not on their
// speed: two crawls of the same site go the same way.
func (r *run) crawl(ctx context.Context) error {
	r.replay()
	if err := r.begin(ctx); err != nil {
		return err
	}
	type flight struct {
		it   *item
		done chan *outcome
	}
	var window []flight
	var all sync.WaitGroup
	defer func() {
		// Workers end with the context, soon; one that does not is left behind.
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(500 * time.Millisecond):
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		for len(window) < r.Workers && r.stats.Pages+len(window) < r.MaxPages {
			it := r.next()
			if it == nil {
				break
			}
			f := flight{it, make(chan *outcome, 1)}
			window = append(window, f)
			all.Go(func() { f.done <- r.visit(ctx, it) })
		}
		if len(window) == 0 {
			if r.distrust() {
				continue
			}
			if r.stats.Pages >= r.MaxPages {
				break
			}
			if wait := r.wake(); wait > 0 {
				if err := sleep(ctx, wait); err != nil {
					return err
				}
				continue
			}
			if r.q.Len() > 0 || r.unfold() {
				continue
			}
			break
		}
		select {
		case o := <-window[0].done:
			window = window[1:]
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := r.account(ctx, o); err != nil {
				return err
			}
			r.report(ctx, len(window))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if left := r.q.Len() + len(r.delayed); left > 0 {
		r.note("%d more pages were known when the limit of %d pages was reached", left, r.MaxPages)
		r.left("over the limit of pages", left)
	}
	return nil
}

// next takes an item out of the queue, nil when it is empty.
func (r *run) next() *item {
	it := r.q.next()
	if it != nil {
		r.seen[it.key] = nil
	}
	return it
}

// wake puts items that failed into the queue again when nothing else is left
// and their time has come; otherwise it returns how long that is.
func (r *run) wake() time.Duration {
	if len(r.delayed) == 0 || r.q.Len() > 0 {
		return 0
	}
	now := time.Now()
	wait := time.Duration(0)
	var still []*item
	for _, it := range r.delayed {
		if d := it.notYet.Sub(now); d > 0 {
			still = append(still, it)
			if wait == 0 || d < wait {
				wait = d
			}
			continue
		}
		r.q.add(it)
	}
	r.delayed = still
	if r.q.Len() > 0 {
		return 0
	}
	return wait
}

func (r *run) left(reason string, n int) {
	if r.stats.LeftOut == nil {
		r.stats.LeftOut = map[string]int{}
	}
	r.stats.LeftOut[reason] += n
}

// count brings the stats up to date.
func (r *run) count() {
	r.stats.Queued = r.q.Len() + len(r.delayed)
	r.stats.Requests, r.stats.Bytes = int(r.requests.Load()), r.bytes.Load()
}

func (r *run) report(ctx context.Context, flying int) {
	r.count()
	r.stats.Queued += flying
	total := min(r.stats.Queued, max(0, r.MaxPages-r.stats.Pages))
	kb.Report(ctx, kb.Progress{Phase: "crawl", Done: int64(r.stats.Visited), Total: int64(r.stats.Visited + total)})
	if r.Watch != nil {
		s := r.stats
		s.Failures, s.FailedAt, s.LeftOut = maps.Clone(s.Failures), maps.Clone(s.FailedAt), maps.Clone(s.LeftOut)
		r.Watch(s)
	}
}
