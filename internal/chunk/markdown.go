package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// splitMarkdown finds sections by headings, ATX ("## Install") and setext
// (underlined with === or ---). It scans lines by hand instead of using a
// Markdown parser: what matters here is which line a heading stands on, and a
// document tree does not say that for every kind of block. Fenced code, HTML
// comments, indented code and a block of front matter hold no headings.
func splitMarkdown(_ kb.Text, ls *lines) (outline, bool) {
	o := outline{units: []unit{{kind: "section"}}, sections: true, class: make([]class, ls.len())}
	m := markdown{ls: ls, o: &o}
	i := m.frontMatter()
	for ; i < ls.len(); i++ {
		m.line(i)
	}
	m.close(ls.len(), 0)
	return o, true
}

type markdown struct {
	ls *lines
	o  *outline

	fence     byte // '`' or '~' inside a fence, else 0
	fenceLen  int
	comment   bool // inside an HTML comment
	paragraph int  // first line of the running paragraph + 1, or 0

	open []heading // headings that enclose the current line, by level
}

type heading struct {
	level int
	text  string
	unit  int // index of its unit
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
			m.o.units[0].kind = "block"
			for j := 1; j <= i; j++ {
				m.o.class[j] = classInside
			}
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

func (m *markdown) line(i int) {
	ind, s := indent(m.ls.text(i))
	if m.fence != 0 {
		m.o.class[i] = classInside
		if n := run(s, m.fence); ind < 4 && n >= m.fenceLen && strings.TrimRight(s[n:], " \t") == "" {
			m.fence = 0
		}
		return
	}
	if m.comment {
		m.o.class[i] = classInside
		m.comment = !strings.Contains(s, "-->")
		return
	}
	if s == "" {
		m.paragraph = 0
		return
	}
	// A fence may stand inside a list item, so its indentation does not count.
	if c := s[0]; c == '`' || c == '~' {
		if n := run(s, c); n >= 3 && (c == '~' || !strings.Contains(s[n:], "`")) {
			m.fence, m.fenceLen, m.paragraph = c, n, 0
			return
		}
	}
	if ind >= 4 {
		return // indented code, or the continuation of a paragraph or list
	}
	if strings.HasPrefix(s, "<!--") {
		m.comment = !strings.Contains(s[4:], "-->")
		m.paragraph = 0
		return
	}
	if n := run(s, '#'); n >= 1 && n <= 6 && (len(s) == n || s[n] == ' ' || s[n] == '\t') {
		m.heading(i, i, n, atxText(s[n:]))
		m.paragraph = 0
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
	switch {
	case m.paragraph > 0:
	case s[0] == '>' || s[0] == '|' || s[0] == '<' || isListItem(s):
		// What begins other blocks is not the text of a setext heading.
	default:
		m.paragraph = i + 1
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

// atxText returns the text of an ATX heading without a closing run of #.
func atxText(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") {
		s = strings.TrimRight(t, " ")
	}
	return s
}

// heading begins a section at line first; the heading ends on line last.
func (m *markdown) heading(first, last, level int, text string) {
	m.close(first, level)
	text = fold(headingText(shorten(text, 4*noteBytes)), noteBytes)
	u := unit{start: first, level: level, kind: "section"}
	for _, h := range m.open {
		if h.text != "" {
			u.path = append(u.path, h.text)
		}
	}
	if text != "" {
		u.path = append(u.path, text)
		u.symbols = []symbol{{
			Symbol: kb.Symbol{Name: text, Kind: "heading", Start: first + 1, End: last + 1},
			line:   first,
		}}
	}
	m.open = append(m.open, heading{level: level, text: text, unit: len(m.o.units)})
	m.o.units = append(m.o.units, u)
}

// close ends the sections of this level and deeper before line i: a heading's
// symbol reaches to the last line of its section that is not blank.
func (m *markdown) close(i, level int) {
	for i > 0 && m.ls.blank(i-1) {
		i--
	}
	for len(m.open) > 0 && m.open[len(m.open)-1].level >= level {
		h := m.open[len(m.open)-1]
		m.open = m.open[:len(m.open)-1]
		if s := m.o.units[h.unit].symbols; len(s) > 0 {
			s[0].End = max(s[0].End, i)
		}
	}
}

// headingText strips what a reader does not see of a heading: an explicit
// anchor "{#id}" at its end, link targets, and marks of emphasis and code
// around words.
func headingText(s string) string {
	if n := strings.LastIndex(s, "{#"); n > 0 && strings.HasSuffix(s, "}") {
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
