// Package markdown reads Markdown: which lines are code, headings, tables,
// HTML or front matter. It follows CommonMark and GitHub's tables, and adds
// front matter, attributes of headings ("{#id}") and, when asked, MDX.
//
// It reads lines instead of building a tree. Chunks, specifications and pages
// need the kind of every line, and a tree loses lines: goldmark keeps none
// for the mark that ends a fence, the underline of a heading or a rule, knows
// neither front matter nor MDX, and takes seventeen times as long: over 2,400
// documents of 15 MB 0.85 s against 0.05 s, where cutting them takes 0.5 s.
//
// The limits: blocks within quotes and items of lists are not recognised, but
// for fences; a rule right above a paragraph is taken for its first line; a
// paragraph of more than three lines is no heading, whatever underlines it.
package markdown

import "strings"

// Kind is what a line or block is.
type Kind uint8

const (
	Text     Kind = iota // paragraphs, items, quotes, rules and blank lines
	Front                // front matter, its marks included
	Heading              // ATX ("## Install"), setext (underlined with === or ---) or HTML ("<h1>Name</h1>")
	Fence                // fenced code, its marks included
	Indented             // a run of lines of indented code
	Table                // rows that begin with a bar
	Comment              // an HTML comment
	Verbatim             // pre, script, style or textarea
	HTML                 // another HTML block, up to a blank line
)

// Block is a run of lines of one kind. Text makes no blocks.
type Block struct {
	Kind        Kind
	First, Last int // lines, counted from 0
	From, To    int // bytes; To lies behind the line end

	// Of headings alone:
	Level  int
	Text   string // without attributes, with marks of emphasis, code and links unless HTML is set
	Anchor string // "#id" where the heading says so itself
	HTML   bool   // written in HTML: Text has no marks
	Inner  bool   // below the first line of an HTML block
}

// Read gives take the blocks of a text in order. Headings in HTML come before
// the HTML block that they are in.
func Read(body string, take func(Block)) { ReadMDX(body, nil, take) }

// ReadMDX reads MDX, which has neither HTML blocks nor indented code. Where no
// block runs, foreign takes what begins on a line and is no Markdown, as JSX
// is not, and returns the line below it, or line itself where there is none.
func ReadMDX(body string, foreign func(line int) int, take func(Block)) {
	r := reader{body: body, take: take, foreign: foreign, paragraph: -1, line: -1}
	r.run()
}

// Kinds returns what each line of a text is.
func Kinds(body string) []Kind {
	kinds := make([]Kind, strings.Count(body, "\n")+1)
	Read(body, func(b Block) {
		for i := b.First; i <= b.Last; i++ {
			if kinds[i] == Text {
				kinds[i] = b.Kind
			}
		}
	})
	return kinds
}

// reader goes through the lines of a text.
type reader struct {
	body    string
	take    func(Block)
	foreign func(line int) int // of MDX, or nil

	line     int    // the current line
	from, to int    // its bytes
	text     string // it without its line end
	ind      int    // its indentation

	open        Block  // the running block, of kind Text when there is none
	mark        byte   // '`' or '~', of the running fence
	markLen     int    // how many of it opened the fence
	fenceIndent int    // columns before the marks of the last fence
	until       string // what ends the HTML block, lower case; "" a blank line
	paragraph   int    // first line of the running paragraph, or -1
	lazy        bool   // the running block is an item or quote, whose text may go on unindented
	inItem      bool   // an indented line goes on an item of a list
	heading     bool   // a heading was met
	headed      bool   // and what follows the first heading, or front matter, was looked at
}

func (r *reader) run() {
	if n := FrontMatter(r.body); n > 0 {
		r.front(n)
	}
	for r.advance() {
		if r.foreign != nil && r.open.Kind != Fence && r.paragraph < 0 && !r.lazy {
			if next := r.foreign(r.line); next > r.line {
				r.end()
				for r.line < next-1 && r.advance() {
				}
				continue
			}
		}
		r.read()
		if r.heading && !r.headed {
			r.headed = true
			r.frontBelow()
		}
	}
	r.end()
}

// advance goes to the next line and reports whether there is one.
func (r *reader) advance() bool {
	if r.from = r.to; r.from == len(r.body) {
		return false
	}
	r.line++
	r.text, r.to = lineAt(r.body, r.from)
	return true
}

// lineAt returns the line that begins at from without its line end and byte
// order mark, and where the next one begins.
func lineAt(body string, from int) (string, int) {
	s, to := body[from:], len(body)
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		to = from + n + 1
		s = strings.TrimSuffix(s[:n], "\r")
	}
	if from == 0 {
		s = strings.TrimPrefix(s, "\ufeff")
	}
	return s, to
}

// begin begins a block with the current line.
func (r *reader) begin(k Kind) {
	r.end()
	r.paragraph, r.inItem = -1, r.inItem && r.ind >= 2
	r.open = Block{Kind: k, First: r.line, Last: r.line, From: r.from, To: r.to}
}

// cover takes the current line into the running block.
func (r *reader) cover() { r.open.Last, r.open.To = r.line, r.to }

// end ends the running block above what begins next.
func (r *reader) end() {
	if r.open.Kind != Text {
		r.take(r.open)
		r.open = Block{}
	}
}

// front takes the next n lines as front matter.
func (r *reader) front(n int) {
	r.advance()
	r.begin(Front)
	for ; n > 1 && r.advance(); n-- {
	}
	r.cover()
	r.end()
	r.headed = true
}

func (r *reader) read() {
	ind, s := Indent(r.text)
	r.ind = ind
	switch r.open.Kind {
	case Fence:
		r.cover()
		// A fence inside an item is indented like the item's text.
		if n := run(s, r.mark); ind < r.fenceIndent+4 && n >= r.markLen && strings.TrimRight(s[n:], " \t") == "" {
			r.end()
		}
		return
	case Comment, Verbatim, HTML:
		if s != "" || r.until != "" {
			r.cover()
			if r.open.Kind == HTML {
				r.htmlHeading(s, true)
			}
			if r.until != "" && IndexFold(s, r.until) >= 0 {
				r.end()
			}
			return
		}
	}
	if s == "" {
		r.end()
		r.paragraph, r.lazy = -1, false
		return
	}
	r.inItem = r.inItem && (ind >= 2 || r.lazy || r.paragraph >= 0)
	if r.fence(ind, s) {
		return
	}
	if ind >= 4 && r.foreign == nil {
		r.indented()
		return
	}
	if s[0] == '<' && r.foreign == nil && r.html(s) {
		return
	}
	if n := run(s, '#'); n >= 1 && n <= 6 && (len(s) == n || s[n] == ' ' || s[n] == '\t') {
		r.begin(Heading)
		r.title(n, atxText(s[n:]))
		return
	}
	if r.paragraph >= 0 && (s[0] == '=' || s[0] == '-') && strings.TrimRight(s[run(s, s[0]):], " \t") == "" {
		r.underline(s[0])
		return
	}
	r.plain(s)
}

// fence takes a line that opens fenced code.
func (r *reader) fence(ind int, s string) bool {
	item := ItemMark(s)
	if item > 0 {
		col, t := Indent(s[item:])
		ind, s = ind+item+col, t
	}
	if s == "" || s[0] != '`' && s[0] != '~' {
		return false
	}
	n := run(s, s[0])
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return false
	}
	r.begin(Fence)
	r.inItem = r.inItem || item > 0
	r.mark, r.markLen, r.fenceIndent = s[0], n, ind
	return true
}

// indented takes a line of indented code, or one that goes on a paragraph or
// list.
func (r *reader) indented() {
	switch {
	case r.open.Kind == Indented:
		r.cover()
	case r.paragraph < 0 && !r.lazy && !r.inItem:
		r.begin(Indented)
	default:
		r.end()
	}
}

// underline ends a paragraph by a line of = or -: a setext heading. A
// paragraph of more lines is one above a rule that was meant as no heading.
func (r *reader) underline(mark byte) {
	const most = 3
	first := r.paragraph
	r.paragraph = -1
	if r.line-first > most {
		return
	}
	level := 1
	if mark == '-' {
		level = 2
	}
	last, from := r.to, r.from
	var lines [most]string
	n := r.line - first
	for i := n - 1; i >= 0; i-- {
		from = strings.LastIndexByte(r.body[:from-1], '\n') + 1
		s, _ := lineAt(r.body, from)
		lines[i] = strings.TrimSpace(s)
	}
	r.begin(Heading)
	r.open.First, r.open.From, r.open.To = first, from, last
	r.title(level, strings.Join(lines[:n], " "))
}

// plain takes a line of text or of a table.
func (r *reader) plain(s string) {
	item := ItemMark(s) > 0
	r.inItem = r.inItem || item
	switch {
	case r.lazy && s[0] == '-' && run(s, '-') >= 3 && strings.TrimRight(s[run(s, '-'):], " \t") == "":
		r.lazy = false // a rule
	case r.paragraph >= 0 || r.lazy:
	case s[0] == '|':
		if r.open.Kind == Table {
			r.cover()
		} else {
			r.begin(Table)
		}
		return
	case s[0] == '<' && TagName(strings.TrimPrefix(s[1:], "/")) != "":
	case s[0] == '>' || item:
		r.lazy = true // what begins other blocks is not the text of a setext heading
	default:
		r.paragraph = r.line
	}
	r.end()
}

// title completes the running block, which is a heading.
func (r *reader) title(level int, text string) {
	r.lazy = false
	var attrs string
	if text, attrs = CutAttributes(text); strings.HasPrefix(attrs, "#") {
		r.open.Anchor, _, _ = strings.Cut(attrs, " ")
	}
	r.open.Level, r.open.Text = level, text
	r.end()
	r.heading = true
}

// frontBelow takes front matter below the first heading, as in
// some decision records: its last mark underlines nothing.
func (r *reader) frontBelow() {
	at, blank := r.to, 0
	for at < len(r.body) {
		s, next := lineAt(r.body, at)
		if strings.TrimSpace(s) != "" {
			break
		}
		at = next
		blank++
	}
	n := FrontMatter(r.body[at:])
	if n == 0 || !looksLikeFront(r.body[at:], n) {
		return
	}
	for ; blank > 0; blank-- {
		r.advance()
	}
	r.end()
	r.front(n)
}
