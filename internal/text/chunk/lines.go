package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// lines is the line table of a text. at[i] is the offset at which line i
// (0-based) begins; at[len()] is the length of the text.
type lines struct {
	body string
	at   []int
}

const bom = "\ufeff"

func newLines(body string) *lines {
	at := make([]int, 1, strings.Count(body, "\n")+2)
	for i := 0; i < len(body); {
		n := strings.IndexByte(body[i:], '\n')
		if n < 0 {
			i = len(body)
		} else {
			i += n + 1
		}
		at = append(at, i)
	}
	return &lines{body: body, at: at}
}

// len returns the number of lines.
func (l *lines) len() int { return len(l.at) - 1 }

// text returns line i without its line end and without a byte order mark.
func (l *lines) text(i int) string {
	s := l.body[l.at[i]:l.at[i+1]]
	if n := len(s); n > 0 && s[n-1] == '\n' {
		s = s[:n-1]
		if n > 1 && s[n-2] == '\r' {
			s = s[:n-2]
		}
	}
	if i == 0 {
		s = strings.TrimPrefix(s, bom)
	}
	return s
}

// size returns the bytes of line i without its "\n".
func (l *lines) size(i int) int {
	n := l.at[i+1] - l.at[i]
	if n > 0 && l.body[l.at[i+1]-1] == '\n' {
		n--
	}
	return n
}

// blank reports whether line i holds nothing but white space.
func (l *lines) blank(i int) bool {
	for j := l.at[i]; j < l.at[i+1]; j++ {
		if l.body[j] > ' ' {
			return i == 0 && strings.TrimSpace(l.text(0)) == ""
		}
	}
	return true
}

// find returns the line that holds offset off, searching forward from line
// hint, which must not lie behind it.
func (l *lines) find(off, hint int) int {
	for hint+1 < l.len() && l.at[hint+1] <= off {
		hint++
	}
	return hint
}

// fold returns s with runs of white space made one space, at most limit bytes
// long; what is cut off is marked by "…".
func fold(s string, limit int) string {
	var b strings.Builder
	space := false
	for i := 0; i < len(s) && b.Len() <= limit; i++ {
		c := s[i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteByte(c)
	}
	return shorten(b.String(), limit)
}

// shorten cuts s at a rune boundary to at most limit bytes, "…" included.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.TrimRight(kb.Cut(s, limit-len("…")), " ") + "…"
}

// noteBytes bounds signatures and doc sentences, as kb.Symbol promises.
const noteBytes = 200

// sentence returns the first sentence of a comment whose lines come from next
// until it reports false: up to a full stop before white space, or an empty
// line. Comment markers and directives are left out.
func sentence(next func() (string, bool)) string {
	var b strings.Builder
	for b.Len() <= noteBytes {
		line, ok := next()
		if !ok {
			break
		}
		line = unmark(line)
		if line == "" {
			if b.Len() > 0 {
				break
			}
			continue
		}
		if line[0] == '@' || line[0] == ':' && b.Len() > 0 {
			if b.Len() > 0 {
				break // "@param x", ":param x:": the sentence is over
			}
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if n := stop(line); n >= 0 {
			b.WriteString(line[:n])
			break
		}
		b.WriteString(line)
	}
	return fold(b.String(), noteBytes)
}

// stop returns the offset behind the first sentence end in s, or -1.
func stop(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '.', '!', '?':
			if i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '\t' {
				continue
			}
			if i >= 2 && s[i-2] == '.' || i >= 1 && s[i-1] == '.' {
				continue // "e.g. ", "i.e. ", "..."
			}
			return i + 1
		case 0xE3: // "。"
			if strings.HasPrefix(s[i:], "。") {
				return i + len("。")
			}
		}
	}
	return -1
}

// unmark strips comment markers and quotes of doc strings from both ends.
func unmark(s string) string {
	s = strings.TrimSpace(s)
	for _, m := range []string{"//go:", "//nolint", "//line ", "#!", "// +build"} {
		if strings.HasPrefix(s, m) {
			return ""
		}
	}
	s = strings.TrimLeft(s, "/*#;-!%|{ \t")
	s = strings.TrimLeft(s, `"'`)
	s = strings.TrimSuffix(strings.TrimRight(s, " \t"), "*/")
	s = strings.TrimSuffix(strings.TrimSuffix(s, `"""`), "'''")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<summary>"), "</summary>")
	return strings.Trim(s, "*-=~#+ \t")
}
