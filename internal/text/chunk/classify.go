package chunk

import "strings"

// class is what a line is, by its lexical state alone.
type class uint8

const (
	classCode          class = iota
	classBlank               // white space only
	classComment             // a comment begins here and nothing else
	classCommentInside       // begins inside a block comment
	classInside              // begins inside a string of several lines, a here-document or a fence
	classDecorator           // set by the window
)

// syntax is as much of a language's lexical grammar as it takes to know where
// comments and strings of several lines end.
type syntax struct {
	line  []string    // what begins a comment to the end of the line
	block [][2]string // comments over several lines
	multi [][2]string // strings over several lines; a backslash escapes in them
	// quotes are the delimiters of strings within one line. Such a string ends
	// at the line's end at the latest.
	quotes string
	// char says that ' delimits one character, or begins a lifetime or a prime.
	char bool
	// here says that << begins a here-document: 's' as the shell has it, 'r'
	// as Ruby and Perl have it (a quote, "-", "~" or an upper-case letter must
	// follow at once), 'p' as PHP has it (<<<).
	here byte
	// regex says that / may begin a regular expression.
	regex bool
	// column0 says that block comments count at the start of a line only.
	column0 bool
}

// classify returns the class of every line. A string or comment that never
// ends was most likely none: then the lines after its first are taken again
// without it, at most a few times, so that one misread quote does not silence
// the rest of a file.
func classify(ls *lines, x *syntax) []class {
	const retries = 4
	out := make([]class, ls.len())
	c := classifier{syntax: x, ls: ls, out: out}
	for _, s := range x.line {
		c.special[s[0]] = true
	}
	for _, p := range x.block {
		c.special[p[0][0]] = true
	}
	for _, p := range x.multi {
		c.special[p[0][0]] = true
	}
	for i := 0; i < len(x.quotes); i++ {
		c.special[x.quotes[i]] = true
	}
	c.special['\''] = c.special['\''] || x.char
	c.special['/'] = c.special['/'] || x.regex
	c.special['<'] = c.special['<'] || x.here != 0
	from := 0
	for try := 0; ; try++ {
		opened := c.pass(from)
		if opened < 0 || opened+1 >= ls.len() || try == retries {
			return out
		}
		from = opened + 1
	}
}

type classifier struct {
	*syntax
	ls      *lines
	out     []class
	special [256]bool
	inside  class  // state at the line's start: classCode, classCommentInside or classInside
	until   string // what ends it
	here    bool   // until is the tag of a here-document, on a line of its own
	pending string // tag of a here-document that begins on the next line
}

// pass classifies the lines from line from on, at whose start it takes the
// state for plain code. It returns the line on which the state that lasts at
// the end began, or -1.
func (c *classifier) pass(from int) int {
	c.inside, c.until, c.pending = classCode, "", ""
	opened := -1
	for i := from; i < c.ls.len(); i++ {
		s := c.ls.text(i)
		if c.inside != classCode {
			c.out[i] = c.inside
			if c.here {
				if t := strings.TrimLeft(s, " \t"); t == c.until || c.syntax.here == 'p' && strings.HasPrefix(t, c.until) {
					c.inside = classCode
				}
				continue
			}
			n := c.end(s)
			if n < 0 {
				continue
			}
			c.inside = classCode
			c.rest(s[n:], false)
		} else {
			t := strings.TrimLeft(s, " \t\r\f\v")
			if t == "" {
				c.out[i] = classBlank
			} else if c.rest(t, len(t) == len(s)) {
				c.out[i] = classComment
			} else {
				c.out[i] = classCode
			}
		}
		if c.inside == classCode && c.pending != "" {
			c.inside, c.here, c.until, c.pending = classInside, true, c.pending, ""
		}
		if c.inside != classCode {
			opened = i
		}
	}
	if c.inside == classCode {
		return -1
	}
	return opened
}

// end returns the offset behind what ends the current state, or -1.
func (c *classifier) end(s string) int {
	if c.inside == classCommentInside {
		if n := strings.Index(s, c.until); n >= 0 {
			return n + len(c.until)
		}
		return -1
	}
	for i := 0; i < len(s); {
		n := strings.Index(s[i:], c.until)
		if n < 0 {
			return -1
		}
		i += n
		back := 0
		for i-back > 0 && s[i-back-1] == '\\' {
			back++
		}
		if back%2 == 0 {
			return i + len(c.until)
		}
		i++
	}
	return -1
}

// rest scans what of a line is code and sets the state at its end. It reports
// whether all of s is comment. atStart says that s is the whole line.
func (c *classifier) rest(s string, atStart bool) bool {
	comment := true
	for i := 0; i < len(s); i++ {
		b := s[i]
		if !c.special[b] {
			if b > ' ' {
				comment = false
			}
			continue
		}
		r := s[i:]
		if c.lineComment(s, i) {
			return comment
		}
		if p := pair(c.block, r); p != nil && (!c.column0 || atStart && i == 0) {
			n := strings.Index(r[len(p[0]):], p[1])
			if n < 0 {
				c.inside, c.here, c.until = classCommentInside, false, p[1]
				return comment
			}
			i += len(p[0]) + n + len(p[1]) - 1
			continue
		}
		comment = false
		if p := pair(c.multi, r); p != nil {
			c.inside, c.here, c.until = classInside, false, p[1]
			n := c.end(r[len(p[0]):])
			if n < 0 {
				return false
			}
			c.inside = classCode
			i += len(p[0]) + n - 1
			continue
		}
		switch {
		case b == '\'' && c.char:
			i += charLength(r) - 1
		case strings.IndexByte(c.quotes, b) >= 0:
			i += quoted(r, b) - 1
		case b == '/' && c.regex && regexMayBegin(s[:i]):
			i += regexLength(r) - 1
		case b == '<' && c.syntax.here != 0:
			shift := c.syntax.here == 's' && strings.Contains(s[max(0, i-40):i], "((")
			if tag := hereTag(r, c.syntax.here); tag != "" && !shift {
				c.pending = tag
				i++
			}
		}
	}
	return comment
}

// lineComment reports whether a comment to the end of the line begins at s[i].
func (c *classifier) lineComment(s string, i int) bool {
	for _, m := range c.line {
		if strings.HasPrefix(s[i:], m) {
			// "#" within a word is no comment: $#, ${#x}, a#b.
			return m != "#" || i == 0 || s[i-1] == ' ' || s[i-1] == '\t' || s[i-1] == ';' || s[i-1] == ')'
		}
	}
	return false
}

func pair(pairs [][2]string, s string) *[2]string {
	for k := range pairs {
		if strings.HasPrefix(s, pairs[k][0]) {
			return &pairs[k]
		}
	}
	return nil
}

// quoted returns the length of the string literal at the start of s, up to the
// line's end at most.
func quoted(s string, q byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case q:
			return i + 1
		}
	}
	return len(s)
}

// charLength returns the length of the character literal at the start of s, or
// 1 when it is none but a lifetime, a prime or a digit separator.
func charLength(s string) int {
	if len(s) > 2 && s[1] == '\\' {
		if n := strings.IndexByte(s[3:min(len(s), 14)], '\''); n >= 0 {
			return n + 4
		}
		return 1
	}
	for n := 2; n <= 5 && n < len(s); n++ {
		if s[n] == '\'' {
			return n + 1
		}
		if s[n] < 0x80 {
			break
		}
	}
	return 1
}

// regexMayBegin reports whether a slash after before can begin a regular
// expression rather than divide.
func regexMayBegin(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-16):], " \t")
	if before == "" {
		return true
	}
	if strings.IndexByte("(,=:[!&|?{};+~^<>%*-", before[len(before)-1]) >= 0 {
		return true
	}
	for _, w := range []string{"return", "typeof", "case", "in", "of", "do", "else"} {
		if strings.HasSuffix(before, w) {
			n := len(before) - len(w)
			return n == 0 || !isWord(before[n-1])
		}
	}
	return false
}

// regexLength returns the length of the regular expression at the start of s,
// or 1 when none ends on the line.
func regexLength(s string) int {
	const longest = 400
	set := false
	for i := 1; i < len(s) && i < longest; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			set = true
		case ']':
			set = false
		case '/':
			if !set {
				return i + 1
			}
		}
	}
	return 1
}

// hereTag returns the tag of the here-document that s, which begins with "<",
// announces, or "".
func hereTag(s string, style byte) string {
	mark := "<<"
	if style == 'p' {
		mark = "<<<"
	}
	if !strings.HasPrefix(s, mark) {
		return ""
	}
	s = s[len(mark):]
	sure := style != 'r'
	if style == 's' && strings.HasPrefix(s, "<") {
		return "" // a here-string
	}
	if style != 'p' && s != "" && (s[0] == '-' || s[0] == '~') {
		s, sure = s[1:], true
	}
	if style != 'r' {
		s = strings.TrimLeft(s, " \t")
	}
	if s != "" && (s[0] == '\'' || s[0] == '"' || s[0] == '\\') {
		s, sure = s[1:], true
	}
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	if n == 0 || s[0] >= '0' && s[0] <= '9' || !sure && (s[0] < 'A' || s[0] > 'Z') {
		return ""
	}
	return s[:n]
}

// isWord reports whether b may be in an identifier: letters, digits, _, $
// and every byte of a character beyond ASCII.
func isWord(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b >= 0x80
}

// word splits the leading identifier off s.
func word(s string) (w, rest string) {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return s[:n], s[n:]
}
