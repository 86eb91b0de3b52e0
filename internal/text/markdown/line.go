package markdown

import "strings"

// ItemMark returns the length of the mark of an item of a list that s begins with,
// one space behind it included; 0 for none.
func ItemMark(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '-', '*', '+':
		if len(s) == 1 {
			return 1
		}
		if s[1] == ' ' || s[1] == '\t' {
			return 2
		}
		return 0
	}
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return n + 2
	}
	return 0
}

// Indent returns the columns of white space before s and s without them.
func Indent(s string) (int, string) {
	col := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		case '\f', '\v', '\r':
		default:
			return col, s[i:]
		}
	}
	return col, ""
}

// run returns how many times c begins s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// atxText returns the text of an ATX heading without a closing run of #.
func atxText(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") {
		s = strings.TrimRight(t, " ")
	}
	return s
}

// CutAttributes parts a heading from the attributes that it ends in:
// "#id" of "{#id}", ".class" of "{.class}", `key="value"`.
func CutAttributes(s string) (text, attributes string) {
	n := strings.LastIndexByte(s, '{')
	if n <= 0 || s[n-1] != ' ' || !strings.HasSuffix(s, "}") || len(s) < n+3 {
		return s, ""
	}
	if c := s[n+1]; c == '#' || c == '.' || strings.Contains(s[n:], "=\"") {
		return strings.TrimRight(s[:n], " "), s[n+1 : len(s)-1]
	}
	return s, ""
}

// Plain returns a heading as it is shown: without attributes at its end such as
// "{#id}", targets of links, tags, and marks of emphasis and code around words.
func Plain(s string) string {
	s, _ = CutAttributes(s)
	if !strings.ContainsAny(s, "[`*<") {
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
		case c == '[' || c == '!' && strings.HasPrefix(s[i+1:], "["):
		case c == '*' && strings.HasPrefix(s[i:], "**"):
			i++
		case c == ']':
			if strings.HasPrefix(s[i+1:], "(") {
				if n := strings.IndexByte(s[i:], ')'); n > 0 {
					i += n
				}
			}
		case c == '<':
			n := strings.IndexByte(s[i:], '>')
			if n < 0 || n > 1 && !isTag(s[i+1]) {
				b.WriteByte(c)
				continue
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	if t := strings.TrimSpace(b.String()); t != "" {
		return t
	}
	return s
}

func isTag(c byte) bool { return c == '/' || isLetter(c) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
