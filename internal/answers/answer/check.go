package answer

import (
	"github.com/seed-4f2d999b/knowledge/internal/answers/entail"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Checker returns what sentences of a model are held against lines with.
func Checker(e kb.Embedder) *entail.Checker { return &entail.Checker{Embedder: e, English: func(w string) []string { return english(fold(bare(w))) }} }
