package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// page is a text by its lines, with what each is.
type page struct {
	lines    []string        // without line ends
	class    []markdown.Kind // code of whatever kind is Fence; tables and HTML are Text
	front    []field
	headings []heading

	// Of formats other than Markdown.
	plain bool // [[…]] is no link
	needs []need
	links []needLink // of the document itself
	files []needLink // that it names
}

type heading struct {
	text  string // without marks
	level int
	first int  // its first line, 0-based
	last  int  // its last line: that of the underline of a setext heading
	need  bool // of a need of sphinx-needs
}

// longLine is how many bytes of a line are read: a longer one is data, and
// links say nothing in it that they do not say in its beginning.
const longLine = 8000

func scan(body string) *page {
	body = strings.TrimPrefix(body, "\ufeff")
	p := &page{lines: make([]string, 0, strings.Count(body, "\n")+1)}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		p.lines = append(p.lines, kb.Cut(line, longLine))
	}
	p.class = make([]markdown.Kind, len(p.lines))
	markdown.Read(body, p.block)
	return p
}

func (p *page) block(b markdown.Block) {
	switch b.Kind {
	case markdown.Table, markdown.HTML:
		return
	case markdown.Indented, markdown.Verbatim:
		b.Kind = markdown.Fence
	case markdown.Front:
		p.takeFront(b.First, b.Last+1)
	case markdown.Heading:
		const long = 1000 // no heading has as many bytes
		text := strings.Clone(Plain(kb.Cut(b.Text, long)))
		p.headings = append(p.headings, heading{text: text, level: b.Level, first: b.First, last: b.Last})
	}
	for i := b.First; i <= b.Last; i++ {
		p.class[i] = b.Kind
	}
}

func (p *page) takeFront(from, to int) {
	sep := ":"
	if strings.HasPrefix(p.lines[from], "+++") {
		sep = "="
	}
	p.front = fields(p.lines[from+1:to-1], from+1, sep)
	if p.front == nil {
		p.front = []field{}
	}
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
	code, opened := false, 0 // opened are the underscores before words that one behind closes
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
		case c == '_' && opens(s, i):
			opened++
		case c == '_' && opened > 0 && closes(s, i):
			opened--
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

// opens reports whether the underscore at i begins emphasis that another ends.
func opens(s string, i int) bool {
	if i > 0 && s[i-1] != '_' && isWordByte(s[i-1]) || i+1 == len(s) || s[i+1] == ' ' {
		return false
	}
	for j := i + 2; j < len(s); j++ {
		if s[j] == '_' && closes(s, j) {
			return true
		}
	}
	return false
}

// closes reports whether the underscore at i may end emphasis.
func closes(s string, i int) bool {
	return i > 0 && s[i-1] != ' ' && (i+1 == len(s) || s[i+1] == '_' || !isWordByte(s[i+1]))
}

// cutLink parts the inside of a wiki link: "T|alias", "T#section".
func cutLink(s string) (target, alias string) {
	target, alias, _ = strings.Cut(s, "|")
	target = strings.TrimSpace(strings.TrimSuffix(target, "\\")) // a bar is escaped in tables
	target, _, _ = strings.Cut(target, "#")
	return strings.TrimSpace(target), strings.TrimSpace(alias)
}
