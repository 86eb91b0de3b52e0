package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
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

// response is one answer, read.
type response struct {
	status         int
	body           []byte
	hash           string
	etag, modified string
	contentType    string
	noindex        bool // by X-Robots-Tag
	nofollow       bool
	target         *url.URL
	err            error
}

const accept = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/pdf;q=0.7, */*;q=0.1"

// get asks a site for one URL. A redirect is not followed but for what is not a page (follow).
func (r *run) get(ctx context.Context, s *site, u *url.URL, prev pages.Visit, conditional, follow bool) response {
	if err := s.enter(ctx); err != nil {
		return response{err: err}
	}
	defer s.leave()
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	if r.Headers != nil {
		for k, vs := range r.Headers(u) {
			req.Header[http.CanonicalHeaderKey(k)] = vs
		}
	}
	req.Header.Set("User-Agent", r.UserAgent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", accept)
	}
	if conditional {
		if prev.ETag != "" {
			req.Header.Set("If-None-Match", prev.ETag)
		}
		if prev.LastModified != "" {
			req.Header.Set("If-Modified-Since", prev.LastModified)
		}
	}
	r.requests.Add(1)
	do := r.Client.Once
	if follow {
		do = r.Client.Do
	}
	resp, err := do(ctx, req)
	if err != nil {
		if kb.CodeOf(err) == kb.Away {
			s.silent()
		}
		return response{err: err}
	}
	defer resp.Body.Close()
	defer func() { r.bytes.Add(outbound.Received(resp)) }()
	s.answered(resp.StatusCode, resp.Header, time.Now())
	out := response{
		status: resp.StatusCode, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified"),
		contentType: resp.Header.Get("Content-Type"),
	}
	out.noindex, out.nofollow = robotsTag(resp.Header.Values("X-Robots-Tag"), r.agent)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified {
		out.target = outbound.Redirect(resp)
		return out
	}
	if resp.StatusCode != http.StatusOK || !follow && !readable(out.contentType, u) {
		return out
	}
	if out.body, out.err = io.ReadAll(resp.Body); out.err == nil {
		sum := sha256.Sum256(out.body)
		out.hash = hex.EncodeToString(sum[:])
	}
	return out
}

// robotsTag reads the headers of that name: rules, separated by commas, perhaps
// after the name of the crawler that they are for.
func robotsTag(values []string, agent string) (noindex, nofollow bool) {
	for _, v := range values {
		ours := true
		for _, rule := range strings.Split(strings.ToLower(v), ",") {
			rule = strings.TrimSpace(rule)
			// "name: rule", or a rule with a value, which says nothing here.
			if name, rest, ok := strings.Cut(rule, ":"); ok {
				ours = strings.TrimSpace(name) == strings.ToLower(agent)
				if strings.HasPrefix(name, "max-") || name == "unavailable_after" {
					ours = true
				}
				rule = strings.TrimSpace(rest)
				if !ours || strings.HasPrefix(name, "max-") {
					continue
				}
			}
			switch {
			case !ours:
			case rule == "none":
				noindex, nofollow = true, true
			case rule == "noindex":
				noindex = true
			case rule == "nofollow":
				nofollow = true
			}
		}
	}
	return noindex, nofollow
}

// readable reports whether a body of this type may be text.
func readable(contentType string, u *url.URL) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media == "" {
		return true // the body decides
	}
	family, sub, _ := strings.Cut(media, "/")
	switch family {
	case "image", "audio", "video", "font", "model":
		return false
	case "application":
		switch {
		case sub == "octet-stream": // what servers say that do not know
			switch strings.ToLower(path.Ext(u.Path)) {
			case ".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".html", ".pdf":
				return true
			}
		case sub == "pdf", sub == "json", sub == "xml", sub == "xhtml+xml", sub == "markdown", sub == "x-markdown", strings.HasSuffix(sub, "+xml"), strings.HasSuffix(sub, "+json"):
			return true
		}
		return false
	}
	return true
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
	// What was too large is not asked for again unless its listing changes: most
	// of it is received before that shows, and of an unchanged site it would be
	// nearly all that a refresh receives.
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

func requestPath(u *url.URL) string {
	if u.RawQuery != "" {
		return u.EscapedPath() + "?" + u.RawQuery
	}
	return u.EscapedPath()
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
