package kb

import (
	"strconv"
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

// Count writes a number with its noun: "1 hit", "2 hits".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Words is a set of words.
type Words map[string]bool

// WordsOf returns the words of a list, parted by white space.
func WordsOf(list string) Words {
	set := Words{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// WordLists returns the lists of a text by name. "[name]" begins one, a line
// each word; lines that begin with "# " are comments.
func WordLists(text string) map[string]Words {
	lists := map[string]Words{}
	var list Words
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case line[0] == '[':
			list = Words{}
			lists[strings.Trim(line, "[]")] = list
		default:
			list[line] = true
		}
	}
	return lists
}
