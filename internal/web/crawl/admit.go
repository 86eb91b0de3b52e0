package crawl

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
)

// otherVariant reports whether a URL belongs to another version or language of
// the documentation than every start page whose URL names one.
func (r *run) otherVariant(key string) bool {
	return slices.ContainsFunc(r.variants, func(v variant) bool {
		return v.other(key) && !slices.ContainsFunc(r.variants, func(w variant) bool {
			return w.prefix == v.prefix && !w.other(key)
		})
	})
}

// admission is what is known of a URL when it is found.
type admission struct {
	depth  int
	listed string
	text   string // of the link
	reason string
	varies bool // the URL of the page with the link has numbers in it
	// relevance is that of the page with the link; linked reports whether there is one.
	relevance float64
	linked    bool
	start     bool
	hops      int
}

// admit puts a URL into the queue unless something speaks against it.
func (r *run) admit(ctx context.Context, u *url.URL, a admission) error {
	if u == nil {
		return nil
	}
	key := keyOf(u)
	if it, known := r.seen[key]; known {
		if it != nil && a.linked {
			it.linked += a.relevance
			it.links++
		}
		if it != nil && it.listed == "" && a.listed != "" {
			it.listed, it.reason = a.listed, a.reason
		}
		return nil
	}
	if len(r.seen) >= maxSeen {
		return nil
	}
	r.seen[key] = nil
	if !r.scope.has(u.Host) {
		return nil // not counted: it is another site's
	}
	it := &item{
		key: key, url: u.String(), depth: a.depth, seq: r.seq, listed: a.listed, reason: a.reason, hops: a.hops, class: 2,
	}
	it.pattern, it.varies = patternOf(u)
	if reason := r.unwanted(u, it, a); reason != "" {
		r.left(reason, 1)
		return nil
	}
	r.seq++
	for _, f := range r.folders {
		if key == f || strings.HasPrefix(key, f+"/") {
			it.class = 1
		}
	}
	if a.start {
		it.class = 0
	}
	if a.linked {
		it.linked, it.links = a.relevance, 1
	}
	if r.seek != nil && !a.start {
		var err error
		if it.own, err = r.seek.link(ctx, a.text, u); err != nil {
			return err
		}
	}
	r.seen[key] = it
	r.q.add(it)
	return nil
}

// unwanted returns why a URL is left out, or "".
func (r *run) unwanted(u *url.URL, it *item, a admission) string {
	switch {
	case len(it.url) > maxURL || spins(u):
		return "address without end"
	case notPages[strings.ToLower(path.Ext(u.Path))]:
		return "not text"
	case a.start:
		return ""
	case r.exclude.match(u), len(r.include) > 0 && !r.include.match(u):
		return "include and exclude"
	case len(r.include) == 0 && r.otherVariant(it.key):
		return "another version or language"
	case a.depth > r.Depth:
		return "deeper than asked for"
	case r.q.Len() >= maxQueue:
		return "too many at once"
	}
	if it.varies && a.listed == "" && a.varies {
		if r.patterns[it.pattern]++; r.patterns[it.pattern] > r.Patterns {
			return "too many of one pattern"
		}
	}
	return ""
}
