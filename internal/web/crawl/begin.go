package crawl

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// replay takes the visits of a crawl that died as done.
func (r *run) replay() {
	for v := range r.died() {
		r.seen[v.Key] = nil
		r.tally(v)
	}
}

// died yields the visits of a crawl that died, without those that failed: they
// are tried again.
func (r *run) died() iter.Seq[pages.Visit] {
	return func(yield func(pages.Visit) bool) {
		for v := range r.Pages.Done() {
			switch v.Outcome {
			case pages.OutAside, pages.OutFailed, pages.OutLeft:
				continue
			}
			if !yield(v) {
				return
			}
		}
	}
}

// begin visits the start pages. It fills the queue with what the sites list and
// with the links of pages that a crawl visited before it died.
func (r *run) begin(ctx context.Context) error {
	for _, s := range r.Start {
		if err := r.admit(ctx, parse(nil, s), admission{start: true, reason: "start page"}); err != nil {
			return err
		}
	}
	// One after the other: a redirect of a start page decides which site it is.
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
	for v := range r.died() {
		links, err := r.Pages.Links(v)
		if err != nil {
			continue // damaged: other pages lead there too
		}
		it := &item{key: v.Key, url: v.URL, depth: v.Depth, reason: v.Reason}
		if u := parse(nil, v.URL); u != nil {
			_, it.varies = patternOf(u)
		}
		if v.Outcome == pages.OutRedirect {
			a := admission{depth: v.Depth, reason: v.Reason, varies: it.varies}
			if err := r.admit(ctx, parse(nil, v.Target), a); err != nil {
				return err
			}
		}
		if err := r.follow(ctx, it, v.Title, 0, links); err != nil {
			return err
		}
	}
	return nil
}

// knows reports whether a URL waits in the queue or was visited.
func (r *run) knows(key string) bool {
	it, known := r.seen[key]
	if it != nil || !known {
		return it != nil
	}
	_, visited := r.Pages.Now(key)
	return visited
}

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

// ask reads a site's robots.txt. After RFC 9309, a missing file allows everything,
// and a server that fails to send one allows nothing, unless it sent one before.
func (r *run) ask(ctx context.Context, s *site) error {
	u := s.at("/robots.txt")
	_, body, status, err := r.aside(ctx, s, u, func(body []byte) ([]pages.Link, []byte) {
		return nil, body[:min(len(body), maxRobots)]
	})
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
		if v, ok := r.Pages.Before(asideKey(u)); ok {
			if old, e := r.Pages.Body(v); e == nil {
				s.obey(parseRobots(old, r.agent))
				return nil
			}
		}
		if status == 0 { // not an answer at all
			return kb.Errorf(kb.Away, "%q does not answer", s.origin.Host).
				WithHint("check the address and your connection, then try again")
		}
		r.note("%s failed to send its robots.txt (status %d), so nothing of it is asked for now", s.origin.Host, status)
		s.obey(&robots{all: true})
	}
	return nil
}

func asideKey(u *url.URL) string { return "aside:" + u.String() }

// aside fetches robots.txt and lists, which are no pages, and keeps what read
// makes of them for the next crawl. A status of 0 means no answer. Only errors
// that end the crawl are returned, and those of the guard.
func (r *run) aside(ctx context.Context, s *site, u *url.URL, read func([]byte) ([]pages.Link, []byte)) (
	links []pages.Link, body []byte, status int, err error,
) {
	key := asideKey(u)
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
			body, damaged := r.Pages.Body(prev)
			if err != nil || damaged != nil {
				return nil, nil, 0, nil
			}
			return links, body, http.StatusOK, nil
		case res.err == nil && res.status == http.StatusOK:
			begin := strings.ToLower(strings.TrimSpace(string(res.body[:min(len(res.body), 64)])))
			if !robotsTxt && strings.HasPrefix(begin, "<!doctype html") {
				return nil, nil, http.StatusNotFound, nil // a site that answers everything with a page
			}
			links, body = read(res.body)
			v := pages.Visit{
				Key: key, Outcome: pages.OutAside, Cause: r.made, ETag: res.etag, LastModified: res.modified, Raw: res.hash,
			}
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
