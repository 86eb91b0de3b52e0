package markdown

import (
	"html"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// htmlBlocks are the elements that begin an HTML block even within a paragraph.
var htmlBlocks = kb.WordsOf(`address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 head header hr html iframe li link main menu nav ol optgroup option p section source
	summary table tbody td tfoot th thead title tr track ul`)

// html takes a line that begins with "<" and reports whether it begins an
// HTML block or comment.
func (r *reader) html(s string) bool {
	if strings.HasPrefix(s, "<!--") {
		r.begin(Comment)
		if r.until = "-->"; strings.Contains(s[4:], r.until) {
			r.end()
		}
		return true
	}
	name := TagName(strings.TrimPrefix(s[1:], "/"))
	switch name {
	case "":
		return false
	case "pre", "script", "style", "textarea":
		if s[1] == '/' {
			r.begin(HTML)
			r.end()
			return true
		}
		r.begin(Verbatim)
		if r.until = "</" + name; IndexFold(s, r.until) >= 0 {
			r.end()
		}
		return true
	}
	r.htmlHeading(s, false)
	last := strings.TrimRight(s, " \t")
	if !htmlBlocks[name] && (r.paragraph >= 0 || strings.IndexByte(last, '>') != len(last)-1) {
		return false
	}
	r.begin(HTML)
	r.until = ""
	return true
}

// htmlHeading takes the heading whose tag the current line begins with.
func (r *reader) htmlHeading(s string, inner bool) {
	if len(s) < 3 || s[0] != '<' || s[1]|0x20 != 'h' || s[2] < '1' || s[2] > '6' || len(TagName(s[1:])) != 2 {
		return
	}
	h, end := htmlHeading(r.body, r.from+strings.IndexByte(r.body[r.from:], '<'))
	if end == 0 || h.Text == "" {
		return
	}
	if !inner {
		r.end()
		r.heading = true
	}
	h.First, h.From, h.Inner = r.line, r.from, inner
	h.Last = r.line + strings.Count(r.body[r.from:end-1], "\n")
	_, h.To = lineAt(r.body, end-1)
	r.take(h)
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

// HTMLHeadings returns the headings of a page in HTML, without lines, and whether it is a document to
// read rather than a template or the shell of a program: it has a heading with
// text and, outside tags, scripts and styles, enough text with few marks of a
// template.
func HTMLHeadings(body string) ([]Block, bool) {
	var heads []Block
	text, marks := 0, 0
	missing := map[string]bool{} // ends that do not occur any more
	after := func(from int, end string) int {
		if !missing[end] {
			if n := IndexFold(body[from:], end); n >= 0 {
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
		name := TagName(rest[1:min(len(rest), 40)])
		switch name {
		case "script", "style", "textarea", "template":
			i = after(i+1, "</"+name)
			continue
		case "h1", "h2", "h3", "h4", "h5", "h6":
			h, end := htmlHeading(body, i)
			if end == 0 {
				break
			}
			text += len(h.Text)
			if h.Text != "" {
				if h.Anchor == "" && i-anchorAt < 200 {
					h.Anchor = anchor
				}
				heads = append(heads, h)
			}
			anchor, i = "", end
			continue
		case "a", "section", "div", "article":
			end := TagEnd(body, i)
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
		i = TagEnd(body, i)
	}
	return heads, len(heads) > 0 && text >= htmlText && text*htmlShare >= len(body) && marks*htmlTemplate <= text
}

// TagEnd returns the offset behind the tag that begins at from: behind the
// next ">" outside quotes. A quote that does not end near is taken for none;
// where nothing ends the tag, it is the "<" alone.
func TagEnd(body string, from int) int {
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
func htmlHeading(body string, from int) (Block, int) {
	near := body[from:min(len(body), from+htmlHeadMax)]
	begin := TagEnd(near, 0)
	end := IndexFold(near, "</h"+near[2:3])
	if end < begin {
		return Block{}, 0
	}
	h := Block{Kind: Heading, HTML: true, From: from, To: from + TagEnd(near, end), Level: int(near[2] - '0')}
	h.Anchor = htmlID(near[:begin])
	var b strings.Builder
	for i := begin; i < end; {
		if near[i] != '<' || near[i+1] != '/' && TagName(near[i+1:]) == "" {
			b.WriteByte(near[i])
			i++
			continue
		}
		to := min(TagEnd(near, i), end)
		if h.Anchor == "" {
			h.Anchor = htmlID(near[i:to])
		}
		i = to
	}
	white := func(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	text := strings.TrimRight(html.UnescapeString(b.String()), "¶# \t\r\n")
	h.Text = strings.Join(strings.FieldsFunc(text, white), " ")
	return h, h.To
}

// htmlID returns "#" and the id, or the name of an anchor, that a tag has.
func htmlID(tag string) string {
	for _, attr := range []string{"id", "name"} {
		if attr == "name" && TagName(tag[1:]) != "a" {
			break
		}
		for at := 0; ; {
			n := IndexFold(tag[at:], attr+"=")
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

// TagName returns the name of a tag, lower case, at the start of s, or "".
func TagName(s string) string {
	n := 0
	for n < len(s) && n < 32 && (isLetter(s[n]) || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '-')) {
		n++
	}
	if n < len(s) && strings.IndexByte(" \t\r\n/>", s[n]) < 0 {
		return "" // "<https://…>", "<a.b>"
	}
	return strings.ToLower(s[:n])
}

// IndexFold returns where s first holds part, which is lower case, whatever the
// case of the ASCII letters of s; -1 for nowhere.
func IndexFold(s, part string) int {
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
