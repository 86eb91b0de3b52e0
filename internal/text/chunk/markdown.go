package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitMarkdown finds sections by headings. The title that front matter gives
// is above all headings until the first of level 1.
func splitMarkdown(_ kb.Text, ls *lines) (outline, bool) {
	s := newSections(ls)
	markdown.Read(ls.body, s.markdown)
	s.close(ls.len(), 0)
	return s.o, true
}

// markdown takes a block of Markdown.
func (s *sections) markdown(b markdown.Block) {
	switch b.Kind {
	case markdown.Heading:
		if b.Inner {
			return // its block is one piece
		}
		if b.Level == 1 {
			s.close(b.First, 0) // beside the title of the front matter, not below
		}
		text := b.Text
		if !b.HTML {
			text = markdown.Plain(shorten(text, 4*noteBytes))
		}
		s.begin(b.First, b.First, b.Last, b.Level, text, b.Anchor)
		return
	case markdown.Indented:
		return
	case markdown.Front:
		s.front(b)
	}
	for i := b.First + 1; i <= b.Last; i++ {
		s.o.class[i] = classInside
	}
}

// front takes front matter, which may be below the first heading.
func (s *sections) front(b markdown.Block) {
	if b.First > 0 {
		s.o.class[b.First] = classInside
		return
	}
	for i := 1; i <= b.Last; i++ {
		if t := frontTitle(s.ls.text(i)); t != "" {
			s.begin(0, i, i, 0, t, "")
			return
		}
	}
	s.o.units[0].kind = "block"
	if b.Last+1 < s.ls.len() {
		s.o.units = append(s.o.units, unit{start: b.Last + 1, kind: "section"})
	}
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

// run returns how often c is at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}
