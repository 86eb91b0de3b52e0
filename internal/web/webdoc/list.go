package webdoc

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// list writes a list, in a line where only that has room.
func (r *renderer) list(n *html.Node) {
	if r.oneLine > 0 {
		between := ""
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && r.size[c] > 0 && !r.dropped(c) {
				r.out = append(r.out, between...)
				between, r.space = ";", true
				r.children(c)
			}
		}
		r.space = true
		return
	}
	if len(r.nest) == 0 {
		r.block()
	} else {
		r.endLine()
	}
	number := 1
	if s, err := strconv.Atoi(attr(n, "start")); err == nil && s >= 0 && s < 1e6 {
		number = s
	}
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		if c.Type != html.ElementNode || r.size[c] == 0 && find(c, isImage) == nil {
			continue
		}
		if c.DataAtom != atom.Li { // a list right in a list
			r.node(c)
			continue
		}
		if r.dropped(c) {
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		if find(c, func(n *html.Node) bool { return headingLevel(n) > 0 }) != nil { // a list of sections
			r.paragraph(c)
			continue
		}
		r.item(marker, func() { r.children(c) })
	}
	if len(r.nest) == 0 {
		r.block()
	}
}

// item writes an item of a list.
func (r *renderer) item(marker string, text func()) {
	r.endLine()
	if len(r.nest) > 30 {
		text()
		return
	}
	r.nest = append(r.nest, nest{first: marker, rest: strings.Repeat(" ", len(marker))})
	depth := len(r.nest)
	text()
	r.endLine()
	r.nest = r.nest[:depth-1]
	r.gap = r.gap && len(r.nest) == 0 && endsHeading(r.out)
}

// endsHeading reports whether the last line is a heading, below which a blank
// line stays due.
func endsHeading(out []byte) bool {
	s := strings.TrimRight(string(out[max(0, len(out)-400):]), "\n")
	return strings.HasPrefix(s[strings.LastIndexByte(s, '\n')+1:], "#")
}

// definitions writes a list of terms. A term with an anchor whose description
// is long, as API references have them, is a heading; others are items.
func (r *renderer) definitions(n *html.Node) {
	if r.oneLine > 0 {
		r.children(n)
		return
	}
	level := r.level
	r.block()
	open := r.terms(n, min(6, max(level, 1)+1), false)
	r.endTerm(open)
	r.level = level
	r.block()
}

// endTerm ends the item of a term, if one is open.
func (r *renderer) endTerm(open bool) {
	if open {
		r.endLine()
		r.nest = r.nest[:len(r.nest)-1]
		r.gap = false
	}
}

// terms writes the terms and descriptions in n. It is given and returns whether
// an item is open.
func (r *renderer) terms(n *html.Node, level int, open bool) bool {
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		switch {
		case c.Type != html.ElementNode || r.size[c] == 0 || r.dropped(c):
		case c.DataAtom == atom.Div:
			open = r.terms(c, level, open)
		case c.DataAtom == atom.Dt:
			r.endTerm(open)
			if open = false; r.termHeading(c) {
				r.heading(level, r.anchorOf(c), func() { r.signature(c) })
				continue
			}
			if len(r.nest) < 30 {
				r.nest = append(r.nest, nest{first: "- ", rest: "  "})
				open = true
			}
			r.bold(c)
			if open && !r.full && !bytes.HasSuffix(r.out, []byte(":**")) {
				r.out = append(r.out, ':')
				r.col++
			}
			r.space = true
		case open:
			r.description(c)
		default:
			r.paragraph(c)
		}
	}
	return open
}

// description writes what describes a term behind it.
func (r *renderer) description(n *html.Node) {
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		if c.DataAtom == atom.P && c == firstElement(n) && r.col > 0 {
			r.children(c)
			r.block()
		} else {
			r.node(c)
		}
	}
	r.block()
}

func firstElement(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return c
		}
	}
	return nil
}

// signatureClass are the classes of terms that declare something.
var signatureClass = kb.WordsOf(`sig sig-object sig-name`)

func (r *renderer) termHeading(dt *html.Node) bool {
	if len(r.nest) > 0 {
		return false
	}
	if hasClass(dt, signatureClass) {
		return true
	}
	if attr(dt, "id") == "" && find(dt, func(n *html.Node) bool { return attr(n, "id") != "" }) == nil {
		return false
	}
	for c := dt.NextSibling; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Dd {
			return r.size[c] > 300
		}
	}
	return false
}

// signature writes a declaration as one line of code.
func (r *renderer) signature(n *html.Node) {
	var b strings.Builder
	walk(n, func(at *html.Node) bool {
		switch {
		case at != n && at.Type == html.ElementNode && r.dropped(at):
			return false
		case at.Type == html.TextNode && b.Len() < 2000:
			b.WriteString(at.Data)
		case at.Type == html.ElementNode && isBlock(at):
			b.WriteByte(' ')
		}
		return true
	})
	s := oneLine(b.String(), 500)
	if s == "" || strings.Contains(s, "`") {
		r.text(s)
	} else {
		r.word("`" + s + "`")
	}
}
