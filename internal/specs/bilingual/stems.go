package bilingual

import (
	"iter"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// eachWord yields the words of a text as written: runs of letters and digits.
func eachWord(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Words yields the words of a text in lower case and without accents.
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range eachWord(text) {
			if !yield(fold(w)) {
				return
			}
		}
	}
}

// Stem takes the endings off a word of Words.
func Stem(l Language, w string) string {
	if l == Spanish {
		return spanishStem(w)
	}
	return englishStem(w)
}

// fold lower-cases a word and takes its accents off.
func fold(w string) string {
	plain := true
	for i := 0; i < len(w) && plain; i++ {
		plain = w[i] < 0x80 && (w[i] < 'A' || w[i] > 'Z')
	}
	if plain {
		return w
	}
	return accents.Replace(strings.ToLower(w))
}

var accents = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n")

// englishStem takes the endings off a folded English word.
func englishStem(w string) string {
	if len(w) < 4 || len(w) > terms.MaxLen {
		return w
	}
	if n := len(w) - 1; w[n] == 'y' && n > 3 { // policies give "policy": both give "polici"
		w = w[:n] + "i"
	}
	var b [terms.MaxLen]byte
	s := string(terms.Stem(b[:copy(b[:], w)]))
	if n := len(s) - 1; n > 3 && s[n] == 'y' {
		return s[:n] + "i"
	}
	return s
}

// spanishEndings are taken off Spanish words, the longest first; what is left keeps at
// least three letters. Nouns, participles and the commonest forms of verbs of
// one word meet: devolver, devuelve, devuelto, devoluciones.
var spanishEndings = []string{
	"aciones", "iciones", "amientos", "imientos", "amiento", "imiento", "uciones", "adoras", "adores", "edores", "idores",
	"ariamos", "ieron", "iendo", "yendo", "iamos", "acion", "icion", "ucion", "ables", "ibles", "adora", "ador", "edor", "idor",
	"aran", "aron", "ando", "adas", "ados", "idas", "idos", "able", "ible", "amos", "emos", "imos", "arse", "erse", "irse",
	"arlo", "erlo", "irlo", "arla", "erla", "irla", "aban", "ases",
	"ada", "ado", "ida", "ido", "ara", "era", "ira", "aba", "ian", "ia", "io", "ar", "er", "ir", "an", "en", "as", "es", "os", "a", "e", "o", "s",
}

// spanishStem takes the endings off a folded Spanish word. Vowels that part
// in some forms of a verb are joined: devuelve as devolve, pierde as perde.
func spanishStem(w string) string {
	for _, e := range spanishEndings {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 3 {
			w = w[:len(w)-len(e)]
			break
		}
	}
	w = strings.ReplaceAll(w, "ue", "o")
	w = strings.ReplaceAll(w, "ie", "e")
	if n := len(w); n > 3 && w[n-1] == 'c' { // indique, indicar; apliquen, aplicar
		w = w[:n-1] + "qu"
	}
	return w
}

// latinEndings end words that both languages have, longest first.
var latinEndings = []string{
	"isations", "izations", "ificacion", "ification", "izaciones", "isation", "ization", "izacion", "aciones", "ations", "iciones", "itions",
	"ation", "acion", "ition", "icion", "amente", "amiento", "imiento", "idades", "mente", "mento", "ments", "ment", "iones", "ions",
	"ances", "ences", "ancia", "encia", "antes", "entes", "adores", "edores", "ators", "ables", "ibles",
	"idad", "ance", "ence", "ancy", "ency", "ante", "ente", "ador", "edor", "ator", "able", "ible", "ical", "icos", "icas",
	"ing", "ion", "ity", "ant", "ent", "ive", "ivo", "iva", "ico", "ica", "ous", "oso", "osa", "ize", "ise", "izar", "ate", "ated",
	"ado", "ada", "ido", "ida", "ies", "ers", "ors", "or", "er", "ar", "ir", "al", "ic", "ia", "io", "ed", "es", "as", "os", "ly",
	"y", "e", "a", "o", "s",
}

// spelling makes the two languages write alike.
var spelling = strings.NewReplacer("ph", "f", "th", "t", "qu", "c", "ch", "c", "k", "c", "y", "i", "mm", "m", "nn", "n", "pp", "p",
	"ss", "s", "tt", "t", "cc", "c", "ff", "f", "ll", "l", "rr", "r", "dd", "d", "gg", "g", "x", "s", "j", "g", "v", "b", "z", "c")

// skeleton returns what a word of either language keeps of its Latin form, ""
// for one that is too short to tell.
func skeleton(w string) string {
	if len(w) < 6 {
		return ""
	}
	if strings.HasPrefix(w, "es") && !strings.HasPrefix(w, "ess") && strings.IndexByte("tpc", w[2]) >= 0 {
		w = w[1:] // especial, special
	}
	for _, e := range latinEndings {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 4 {
			w = w[:len(w)-len(e)]
			break
		}
	}
	w = spelling.Replace(w)
	if len(w) < 4 {
		return ""
	}
	return w
}
