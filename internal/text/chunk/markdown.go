package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// splitMarkdown finds sections by headings, ATX ("## Install"), setext
// (underlined with === or ---) and HTML on one line ("<h1>Name</h1>"). It scans
// lines by hand instead of using a Markdown parser: what matters here is which
// line a heading stands on, and a document tree does not say that for every
// kind of block. Fenced code, HTML blocks and comments, indented code and a
// block of front matter hold no headings. The title that front matter gives
// stands above all headings until the first of level 1.
func splitMarkdown(_ kb.Text, ls *lines) (outline, bool) {
	m := markdown{sections: newSections(ls)}
	m.scan()
	return m.o, true
}

type markdown struct {
	*sections
	mdx bool // no HTML comments and blocks and no indented code, but JSX and modules

	fails int // JSX that seemed to have no end

	fence       byte   // '`' or '~' inside a fence, else 0
	fenceLen    int    // how many of it opened the fence
	fenceIndent int    // columns before them
	until       string // what ends the comment or HTML block, lower case; "\n" a blank line; "" outside
	paragraph   int    // first line of the running paragraph + 1, or 0
	lazy        bool   // the running block is a list item or quote, whose text may go on unindented
}

func (m *markdown) scan() {
	first := m.frontMatter()
	front := first > 0 // was met
	for i := first; i < m.ls.len(); i++ {
		if m.mdx && m.fence == 0 {
			if next := m.script(i); next > i {
				i = next - 1
				m.paragraph = 0
				continue
			}
		}
		headings := len(m.open)
		m.line(i)
		if headings == 0 && len(m.open) > 0 && !front {
			front = true
			i = m.frontBelow(i)
		}
	}
	m.close(m.ls.len(), 0)
}

// frontBelow takes a block of front matter that stands below the title on
// line i, as in some decision records: its last mark underlines no heading. It
// returns the block's last line, i without one.
func (m *markdown) frontBelow(i int) int {
	at := i + 1
	for at < m.ls.len() && m.ls.blank(at) {
		at++
	}
	if at == m.ls.len() || !strings.HasPrefix(m.ls.text(at), "---") && !strings.HasPrefix(m.ls.text(at), "+++") {
		return i
	}
	const far = 250 // longer than any front matter and the blank lines before it
	ahead := make([]string, 0, far)
	for j := i + 1; j < m.ls.len() && j <= i+far; j++ {
		ahead = append(ahead, m.ls.text(j))
	}
	from, to := specdoc.FrontBelow(ahead, 0)
	for j := from; j < to; j++ {
		m.o.class[i+1+j] = classInside
	}
	return i + to
}

// frontMatter skips a block between lines of "---" or "+++" at the very top
// and returns the line behind it.
func (m *markdown) frontMatter() int {
	if m.ls.len() == 0 {
		return 0
	}
	mark := strings.TrimRight(m.ls.text(0), " \t")
	if mark != "---" && mark != "+++" {
		return 0
	}
	const far = 200 // longer than any front matter; a rule at the top has no second
	for i := 1; i < m.ls.len() && i < far; i++ {
		s := strings.TrimRight(m.ls.text(i), " \t")
		if s == mark || mark == "---" && s == "..." {
			title, at := "", 0
			for j := 1; j <= i; j++ {
				m.o.class[j] = classInside
				if t := frontTitle(m.ls.text(j)); t != "" && title == "" {
					title, at = t, j
				}
			}
			if title != "" {
				m.begin(0, at, at, 0, title, "")
				return i + 1
			}
			m.o.units[0].kind = "block"
			if i+1 < m.ls.len() {
				m.o.units = append(m.o.units, unit{start: i + 1, kind: "section"})
			}
			return i + 1
		}
		if i == 1 && s == "" {
			return 0
		}
	}
	return 0
}

// frontTitle returns the title that a line of front matter gives, or "".
func frontTitle(s string) string {
	s, ok := strings.CutPrefix(s, "title")
	if !ok {
		return ""
	}
	s = strings.TrimSpace(s)
	if s == "" || s[0] != ':' && s[0] != '=' {
		return ""
	}
	s = strings.Trim(strings.TrimSpace(s[1:]), `"'`)
	if s == "|" || s == ">" || strings.HasPrefix(s, ">-") || strings.HasPrefix(s, "{{") {
		return "" // on the lines below, or filled in
	}
	return s
}

func (m *markdown) line(i int) {
	ind, s := indent(m.ls.text(i))
	if m.fence != 0 {
		m.o.class[i] = classInside
		// A fence inside a list item is indented like the item's text.
		if n := run(s, m.fence); ind < m.fenceIndent+4 && n >= m.fenceLen && strings.TrimRight(s[n:], " \t") == "" {
			m.fence = 0
		}
		return
	}
	if m.until == "\n" && s == "" {
		m.until = ""
	}
	if m.until != "" {
		m.o.class[i] = classInside
		if m.until != "\n" && containsFold(s, m.until) {
			m.until = ""
		}
		return
	}
	if s == "" {
		m.paragraph, m.lazy = 0, false
		return
	}
	if col, t := listText(ind, s); t != "" && (t[0] == '`' || t[0] == '~') {
		if n := run(t, t[0]); n >= 3 && (t[0] == '~' || !strings.Contains(t[n:], "`")) {
			m.fence, m.fenceLen, m.fenceIndent, m.paragraph = t[0], n, col, 0
			return
		}
	}
	if ind >= 4 && !m.mdx {
		return // indented code, or the continuation of a paragraph or list
	}
	if s[0] == '<' && !m.mdx && m.html(i, s) {
		m.paragraph = 0
		return
	}
	if n := run(s, '#'); n >= 1 && n <= 6 && (len(s) == n || s[n] == ' ' || s[n] == '\t') {
		m.heading(i, i, n, atxText(s[n:]))
		return
	}
	if m.paragraph > 0 && (s[0] == '=' || s[0] == '-') {
		if n := run(s, s[0]); strings.TrimRight(s[n:], " \t") == "" {
			level := 1
			if s[0] == '-' {
				level = 2
			}
			first := m.paragraph - 1
			m.paragraph = 0
			if i-first <= 3 { // a longer one is a paragraph above a rule that nobody meant as a heading
				var text []string
				for j := first; j < i; j++ {
					text = append(text, strings.TrimSpace(m.ls.text(j)))
				}
				m.heading(first, i, level, strings.Join(text, " "))
			}
			return
		}
	}
	if m.lazy && s[0] == '-' && strings.TrimRight(s[run(s, '-'):], " \t") == "" && run(s, '-') >= 3 {
		m.lazy = false // a rule
		return
	}
	switch {
	case m.paragraph > 0 || m.lazy:
	case s[0] == '|':
		if i > 0 && strings.HasPrefix(strings.TrimLeft(m.ls.text(i-1), " "), "|") {
			m.o.class[i] = classInside // a row of a table
		}
	case s[0] == '<' && tagName(strings.TrimPrefix(s[1:], "/")) != "":
	case s[0] == '>' || isListItem(s):
		m.lazy = true // what begins other blocks is not the text of a setext heading
	default:
		m.paragraph = i + 1
	}
}

// heading begins a section by a heading on lines first to last.
func (m *markdown) heading(first, last, level int, text string) {
	m.paragraph, m.lazy = 0, false
	if level == 1 {
		m.close(first, 0) // stands beside the title of the front matter, not below
	}
	anchor := ""
	if n := attributes(text); n > 0 && text[n+1] == '#' {
		anchor, _, _ = strings.Cut(text[n+1:len(text)-1], " ")
	}
	m.begin(first, first, last, level, headingText(shorten(text, 4*noteBytes)), anchor)
}

// htmlBlocks are the elements that begin an HTML block even within a paragraph.
var htmlBlocks = words(`address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 head header hr html iframe li link main menu nav ol optgroup option p section source
	summary table tbody td tfoot th thead title tr track ul`)

// html takes a line that begins with "<" and reports whether it begins an
// HTML block or comment.
func (m *markdown) html(i int, s string) bool {
	if strings.HasPrefix(s, "<!--") {
		if !strings.Contains(s[4:], "-->") {
			m.until = "-->"
		}
		return true
	}
	name := tagName(strings.TrimPrefix(s[1:], "/"))
	switch name {
	case "":
		return false
	case "pre", "script", "style", "textarea":
		if end := "</" + name; s[1] != '/' && !containsFold(s, end) {
			m.until = end
		}
		return true
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if s[1] == '/' {
			break
		}
		h, end := htmlHeading(m.ls.body, m.ls.at[i]+strings.IndexByte(m.ls.body[m.ls.at[i]:], '<'))
		if end > 0 && h.text != "" {
			if h.level == 1 {
				m.close(i, 0)
			}
			m.begin(i, i, m.ls.find(end-1, i), h.level, h.text, h.anchor)
		}
	}
	last := strings.TrimRight(s, " \t")
	if htmlBlocks[name] || m.paragraph == 0 && last[len(last)-1] == '>' && strings.IndexByte(last, '>') == len(last)-1 {
		m.until = "\n"
		return true
	}
	return false
}

// tagName returns the name of a tag, lower case, at the start of s, or "".
func tagName(s string) string {
	n := 0
	for n < len(s) && n < 32 && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '-')) {
		n++
	}
	if n < len(s) && strings.IndexByte(" \t\r\n/>", s[n]) < 0 {
		return "" // "<https://…>", "<a.b>"
	}
	return strings.ToLower(s[:n])
}

// containsFold reports whether s holds part, which is lower case, whatever the
// case of the ASCII letters of s.
func containsFold(s, part string) bool { return indexFold(s, part) >= 0 }

func indexFold(s, part string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], part[0])
		if n < 0 || len(s)-i-n < len(part) {
			return -1
		}
		if i += n; strings.EqualFold(s[i:i+len(part)], part) {
			return i
		}
	}
}

// run returns how often c stands at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func isListItem(s string) bool {
	switch s[0] {
	case '-', '*', '+':
		return len(s) == 1 || s[1] == ' ' || s[1] == '\t'
	}
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' '
}

// listText returns s, indented by ind, without the marker of a list item that it may
// begin with, and the columns before that.
func listText(ind int, s string) (int, string) {
	if !isListItem(s) {
		return ind, s
	}
	n := strings.IndexAny(s, " \t")
	if n < 0 {
		return ind, s
	}
	col, t := indent(s[n:])
	return ind + n + col, t
}

// atxText returns the text of an ATX heading without a closing run of #.
func atxText(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") {
		s = strings.TrimRight(t, " ")
	}
	return s
}

// attributes returns where the attributes begin that a heading ends in,
// "{#id}", "{.class}" or "{key=value}"; 0 without any.
func attributes(s string) int {
	n := strings.LastIndexByte(s, '{')
	if n <= 0 || s[n-1] != ' ' || !strings.HasSuffix(s, "}") || len(s) < n+3 {
		return 0
	}
	if c := s[n+1]; c == '#' || c == '.' || strings.Contains(s[n:], "=\"") {
		return n
	}
	return 0
}

// headingText strips what a reader does not see of a heading: attributes at
// its end such as an anchor "{#id}", link targets, and marks of emphasis and code
// around words.
func headingText(s string) string {
	if n := attributes(s); n > 0 {
		s = strings.TrimRight(s[:n], " ")
	}
	if !strings.ContainsAny(s, "[`*<") {
		return s
	}
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '`':
			code = !code
		case code:
			b.WriteByte(c)
		case c == '[' || c == '!' && strings.HasPrefix(s[i+1:], "["):
		case c == '*' && strings.HasPrefix(s[i:], "**"):
			i++
		case c == ']':
			if strings.HasPrefix(s[i+1:], "(") {
				if n := strings.IndexByte(s[i:], ')'); n > 0 {
					i += n
				}
			}
		case c == '<':
			n := strings.IndexByte(s[i:], '>')
			if n < 0 || n > 1 && !isTag(s[i+1]) {
				b.WriteByte(c)
				continue
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	if t := strings.TrimSpace(b.String()); t != "" {
		return t
	}
	return s
}

func isTag(c byte) bool { return c == '/' || c|0x20 >= 'a' && c|0x20 <= 'z' }
