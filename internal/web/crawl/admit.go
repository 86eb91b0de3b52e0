package crawl

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
)

// otherVariant reports whether a URL is of another version or language of the
// documentation than every start page that says which it is of.
func (r *run) otherVariant(key string) bool {
	for _, v := range r.variants {
		if v.other(key) && !slices.ContainsFunc(r.variants, func(w variant) bool { return w.prefix == v.prefix && !w.other(key) }) {
			return true
		}
	}
	return false
}

// admission is what is known of a URL when it is found.
type admission struct {
	depth  int
	listed string
	text   string // of the link
	reason string
	varies bool // the URL of the page that it was found on has numbers in it
	// relevance is that of the page it was found on; linked says that there is one.
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
	pattern, varies := patternOf(u)
	switch {
	case !r.scope.has(u.Host):
		return nil // other people's sites are not worth a figure
	case len(u.String()) > maxURL || spins(u):
		r.left("address without end", 1)
		return nil
	case notPages[strings.ToLower(path.Ext(u.Path))]:
		r.left("not text", 1)
		return nil
	}
	if !a.start {
		switch {
		case r.exclude.match(u), len(r.include) > 0 && !r.include.match(u):
			r.left("include and exclude", 1)
			return nil
		case len(r.include) == 0 && r.otherVariant(key):
			r.left("another version or language", 1)
			return nil
		case a.depth > r.Depth:
			r.left("deeper than asked for", 1)
			return nil
		case r.q.Len() >= maxQueue:
			r.left("too many at once", 1)
			return nil
		}
		if varies && a.listed == "" && a.varies {
			if r.patterns[pattern]++; r.patterns[pattern] > r.Patterns {
				r.left("too many of one pattern", 1)
				return nil
			}
		}
	}
	it := &item{key: key, url: u.String(), depth: a.depth, seq: r.seq, listed: a.listed, reason: a.reason, varies: varies, pattern: pattern, hops: a.hops, class: 2}
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
