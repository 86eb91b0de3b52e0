package answer

import (
	_ "embed" // the word list is a part of the program
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/specs/bilingual"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

//go:embed spanish.txt
var spanishText string

// glossary gives the English words for a Spanish one, folded, before which "=" stands, and for
// the stem of one.
var glossary = sync.OnceValue(func() map[string][]string {
	g := map[string][]string{}
	for line := range strings.Lines(spanishText) {
		es, en, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || es == "#" {
			continue
		}
		g["="+fold(es)] = append(g["="+fold(es)], strings.Fields(en)...)
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
	g := glossary()
	return appendNew(slices.Clone(g["="+fold(word)]), g[spanishStem(all[0])]...)
}

// appendNew appends the words that a list has not.
func appendNew(list []string, more ...string) []string {
	for _, w := range more {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// kin are English words that a Spanish one may be, which the list does not have: those of
// the larger list of package bilingual, and those that are written alike.
func kin(word string) []string {
	var out []string
	for _, w := range strings.Fields(bilingual.Ask("¿" + word).Translated()) {
		out = appendNew(out, fold(w))
	}
	for es, en := range cognates {
		if stem, ok := strings.CutSuffix(fold(word), es); ok && len(stem) >= 3 {
			for _, e := range strings.Fields(en) {
				out = appendNew(out, stem+strings.TrimPrefix(e, "-"))
				if strings.HasPrefix(stem, "es") && len(stem) > 4 { // especial, special
					out = appendNew(out, stem[1:]+strings.TrimPrefix(e, "-"))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// cognates are endings of words that both languages have.
var cognates = map[string]string{
	"cion": "-tion", "ciones": "-tion", "sion": "-sion -ssion", "siones": "-sion -ssion", "mente": "-ly -ally", "dad": "-ty", "dades": "-ty",
	"encia": "-ence -ency", "ancia": "-ance -ancy", "ico": "-ic -ical", "ica": "-ic -ical", "icos": "-ic", "icas": "-ic", "ivo": "-ive", "iva": "-ive", "ivos": "-ive", "ivas": "-ive",
	"oso": "-ous", "osa": "-ous", "ismo": "-ism", "ista": "-ist", "izar": "-ize", "ificar": "-ify", "ar": "- -e -ate", "ado": "-ed -ate", "ada": "-ed -ate", "ente": "-ent", "ante": "-ant",
	"al": "-al", "ales": "-al", "or": "-or", "ores": "-or", "io": "-y -ium", "ia": "-y -ia", "o": "- -e", "a": "- -e", "ir": "- -e", "er": "-",
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
