package crawl

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// The causes of failures, as Stats counts them.
const (
	causeNotFound = "not found"
	causeDenied   = "no permission"
	causeRefused  = "refused by the server"
	causeBusy     = "too many requests"
	causeServer   = "server error"
	causeAway     = "no answer"
	causeDown     = "server stopped answering"
	causeLarge    = "too large"
	causeLoop     = "redirects in a circle"
	causeGuard    = "address not allowed"
	causeBroken   = "cannot be read"
	causeBrowser  = "browser failed"
)

// outcome is what a visit brought, before it is taken into account.
type outcome struct {
	it    *item
	visit pages.Visit
	links []pages.Link
	body  []byte
	same  bool // what was kept by the crawl before still holds
	// trusted says that this was not asked for but taken from the sitemap.
	trusted bool
	err     error
	// retry says that another attempt may succeed, passing that what was kept
	// before is still good.
	retry, passing bool
	target         *url.URL // of a redirect
	canonical      string   // key that the page says it goes by; "" for none or its own
	relevance      float64
	left           string // why it was not asked for
}

func (o *outcome) fail(cause string, passing bool, err error) *outcome {
	o.visit.Outcome, o.visit.Cause, o.visit.Detail = pages.OutFailed, cause, clip(err.Error(), 300)
	o.err, o.passing = err, passing
	return o
}

// pause is how long to wait before another attempt: Backoff, doubled each
// time, and up to half more or less, so that many do not come back at once.
func (r *run) pause(key string, attempt int) time.Duration {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", key, attempt)
	d := r.Backoff << min(attempt-1, 6)
	return d/2 + time.Duration(float64(d)*float64(h.Sum32())/(1<<32))
}

// visit asks for one URL and reads what comes. It changes nothing of the run.
func (r *run) visit(ctx context.Context, it *item) (o *outcome) {
	o = &outcome{it: it}
	defer func() {
		if p := recover(); p != nil { // one page that a reader stumbles over does not stop the rest
			o = &outcome{it: it, visit: o.visit}
			o.fail(causeBroken, false, kb.Errorf(kb.Internal, "reading the page failed: %v", p))
		}
	}()
	u := parse(nil, it.url)
	o.visit.Key, o.visit.Depth, o.visit.Listed, o.visit.Reason, o.visit.URL = it.key, it.depth, it.listed, it.reason, it.url
	s, err := r.site(ctx, u)
	if err != nil {
		return o.fault(err)
	}
	if s.down() {
		return o.fail(causeDown, true, kb.Errorf(kb.Away, "%q stopped answering", u.Host).
			WithHint("index the store again later"))
	}
	prev, has := r.Pages.Before(it.key)
	has = has && !r.Force && !it.force && prev.Made == r.made && r.Pages.Sound(prev)
	switch prev.Outcome {
	case pages.OutKept, pages.OutFolded, pages.OutNoIndex, pages.OutEmpty:
	default:
		has = false
	}
	// A page that was too large is not asked for again unless its listing
	// changes: most of it is received before that shows, and of an unchanged site
	// it would be nearly all that a refresh receives.
	if prev.Outcome == pages.OutFailed && prev.Cause == causeLarge && prev.Listed == it.listed && it.class != 0 && !r.Force && !it.force && s.robots.allows(requestPath(u)) {
		return o.fail(causeLarge, false, errors.New(prev.Detail))
	}
	if has && r.trust(it, prev) {
		if !s.robots.allows(requestPath(u)) {
			o.left = "robots.txt"
			return o
		}
		o.trusted = true
		return o.unchanged(prev, response{etag: prev.ETag, modified: prev.LastModified, hash: prev.Raw})
	}
	circle := map[string]bool{}
	for {
		if !s.robots.allows(requestPath(u)) {
			o.left = "robots.txt"
			return o
		}
		circle[u.String()] = true
		res := r.get(ctx, s, u, prev, has && !prev.Rendered && r.Headless != HeadlessAlways, false)
		if res.err != nil {
			return o.fault(res.err)
		}
		if res.status >= 300 && res.status < 400 && res.status != http.StatusNotModified {
			next := canonical(res.target)
			switch {
			case next == nil:
				return o.fail(causeBroken, false, kb.Errorf(kb.Away, "%q redirects to nothing that can be fetched", u).
					WithHint("check the address"))
			case circle[next.String()], it.hops >= outbound.DefaultMaxRedirects:
				return o.fail(causeLoop, false, errCircle(it.url))
			case keyOf(next) != it.key:
				o.visit.Outcome, o.visit.Target, o.target = pages.OutRedirect, next.String(), next
				return o
			}
			if u = next; u.Scheme != s.origin.Scheme || u.Host != s.origin.Host {
				if s, err = r.site(ctx, u); err != nil {
					return o.fault(err)
				}
			}
			continue
		}
		o.visit.URL = u.String()
		return r.read(ctx, o, u, prev, has, res)
	}
}

func errCircle(url string) error {
	return kb.Errorf(kb.Away, "%q redirects in a circle", url).WithHint("that page cannot be had; try another address")
}

// trust reports whether a page is taken as unchanged without asking: the
// sitemap gives the same lastmod as when the page was fetched, and that is
// older. One in sixteen is asked for nevertheless, another each time, so that a
// sitemap that is wrong is noticed.
func (r *run) trust(it *item, prev pages.Visit) bool {
	if it.listed == "" || it.listed == undated || it.listed != prev.Listed || prev.Outcome != pages.OutKept || prev.Rendered {
		return false
	}
	changed := lastmod(it.listed)
	if changed.IsZero() || !changed.Before(prev.Fetched) {
		return false
	}
	h := fnv.New32a()
	io.WriteString(h, it.key)
	return (int(h.Sum32()%16)+r.Pages.Crawl())%16 != 0 && !r.liars.Load()
}

// lastmod reads the W3C date of a sitemap; a day counts until its end.
func lastmod(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	if t, err := time.Parse("2006-01-02", s); err == nil {
		return t.Add(24 * time.Hour)
	}
	return time.Time{}
}

// fault sorts an error of a request.
func (o *outcome) fault(err error) *outcome {
	switch kb.CodeOf(err) {
	case kb.Denied, kb.Invalid:
		return o.fail(causeGuard, false, err)
	case kb.TooLarge:
		return o.fail(causeLarge, false, err)
	case kb.Corrupt, kb.Unsupported:
		return o.fail(causeBroken, false, err)
	}
	o.retry = true
	return o.fail(causeAway, true, err)
}

// unchanged takes over what the crawl before kept.
func (o *outcome) unchanged(prev pages.Visit, res response) *outcome {
	v := prev
	v.Depth, v.Listed, v.Reason, v.Fetched = o.it.depth, o.it.listed, o.it.reason, time.Now().UTC()
	v.Cause, v.Detail = "", ""
	if res.etag != "" {
		v.ETag = res.etag
	}
	if res.modified != "" {
		v.LastModified = res.modified
	}
	if res.hash != "" {
		v.Raw = res.hash
	}
	o.visit, o.same, o.relevance = v, true, v.Relevance
	o.canonical = v.Canonical
	return o
}

// read makes an outcome of an answer that is no redirect.
func (r *run) read(ctx context.Context, o *outcome, u *url.URL, prev pages.Visit, has bool, res response) *outcome {
	said := func(code kb.Code, what, hint string) error {
		return kb.Errorf(code, "%q was not had: %s (status %d)", u, what, res.status).WithHint("%s", hint)
	}
	switch {
	case res.status == http.StatusNotModified && has:
		return o.unchanged(prev, response{etag: res.etag, modified: res.modified})
	case res.status == http.StatusOK:
	case res.status == http.StatusNotFound, res.status == http.StatusGone:
		return o.fail(causeNotFound, false, said(kb.NotFound, "the server knows no such page", "check the address"))
	case res.status == http.StatusUnauthorized, res.status == http.StatusForbidden, res.status == http.StatusProxyAuthRequired:
		return o.fail(causeDenied, false, said(kb.Denied, "the server does not show it to everybody", "configure credentials for that host, or leave the page out"))
	case res.status == http.StatusTooManyRequests:
		o.retry = true
		return o.fail(causeBusy, true, said(kb.Away, "the server is asked too often", "index the store again later, or at a lower rate"))
	case res.status >= 500, res.status == http.StatusRequestTimeout, res.status == http.StatusTooEarly:
		o.retry = res.status != http.StatusNotImplemented && res.status != http.StatusHTTPVersionNotSupported
		return o.fail(causeServer, true, said(kb.Away, "the server failed", "index the store again later"))
	case res.status >= 200 && res.status < 300:
		o.visit.Outcome, o.visit.Cause = pages.OutEmpty, "no text"
		return o
	default:
		return o.fail(causeRefused, false, said(kb.Away, "the server refused", "check the address"))
	}
	o.visit.ETag, o.visit.LastModified, o.visit.Raw, o.visit.Made = res.etag, res.modified, res.hash, r.made
	o.visit.Fetched = time.Now().UTC()
	if !readable(res.contentType, u) {
		o.left = "not text"
		return o
	}
	if has && prev.Raw == res.hash && !prev.Rendered && r.Headless != HeadlessAlways {
		return o.unchanged(prev, res)
	}
	page, err := r.Read(res.body, res.contentType, u.String(), webdoc.Options{})
	if kb.CodeOf(err) == kb.Unsupported && err != nil {
		o.left = "not text"
		return o
	}
	if err != nil {
		return o.fail(causeBroken, false, err)
	}
	if r.Headless == HeadlessAlways || page.NeedsScript && r.Headless == HeadlessAuto {
		page = r.render(ctx, o, u, page)
		if ctx.Err() != nil {
			return o.fault(ctx.Err())
		}
	}
	return r.describe(ctx, o, page, prev, has, res)
}
