package kb

import (
	"strings"
	"unicode/utf8"
)

// Cut returns what s begins with, cut at a rune to at most n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip cuts a string of more than n bytes at a rune and says so with "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// Words is a set of words.
type Words map[string]bool

// WordsOf returns the words of a list, parted by white space. A line that
// begins with "# " is a comment.
func WordsOf(list string) Words {
	set := Words{}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			set[w] = true
		}
	}
	return set
}
