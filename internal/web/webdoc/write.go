package webdoc

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
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

// nest is what comes before the lines of a list item or quote.
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

// block ends a block: what follows comes below a blank line.
func (r *renderer) block() {
	r.endLine()
	if r.oneLine == 0 && len(r.out) > 0 && (len(r.nest) == 0 || r.nest[len(r.nest)-1].used) {
		r.gap = true
	}
}

// begin writes what comes before the text of a line.
func (r *renderer) begin() {
	if r.gap {
		r.gap = false
		if len(r.out) > 0 {
			r.out = append(r.out, strings.TrimRight(r.quotes(), " ")...)
			r.out = append(r.out, '\n')
		}
	}
	for i := range r.nest {
		n, s := &r.nest[i], r.nest[i].rest
		if !n.used {
			s, n.used = n.first, true
		}
		r.out = append(r.out, s...)
		r.col += len(s)
	}
}

// quotes is what comes before a blank line between two blocks.
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
	s = strings.ReplaceAll(s, "\u00a0", " ")
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
	w = strings.ReplaceAll(strings.ReplaceAll(w, "\u200b", ""), "\u00ad", "")
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
// text. The spaces next to the marks are outside.
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

// line writes a line as it is.
func (r *renderer) line(s string) {
	r.begin()
	if s == "" {
		r.out = bytes.TrimRight(r.out, " ")
	}
	r.out = append(r.out, s...)
	r.out = append(r.out, '\n')
	r.col, r.space = 0, false
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
	if out = bytes.TrimRight(out, "\n "); len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}
