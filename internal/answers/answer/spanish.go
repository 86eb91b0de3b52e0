package answer

import (
	_ "embed" // the word list is a part of the program
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

//go:embed spanish.txt
var spanishText string

// glossary gives the English words for the stem of a Spanish one.
var glossary = sync.OnceValue(func() map[string][]string {
	g := map[string][]string{}
	for line := range strings.Lines(spanishText) {
		es, en, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || es == "#" {
			continue
		}
		for _, t := range terms.Of(es) {
			k := spanishStem(t)
			g[k] = append(g[k], strings.Fields(en)...)
		}
	}
	// The rest of the thesaurus, for words that are not in the list above.
	more := map[string][]string{}
	for e := range thesaurus.Spanish() {
		for _, es := range e.Alternatives {
			if strings.Contains(es, " ") {
				continue
			}
			for _, t := range terms.Of(es) {
				if k := spanishStem(t); g[k] == nil && !slices.Contains(more[k], e.Word) {
					more[k] = append(more[k], e.Word)
				}
			}
		}
	}
	maps.Copy(g, more)
	return g
})

// english returns the English for a Spanish word, nearest meaning first; nil
// when the list does not have it.
func english(word string) []string {
	all := terms.Of(word)
	if len(all) == 0 {
		return nil
	}
	return glossary()[spanishStem(all[0])]
}

// endings of Spanish words, longest first within each step; what is left keeps
// at least four letters. Nouns, participles and the commonest forms of verbs
// of one word meet: eliminar, elimina, eliminado, eliminados.
var endings = []string{
	"aciones", "iciones", "amiento", "imiento", "ariamos", "ieron", "iendo", "iamos", "acion", "icion", "ables",
	"aran", "aron", "ando", "adas", "ados", "idas", "idos", "able", "amos", "emos", "imos", "arse", "erse", "irse",
	"ada", "ado", "ida", "ido", "ara", "era", "ira", "aba", "ian", "ar", "er", "ir", "an", "en", "as", "es", "os", "a", "e", "o", "s",
}

// spanishStem takes the endings off a folded lower-case word.
func spanishStem(w string) string {
	for _, e := range endings {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 4 {
			return w[:len(w)-len(e)]
		}
	}
	return w
}

// spanishWords are words that only Spanish questions hold, folded.
var spanishWords = lists["spanish words"]

// isSpanish reports whether a question is asked in Spanish.
func isSpanish(q string) bool {
	if strings.ContainsAny(q, "¿¡ñÑ") {
		return true
	}
	n, all := 0, 0
	for _, w := range words(q) {
		all++
		if spanishWords[fold(w)] {
			n++
		}
	}
	return n >= 2 && 4*n >= all
}

// bare takes the pronouns off the end of an infinitive: usarlo, eliminarse.
func bare(w string) string {
	m := encliticRE.FindStringSubmatch(w)
	if m == nil {
		return w
	}
	return m[1]
}

var encliticRE = lazyregexp.New(`(?i)^(\p{L}{2,}[aeiáéí]r)(?:me|te|se|lo|la|le|los|las|les|nos)$`)

// fold lower-cases a word and takes its accents off.
func fold(w string) string {
	w = strings.ToLower(w)
	return accents.Replace(w)
}

var accents = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n")
