package webdoc

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// readHTML reads a page of HTML in UTF-8.
func readHTML(body []byte, base *url.URL, o Options) Page {
	c := clean(body, o.MaxNodes, false)
	doc, err := html.Parse(bytes.NewReader(c.html))
	if err != nil { // nested too deep: the same without what only nests
		c = clean(body, o.MaxNodes, true)
		doc, err = html.Parse(bytes.NewReader(c.html))
	}
	p := Page{Truncated: c.truncated}
	if err != nil { // hostile: the text is all there is
		p.Markdown, p.Truncated = tokenText(c.html, o.MaxBytes), true
		return p
	}
	h := readHead(doc, &c)
	at := base
	if h.base != "" {
		if u, err := base.Parse(h.base); err == nil {
			at = u
		}
	}
	p.Links = collectLinks(doc, c.noscript, at, o.MaxLinks)
	size := sizes{}
	size.count(doc)
	r := &renderer{root: mainText(doc, size, base), base: at, size: size, ids: ids(doc), max: o.MaxBytes}
	r.total = size[r.root]
	r.guessed = r.root.DataAtom == atom.Body

	first, isTop := r.firstHeading()
	p.Title = pageTitle(h, first)
	if !isTop {
		p.Title = pageTitle(h, soleHeading(doc))
		if t := p.Title; t != "" && !strings.EqualFold(t, first) {
			r.heading(1, "", func() { r.text(kb.Cut(t, 300)) })
		}
	}
	r.children(r.root)
	p.Markdown = r.trimmed()
	p.Truncated = p.Truncated || r.full
	p.Description, p.Language, p.Modified = h.description, h.language, h.modified
	p.NoIndex, p.NoFollow = h.noIndex, h.noFollow
	p.Canonical, _ = Split(resolve(at, h.canonical))
	p.Breadcrumbs = h.breadcrumbs
	if n := len(p.Breadcrumbs); n > 0 && strings.EqualFold(p.Breadcrumbs[n-1], p.Title) {
		p.Breadcrumbs = p.Breadcrumbs[:n-1]
	}
	p.Version = cmp.Or(versionOf(base), h.version)
	p.NeedsScript = needsScript(doc, &c, words(p.Markdown))
	return p
}

func ids(doc *html.Node) map[string]bool {
	out := map[string]bool{}
	walk(doc, func(n *html.Node) bool {
		for _, a := range n.Attr {
			if a.Val != "" && (a.Key == "id" || a.Key == "name" && n.DataAtom == atom.A) {
				out[a.Val] = true
			}
		}
		return true
	})
	return out
}

// firstHeading returns the first heading of the main text and whether it is
// of the first level.
func (r *renderer) firstHeading() (string, bool) {
	first, top := "", ""
	walk(r.root, func(n *html.Node) bool {
		if top != "" || n.Type == html.ElementNode && n != r.root && r.dropped(n) {
			return false
		}
		if l := headingLevel(n); l > 0 {
			s := textOf(n, 300)
			if l == 1 {
				top = s
			}
			if first == "" {
				first = s
			}
			return false
		}
		return true
	})
	return cmp.Or(top, first), top != ""
}

// soleHeading returns the heading of the first level when a page has just one
// that is not the name of the site.
func soleHeading(doc *html.Node) string {
	text, n := "", 0
	walk(doc, func(at *html.Node) bool {
		if at.DataAtom == atom.Nav || at.DataAtom == atom.Header && at.Parent != nil && at.Parent.DataAtom == atom.Body {
			return false
		}
		if at.DataAtom == atom.H1 {
			text = textOf(at, 300)
			n++
		}
		return true
	})
	if n != 1 {
		return ""
	}
	return text
}

// appRoots are the ids of the elements that frameworks fill by script.
var appRoots = lists["app roots"]

// needsScript reports whether a page of few words would have more if its
// scripts ran: it has scripts, and an element that waits for them, a note that
// asks for them, or nothing else at all.
func needsScript(doc *html.Node, c *cleaned, words int) bool {
	if c.scripts == 0 || words > 60 {
		return false
	}
	root := find(doc, func(n *html.Node) bool {
		return appRoots[attr(n, "id")] && n.DataAtom != atom.Body || n.Data == "app-root" || n.Data == "redoc" || n.Data == "rapi-doc"
	})
	if root != nil && textSize(root, 200) < 200 {
		return true
	}
	for _, n := range c.noscript {
		if bytes.Contains(bytes.ToLower(n), []byte("javascript")) && words <= 40 {
			return true
		}
	}
	return words <= 12
}

// tokenText returns the text of a page without building a tree.
func tokenText(body []byte, max int) []byte {
	var out []byte
	z := html.NewTokenizer(bytes.NewReader(body))
	for len(out) < max {
		switch z.Next() {
		case html.ErrorToken:
			return append(bytes.TrimSpace(out), '\n')
		case html.TextToken:
			out = append(out, bytes.Join(bytes.Fields(z.Text()), []byte(" "))...)
		case html.StartTagToken:
			if n := len(out); n > 0 && out[n-1] != '\n' {
				out = append(out, '\n')
			}
		}
	}
	return append(bytes.ToValidUTF8(out[:max-1], nil), '\n')
}
