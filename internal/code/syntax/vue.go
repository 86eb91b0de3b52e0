package syntax

import (
	"slices"
	"strings"
)

// scriptOnly blanks everything but the contents of the script elements that
// hold JavaScript or TypeScript, so that lines and bytes stay.
func scriptOnly(text string) string {
	b := []byte(text)
	at := 0
	blank := func(to int) {
		for ; at < to; at++ {
			if b[at] != '\n' && b[at] != '\r' {
				b[at] = ' '
			}
		}
	}
	// An element's name may be in any case; a comment may hold an element.
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		lower = text
	}
	for i := 0; i < len(lower); {
		k := strings.IndexByte(lower[i:], '<')
		if k < 0 {
			break
		}
		i += k
		if strings.HasPrefix(lower[i:], "<!--") {
			if e := strings.Index(lower[i:], "-->"); e >= 0 {
				i += e
			}
			i++
			continue
		}
		rest, ok := strings.CutPrefix(lower[i:], "<script")
		if !ok || rest == "" || !strings.ContainsRune(" \t\r\n>", rune(rest[0])) {
			i++
			continue
		}
		open := tagEnd(rest)
		if open < 0 {
			break
		}
		from := i + len("<script") + open + 1
		end := strings.Index(lower[from:], "</script")
		if end < 0 {
			end = len(lower) - from
		}
		if tag := rest[:open]; !strings.HasSuffix(tag, "/") && !foreignScript(tag) {
			blank(from)
			at = from + end
		}
		i = from + end
	}
	blank(len(b))
	return string(b)
}

// tagEnd returns the offset of the ">" of a tag, outside of quotes; -1 when
// there is none.
func tagEnd(s string) int {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i
		}
	}
	return -1
}

// foreignScript reports whether the attributes of a script element say that it
// holds something else than JavaScript or TypeScript.
func foreignScript(tag string) bool {
	return slices.ContainsFunc([]string{"coffee", "json", "text/template", "x-template", "importmap", "livescript"},
		func(other string) bool { return strings.Contains(tag, other) })
}
