package rank

import (
	_ "embed" // the table is a part of the program
	"sort"
	"strings"
)

// relatedText holds a term a line with those of words that documentation and
// those who ask it use in its place, in byte order of the terms. It is made
// of the lists of package thesaurus (go test ./internal/search/rank -update), so that looking up
// a few words does not read thousands.
//
//go:embed related.txt
var relatedText string

// related returns for a term those of words that are used in its place.
func related(term string) []string {
	// The first line that does not come before term's.
	at := sort.Search(len(relatedText), func(i int) bool {
		from := strings.LastIndexByte(relatedText[:i], '\n') + 1
		have, _, _ := strings.Cut(relatedText[from:], " ")
		return have >= term
	})
	at = strings.LastIndexByte(relatedText[:at], '\n') + 1
	line, _, _ := strings.Cut(relatedText[at:], "\n")
	if have, others, _ := strings.Cut(line, " "); have == term {
		return strings.Fields(others)
	}
	return nil
}
