package webdoc

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func (r *renderer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		r.node(c)
	}
}

func (r *renderer) node(n *html.Node) {
	if n.Type == html.TextNode {
		r.text(n.Data)
	}
	if n.Type != html.ElementNode || r.dropped(n) {
		return
	}
	if level := headingLevel(n); level > 0 && r.oneLine == 0 {
		r.heading(level, r.anchorOf(n), func() { r.children(n) })
		return
	}
	switch n.DataAtom {
	case atom.Br:
		r.endLine()
	case atom.Hr, atom.Wbr, atom.Link, atom.Meta:
	case atom.Pre:
		r.pre(n)
	case atom.Code, atom.Samp, atom.Tt:
		r.code(n)
	case atom.Strong, atom.B:
		if r.strong > 0 || r.oneLine > 0 && r.cell == 0 || r.hasBlock(n) {
			r.children(n)
			return
		}
		r.bold(n)
	case atom.Em:
		if r.oneLine > 0 && r.cell == 0 || r.hasBlock(n) {
			r.children(n)
			return
		}
		r.mark(n, "*", "*")
	case atom.Q:
		r.mark(n, `"`, `"`)
	case atom.A:
		r.link(n)
	case atom.Img:
		r.image(n)
	case atom.Math:
		r.math(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.list(n)
	case atom.Dl:
		r.definitions(n)
	case atom.Table:
		r.table(n)
	case atom.Blockquote:
		r.block()
		r.nest = append(r.nest, nest{first: "> ", rest: "> "})
		r.children(n)
		r.endLine()
		r.nest = r.nest[:len(r.nest)-1]
		r.block()
	case atom.Summary:
		r.title(n)
	default:
		switch {
		case hasClass(n, titleClass):
			r.title(n)
		case isBlock(n):
			r.paragraph(n)
		default:
			r.children(n)
		}
	}
}

// paragraph writes the children of n as a block.
func (r *renderer) paragraph(n *html.Node) {
	r.block()
	r.children(n)
	r.block()
}

// bold writes the children of n in bold.
func (r *renderer) bold(n *html.Node) {
	r.strong++
	r.mark(n, "**", "**")
	r.strong--
}

// titleClass are the classes of the titles of boxes.
var titleClass = kb.WordsOf(`admonition-title admonition-heading custom-block-title markdown-alert-title callout-title alert-heading
	sidebar-title topic-title rubric note-title starlight-aside__title code-block-title codeblocktitle filename title-bar`)

// title writes the title of a box in bold on a line of its own.
func (r *renderer) title(n *html.Node) {
	r.block()
	if r.hasBlock(n) && find(n, func(n *html.Node) bool { return headingLevel(n) > 0 }) != nil {
		r.children(n)
	} else {
		r.noLink++
		r.bold(n)
		r.noLink--
	}
	r.block()
}

// hasBlock reports whether an inline element holds blocks.
func (r *renderer) hasBlock(n *html.Node) bool {
	return n.FirstChild != nil && find(n, func(at *html.Node) bool { return at != n && isBlock(at) }) != nil
}

// heading writes a heading, always at the left margin.
func (r *renderer) heading(level int, anchor string, text func()) {
	r.block()
	at, nested, gap := len(r.out), r.nest, r.gap
	if len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
	r.out = append(r.out, "######"[:level]...)
	r.out = append(r.out, ' ')
	r.nest, r.gap, r.space, r.open = nil, false, false, ""
	begin := len(r.out)
	r.oneLine++
	r.noLink++
	text()
	r.noLink--
	r.oneLine--
	r.nest, r.space, r.open = nested, false, ""
	if strings.TrimSpace(string(r.out[begin:])) == "" {
		r.out, r.gap, r.col = r.out[:at], gap, 0
		return
	}
	if anchor = fragment(anchor); anchor != "" {
		r.out = append(r.out, " {#"...)
		r.out = append(r.out, anchor...)
		r.out = append(r.out, '}')
	}
	r.out = append(r.out, '\n')
	r.col, r.gap = 0, true
	r.level = level
}

// link writes a link as short as it can be: text alone where it leads into the
// same page, is code, or is long.
func (r *renderer) link(n *html.Node) {
	to := r.shorten(attr(n, "href"))
	if r.noLink > 0 || to == "" || r.hasBlock(n) || onlyCode(n) || r.size[n] == 0 {
		r.children(n)
		return
	}
	r.noLink++
	at := len(r.out)
	r.mark(n, "[", "]("+to+")")
	if s := string(r.out[at:]); strings.HasSuffix(s, "["+attr(n, "href")+"]("+to+")") { // the text is the address
		r.out = r.out[:len(r.out)-len(to)-3]
		if i := strings.LastIndexByte(string(r.out[at:]), '['); i >= 0 {
			r.out = append(r.out[:at+i], r.out[at+i+1:]...)
		}
	}
	r.noLink--
}

func onlyCode(n *html.Node) bool {
	c := n.FirstChild
	return c != nil && c.NextSibling == nil && c.DataAtom == atom.Code
}

// shorten returns how a link is shown: below the root of its own site, else in
// full, and "" when the text says enough.
func (r *renderer) shorten(href string) string {
	if strings.HasPrefix(href, "#") {
		return ""
	}
	to := resolve(r.base, href)
	if to == "" {
		return ""
	}
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	if u.Host == r.base.Host {
		if u.EscapedPath() == r.base.EscapedPath() && u.RawQuery == r.base.RawQuery {
			return ""
		}
		u.Scheme, u.Host, u.User = "", "", nil
		to = u.String()
	}
	if len(to) > 80 {
		return ""
	}
	return parens.Replace(to)
}

// parens would end a link in Markdown.
var parens = strings.NewReplacer("(", "%28", ")", "%29")

// image writes what a picture shows, where the page says so.
func (r *renderer) image(n *html.Node) {
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	src := attr(n, "src")
	if len(alt) >= 3 && (r.oneLine == 0 || r.cell > 0) && !strings.Contains(src, "badge") &&
		!strings.Contains(src, "shields.io") {
		r.text("[image: " + kb.Cut(alt, 300) + "]")
	}
}

// math writes a formula in the form it was written in, where that is kept.
func (r *renderer) math(n *html.Node) {
	tex := find(n, func(n *html.Node) bool {
		return n.Data == "annotation" && strings.Contains(attr(n, "encoding"), "tex")
	})
	if tex == nil {
		r.text(textOf(n, 2000))
	} else {
		r.text("$" + textOf(tex, 2000) + "$")
	}
}

// code writes code in a line.
func (r *renderer) code(n *html.Node) {
	s := textOf(n, 2000)
	if s == "" {
		return
	}
	raw := plain(n, 4)
	if raw != "" && (raw[0] == ' ' || raw[0] == '\n') {
		r.space = true
	}
	tick := "`"
	for strings.Contains(s, tick) {
		tick += "`"
	}
	if len(tick) > 1 {
		s = " " + s + " "
		if r.col == 0 && r.oneLine == 0 && len(tick) > 2 {
			r.open += "\\"
		}
	}
	if r.oneLine > 0 && r.cell == 0 && len(tick) > 1 {
		tick = ""
	}
	r.word(tick + s + tick)
}
