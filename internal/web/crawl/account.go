package crawl

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// account takes a visit into account: it is recorded, and its links are put into
// the queue.
func (r *run) account(ctx context.Context, o *outcome) error {
	it := o.it
	switch {
	case o.left != "":
		r.left(o.left, 1)
		v := o.visit
		v.Outcome, v.Cause = pages.OutLeft, o.left
		if it.class == 0 {
			r.refuse(kb.Errorf(kb.Denied, "%q is not taken: %s rules it out", it.url, o.left).
				WithHint("choose another page to start at; what a site's robots.txt forbids is not fetched"))
		}
		r.stats.Visited++
		return r.Pages.Put(v, nil, nil)
	case o.err != nil:
		return r.failed(ctx, o)
	case o.visit.Outcome == pages.OutRedirect:
		return r.redirected(ctx, o)
	}
	v := o.visit
	links := o.links
	if r.misdated(it, v, o.same) && !r.liars.Swap(true) {
		r.note("%s changed although the sitemap says it did not, so that every page is asked for", it.url)
	}
	if o.same {
		links, _ = r.Pages.Links(v) // damaged ones are none
		r.stats.Unchanged++
		if o.trusted {
			r.trusted = append(r.trusted, it)
		}
	}
	if v.Outcome == pages.OutKept {
		v.Path = r.pathFor(v)
		if key, ok := r.folds.find(v); ok {
			old, _ := r.Pages.Now(key)
			if !prefer(v, old, it.listed) {
				v.Outcome, v.Target = pages.OutFolded, key
			} else if err := r.refold(old, v.Key); err != nil {
				return err
			}
		}
	}
	if v.Outcome != pages.OutKept && v.Path != "" {
		delete(r.paths, v.Path)
		v.Path = ""
	}
	if v.Outcome == pages.OutFolded || v.Outcome == pages.OutEmpty {
		if it.varies {
			r.patterns[it.pattern] += 9 // the same again under another number
			if v.Outcome == pages.OutFolded && it.listed == "" {
				links = nil
			}
		}
		o.body = nil
	}
	if it.reason != "" && r.seek != nil && v.Outcome == pages.OutKept && it.class != 0 {
		v.Reason = fmt.Sprintf("%s; similarity to the instruction: link %.2f, page %.2f", it.reason, it.own, o.relevance)
	}
	var err error
	if o.same && (v.Outcome == pages.OutKept || o.visit.Outcome == v.Outcome) {
		err = r.Pages.Keep(v)
	} else {
		err = r.Pages.Put(v, links, o.body)
	}
	if err != nil {
		return err
	}
	r.tally(v)
	if v.Outcome == pages.OutKept {
		r.q.arrived(v.Key, o.relevance)
	}
	return r.follow(ctx, it, v.Title, o.relevance, links)
}

// redirected records a redirect and puts its target into the queue.
func (r *run) redirected(ctx context.Context, o *outcome) error {
	it := o.it
	if r.circles(it.key, keyOf(o.target)) {
		o.fail(causeLoop, false, errCircle(it.url))
		return r.failed(ctx, o)
	}
	r.stats.Visited++
	if err := r.Pages.Put(o.visit, nil, nil); err != nil {
		return err
	}
	start := it.class == 0
	if start { // before its links are looked at
		if !r.scope.has(o.target.Host) {
			r.widen(o.target.Host)
		}
		r.folders = append(r.folders, folderOf(o.target))
		r.variants = append(r.variants, variantsOf(keyOf(o.target))...)
	}
	if !r.scope.has(o.target.Host) {
		r.left("leads to another site", 1)
	}
	return r.admit(ctx, o.target, admission{
		depth: it.depth, listed: it.listed, reason: it.reason, varies: it.varies, start: start, hops: it.hops + 1,
	})
}

// misdated reports whether a page changed although its sitemap gives the same
// lastmod as before.
func (r *run) misdated(it *item, v pages.Visit, same bool) bool {
	prev, ok := r.Pages.Before(it.key)
	return ok && !same && it.listed != "" && it.listed != undated && it.listed == prev.Listed && prev.Hash != "" &&
		prev.Made == v.Made && prev.Hash != v.Hash && lastmod(it.listed).Before(prev.Fetched)
}

// failed records a failure, or has it tried again later.
func (r *run) failed(ctx context.Context, o *outcome) error {
	it := o.it
	if o.retry && it.attempts+1 < r.Attempts {
		it.attempts++
		it.notYet = time.Now().Add(r.pause(it.key, it.attempts))
		r.delayed = append(r.delayed, it)
		return nil
	}
	if it.class == 0 {
		r.refuse(o.err)
	}
	r.fail(o.visit.Cause, it.url)
	// After a passing failure the page stays as it was.
	prev, ok := r.Pages.Before(it.key)
	if ok && o.passing && (prev.Outcome == pages.OutKept || prev.Outcome == pages.OutFolded) &&
		r.Pages.Sound(prev) && prev.Made == r.made {
		prev.Depth, prev.Listed, prev.Cause, prev.Detail = it.depth, it.listed, o.visit.Cause, o.visit.Detail
		links, _ := r.Pages.Links(prev) // damaged ones are none
		if prev.Outcome == pages.OutKept {
			prev.Path = r.pathFor(prev)
		}
		if err := r.Pages.Keep(prev); err != nil {
			return err
		}
		r.tally(prev)
		r.carried++
		return r.follow(ctx, it, prev.Title, prev.Relevance, links)
	}
	r.stats.Visited++
	return r.Pages.Put(o.visit, nil, nil)
}

// circles reports whether what a page redirects to leads back to it.
func (r *run) circles(key, target string) bool {
	for range outbound.DefaultMaxRedirects {
		if target == key {
			return true
		}
		v, ok := r.Pages.Now(target)
		if !ok || v.Outcome != pages.OutRedirect {
			return false
		}
		u := parse(nil, v.Target)
		if u == nil {
			return false
		}
		target = keyOf(u)
	}
	return true
}

func (r *run) refuse(err error) {
	if r.failure == nil {
		r.failure = err
	}
}

func (r *run) fail(cause, url string) {
	if r.stats.Failures == nil {
		r.stats.Failures, r.stats.FailedAt = map[string]int{}, map[string]string{}
	}
	if r.stats.Failures[cause]++; r.stats.FailedAt[cause] == "" {
		r.stats.FailedAt[cause] = url
	}
}

// tally counts a visit and remembers its page for folding.
func (r *run) tally(v pages.Visit) {
	r.stats.Visited++
	switch v.Outcome {
	case pages.OutKept:
		r.stats.Pages++
		r.paths[v.Path] = v.Key
		r.folds.add(v)
	case pages.OutFolded:
		r.stats.Folded++
	case pages.OutNoIndex, pages.OutEmpty:
		r.left(v.Cause, 1)
	}
	if v.Rendered {
		r.stats.Rendered++
	}
}

// follow puts the links of a page into the queue.
func (r *run) follow(ctx context.Context, it *item, title string, relevance float64, links []pages.Link) error {
	from := clip(cmp.Or(title, it.url), 60)
	for _, l := range links {
		a := admission{depth: it.depth + 1, text: l.Text, varies: it.varies, relevance: relevance, linked: r.seek != nil}
		a.reason = fmt.Sprintf("link of %q", from)
		if l.Text != "" {
			a.reason = fmt.Sprintf("link %q of %q", clip(l.Text, 60), from)
		}
		if err := r.admit(ctx, parse(nil, l.URL), a); err != nil {
			return err
		}
	}
	return nil
}

// pathFor returns the path of a page in the store, unlike that of any other.
func (r *run) pathFor(v pages.Visit) string {
	p := storePath(v.Key)
	if k, taken := r.paths[p]; taken && k != v.Key {
		p += "~" + short(v.Key)
	}
	return p
}

// refold turns a kept page into one that is folded into the target.
func (r *run) refold(old pages.Visit, target string) error {
	links, _ := r.Pages.Links(old) // damaged ones are none
	r.folds.remove(old)
	delete(r.paths, old.Path)
	old.Outcome, old.Target, old.Path = pages.OutFolded, target, ""
	r.stats.Pages--
	r.stats.Folded++
	return r.Pages.Put(old, links, nil)
}

// distrust queues the pages that were taken as unchanged because of a sitemap
// that is wrong. It reports whether there are any.
func (r *run) distrust() bool {
	if !r.liars.Load() || len(r.trusted) == 0 {
		return false
	}
	for _, it := range r.trusted {
		if v, ok := r.Pages.Now(it.key); !ok || v.Outcome != pages.OutKept {
			continue
		}
		r.stats.Pages--
		r.stats.Visited--
		r.stats.Unchanged--
		r.q.add(it)
	}
	r.trusted = nil
	return r.q.Len() > 0
}

// unfold queues the folded pages whose target is gone or holds another text now.
// It reports whether there are any.
func (r *run) unfold() bool {
	any := false
	for v := range r.Pages.Done() {
		if v.Outcome != pages.OutFolded {
			continue
		}
		target, ok := r.Pages.Now(v.Target)
		for hops := 0; ok && target.Outcome == pages.OutFolded && hops < 8; hops++ {
			target, ok = r.Pages.Now(target.Target)
		}
		same := target.Hash == v.Hash || webdoc.Distance(target.Fingerprint, v.Fingerprint) <= loose
		if r.unfolded[v.Key] || ok && target.Outcome == pages.OutKept && same {
			continue
		}
		r.unfolded[v.Key] = true
		r.stats.Folded--
		r.stats.Visited--
		it := &item{
			key: v.Key, url: v.URL, depth: v.Depth, seq: r.seq, listed: v.Listed, reason: v.Reason, class: 2, force: true,
		}
		if u := parse(nil, v.URL); u != nil {
			it.pattern, it.varies = patternOf(u)
		}
		r.seq++
		r.q.add(it)
		any = true
	}
	return any
}
