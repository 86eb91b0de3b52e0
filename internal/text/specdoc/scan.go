package specdoc

import (
	"strings"
	"unicode/utf8"
)

// The classes of lines.
const (
	lineText    = iota
	lineCode    // fenced or indented code, its fences included
	lineComment // an HTML comment
	lineFront   // front matter
	lineHeading
)

// page is a text by its lines, with what each is.
type page struct {
	lines    []string // without line ends
	class    []uint8
	front    []field
	headings []heading
}

type heading struct {
	text  string // without marks
	level int
	first int // its first line, 0-based
	last  int // its last line: that of the underline of a setext heading
}

// longLine is how many bytes of a line are read: a longer one is data, and
// links say nothing in it that they do not say in its beginning.
const longLine = 8000

// frontLines is longer than any front matter.
const frontLines = 200

func scan(body string) *page {
	body = strings.TrimPrefix(body, "\ufeff")
	p := &page{lines: make([]string, 0, strings.Count(body, "\n")+1)}
	for len(body) > 0 {
		line, rest, _ := strings.Cut(body, "\n")
		line = strings.TrimSuffix(line, "\r")
		if n := longLine; len(line) > n {
			for !utf8.RuneStart(line[n]) && n > longLine-utf8.UTFMax {
				n--
			}
			line = line[:n]
		}
		p.lines = append(p.lines, line)
		body = rest
	}
	p.class = make([]uint8, len(p.lines))
	from := 0
	if n := FrontMatter(p.lines); n > 0 {
		p.takeFront(0, n)
		from = n
	}
	s := scanner{page: p, paragraph: -1}
	for i := from; i < len(p.lines); i++ {
		if p.class[i] == lineFront {
			continue
		}
		before := len(p.headings)
		s.line(i)
		if before == 0 && len(p.headings) == 1 && len(p.front) == 0 {
			// The block of the original's own decisions stands below the title.
			if from, to := FrontBelow(p.lines, i+1); to > 0 {
				p.takeFront(from, to)
			}
		}
	}
	return p
}

// FrontMatter returns how many lines a block of front matter at the start of
// lines has, its marks ("---" or "+++") included; 0 when there is none.
func FrontMatter(lines []string) int {
	if len(lines) == 0 {
		return 0
	}
	mark := strings.TrimRight(lines[0], " \t\r")
	if mark != "---" && mark != "+++" {
		return 0
	}
	for i := 1; i < len(lines) && i < frontLines; i++ {
		s := strings.TrimRight(lines[i], " \t\r")
		if s == mark || mark == "---" && s == "..." {
			return i + 1
		}
		if i == 1 && s == "" {
			return 0
		}
	}
	return 0
}

// FrontBelow returns the lines, half open, of a block of front matter that
// stands right below a heading, whose last line is the one before at; 0, 0 for none.
func FrontBelow(lines []string, at int) (from, to int) {
	for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	if at >= len(lines) {
		return 0, 0
	}
	if n := FrontMatter(lines[at:min(len(lines), at+frontLines)]); n > 0 && looksLikeFront(lines[at+1:at+n-1]) {
		return at, at + n
	}
	return 0, 0
}

// looksLikeFront tells front matter from text between two rules: it begins
// with a key, and no line is anything but a key, an item, a comment or the
// continuation of one.
func looksLikeFront(lines []string) bool {
	keys := 0
	for _, s := range lines {
		s = strings.TrimRight(s, "\r")
		t := strings.TrimSpace(s)
		switch {
		case t == "" || t[0] == '#':
		case keys > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '-' || s[0] == ']'):
		default:
			if k, _, ok := cutKey(t, ":"); !ok || k == "" || strings.ContainsAny(k, " *`|[") {
				return false
			}
			keys++
		}
	}
	return keys > 0
}

func (p *page) takeFront(from, to int) {
	for i := from; i < to; i++ {
		p.class[i] = lineFront
	}
	sep := ":"
	if strings.HasPrefix(p.lines[from], "+++") {
		sep = "="
	}
	p.front = fields(p.lines[from+1:to-1], from+1, sep)
	if p.front == nil {
		p.front = []field{}
	}
}

// scanner goes through the lines of Markdown.
type scanner struct {
	*page
	fence       byte
	fenceLen    int
	fenceIndent int
	until       string // what ends the comment or verbatim element
	paragraph   int    // first line of the running paragraph, or -1
	lazy        bool   // in a list item or quote, whose text goes on unindented
}

func indented(s string) (int, string) {
	col := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col, s[i:]
		}
	}
	return col, ""
}

func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func (s *scanner) line(i int) {
	ind, t := indented(s.lines[i])
	t = strings.TrimRight(t, " \t")
	switch {
	case s.fence != 0:
		s.class[i] = lineCode
		if n := run(t, s.fence); ind < s.fenceIndent+4 && n >= s.fenceLen && n == len(t) {
			s.fence = 0
		}
		return
	case s.until != "":
		s.class[i] = lineComment
		if strings.Contains(strings.ToLower(t), s.until) {
			s.until = ""
		}
		return
	case t == "":
		s.paragraph, s.lazy = -1, false
		return
	}
	if col, u := itemText(ind, t); u != "" && (u[0] == '`' || u[0] == '~') {
		if n := run(u, u[0]); n >= 3 && (u[0] == '~' || !strings.Contains(u[n:], "`")) {
			s.fence, s.fenceLen, s.fenceIndent = u[0], n, col
			s.class[i], s.paragraph = lineCode, -1
			return
		}
	}
	if ind >= 4 {
		if s.paragraph < 0 && !s.lazy && !s.inList(i) {
			s.class[i] = lineCode
		}
		return
	}
	if t[0] == '<' && s.html(i, t) {
		return
	}
	if n := run(t, '#'); n >= 1 && n <= 6 && (len(t) == n || t[n] == ' ' || t[n] == '\t') {
		s.heading(i, i, n, atx(t[n:]))
		return
	}
	if s.paragraph >= 0 && (t[0] == '=' || t[0] == '-') && run(t, t[0]) == len(t) {
		level, first := 1, s.paragraph
		if t[0] == '-' {
			level = 2
		}
		s.paragraph = -1
		if i-first <= 3 { // a longer one is a paragraph above a rule
			parts := make([]string, 0, 3)
			for j := first; j < i; j++ {
				parts = append(parts, strings.TrimSpace(s.lines[j]))
			}
			s.heading(first, i, level, strings.Join(parts, " "))
		}
		return
	}
	switch {
	case s.paragraph >= 0 || s.lazy:
		if s.lazy && t[0] == '-' && run(t, '-') == len(t) && len(t) >= 3 {
			s.lazy = false // a rule
		}
	case t[0] == '|' || t[0] == '<':
	case t[0] == '>' || itemMark(t) > 0:
		s.lazy = true
	default:
		s.paragraph = i
	}
}

// inList reports whether the indented line i goes on an item of a list above
// it: what stands above it, blank lines left out, is one or goes on one.
func (s *scanner) inList(i int) bool {
	for i--; i >= 0; i-- {
		ind, t := indented(s.lines[i])
		switch {
		case t == "":
			continue
		case s.class[i] == lineCode:
			return ind < 4 && s.fenceIndent > 0 // a fence within the item
		case s.class[i] != lineText:
			return false
		}
		return itemMark(t) > 0 || ind >= 2
	}
	return false
}

// html takes a line that begins with "<": comments and verbatim elements hold
// nothing, headings of one line are headings.
func (s *scanner) html(i int, t string) bool {
	if strings.HasPrefix(t, "<!--") {
		s.class[i] = lineComment
		if !strings.Contains(t[4:], "-->") {
			s.until = "-->"
		}
		return true
	}
	low := strings.ToLower(t)
	for _, name := range [...]string{"pre", "script", "style"} {
		if strings.HasPrefix(low[1:], name) && len(low) > len(name)+1 && strings.IndexByte(" >", low[len(name)+1]) >= 0 {
			s.class[i] = lineCode
			if !strings.Contains(low, "</"+name) {
				s.until = "</" + name
			}
			return true
		}
	}
	if len(low) > 8 && low[1] == 'h' && low[2] >= '1' && low[2] <= '6' && (low[3] == '>' || low[3] == ' ') {
		from, to := strings.IndexByte(low, '>'), strings.Index(low, "</h")
		if from > 0 && to > from {
			s.heading(i, i, int(low[2]-'0'), t[from+1:to])
			return true
		}
	}
	return false
}

func (s *scanner) heading(first, last, level int, text string) {
	const long = 1000 // no heading has as many bytes
	for len(text) > long {
		text = strings.ToValidUTF8(text[:long], "")
	}
	s.paragraph, s.lazy = -1, false
	for i := first; i <= last; i++ {
		s.class[i] = lineHeading
	}
	s.headings = append(s.headings, heading{strings.Clone(Plain(text)), level, first, last})
}

func atx(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") {
		s = strings.TrimRight(t, " ")
	}
	return s
}

// itemMark returns the length of the mark of a list item that t begins with,
// the space behind it included; 0 for none.
func itemMark(t string) int {
	if t == "" {
		return 0
	}
	switch t[0] {
	case '-', '*', '+':
		if len(t) > 1 && (t[1] == ' ' || t[1] == '\t') {
			return 2
		}
		return 0
	}
	n := 0
	for n < len(t) && n < 9 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' ' {
		return n + 2
	}
	return 0
}

func itemText(ind int, t string) (int, string) {
	n := itemMark(t)
	if n == 0 {
		return ind, t
	}
	col, u := indented(t[n:])
	return ind + n + col, u
}

// Plain returns a line as a reader sees it: without marks of emphasis and
// code, wiki links by what they show, links by their text, and without
// attributes at its end ("{#id}").
func Plain(s string) string {
	s = strings.TrimSpace(s)
	if n := strings.LastIndex(s, " {"); n > 0 && strings.HasSuffix(s, "}") && len(s) > n+3 && strings.IndexByte("#.", s[n+2]) >= 0 {
		s = strings.TrimRight(s[:n], " ")
	}
	if !strings.ContainsAny(s, "[`*<_\\") {
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
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_[]#|<>", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case strings.HasPrefix(s[i:], "[["):
			end := within(s[i:], "]]")
			if end < 0 {
				b.WriteByte(c)
				continue
			}
			target, alias := cutLink(s[i+2 : i+end])
			if alias != "" {
				target = alias
			}
			b.WriteString(target)
			i += end + 1
		case c == '[' || c == '!' && strings.HasPrefix(s[i+1:], "["):
		case c == '*':
		case c == '_' && (i == 0 || s[i-1] == ' ' || s[i-1] == '_' || i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '_'):
		case c == ']':
			if strings.HasPrefix(s[i+1:], "(") {
				if n := within(s[i:], ")"); n > 0 {
					i += n
				}
			}
		case strings.HasPrefix(s[i:], "<!--"):
			n := strings.Index(s[i:], "-->")
			if n < 0 {
				return strings.TrimSpace(b.String())
			}
			i += n + 2
		case c == '<':
			n := within(s[i:], ">")
			if n < 2 || !(s[i+1] == '/' || s[i+1]|0x20 >= 'a' && s[i+1]|0x20 <= 'z') {
				b.WriteByte(c)
				continue
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	if t := strings.TrimSpace(b.String()); t != "" || strings.HasPrefix(s, "<!--") {
		return t
	}
	return s
}

// cutLink parts the inside of a wiki link: "T|alias", "T#section".
func cutLink(s string) (target, alias string) {
	target, alias, _ = strings.Cut(s, "|")
	target = strings.TrimSpace(strings.TrimSuffix(target, "\\")) // a bar is escaped in tables
	target, _, _ = strings.Cut(target, "#")
	return strings.TrimSpace(target), strings.TrimSpace(alias)
}
