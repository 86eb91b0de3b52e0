package answer

import (
	_ "embed" // the lists are a part of the program
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed words.txt
var wordsText string

// lists are the words of words.txt by the name of their list.
var lists = kb.WordLists(wordsText)

// abbreviations end with a dot that ends no sentence, folded.
var abbreviations = lists["abbreviations"]

// split returns the spans of the sentences of a text on one line.
func split(text string) [][2]int {
	var out [][2]int
	from := 0
	cut := func(to int) {
		a, b := from, to
		for a < b && text[a] == ' ' {
			a++
		}
		for b > a && text[b-1] == ' ' {
			b--
		}
		if b > a {
			out = append(out, [2]int{a, b})
		}
		from = to
	}
	quoted := false // inside `code`
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '`' {
			quoted = !quoted
		}
		if quoted || c != '.' && c != '!' && c != '?' {
			continue
		}
		j := i + 1
		for j < len(text) && strings.IndexByte(`.!?"')]*_`, text[j]) >= 0 {
			j++
		}
		for j < len(text) && strings.HasPrefix(text[j:], "”") {
			j += len("”")
		}
		if j < len(text) && text[j] != ' ' {
			continue
		}
		next := ""
		if j+1 < len(text) {
			next = text[j+1:]
		}
		if r, _ := utf8.DecodeRuneInString(next); next != "" && (unicode.IsLower(r) || r == ',' || r == ';' || r == '-' || r == '=') {
			continue
		}
		if c == '.' && abbreviated(text[from:i]) {
			continue
		}
		cut(j)
		i = j
	}
	cut(len(text))
	return out
}

// abbreviated reports whether what ends here is short for something.
func abbreviated(before string) bool {
	i := strings.LastIndexAny(before, " (")
	w := fold(before[i+1:])
	if abbreviations[w] {
		return true
	}
	r, n := utf8.DecodeRuneInString(w)
	return n > 0 && n == len(w) && unicode.IsLetter(r) && r != 'i' // an initial
}
