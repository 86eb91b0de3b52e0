package crawl

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// replay takes the visits of a crawl that died as done, but for those that
// came to nothing: they may now.
func (r *run) replay() {
	for v := range r.Pages.Done() {
		switch v.Outcome {
		case pages.OutAside, pages.OutFailed, pages.OutLeft:
			continue
		}
		r.seen[v.Key] = nil
		r.tally(v)
	}
}

// begin visits the start pages and fills the queue with what the sites list,
// and with what the pages lead to that a crawl which died has visited.
func (r *run) begin(ctx context.Context) error {
	for _, s := range r.Start {
		if err := r.admit(ctx, parse(nil, s), admission{start: true, reason: "start page"}); err != nil {
			return err
		}
	}
	// One after the other: where a start page leads says which site it is.
	for it := r.q.nextStart(); it != nil; it = r.q.nextStart() {
		r.seen[it.key] = nil
		o := r.visit(ctx, it)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.account(ctx, o); err != nil {
			return err
		}
		r.report(ctx, 0)
	}
	if r.Depth > 0 {
		seen := map[string]bool{}
		for _, s := range r.Start {
			u := parse(nil, s)
			for hops := 0; hops < outbound.DefaultMaxRedirects; hops++ {
				v, ok := r.Pages.Now(keyOf(u))
				if !ok || v.Outcome != pages.OutRedirect || parse(nil, v.Target) == nil {
					break
				}
				u = parse(nil, v.Target)
			}
			if landed := keyOf(u); landed != keyOf(parse(nil, s)) {
				if !r.scope.has(u.Host) {
					r.widen(u.Host) // a crawl that died has been there
				}
				r.folders = append(r.folders, folderOf(u))
				r.variants = append(r.variants, variantsOf(landed)...)
			}
			if err := r.lists(ctx, u, seen); err != nil {
				return err
			}
		}
		r.q.init()
	}
	for v := range r.Pages.Done() {
		switch v.Outcome {
		case pages.OutAside, pages.OutFailed, pages.OutLeft:
			continue
		}
		links, err := r.Pages.Links(v)
		if err != nil {
			continue // damaged: what else leads there is enough
		}
		it := &item{key: v.Key, url: v.URL, depth: v.Depth, reason: v.Reason}
		if u := parse(nil, v.URL); u != nil {
			_, it.varies = patternOf(u)
		}
		if v.Outcome == pages.OutRedirect {
			if err := r.admit(ctx, parse(nil, v.Target), admission{depth: v.Depth, reason: v.Reason, varies: it.varies}); err != nil {
				return err
			}
		}
		if err := r.follow(ctx, it, v.Title, 0, links); err != nil {
			return err
		}
	}
	return nil
}

// lists takes what a site lists, at its root and in the folder of the start page.
func (r *run) lists(ctx context.Context, start *url.URL, seen map[string]bool) error {
	s, err := r.site(ctx, start)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return nil // the visit of the start page says why
	}
	at := func(p string) *url.URL { u := *s.origin; u.Path = p; return &u }
	folders := []string{"/"}
	if i := strings.LastIndexByte(start.Path, '/'); i > 0 {
		folders = append(folders, start.Path[:i+1])
	}
	if p := start.Path; !strings.HasSuffix(p, "/") && !strings.Contains(p[strings.LastIndexByte(p, '/'):], ".") {
		folders = append(folders, p+"/")
	}
	// Pages in Markdown wait until all lists are read: what another list has as
	// a page of HTML, with anchors, is the same page.
	var later []pages.Link
	take := func(links []pages.Link, from string) error {
		for _, l := range links {
			u := parse(nil, l.URL)
			if u == nil || !r.scope.has(u.Host) {
				continue
			}
			a := admission{depth: 1, listed: "-", text: l.Text, reason: "listed in " + from}
			if from == "a sitemap" {
				if a.text = ""; l.Text != "" {
					a.listed = l.Text
				}
			}
			if k, ok := strings.CutSuffix(keyOf(u), ".md"); ok {
				if from != afterAll {
					later = append(later, pages.Link{URL: l.URL, Text: l.Text})
					continue
				}
				a.reason = "listed in llms.txt"
				if r.knows(k) || r.knows(k+".html") {
					continue
				}
			}
			if err := r.admit(ctx, u, a); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range folders {
		for _, name := range []string{"llms.txt", "llms-full.txt"} {
			u := at(f + name)
			if seen[u.String()] {
				break
			}
			seen[u.String()] = true
			links, _, status, err := r.aside(ctx, s, u, func(body []byte) ([]pages.Link, []byte) { return llms(body, u), nil })
			if err != nil {
				return err
			}
			if status != http.StatusOK {
				continue
			}
			if err := take(links, name); err != nil {
				return err
			}
			if len(links) > 0 {
				break
			}
		}
	}
	var maps []*url.URL
	for _, m := range s.robots.sitemaps {
		if u := parse(s.origin, m); u != nil {
			maps = append(maps, u)
		}
	}
	if len(maps) == 0 {
		for _, f := range folders {
			maps = append(maps, at(f+"sitemap.xml"))
		}
	}
	files := 0
	var walk func(u *url.URL, depth int) error
	walk = func(u *url.URL, depth int) error {
		if seen[u.String()] || files >= maxSitemaps || depth > maxNested {
			return nil
		}
		seen[u.String()] = true
		files++
		links, _, status, err := r.aside(ctx, s, u, func(body []byte) ([]pages.Link, []byte) {
			entries, nested := sitemap(body, outbound.DefaultMaxBytes*5)
			for _, n := range nested {
				entries = append(entries, pages.Link{URL: n.URL, Text: nestedMark})
			}
			return entries, nil
		})
		if err != nil || status != http.StatusOK {
			return err
		}
		var own []pages.Link
		var nested []string
		for _, l := range links {
			if l.Text == nestedMark {
				nested = append(nested, l.URL)
			} else {
				own = append(own, l)
			}
		}
		if err := take(own, "a sitemap"); err != nil {
			return err
		}
		for _, n := range nested {
			if v := parse(u, n); v != nil {
				if err := walk(v, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, u := range maps {
		if err := walk(u, 0); err != nil {
			return err
		}
	}
	if err := take(later, afterAll); err != nil {
		return err
	}
	if files >= maxSitemaps {
		r.note("%s has more than %d sitemaps; the rest was not read", s.origin.Host, maxSitemaps)
	}
	return nil
}

// afterAll is where links come from that waited for the other lists.
const afterAll = "after all"

// knows reports whether a URL waits in the queue or was visited.
func (r *run) knows(key string) bool {
	it, known := r.seen[key]
	if it != nil || !known {
		return it != nil
	}
	_, visited := r.Pages.Now(key)
	return visited
}

// nestedMark is the text of a link to another sitemap among a sitemap's links.
const nestedMark = "sitemap"

// site returns how an origin is treated, and asks for its robots.txt the first time.
func (r *run) site(ctx context.Context, u *url.URL) (*site, error) {
	name := u.Scheme + "://" + u.Host
	r.sitesMu.Lock()
	s := r.sites[name]
	mine := s == nil
	if mine {
		s = r.newSite(&url.URL{Scheme: u.Scheme, Host: u.Host})
		r.sites[name] = s
	}
	r.sitesMu.Unlock()
	if !mine {
		select {
		case <-s.ready:
			return s, s.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.err = r.ask(ctx, s)
	close(s.ready)
	return s, s.err
}

// ask reads a site's robots.txt. As RFC 9309 has it, a file that is not there
// allows everything, and a server that fails to say allows nothing, unless it
// said before.
func (r *run) ask(ctx context.Context, s *site) error {
	u := *s.origin
	u.Path = "/robots.txt"
	_, body, status, err := r.aside(ctx, s, &u, func(body []byte) ([]pages.Link, []byte) { return nil, body[:min(len(body), maxRobots)] })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case status == http.StatusOK:
		s.obey(parseRobots(body, r.agent))
	case status >= 400 && status < 500 && status != http.StatusTooManyRequests:
		s.obey(&robots{})
	default:
		if v, ok := r.Pages.Before("aside:" + u.String()); ok {
			if old, e := r.Pages.Body(v); e == nil {
				s.obey(parseRobots(old, r.agent))
				return nil
			}
		}
		if status == 0 { // not an answer at all
			return kb.Errorf(kb.Away, "%q does not answer", s.origin.Host).WithHint("check the address and your connection, then try again")
		}
		r.note("%s failed to send its robots.txt (status %d), so nothing of it is asked for now", s.origin.Host, status)
		s.obey(&robots{all: true})
	}
	return nil
}

// aside fetches what is not a page: robots.txt and lists. What it holds is
// kept, so that the next crawl need not fetch it again. A status of 0 is no
// answer at all; only errors that end the crawl are returned, and those of the guard.
func (r *run) aside(ctx context.Context, s *site, u *url.URL, read func([]byte) ([]pages.Link, []byte)) (links []pages.Link, body []byte, status int, err error) {
	key := "aside:" + u.String()
	prev, has := r.Pages.Before(key)
	has = has && prev.Outcome == pages.OutAside && r.Pages.Sound(prev) && !r.Force && prev.Cause == r.made
	robotsTxt := u.Path == "/robots.txt"
	if !robotsTxt && !s.robots.allows(u.EscapedPath()) {
		return nil, nil, http.StatusForbidden, nil
	}
	for attempt := 1; ; attempt++ {
		res := r.get(ctx, s, u, prev, has, true)
		switch {
		case ctx.Err() != nil:
			return nil, nil, 0, ctx.Err()
		case res.err != nil && kb.CodeOf(res.err) == kb.Denied:
			return nil, nil, 0, res.err
		case res.err == nil && res.status == http.StatusNotModified:
			if err := r.Pages.Keep(prev); err != nil {
				return nil, nil, 0, err
			}
			links, err := r.Pages.Links(prev)
			if err != nil {
				return nil, nil, 0, nil
			}
			body, err := r.Pages.Body(prev)
			if err != nil {
				return nil, nil, 0, nil
			}
			return links, body, http.StatusOK, nil
		case res.err == nil && res.status == http.StatusOK:
			if !robotsTxt && strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(res.body[:min(len(res.body), 64)]))), "<!doctype html") {
				return nil, nil, http.StatusNotFound, nil // a site that answers everything with a page
			}
			links, body = read(res.body)
			v := pages.Visit{Key: key, Outcome: pages.OutAside, Cause: r.made, ETag: res.etag, LastModified: res.modified, Raw: res.hash}
			v.URL = u.String()
			return links, body, http.StatusOK, r.Pages.Put(v, links, body)
		case res.err == nil && res.status < 500 && res.status != http.StatusTooManyRequests:
			return nil, nil, res.status, nil
		case res.err != nil && kb.CodeOf(res.err) != kb.Away, attempt >= r.Attempts:
			return nil, nil, res.status, nil
		}
		if err := sleep(ctx, r.pause(key, attempt)); err != nil {
			return nil, nil, 0, err
		}
	}
}
