package specdoc

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// The kinds of names in a line.
const (
	nameWiki = iota // [[Order]]
	nameID          // UC-001
	nameCode        // `Order`
	nameWord        // OrderService
	nameBold        // **Order**
	nameLink        // [the order](order.md)
	nameFile        // internal/app.go, in code, in prose, or behind a link
)

// name is a name in a line.
type name struct {
	kind     int
	text     string // what it names
	from, to int    // bytes of the line, marks included
}

// names finds the names in a line, in order. Inline code names only symbols
// and files, never documents, since examples are written so.
func names(line string, out []name) []name {
	out = out[:0]
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '\\':
			i += 2
		case c == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := within(line[i+n:], line[i:i+n])
			if end < 0 {
				i += n
				continue
			}
			text := strings.TrimSpace(line[i+n : i+n+end])
			to := i + n + end + n
			if looksLikeCode(text) {
				out = append(out, name{nameFile, text, i, to})
			} else if isName(text) {
				out = append(out, name{nameCode, text, i, to})
			}
			i = to
		case c == '[' && strings.HasPrefix(line[i:], "[["):
			end := within(line[i:], "]]")
			if end < 0 {
				i += 2
				continue
			}
			if after := line[i+end+2:]; after != "" && (after[0] == '(' || after[0] == '[') {
				i += end + 2 // a link of Markdown whose text stands in brackets
				continue
			}
			if t, _ := cutLink(line[i+2 : i+end]); len(t) <= maxName && !placeholder(t) && (i == 0 || line[i-1] != '!') {
				out = append(out, name{nameWiki, t, i, i + end + 2})
			}
			i += end + 2
		case c == '[':
			end, target := mdLink(line[i:])
			if end == 0 {
				i++
				continue
			}
			if i == 0 || line[i-1] != '!' {
				if linksDoc(target) && !placeholder(Stem(target)) {
					out = append(out, name{nameLink, decode(target), i, i + end})
				} else if t := decode(target); !strings.Contains(target, ":") && isFile(t) {
					out = append(out, name{nameFile, t, i, i + end})
				}
			}
			i += end
		case c == '<':
			if end := within(line[i:], ">"); end > 0 {
				i += end + 1
			} else {
				i++
			}
		case c == '*' && strings.HasPrefix(line[i:], "**"):
			end := within(line[i+2:], "**")
			if end <= 0 {
				i += 2
				continue
			}
			text := strings.TrimSpace(line[i+2 : i+2+end])
			if isName(text) {
				out = append(out, name{nameBold, text, i, i + end + 4})
				i += end + 4
			} else {
				i += 2 // names within are seen as such
			}
		case isWordByte(c):
			i = word(line, i, &out)
		default:
			i++
		}
	}
	return out
}

// reach is how far the end of a mark is looked for, so that a line of nothing
// but beginnings takes no time.
const reach = 500

// within returns the offset of the first end in s, -1 if none is near.
func within(s, end string) int { return strings.Index(s[:min(len(s), reach)], end) }

// word takes the word that begins at line[i] and returns where it ends.
func word(line string, i int, out *[]name) int {
	if c := line[i]; c >= 'A' && c <= 'Z' && (i == 0 || line[i-1] != '-' && line[i-1] != '/') {
		if id, n := spacedID(line[i:]); n > 0 {
			*out = append(*out, name{nameID, id, i, i + n})
			return i + n
		}
		if n := wordID(line[i:]); n > 0 && idLength(line[i:]) == 0 && !placeholder(line[i:i+n]) {
			*out = append(*out, name{nameID, line[i : i+n], i, i + n})
			return i + n
		}
		if n := idLength(line[i:]); n > 0 && (i+n == len(line) || line[i+n] != '/') {
			to := i + n
			if to+1 < len(line) && line[to] == '@' && line[to+1] == 'v' {
				to += 2
				for to < len(line) && (line[to] >= '0' && line[to] <= '9' || line[to] == '.' && to+1 < len(line) && line[to+1] >= '0' && line[to+1] <= '9') {
					to++
				}
			}
			if id := line[i : i+n]; !placeholder(id) {
				*out = append(*out, name{nameID, id, i, to})
			}
			return to
		}
	}
	from, humps, dots := i, 0, false
	for i < len(line) {
		c := line[i]
		if c >= 'A' && c <= 'Z' && i > from && (line[i-1] >= 'a' && line[i-1] <= 'z' || i+1 < len(line) && line[i+1] >= 'a' && line[i+1] <= 'z' && i > from+1) {
			humps++
		}
		if c == ':' && strings.HasPrefix(line[i:], "://") {
			for i < len(line) && line[i] != ' ' && line[i] != ')' && line[i] != '>' {
				i++
			}
			return i
		}
		if !isWordByte(c) && c != '.' && c != '/' && !(c == '-' && i+1 < len(line) && isWordByte(line[i+1])) {
			break
		}
		dots = dots || c == '.'
		i++
	}
	w := strings.TrimRight(line[from:i], ".-/")
	to := from + len(w)
	switch {
	case dots && len(w) <= maxName && isFile(w):
		*out = append(*out, name{nameFile, w, from, to})
	case humps > 0 && w[0] >= 'A' && w[0] <= 'Z' && len(w) <= 60 && !strings.ContainsAny(w, "./-_"):
		*out = append(*out, name{nameWord, w, from, to})
	}
	return i
}

// isName reports whether text in code or bold is a name that a thing may
// have: a capital, letters and digits, at most three words.
func isName(s string) bool {
	if len(s) < 3 || len(s) > 60 || s[0] < 'A' || s[0] > 'Z' && s[0] < utf8.RuneSelf {
		return false
	}
	spaces := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			spaces++
		case !isWordByte(c) && c != '-':
			return false
		}
	}
	return spaces <= 2
}

// mdLink returns the length of the Markdown link that s, which begins with
// "[", begins with, and its target; 0 for none.
func mdLink(s string) (int, string) {
	depth := 0
	for i := 0; i < len(s) && i < 1000; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth > 0 {
				continue
			}
			if i+1 >= len(s) || s[i+1] != '(' && s[i+1] != ':' {
				return 0, ""
			}
			if s[i+1] == ':' { // a definition
				t := strings.TrimSpace(s[i+2:])
				t, _, _ = strings.Cut(t, " ")
				return len(s), strings.Trim(t, "<>")
			}
			end := strings.IndexByte(s[i+2:], ')')
			if end < 0 {
				return 0, ""
			}
			t := strings.TrimSpace(s[i+2 : i+2+end])
			if strings.HasPrefix(t, "<") {
				t, _, _ = strings.Cut(t[1:], ">")
			} else {
				t, _, _ = strings.Cut(t, " ") // a title
			}
			return i + 2 + end + 1, t
		}
	}
	return 0, ""
}

// decode returns the path of a link's target, without fragment and query.
func decode(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if t, err := url.PathUnescape(s); err == nil && utf8.ValidString(t) && !strings.ContainsAny(t, "\x00\n") {
		return t
	}
	return s
}
