package webdoc

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// anchorOf returns the fragment under which a browser finds a heading, or "":
// its own id, that of an element in it, the one that its mark links to, that
// of an empty anchor just before it, that of the sections it begins.
func (r *renderer) anchorOf(n *html.Node) string {
	if id := attr(n, "id"); id != "" {
		return id
	}
	if to := r.within(find(n, permalink)); to != "" {
		return to
	}
	own := find(n, func(at *html.Node) bool {
		if at.DataAtom == atom.Button || hidden(at) {
			return false
		}
		// Sphinx and docutils link a heading back to the list of contents, from an anchor of that name.
		return !hasClass(at, backref) && nameOf(at) != ""
	})
	if own != nil {
		return nameOf(own)
	}
	// mdBook, godoc: the whole heading is a link to itself.
	self := find(n, func(at *html.Node) bool { return at.DataAtom == atom.A && !hasClass(at, backref) })
	if to := r.within(self); to != "" {
		return to
	}
	return r.anchorAbove(n)
}

// within returns the fragment of the page that a link leads to, or "".
func (r *renderer) within(link *html.Node) string {
	if link != nil {
		if to, ok := strings.CutPrefix(attr(link, "href"), "#"); ok && r.ids[to] {
			return to
		}
	}
	return ""
}

// anchorAbove looks up through what the heading begins, as long as nothing but
// empty anchors comes before it.
func (r *renderer) anchorAbove(n *html.Node) string {
	for at, up := n, 0; at != nil && at != r.root && up < 6; at, up = at.Parent, up+1 {
		for p := at.PrevSibling; p != nil; p = p.PrevSibling {
			if p.Type != html.ElementNode {
				if p.Type == html.TextNode && strings.TrimSpace(p.Data) != "" {
					return ""
				}
				continue
			}
			if id := emptyAnchor(p); id != "" {
				return id
			}
			if r.size[p] > 0 && !r.dropped(p) {
				return ""
			}
		}
		if p := at.Parent; p != nil && p != r.root {
			switch p.DataAtom {
			case atom.Section, atom.Div, atom.Article, atom.Header, atom.Hgroup, atom.Details, atom.Summary, atom.Li, atom.A:
				if id := attr(p, "id"); id != "" {
					return id
				}
			default:
				return ""
			}
		}
	}
	return ""
}

var backref = kb.WordsOf(`toc-backref`)

// emptyAnchor returns the name of an anchor that holds no text, alone or as
// the only thing in a paragraph.
func emptyAnchor(n *html.Node) string {
	if n.FirstChild != nil && n.DataAtom != atom.P && n.DataAtom != atom.A && n.DataAtom != atom.Span {
		return ""
	}
	if visible(plain(n, 8), 8) > 0 {
		return ""
	}
	if at := find(n, func(n *html.Node) bool { return nameOf(n) != "" }); at != nil {
		return nameOf(at)
	}
	return ""
}

// fragment writes an anchor as a URL and "{#…}" take it.
func fragment(id string) string {
	const hexes = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(id) && i < 200; i++ {
		switch c := id[i]; {
		case c <= ' ', c == 0x7f, strings.IndexByte("{}\"<>`\\^|", c) >= 0:
			b.WriteByte('%')
			b.WriteByte(hexes[c>>4])
			b.WriteByte(hexes[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}
