package webdoc

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// attr returns an attribute of an element, or "".
func attr(n *html.Node, key string) string {
	value, _ := attribute(n, key)
	return value
}

func hasAttr(n *html.Node, key string) bool {
	_, ok := attribute(n, key)
	return ok
}

func attribute(n *html.Node, key string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// nameOf returns the id of an element, or the name of an anchor, or "".
func nameOf(n *html.Node) string {
	if id := attr(n, "id"); id != "" || n.DataAtom != atom.A {
		return id
	}
	return attr(n, "name")
}

// hasClass reports whether an element has one of the classes, in lower case.
func hasClass(n *html.Node, classes map[string]bool) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if classes[strings.ToLower(c)] {
			return true
		}
	}
	return false
}

// walk visits n and what is below it in order; enter decides whether to go
// below a node. It needs no stack, whatever the depth.
func walk(n *html.Node, enter func(*html.Node) bool) {
	for at := n; at != nil; {
		at = next(n, at, enter(at))
	}
}

// find returns the first element below n, or n, for which is holds.
func find(n *html.Node, is func(*html.Node) bool) *html.Node {
	for at := n; at != nil; at = next(n, at, true) {
		if at.Type == html.ElementNode && is(at) {
			return at
		}
	}
	return nil
}

// next returns the node that follows at below n, one in it where enter allows,
// or nil.
func next(n, at *html.Node, enter bool) *html.Node {
	if enter && at.FirstChild != nil {
		return at.FirstChild
	}
	for at != n && at.NextSibling == nil {
		at = at.Parent
	}
	if at == n {
		return nil
	}
	return at.NextSibling
}

// oneLine returns s with its runs of white space made one space, cut to max bytes.
func oneLine(s string, max int) string { return kb.Cut(strings.Join(strings.Fields(s), " "), max) }

// textOf returns the text below n, its spaces collapsed, at most max bytes of
// it and a few more.
func textOf(n *html.Node, max int) string {
	var b strings.Builder
	walk(n, func(at *html.Node) bool {
		switch {
		case b.Len() >= max:
			return false
		case at.Type == html.TextNode:
			b.WriteString(at.Data[:min(len(at.Data), 2*max)])
		case at.DataAtom == atom.Img && b.Len() < max:
			b.WriteString(" " + attr(at, "alt") + " ")
		case at.Type == html.ElementNode && (isBlock(at) || at.DataAtom == atom.Br):
			b.WriteByte(' ')
		case permalink(at):
			return false
		}
		return true
	})
	return oneLine(b.String(), max)
}

// textSize counts the bytes of text below n that are no space, up to limit.
func textSize(n *html.Node, limit int) int {
	size := 0
	walk(n, func(at *html.Node) bool {
		if at.Type == html.TextNode && size < limit {
			size += visible(at.Data, limit)
		}
		return size < limit
	})
	return size
}

func visible(s string, limit int) int {
	size := 0
	for i := 0; i < len(s) && size < limit; i++ {
		if s[i] > ' ' {
			size++
		}
	}
	return size
}

// isBlock reports whether an element begins on a line of its own.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
		atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup,
		atom.Hr, atom.Html, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return n.Type == html.ElementNode && strings.Contains(n.Data, "-") // a custom element
}

// headingLevel returns 1 to 6 for a heading, else 0.
func headingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return int(n.Data[1] - '0')
	}
	if n.Type == html.ElementNode && attr(n, "role") == "heading" {
		return 2
	}
	return 0
}
