package webdoc

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// renderer writes a tree as Markdown in one pass, into one buffer. Text is
// wrapped, so that a hit can show lines; identifiers are not escaped, so that
// they can be found: only what would begin another block is, at the start of
// a line.
type renderer struct {
	root  *html.Node
	base  *url.URL
	size  sizes
	ids   map[string]bool
	total int // size of root
	// guessed says that root is all there is: the page names no main text.
	guessed bool
	max     int

	out   []byte
	full  bool
	col   int    // bytes on the current line
	space bool   // a space is due before the next word
	gap   bool   // a blank line is due before the next line
	open  string // marks due before the next word
	nest  []nest

	oneLine int // in a heading or a cell: no line may end
	cell    int // in a cell: "|" is escaped
	noLink  int
	strong  int
	level   int // of the last heading
}

// nest is what stands before the lines of a list item or quote.
type nest struct {
	first, rest string
	used        bool
}

const wrapAt = 100

func (r *renderer) endLine() {
	if r.oneLine > 0 {
		r.space = true
		return
	}
	if r.col > 0 {
		r.out = append(r.out, '\n')
		r.col = 0
	}
	r.space = false
}

// block ends a block: what follows stands below a blank line.
func (r *renderer) block() {
	r.endLine()
	if r.oneLine == 0 && len(r.out) > 0 && (len(r.nest) == 0 || r.nest[len(r.nest)-1].used) {
		r.gap = true
	}
}

// begin writes what stands before the text of a line.
func (r *renderer) begin() {
	if r.gap {
		r.gap = false
		if len(r.out) > 0 {
			r.out = append(r.out, strings.TrimRight(r.quotes(), " ")...)
			r.out = append(r.out, '\n')
		}
	}
	for i := range r.nest {
		n := &r.nest[i]
		s := n.rest
		if !n.used {
			s = n.first
			n.used = true
		}
		r.out = append(r.out, s...)
		r.col += len(s)
	}
}

// quotes is what stands before a blank line between two blocks.
func (r *renderer) quotes() string {
	s := ""
	for _, n := range r.nest {
		if !n.used {
			break
		}
		s += n.rest
	}
	return s
}

// text writes text with its spaces collapsed.
func (r *renderer) text(s string) {
	if strings.Contains(s, "\u00a0") {
		s = strings.ReplaceAll(s, "\u00a0", " ")
	}
	for len(s) > 0 && !r.full {
		c := s[0]
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' {
			r.space = true
			s = s[1:]
			continue
		}
		n := strings.IndexAny(s, " \n\t\r\f")
		if n < 0 {
			n = len(s)
		}
		r.word(s[:n])
		s = s[n:]
	}
}

// word writes a word behind the space that is due.
func (r *renderer) word(w string) {
	w = strings.ReplaceAll(w, "\u200b", "")
	w = strings.ReplaceAll(w, "\u00ad", "")
	if w == "" || r.full {
		return
	}
	if r.cell > 0 {
		w = strings.ReplaceAll(w, "|", `\|`)
	}
	switch {
	case r.oneLine > 0:
		if r.space && len(r.out) > 0 && r.out[len(r.out)-1] != ' ' {
			r.out = append(r.out, ' ')
		}
	case r.col == 0:
		r.begin()
		if r.open == "" && special(w) {
			r.out = append(r.out, '\\')
		}
	case r.space && r.col+len(w)+len(r.open) >= wrapAt && !special(r.open+w):
		r.out = append(r.out, '\n')
		r.col = 0
		r.begin()
	case r.space:
		r.out = append(r.out, ' ')
		r.col++
	}
	r.space = false
	r.out = append(r.out, r.open...)
	r.col += len(r.open) + len(w)
	r.open = ""
	r.out = append(r.out, w...)
	if len(r.out) > r.max {
		r.full = true
	}
}

// special reports whether a word at the start of a line would begin a block.
func special(w string) bool {
	switch c := w[0]; c {
	case '#', '>', '|', '<', '=', '~':
		return true
	case '-', '+', '*', '_':
		return len(w) == 1 || strings.Trim(w, string(c)) == ""
	case '`':
		return strings.HasPrefix(w, "```")
	}
	return false
}

// mark writes the children of n between marks, and nothing when there is no
// text. The spaces next to the marks stand outside.
func (r *renderer) mark(n *html.Node, open, end string) {
	before := r.open
	r.open += open
	at := len(r.out)
	r.children(n)
	if len(r.out) == at { // nothing came
		r.open = before
		return
	}
	r.out = append(r.out, end...)
	r.col += len(end)
}

func (r *renderer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		r.node(c)
	}
}

func (r *renderer) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		r.text(n.Data)
		return
	case html.ElementNode:
	default:
		return
	}
	if r.dropped(n) {
		return
	}
	if level := headingLevel(n); level > 0 && r.oneLine == 0 {
		r.heading(n, level, r.anchorOf(n))
		return
	}
	switch n.DataAtom {
	case atom.Br:
		r.endLine()
	case atom.Hr, atom.Wbr, atom.Link, atom.Meta:
	case atom.Pre:
		r.pre(n)
	case atom.Code, atom.Samp, atom.Tt:
		r.code(n)
	case atom.Strong, atom.B:
		if r.strong > 0 || r.oneLine > 0 && r.cell == 0 || r.hasBlock(n) {
			r.children(n)
			return
		}
		r.strong++
		r.mark(n, "**", "**")
		r.strong--
	case atom.Em:
		if r.oneLine > 0 && r.cell == 0 || r.hasBlock(n) {
			r.children(n)
			return
		}
		r.mark(n, "*", "*")
	case atom.Q:
		r.mark(n, `"`, `"`)
	case atom.A:
		r.link(n)
	case atom.Img:
		r.image(n)
	case atom.Math:
		r.math(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.list(n)
	case atom.Dl:
		r.definitions(n)
	case atom.Table:
		r.table(n)
	case atom.Blockquote:
		r.block()
		r.nest = append(r.nest, nest{first: "> ", rest: "> "})
		r.children(n)
		r.endLine()
		r.nest = r.nest[:len(r.nest)-1]
		r.block()
	case atom.Summary:
		r.title(n)
	default:
		switch {
		case hasClass(n, titleClass):
			r.title(n)
		case isBlock(n):
			r.block()
			r.children(n)
			r.block()
		default:
			r.children(n)
		}
	}
}

// titleClass are the classes of the titles of boxes.
var titleClass = kb.WordsOf(`admonition-title admonition-heading custom-block-title markdown-alert-title callout-title alert-heading
	sidebar-title topic-title rubric note-title starlight-aside__title code-block-title codeblocktitle filename title-bar`)

// title writes the title of a box in bold on a line of its own.
func (r *renderer) title(n *html.Node) {
	r.block()
	if r.hasBlock(n) && find(n, func(n *html.Node) bool { return headingLevel(n) > 0 }) != nil {
		r.children(n)
	} else {
		r.strong++
		r.noLink++
		r.mark(n, "**", "**")
		r.noLink--
		r.strong--
	}
	r.block()
}

// hasBlock reports whether blocks stand in an inline element.
func (r *renderer) hasBlock(n *html.Node) bool {
	return n.FirstChild != nil && find(n, func(at *html.Node) bool { return at != n && isBlock(at) }) != nil
}

// heading writes a heading, always at the left margin.
func (r *renderer) heading(n *html.Node, level int, anchor string) {
	r.headingText(level, anchor, func() { r.children(n) })
}

func (r *renderer) headingText(level int, anchor string, text func()) {
	r.block()
	at, nested, gap := len(r.out), r.nest, r.gap
	if len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
	r.out = append(r.out, "######"[:level]...)
	r.out = append(r.out, ' ')
	r.nest, r.gap, r.space, r.open = nil, false, false, ""
	begin := len(r.out)
	r.oneLine++
	r.noLink++
	text()
	r.noLink--
	r.oneLine--
	r.nest, r.space, r.open = nested, false, ""
	if strings.TrimSpace(string(r.out[begin:])) == "" {
		r.out, r.gap, r.col = r.out[:at], gap, 0
		return
	}
	if anchor = fragment(anchor); anchor != "" {
		r.out = append(r.out, " {#"...)
		r.out = append(r.out, anchor...)
		r.out = append(r.out, '}')
	}
	r.out = append(r.out, '\n')
	r.col, r.gap = 0, true
	r.level = level
}

// link writes a link as short as it can be: text alone where it leads into the
// same page, is code, or is long.
func (r *renderer) link(n *html.Node) {
	to := r.shorten(attr(n, "href"))
	if r.noLink > 0 || to == "" || r.hasBlock(n) || onlyCode(n) || r.size[n] == 0 {
		r.children(n)
		return
	}
	r.noLink++
	at := len(r.out)
	r.mark(n, "[", "]("+to+")")
	if s := string(r.out[at:]); strings.HasSuffix(s, "["+attr(n, "href")+"]("+to+")") { // the text is the address
		r.out = r.out[:len(r.out)-len(to)-3]
		if i := strings.LastIndexByte(string(r.out[at:]), '['); i >= 0 {
			r.out = append(r.out[:at+i], r.out[at+i+1:]...)
		}
	}
	r.noLink--
}

func onlyCode(n *html.Node) bool {
	c := n.FirstChild
	return c != nil && c.NextSibling == nil && c.DataAtom == atom.Code
}

// shorten returns how a link is shown: below the root of its own site, else in
// full, and "" when the text says enough.
func (r *renderer) shorten(href string) string {
	if strings.HasPrefix(href, "#") {
		return ""
	}
	to := resolve(r.base, href)
	if to == "" {
		return ""
	}
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	if u.Host == r.base.Host {
		if u.EscapedPath() == r.base.EscapedPath() && u.RawQuery == r.base.RawQuery {
			return ""
		}
		u.Scheme, u.Host, u.User = "", "", nil
		to = u.String()
	}
	if len(to) > 80 {
		return ""
	}
	return parens.Replace(to)
}

// parens would end a link in Markdown.
var parens = strings.NewReplacer("(", "%28", ")", "%29")

// image writes what a picture shows, where the page says so.
func (r *renderer) image(n *html.Node) {
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	if len(alt) < 3 || r.oneLine > 0 && r.cell == 0 || strings.Contains(attr(n, "src"), "badge") || strings.Contains(attr(n, "src"), "shields.io") {
		return
	}
	r.text("[image: " + kb.Cut(alt, 300) + "]")
}

// math writes a formula in the form it was written in, where that is kept.
func (r *renderer) math(n *html.Node) {
	if tex := find(n, func(n *html.Node) bool { return n.Data == "annotation" && strings.Contains(attr(n, "encoding"), "tex") }); tex != nil {
		r.text("$" + textOf(tex, 2000) + "$")
		return
	}
	r.text(textOf(n, 2000))
}

// code writes code in a line.
func (r *renderer) code(n *html.Node) {
	s := textOf(n, 2000)
	if s == "" {
		return
	}
	raw := plain(n, 4)
	if raw != "" && (raw[0] == ' ' || raw[0] == '\n') {
		r.space = true
	}
	tick := "`"
	for strings.Contains(s, tick) {
		tick += "`"
	}
	if len(tick) > 1 {
		s = " " + s + " "
		if r.col == 0 && r.oneLine == 0 && len(tick) > 2 {
			r.open += "\\"
		}
	}
	if r.oneLine > 0 && r.cell == 0 && len(tick) > 1 {
		tick = ""
	}
	r.word(tick + s + tick)
}

func (r *renderer) list(n *html.Node) {
	if r.oneLine > 0 {
		first := true
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && r.size[c] > 0 && !r.dropped(c) {
				if !first {
					r.out = append(r.out, ';')
				}
				first, r.space = false, true
				r.children(c)
			}
		}
		r.space = true
		return
	}
	if len(r.nest) == 0 {
		r.block()
	} else {
		r.endLine()
	}
	number := 1
	if s, err := strconv.Atoi(attr(n, "start")); err == nil && s >= 0 && s < 1e6 {
		number = s
	}
	for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
		if c.Type != html.ElementNode || r.size[c] == 0 && find(c, isImage) == nil {
			continue
		}
		if c.DataAtom != atom.Li { // a list right in a list
			r.node(c)
			continue
		}
		if r.dropped(c) {
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		if find(c, func(n *html.Node) bool { return headingLevel(n) > 0 }) != nil { // a list of sections
			r.block()
			r.children(c)
			r.block()
			continue
		}
		r.item(marker, func() { r.children(c) })
	}
	if len(r.nest) == 0 {
		r.block()
	}
}

// item writes an item of a list.
func (r *renderer) item(marker string, text func()) {
	r.endLine()
	if len(r.nest) > 30 {
		text()
		return
	}
	r.nest = append(r.nest, nest{first: marker, rest: strings.Repeat(" ", len(marker))})
	depth := len(r.nest)
	text()
	r.endLine()
	r.nest = r.nest[:depth-1]
	r.gap = r.gap && len(r.nest) == 0 && endsHeading(r.out)
}

// endsHeading reports whether the last line is a heading, below which a blank
// line stays due.
func endsHeading(out []byte) bool {
	s := strings.TrimRight(string(out[max(0, len(out)-400):]), "\n")
	return strings.HasPrefix(s[strings.LastIndexByte(s, '\n')+1:], "#")
}

// definitions writes a list of terms. A term with an anchor whose description
// is long, as API references have them, is a heading; others are items.
func (r *renderer) definitions(n *html.Node) {
	if r.oneLine > 0 {
		r.children(n)
		return
	}
	level := r.level
	r.block()
	var walkIn func(n *html.Node)
	open := false // an item is open
	end := func() {
		if open {
			r.endLine()
			r.nest = r.nest[:len(r.nest)-1]
			r.gap = false
			open = false
		}
	}
	walkIn = func(n *html.Node) {
		for c := n.FirstChild; c != nil && !r.full; c = c.NextSibling {
			switch {
			case c.Type != html.ElementNode || r.size[c] == 0 || r.dropped(c):
			case c.DataAtom == atom.Div:
				walkIn(c)
			case c.DataAtom == atom.Dt:
				end()
				if r.termHeading(c) {
					r.headingText(min(6, max(level, 1)+1), r.anchorOf(c), func() { r.signature(c) })
					continue
				}
				if len(r.nest) < 30 {
					r.nest = append(r.nest, nest{first: "- ", rest: "  "})
					open = true
				}
				r.strong++
				r.mark(c, "**", "**")
				r.strong--
				if open && !r.full && !strings.HasSuffix(string(r.out[max(0, len(r.out)-3):]), ":**") {
					r.out = append(r.out, ':')
					r.col++
				}
				r.space = true
			default:
				if open {
					// The text goes on behind the term.
					for d := c.FirstChild; d != nil && !r.full; d = d.NextSibling {
						if d.DataAtom == atom.P && d == firstElement(c) && r.col > 0 {
							r.children(d)
							r.block()
							continue
						}
						r.node(d)
					}
					r.block()
					continue
				}
				r.block()
				r.children(c)
				r.block()
			}
		}
	}
	walkIn(n)
	end()
	r.level = level
	r.block()
}

func firstElement(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return c
		}
	}
	return nil
}

// signatureClass are the classes of terms that declare something.
var signatureClass = kb.WordsOf(`sig sig-object sig-name`)

func (r *renderer) termHeading(dt *html.Node) bool {
	if len(r.nest) > 0 {
		return false
	}
	if hasClass(dt, signatureClass) {
		return true
	}
	if attr(dt, "id") == "" && find(dt, func(n *html.Node) bool { return attr(n, "id") != "" }) == nil {
		return false
	}
	for c := dt.NextSibling; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Dd {
			return r.size[c] > 300
		}
	}
	return false
}

// signature writes a declaration as one line of code.
func (r *renderer) signature(n *html.Node) {
	var b strings.Builder
	walk(n, func(at *html.Node) bool {
		switch {
		case at != n && at.Type == html.ElementNode && r.dropped(at):
			return false
		case at.Type == html.TextNode && b.Len() < 2000:
			b.WriteString(at.Data)
		case at.Type == html.ElementNode && isBlock(at):
			b.WriteByte(' ')
		}
		return true
	})
	s := kb.Cut(strings.Join(strings.Fields(b.String()), " "), 500)
	if s == "" || strings.Contains(s, "`") {
		r.text(s)
		return
	}
	r.word("`" + s + "`")
}

// words counts the words of a text.
func words(s []byte) int {
	n, in := 0, false
	for _, c := range s {
		if c <= ' ' {
			in = false
		} else if !in {
			in = true
			n++
		}
	}
	return n
}

// trimmed returns the rendering, whole runes, ended by one newline.
func (r *renderer) trimmed() []byte {
	out := r.out
	if len(out) >= r.max {
		out = out[:r.max-1]
		for len(out) > 0 && !utf8.RuneStart(out[len(out)-1]) {
			out = out[:len(out)-1]
		}
		if len(out) > 0 {
			if last, _ := utf8.DecodeLastRune(out); last == utf8.RuneError {
				out = out[:len(out)-1]
			}
		}
	}
	for len(out) > 0 && (out[len(out)-1] == '\n' || out[len(out)-1] == ' ') {
		out = out[:len(out)-1]
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}
