package specdoc

import (
	_ "embed" // the lists are a part of the program

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed words.txt
var wordsText string

// lists are the words of words.txt by the name of their list.
var lists = kb.WordLists(wordsText)
