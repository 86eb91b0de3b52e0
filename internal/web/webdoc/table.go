package webdoc

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// table writes a table with a row a line. A table that only lays out what is
// in it (code beside line numbers, boxes with headings, one column) is
// written as what is in it.
func (r *renderer) table(n *html.Node) {
	if r.oneLine > 0 {
		r.children(n)
		return
	}
	var rows [][]*html.Node
	var captions []*html.Node
	columns, layout := 0, false
	walk(n, func(at *html.Node) bool {
		switch at.DataAtom {
		case atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dl:
			layout = true
			return false
		case atom.Table:
			layout = layout || at != n && r.size[at] > 0
			return at == n
		case atom.Caption:
			captions = append(captions, at)
			return false
		case atom.Tr:
			var row []*html.Node
			for c := at.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
					row = append(row, c)
				}
			}
			if len(row) > 0 && r.size[at] > 0 {
				rows = append(rows, row)
				columns = max(columns, len(row))
			}
		}
		return true
	})
	r.block()
	for _, c := range captions {
		r.title(c)
	}
	if layout || columns < 2 {
		r.layout(n)
		r.block()
		return
	}
	for i, row := range rows {
		if r.full {
			break
		}
		r.row(row, columns)
		if i == 0 {
			r.line("|" + strings.Repeat(" --- |", columns))
		}
	}
	r.block()
}

// row writes one row of a table.
func (r *renderer) row(cells []*html.Node, columns int) {
	r.begin()
	r.oneLine++
	r.cell++
	r.out = append(r.out, '|')
	n := 0
	for _, c := range cells {
		r.out = append(r.out, ' ')
		r.space, r.open = false, ""
		r.children(c)
		r.out = append(r.out, " |"...)
		n++
		if span, err := strconv.Atoi(attr(c, "colspan")); err == nil {
			for ; span > 1 && n < columns; span-- {
				r.out = append(r.out, " |"...)
				n++
			}
		}
	}
	for ; n < columns; n++ {
		r.out = append(r.out, " |"...)
	}
	r.oneLine--
	r.cell--
	r.space, r.open = false, ""
	r.out = append(r.out, '\n')
	r.col = 0
}

// layout writes the cells of a table as blocks.
func (r *renderer) layout(n *html.Node) {
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		if c.Type != html.ElementNode || hasClass(c, lineNumberClass) || r.dropped(c) {
			continue
		}
		switch c.DataAtom {
		case atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
			r.layout(c)
		case atom.Caption:
		case atom.Td, atom.Th:
			if c.DataAtom == atom.Td && onlyNumbers(c) {
				continue
			}
			r.block()
			r.children(c)
			r.block()
		default:
			r.node(c)
		}
	}
}

// onlyNumbers reports whether a cell holds the numbers of lines beside code.
func onlyNumbers(n *html.Node) bool {
	if find(n, func(n *html.Node) bool { return n.DataAtom == atom.Pre || hasClass(n, lineNumberClass) }) == nil {
		return false
	}
	for c := range strings.FieldsSeq(textOf(n, 4000)) {
		if _, err := strconv.Atoi(c); err != nil {
			return false
		}
	}
	return true
}
