package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// render reads a page with a browser. What goes wrong leaves the page as it
// came without.
func (r *run) render(ctx context.Context, o *outcome, u *url.URL, page webdoc.Page) webdoc.Page {
	if r.Render == nil {
		o.visit.Detail = "holds no text without a browser"
		return page
	}
	html, final, err := r.Render(ctx, u.String())
	if err != nil {
		o.visit.Detail = clip("the browser failed: "+err.Error(), 300)
		return page
	}
	if f := parse(nil, final); f == nil || !r.inScope(f.Host) {
		final = u.String()
	}
	full, err := r.Read(html, "text/html; charset=utf-8", final, webdoc.Options{})
	if err != nil || full.Words < page.Words {
		return page
	}
	o.visit.Rendered = true
	return full
}

// describe fills in what a page says.
func (r *run) describe(ctx context.Context, o *outcome, page webdoc.Page, prev pages.Visit, has bool, res response) *outcome {
	v := &o.visit
	v.Title, v.Description, v.Language, v.Version, v.Breadcrumbs = page.Title, page.Description, page.Language, page.Version, page.Breadcrumbs
	v.Words, v.Fingerprint, v.Truncated, v.Modified = page.Words, page.Fingerprint, page.Truncated, page.Modified
	if t, err := http.ParseTime(res.modified); err == nil && v.Modified.IsZero() {
		v.Modified = t.UTC()
	}
	noindex := page.NoIndex || res.noindex
	nofollow := page.NoFollow || res.nofollow
	if !nofollow {
		o.links = r.pageLinks(page, o.it.key)
	}
	// A page that only sends its reader on is a redirect.
	if page.Words < 50 {
		for _, l := range page.Links {
			if u := parse(nil, l.URL); l.Rel == "refresh" && u != nil && keyOf(u) != o.it.key && o.it.hops < outbound.DefaultMaxRedirects {
				v.Outcome, v.Target, o.target = pages.OutRedirect, u.String(), u
				return o
			}
		}
	}
	if c := parse(nil, page.Canonical); c != nil && r.inScope(c.Host) && keyOf(c) != o.it.key {
		o.canonical = keyOf(c)
		v.Canonical = o.canonical
		if !nofollow {
			o.links = append([]pages.Link{{URL: c.String()}}, o.links...)
		}
	}
	switch {
	case noindex:
		v.Outcome, v.Cause = pages.OutNoIndex, "asks not to be indexed"
		return o
	case page.NeedsScript && !v.Rendered:
		v.Outcome, v.Cause = pages.OutEmpty, "no text without a browser"
		return o
	case page.Words == 0:
		v.Outcome, v.Cause = pages.OutEmpty, "no text"
		return o
	}
	md := page.Markdown
	if r.seek != nil {
		rel, err := r.seek.page(ctx, page.Title, o.visit.URL, md)
		if err != nil {
			return o.fault(err)
		}
		o.relevance, v.Relevance = rel, rel
	}
	if r.take != nil {
		var err error
		if md, err = extract(ctx, r.Embedder, r.take, md); err != nil {
			return o.fault(err)
		}
	}
	if text, n := secret.Mask("page.md", string(md)); n > 0 {
		md = []byte(text)
	}
	sum := sha256.Sum256(md)
	v.Outcome, v.Hash, o.body = pages.OutKept, hex.EncodeToString(sum[:]), md
	v.Changed = v.Fetched
	if has && prev.Hash == v.Hash {
		v.Changed = prev.Changed
	}
	if u := parse(nil, page.URL); u != nil && keyOf(u) == o.it.key {
		v.URL = u.String()
	}
	return o
}

// pageLinks are the links of a page that a crawl could follow, once each.
func (r *run) pageLinks(page webdoc.Page, self string) []pages.Link {
	var out []pages.Link
	seen := map[string]bool{self: true}
	for _, l := range page.Links {
		if len(out) >= maxPageLinks {
			break
		}
		if strings.Contains(" "+l.Rel+" ", " nofollow ") {
			continue
		}
		u := parse(nil, l.URL)
		if u == nil || !r.inScope(u.Host) || len(u.String()) > maxURL {
			continue
		}
		k := keyOf(u)
		if seen[k] {
			continue
		}
		seen[k] = true
		text := l.Text
		if text == "" {
			text = l.Title
		}
		out = append(out, pages.Link{URL: u.String(), Text: clip(text, 120)})
	}
	return out
}
