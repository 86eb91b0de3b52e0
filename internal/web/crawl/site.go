package crawl

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxCrawlDelay bounds what a robots.txt may ask for between two requests.
	maxCrawlDelay = time.Minute
	// maxRetryAfter bounds how long an answer may make us wait.
	maxRetryAfter = 5 * time.Minute
	// slowest is the pace below which answers of 429 and 503 do not slow down further, per second.
	slowest = 0.2
	// downAfter is how many requests in a row may fail without any answer until
	// a server is left alone; twice as many may be put off.
	downAfter = 12
)

// site is how one origin is treated. It is safe for concurrent use.
type site struct {
	origin *url.URL
	base   rate.Limit
	limit  *rate.Limiter
	slots  chan struct{}

	ready  chan struct{} // closed when robots is known
	robots *robots
	err    error // why it is not

	mu     sync.Mutex
	until  time.Time // nothing is asked for before
	good   int       // answers since the pace last changed
	failed int       // requests in a row without an answer
	busy   int       // answers in a row that ask to come back later
	slowed time.Time // when the pace was last halved
	count  int       // answers since began
	began  time.Time // of the first request
}

func (r *run) newSite(origin *url.URL) *site {
	pace, parallel := rate.Limit(r.Rate), r.Parallel
	switch {
	case r.Rate < 0, r.Rate == 0 && ownMachine(origin.Hostname()):
		pace = rate.Inf
	case r.Rate == 0:
		pace = DefaultRate
	}
	if parallel <= 0 {
		parallel = DefaultParallel
	}
	return &site{
		origin: origin, base: pace, limit: rate.NewLimiter(pace, parallel),
		slots: make(chan struct{}, parallel), ready: make(chan struct{}),
	}
}

// at returns the address of a path on the site.
func (s *site) at(path string) *url.URL {
	u := *s.origin
	u.Path = path
	return &u
}

func ownMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// obey applies the rules that the site's robots.txt gave.
func (s *site) obey(ru *robots) {
	s.robots = ru
	if ru.delay <= 0 {
		return
	}
	d := min(ru.delay, maxCrawlDelay)
	if l := rate.Every(d); l < s.base {
		s.base = l
		s.limit.SetLimit(l)
		s.limit.SetBurst(1)
	}
}

// enter waits until the site may be asked; the caller calls leave afterwards.
func (s *site) enter(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		s.mu.Lock()
		wait := time.Until(s.until)
		s.mu.Unlock()
		if wait <= 0 {
			break
		}
		if err := sleep(ctx, wait); err != nil {
			s.leave()
			return err
		}
	}
	if err := s.limit.Wait(ctx); err != nil {
		s.leave()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

func (s *site) leave() { <-s.slots }

// answered takes an answer into account: after one that asks to slow down the
// pace halves, after 50 others it grows by half, up to what it was.
func (s *site) answered(status int, header http.Header, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = 0
	if s.count++; s.began.IsZero() {
		s.began = now
	}
	pace := s.limit.Limit()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		s.good = 0
		s.busy++
		if d := retryAfter(header.Get("Retry-After"), now); d > 0 {
			if t := now.Add(d); t.After(s.until) {
				s.until = t
			}
		} else if status == http.StatusServiceUnavailable {
			return // one page that fails says nothing about the pace
		}
		if now.Sub(s.slowed) < time.Second {
			return // requests that were under way together are one reason
		}
		s.slowed = now
		if pace == rate.Inf { // then what it was in fact
			pace = rate.Limit(max(DefaultRate, float64(s.count)/max(now.Sub(s.began).Seconds(), 0.1)))
		}
		s.limit.SetLimit(max(pace/2, min(slowest, s.base)))
		return
	}
	s.busy = 0
	if s.good++; s.good >= 50 && pace < s.base {
		s.good = 0
		if pace *= 1.5; pace > 1000 && s.base == rate.Inf {
			pace = rate.Inf
		}
		s.limit.SetLimit(min(pace, s.base))
	}
}

// silent counts a request that got no answer.
func (s *site) silent() { s.mu.Lock(); s.failed++; s.mu.Unlock() }

// down reports whether a site has not been of use for so long that it is left alone.
func (s *site) down() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed >= downAfter || s.busy >= 2*downAfter
}

// retryAfter reads the header of that name: seconds or a date (RFC 9110,
// §10.2.3). It is bounded; 0 is none.
func retryAfter(h string, now time.Time) time.Duration {
	h = strings.TrimSpace(h)
	if h == "" {
		return 0
	}
	if sec, err := strconv.ParseFloat(h, 64); err == nil {
		if !(sec > 0) {
			return 0
		}
		return time.Duration(math.Min(sec, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	t, err := http.ParseTime(h)
	if err != nil {
		return 0
	}
	return max(0, min(t.Sub(now), maxRetryAfter))
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
