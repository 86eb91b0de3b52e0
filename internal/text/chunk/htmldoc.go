package chunk

import (
	"html"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// splitHTML finds the sections of a document in HTML by its headings h1 to h6.
// The lines stay the file's lines, tags and all. It leaves templates, and
// pages that are mostly mark-up, to the window.
func splitHTML(_ kb.Text, ls *lines) (outline, bool) {
	heads, ok := htmlDocument(ls.body)
	if !ok {
		return outline{}, false
	}
	s := newSections(ls)
	line := 0
	for _, h := range heads {
		line = ls.find(h.from, line)
		s.begin(htmlLead(ls, line, &h), line, ls.find(h.to-1, line), h.level, h.text, h.anchor)
	}
	s.close(ls.len(), 0)
	htmlVerbatim(ls, s.o.class)
	return s.o, true
}

// htmlHead is a heading of a document in HTML.
type htmlHead struct {
	from, to int // byte offsets
	level    int
	text     string
	anchor   string // "#id", or ""
}

// Bounds of what is taken for a document: fewer bytes of text than this are no
// document, nor are pages with less than a byte of text in so many, or with a mark
// of a template for every so many bytes of text.
const (
	htmlText     = 800
	htmlShare    = 10
	htmlTemplate = 250
	htmlHeadMax  = 1000 // bytes of a heading, tags included
	htmlTagMax   = 8000 // bytes of a tag
)

// htmlDocument returns the headings of a page and whether it is a document to
// read rather than a template or the shell of a program: it has a heading with
// text and, outside tags, scripts and styles, enough text with few marks of a
// template.
func htmlDocument(body string) ([]htmlHead, bool) {
	var heads []htmlHead
	text, marks := 0, 0
	missing := map[string]bool{} // ends that do not occur any more
	after := func(from int, end string) int {
		if !missing[end] {
			if n := indexFold(body[from:], end); n >= 0 {
				return from + n + len(end)
			}
			missing[end] = true
		}
		return from
	}
	anchor, anchorAt := "", 0
	for i := 0; i < len(body); {
		c := body[i]
		if c != '<' {
			if c > ' ' {
				text++
			}
			if c == '{' && i+1 < len(body) && (body[i+1] == '{' || body[i+1] == '%') {
				marks++
				i++
			}
			i++
			continue
		}
		rest := body[i:]
		if strings.HasPrefix(rest, "<!--") {
			i = after(i+4, "-->")
			continue
		}
		if strings.HasPrefix(rest, "<%") || strings.HasPrefix(rest, "<?") && !strings.HasPrefix(rest, "<?xml") {
			marks++
			i += 2
			continue
		}
		name := tagName(rest[1:min(len(rest), 40)])
		switch name {
		case "script", "style", "textarea", "template":
			i = after(i+1, "</"+name)
			continue
		case "h1", "h2", "h3", "h4", "h5", "h6":
			h, end := htmlHeading(body, i)
			if end == 0 {
				break
			}
			text += len(h.text)
			if h.text != "" {
				if h.anchor == "" && i-anchorAt < 200 {
					h.anchor = anchor
				}
				heads = append(heads, h)
			}
			anchor, i = "", end
			continue
		case "a", "section", "div", "article":
			end := tagEnd(body, i)
			if id := htmlID(body[i:end]); id != "" {
				anchor, anchorAt = id, end
			}
			i = end
			continue
		}
		if name == "" && (len(rest) < 2 || rest[1] != '/' && rest[1] != '!' && rest[1] != '?') {
			i++ // not a tag
			continue
		}
		i = tagEnd(body, i)
	}
	return heads, len(heads) > 0 && text >= htmlText && text*htmlShare >= len(body) && marks*htmlTemplate <= text
}

// tagEnd returns the offset behind the tag that begins at from: behind the
// next ">" outside quotes. A quote that does not end near is taken for none;
// where nothing ends the tag, it is the "<" alone.
func tagEnd(body string, from int) int {
	var quote byte
	first := from + 1
	for i := from + 1; i < len(body) && i < from+htmlTagMax; i++ {
		switch c := body[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '>' && first == from+1 {
				first = i + 1
			}
		case c == '"' || c == '\'':
			if body[i-1] == '=' || body[i-1] == ' ' {
				quote = c
			}
		case c == '>':
			return i + 1
		case c == '<':
			return i
		}
	}
	return first
}

// htmlHeading returns the heading whose tag begins at offset from and the
// offset behind it, 0 when it has no end near.
func htmlHeading(body string, from int) (htmlHead, int) {
	near := body[from:min(len(body), from+htmlHeadMax)]
	begin := tagEnd(near, 0)
	end := indexFold(near, "</h"+near[2:3])
	if end < begin {
		return htmlHead{}, 0
	}
	h := htmlHead{from: from, to: from + tagEnd(near, end), level: int(near[2] - '0'), anchor: htmlID(near[:begin])}
	var b strings.Builder
	for i := begin; i < end; {
		if near[i] != '<' || near[i+1] != '/' && tagName(near[i+1:]) == "" {
			b.WriteByte(near[i])
			i++
			continue
		}
		to := min(tagEnd(near, i), end)
		if h.anchor == "" {
			h.anchor = htmlID(near[i:to])
		}
		i = to
	}
	h.text = fold(strings.TrimRight(html.UnescapeString(b.String()), "¶# \t\r\n"), noteBytes)
	return h, h.to
}

// htmlID returns "#" and the id, or the name of an anchor, that a tag has.
func htmlID(tag string) string {
	for _, attr := range []string{"id", "name"} {
		if attr == "name" && tagName(tag[1:]) != "a" {
			break
		}
		for at := 0; ; {
			n := indexFold(tag[at:], attr+"=")
			if n < 0 {
				break
			}
			at += n + len(attr) + 1
			if before := tag[at-len(attr)-2]; before > ' ' && before != '"' && before != '\'' {
				continue // "data-id="
			}
			v := tag[at:]
			if v != "" && (v[0] == '"' || v[0] == '\'') {
				v, _, _ = strings.Cut(v[1:], v[:1])
			} else if n := strings.IndexAny(v, " \t\r\n/>"); n >= 0 {
				v = v[:n]
			}
			if v != "" && !strings.ContainsAny(v, " {}<>%") {
				return "#" + v
			}
		}
	}
	return ""
}

// htmlLead returns where the section of a heading on line i begins: with the
// tags above it that stand on lines of their own and only open something.
func htmlLead(ls *lines, i int, h *htmlHead) int {
	const far = 4
	first := i
	for j := i - 1; j >= 0 && i-j <= far; j-- {
		s := strings.TrimSpace(ls.text(j))
		name := ""
		if strings.HasPrefix(s, "<") && len(s) < noteBytes {
			name = tagName(s[1:])
		}
		switch name {
		case "section", "article", "div", "header", "a", "hr", "main":
		default:
			return first
		}
		if end := tagEnd(s, 0); end < len(s) && s[end:] != "</a>" {
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
			if containsFold(s, until) {
				until = ""
			}
			continue
		}
		for _, name := range []string{"pre", "script", "style"} {
			if n := indexFold(s, "<"+name); n >= 0 && tagName(s[n+1:]) == name && !containsFold(s[n:], "</"+name) {
				until = "</" + name
				break
			}
		}
	}
}
