// Package thesaurus holds words for words: which ones people use who ask about
// software where its documentation uses others, and which ones Spanish has for
// them. Both lists were written by hand, for the words that the documentation of a hundred
// projects uses most. bench/embedtrain teaches them to the model, rank and
// answer look words up in them.
package thesaurus

import (
	_ "embed" // the lists are a part of the program
	"iter"
	"strings"
)

// The lists hold one entry a line, "KIND word: alternative alternative…", KIND
// one of v (verb), n (noun), a (adjective) and w (anything else, and single
// forms of irregular words). Words are base forms; an alternative of several
// words has "_" between them. Lines are in byte order, so that changes are
// easy to review.
var (
	//go:embed en.txt
	english string
	//go:embed es.txt
	spanish string
	// groups holds words that are used for each other, English and Spanish, a
	// group a line; a word may be in several.
	//
	//go:embed groups.txt
	groups string
)

// Entry is a word of documentation with what is said instead, the most usual
// first.
type Entry struct {
	Kind         byte // 'v', 'n', 'a' or 'w'
	Word         string
	Alternatives []string // those of several words have spaces between them
}

// English yields the English words that are used for others.
func English() iter.Seq[Entry] { return entries(english) }

// Spanish yields the Spanish words for English ones.
func Spanish() iter.Seq[Entry] { return entries(spanish) }

// Groups yields the groups of words that are used for each other.
func Groups() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(groups) {
			if !yield(strings.Fields(line)) {
				return
			}
		}
	}
}

func entries(list string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for line := range strings.Lines(list) {
			if e, ok := parse(line); ok && !yield(e) {
				return
			}
		}
	}
}

func parse(line string) (e Entry, ok bool) {
	head, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
	if !ok || len(head) < 3 || head[1] != ' ' || !strings.Contains("vnaw", head[:1]) {
		return e, false
	}
	e = Entry{Kind: head[0], Word: head[2:], Alternatives: strings.Fields(list)}
	for i, a := range e.Alternatives {
		e.Alternatives[i] = strings.ReplaceAll(a, "_", " ")
	}
	return e, true
}
