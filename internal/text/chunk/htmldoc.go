package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitHTML finds the sections of a document in HTML by its headings h1 to h6.
// The lines stay the file's lines, tags and all. It leaves templates, and
// pages that are mostly mark-up, to the window.
func splitHTML(_ kb.Text, ls *lines) (outline, bool) {
	heads, ok := markdown.HTMLHeadings(ls.body)
	if !ok {
		return outline{}, false
	}
	s := newSections(ls)
	line := 0
	for _, h := range heads {
		line = ls.find(h.From, line)
		s.begin(htmlLead(ls, line), line, ls.find(h.To-1, line), h.Level, h.Text, h.Anchor)
	}
	s.close(ls.len(), 0)
	htmlVerbatim(ls, s.o.class)
	return s.o, true
}

// htmlLead returns where the section of a heading on line i begins: with the
// tags above it, on lines of their own, that only open something.
func htmlLead(ls *lines, i int) int {
	const far = 4
	first := i
	for j := i - 1; j >= 0 && i-j <= far; j-- {
		s := strings.TrimSpace(ls.text(j))
		name := ""
		if strings.HasPrefix(s, "<") && len(s) < noteBytes {
			name = markdown.TagName(s[1:])
		}
		switch name {
		case "section", "article", "div", "header", "a", "hr", "main":
		default:
			return first
		}
		if end := markdown.TagEnd(s, 0); end < len(s) && s[end:] != "</a>" {
			return first
		}
		first = j
	}
	return first
}

// htmlVerbatim marks the lines inside of pre, script and style.
func htmlVerbatim(ls *lines, class []class) {
	until := ""
	for i := range class {
		s := ls.text(i)
		if until != "" {
			class[i] = classInside
			if markdown.IndexFold(s, until) >= 0 {
				until = ""
			}
			continue
		}
		for _, name := range []string{"pre", "script", "style"} {
			if n := markdown.IndexFold(s, "<"+name); n >= 0 && markdown.TagName(s[n+1:]) == name && markdown.IndexFold(s[n:], "</"+name) < 0 {
				until = "</" + name
				break
			}
		}
	}
}
