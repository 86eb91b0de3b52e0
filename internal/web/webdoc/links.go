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

// Split cuts a URL at its fragment, which comes without "#".
func Split(u string) (page, fragment string) {
	page, fragment, _ = strings.Cut(u, "#")
	return page, fragment
}

// resolve makes a reference absolute; "" when it leads to no page.
func resolve(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > 2000 {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	u = base.ResolveReference(u)
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// linker collects the links of a page.
type linker struct {
	base  *url.URL
	max   int
	at    map[string]int
	links []Link
}

func (l *linker) add(ref, text, title, rel string) {
	u := resolve(l.base, ref)
	if u == "" {
		return
	}
	if i, ok := l.at[u]; ok {
		have := &l.links[i]
		have.Text = cmp.Or(have.Text, text) // a picture may have come first
		have.Title = cmp.Or(have.Title, title)
	} else if len(l.links) < l.max {
		l.at[u] = len(l.links)
		l.links = append(l.links, Link{URL: u, Text: text, Title: title, Rel: rel})
	}
}

// collectLinks returns every link of a page, those of its navigation included.
func collectLinks(doc *html.Node, noscript [][]byte, base *url.URL, max int) []Link {
	l := linker{base: base, max: max, at: map[string]int{}}
	walk(doc, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return true
		}
		switch n.DataAtom {
		case atom.A, atom.Area:
			if href := attr(n, "href"); href != "" && !(strings.HasPrefix(href, "#") && permalink(n)) {
				text := cmp.Or(textOf(n, 200), kb.Cut(attr(n, "aria-label")+attr(n, "alt"), 200))
				l.add(href, text, kb.Cut(attr(n, "title"), 200), strings.ToLower(attr(n, "rel")))
			}
		case atom.Frame:
			l.add(attr(n, "src"), kb.Cut(attr(n, "title")+attr(n, "name"), 200), "", "frame")
		case atom.Link:
			switch rel := strings.ToLower(attr(n, "rel")); rel {
			case "next", "prev", "index", "contents", "start", "up":
				l.add(attr(n, "href"), kb.Cut(attr(n, "title"), 200), "", rel)
			case "alternate":
				// The same page as Markdown: what an agent reads best.
				if t := strings.ToLower(attr(n, "type")); t == "text/markdown" || t == "text/x-markdown" {
					l.add(attr(n, "href"), "", "", "alternate markdown")
				}
			}
		case atom.Meta:
			if strings.EqualFold(attr(n, "http-equiv"), "refresh") {
				c := attr(n, "content")
				for i := 0; i+4 < len(c) && i < 64; i++ {
					if strings.EqualFold(c[i:i+4], "url=") {
						l.add(strings.Trim(c[i+4:], " '\""), "", "", "refresh")
						break
					}
				}
			}
		}
		return true
	})
	// Where scripts draw the navigation (mdBook), it is here without them.
	for _, text := range noscript {
		z := html.NewTokenizer(bytes.NewReader(text))
		for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
			if tt != html.StartTagToken && tt != html.SelfClosingTagToken {
				continue
			}
			t := z.Token()
			for _, a := range t.Attr {
				if t.DataAtom == atom.A && a.Key == "href" {
					l.add(a.Val, "", "", "")
				} else if t.DataAtom == atom.Iframe && a.Key == "src" {
					l.add(a.Val, "", "", "frame")
				}
			}
		}
	}
	return l.links
}

// permalinkClass are the classes of links from a heading to itself.
var permalinkClass = lists["permalink class"]

// permalink reports whether an element is the mark that links a heading to
// itself.
func permalink(n *html.Node) bool {
	if n.DataAtom != atom.A || !strings.Contains(attr(n, "href"), "#") {
		return false
	}
	switch strings.TrimSpace(plain(n, 12)) {
	case "¶", "#", "§", "🔗", "", "\u200b", "Permalink", "[link]", "Anchor":
		return hasClass(n, permalinkClass) || strings.HasPrefix(attr(n, "href"), "#") && find(n, isImage) == nil
	}
	return false
}

func isImage(n *html.Node) bool { return n.DataAtom == atom.Img && attr(n, "alt") != "" }

// plain returns the first bytes of the text below n as they are.
func plain(n *html.Node, max int) string {
	var b strings.Builder
	walk(n, func(at *html.Node) bool {
		if at.Type == html.TextNode && b.Len() < max {
			b.WriteString(at.Data[:min(len(at.Data), 4*max)])
		}
		return b.Len() < max
	})
	return b.String()
}
