package webdoc

import (
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// sizes counts the visible bytes of text below every element.
type sizes map[*html.Node]int

func (s sizes) count(n *html.Node) int {
	if n.Type == html.TextNode {
		return visible(n.Data, 1<<30)
	}
	total := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		total += s.count(c)
	}
	if n.Type == html.ElementNode {
		s[n] = total
	}
	return total
}

// containers are where generators of documentation put the main text: the
// class, id or attribute that says so, best first. The generators are, in
// order: Docusaurus; VitePress and VuePress; Material for MkDocs; Sphinx with
// its themes; Antora; GitHub and what renders like it; Docsy; pkg.go.dev;
// rustdoc; javadoc before its main element.
var containers = []func(*html.Node) bool{
	byClass(`theme-doc-markdown`), byClass(`vp-doc theme-default-content content__default`), byClass(`md-content__inner`),
	byAttr("itemprop", "articleBody"), byClass(`bd-article`), byID(`furo-main-content`), byClass(`doc-content rm-markdown td-content`),
	byClass(`markdown-body`), byClass(`go-main-article unitdetails documentation-content`), byID(`main-content rustdoc-main-content`),
	byClass(`contentcontainer`),
	func(n *html.Node) bool { return n.DataAtom == atom.Main }, byAttr("role", "main"),
	func(n *html.Node) bool { return n.DataAtom == atom.Article },
	byClass(`document`), byID(`content main-content main primary doc-content docs-content page-content bodycontent`),
	byClass(`main-content page-content docs-content post-content entry-content article-content content__body content body`),
}

func byClass(names string) func(*html.Node) bool {
	classes := kb.WordsOf(names)
	return func(n *html.Node) bool { return hasClass(n, classes) }
}

func byID(names string) func(*html.Node) bool {
	ids := kb.WordsOf(names)
	return func(n *html.Node) bool { return ids[strings.ToLower(attr(n, "id"))] }
}

func byAttr(key, value string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attr(n, key) == value }
}

// mainText returns the element that holds the main text of a page. What the
// page names as that is believed when it holds a good part of the text that is
// no navigation; else readability guesses, and what it finds too little of is
// the whole body.
func mainText(doc *html.Node, size sizes, base *url.URL) *html.Node {
	body := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		body = doc
	}
	// The element of each rule with most text, and what of the body is content.
	best := make([]*html.Node, len(containers))
	chrome := 0
	walk(body, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return false
		}
		if n != body && isChrome(n) {
			chrome += size[n]
			return false
		}
		for i, is := range containers {
			if is(n) && (best[i] == nil || size[n] > size[best[i]]) {
				best[i] = n
			}
		}
		return true
	})
	content := size[body] - chrome
	for _, n := range best {
		if n != nil && size[n] >= 20 && (size[n] >= content*2/5 || size[n] >= 20_000) {
			return n
		}
	}
	for _, n := range best[len(best)-6:] { // main and weaker: better than a guess
		if n != nil && size[n] >= 200 && size[n] >= content/5 {
			return n
		}
	}
	// Readability looks for an article among other things. A page of
	// documentation that does not say where its text is is mostly text.
	if content > 500 && len(size) < 20_000 {
		p := readability.NewParser()
		p.KeepClasses = true
		p.DisableJSONLD = true
		p.MaxElemsToParse = 20_000
		if a, err := p.ParseDocument(doc, base); err == nil && a.Node != nil {
			if n := a.Node; textSize(n, content) >= content*3/5 {
				size.count(n)
				return n
			}
		}
	}
	return body
}

// isChrome reports whether an element belongs to the site, not to the page,
// whatever it holds.
func isChrome(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Button, atom.Dialog, atom.Input, atom.Select, atom.Head, atom.Title:
		return true
	case atom.Header:
		return find(n, func(n *html.Node) bool { return headingLevel(n) > 0 }) == nil || attr(n, "role") == "banner"
	}
	switch attr(n, "role") {
	case "navigation", "search", "banner", "contentinfo", "dialog", "alertdialog", "tablist", "toolbar", "menu", "menubar", "tooltip":
		return true
	}
	return hidden(n)
}

// droppedClass are the classes and ids of what is no text of the page. They are
// compared as a whole: "toc" is dropped, "toctree-wrapper" is not.
// lineNumberClass are those of line numbers beside code.
var droppedClass, lineNumberClass = lists["dropped class"], lists["line number class"]

// dropped reports whether an element is left out of the text of the page.
func (r *renderer) dropped(n *html.Node) bool {
	if isChrome(n) || permalink(n) || isBreadcrumbs(n) && r.size[n] < 400 {
		return true
	}
	if n.DataAtom == atom.Label && n.Parent != nil && hasClass(n.Parent, tabClass) {
		return true
	}
	if r.linkBar(n) || droppedName(n) && r.size[n]*2 < r.total+100 {
		return true
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Div, atom.Aside, atom.Details, atom.P, atom.Section:
		return r.isContents(n)
	}
	return false
}

// linkBar reports whether an element is hardly anything but links. Where the
// page does not say which of it is text, such ones are its navigation.
func (r *renderer) linkBar(n *html.Node) bool {
	if !r.guessed || r.size[n] == 0 || r.size[n]*3 > r.total {
		return false
	}
	linked, steps := 0, 0
	walk(n, func(at *html.Node) bool {
		if steps++; steps > 3000 || headingLevel(at) > 0 || at.DataAtom == atom.Pre {
			linked = -1 << 30
			return false
		}
		if at.DataAtom == atom.A && hasAttr(at, "href") {
			linked += r.size[at]
			return false
		}
		return true
	})
	switch n.DataAtom {
	case atom.Div, atom.Ul, atom.Td, atom.Center, atom.Table:
		return linked*10 >= r.size[n]*8
	}
	return false
}

var tabClass = kb.WordsOf(`tabbed-set tabs tabset sd-tab-set`)

func droppedName(n *html.Node) bool {
	if droppedClass[strings.ToLower(attr(n, "id"))] && headingLevel(n) == 0 && n.DataAtom != atom.Section {
		return true
	}
	if !hasClass(n, droppedClass) {
		return false
	}
	if headingLevel(n) > 0 || n.DataAtom == atom.Code || n.DataAtom == atom.Pre {
		return false
	}
	// Sphinx calls a box in the text a sidebar as well; it has a title.
	return !(n.DataAtom == atom.Aside && find(n, func(n *html.Node) bool { return hasClass(n, sidebarTitle) }) != nil)
}

var sidebarTitle = kb.WordsOf(`sidebar-title`)

// isContents reports whether an element is a list of the sections of its own
// page: three links or more, all to fragments, and hardly any other text.
func (r *renderer) isContents(n *html.Node) bool {
	if r.size[n] > 20_000 || r.size[n]*2 > r.total {
		return false
	}
	links, linked, steps := 0, 0, 0
	walk(n, func(at *html.Node) bool {
		if steps++; steps > 3000 {
			links = -1
		}
		switch {
		case links < 0:
			return false
		case at.DataAtom == atom.Pre || at.DataAtom == atom.Table || at.DataAtom == atom.Img || links > 0 && headingLevel(at) > 0:
			links = -1
			return false
		case at.DataAtom == atom.A && hasAttr(at, "href"):
			if !strings.HasPrefix(attr(at, "href"), "#") || len(attr(at, "href")) < 2 {
				links = -1
				return false
			}
			links++
			linked += r.size[at]
			return false
		case at.DataAtom == atom.Section && at != n:
			links = -1
		}
		return true
	})
	return links >= 3 && linked*10 >= r.size[n]*8
}
