// Package bilingual reads questions about specifications in Spanish and in
// English: which words of the other language say what a word says, and how much
// of a question a text answers in either. It knows no store and no file.
//
// Words meet in three ways: by their stem in one language; by the lists of
// package thesaurus and of words.txt here, which has the words of requirements
// (trades, offices, contracts, people), and by learned.txt.gz, which
// bench/twolang learned from texts that say the same in both; and, for the many that both languages
// took from Latin, by their skeleton: "autentic" of authentication and
// autenticación.
package bilingual

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // the lists are a part of the program
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

//go:embed words.txt
var wordsText string

//go:embed learned.txt.gz
var learnedGzip []byte

// meaning is a word of the other language, and how much it says the same.
type meaning struct {
	word  string
	value float64
}

// dictionary has both directions, by the word asked for, folded, and by its stem.
type dictionary struct {
	spanish map[key][]meaning // English words of a Spanish one
	english map[key][]meaning // Spanish words of an English one
}

// Values of the first meaning and of those listed after it, which are less
// usual, of words that only share a stem, and of words of one skeleton.
const (
	firstMeaning = 1.0
	laterMeaning = 0.85
	stemShare    = 0.8
	kinValue     = 0.75
	mostMeanings = 8
)

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{spanish: map[key][]meaning{}, english: map[key][]meaning{}}
	for e := range thesaurus.Spanish() {
		d.add(e.Word, e.Alternatives)
	}
	for line := range strings.Lines(wordsText) {
		if en, es, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			d.add(en, strings.Fields(strings.ReplaceAll(es, "_", "\u00a0")))
		}
	}
	for line := range strings.Lines(learned()) {
		if en, rest, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			for fields := strings.Fields(rest); len(fields) >= 2; fields = fields[2:] {
				if share, err := strconv.Atoi(fields[1]); err == nil {
					d.put(en, fields[0], learnedValue(share))
				}
			}
		}
	}
	return d
})

// learned returns the lines of the learned list: an English word, and Spanish
// ones each with the share of its translations in hundredths, the mean of both
// directions.
func learned() string {
	r, err := gzip.NewReader(bytes.NewReader(learnedGzip))
	if err != nil {
		panic(err) // a part of the program
	}
	b, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// learnedValue turns a share in hundredths into a value.
func learnedValue(share int) float64 {
	return min(math.Sqrt(float64(share)/100)+0.1, laterMeaning)
}

func (d *dictionary) add(english string, spanish []string) {
	for i, es := range spanish {
		value := firstMeaning
		if i > 0 {
			value = laterMeaning
		}
		d.put(english, strings.ReplaceAll(es, "\u00a0", " "), value)
	}
}

func (d *dictionary) put(english, es string, value float64) {
	en := fold(english)
	put(d.english, key{'e', en}, meaning{es, value})
	put(d.english, key{'r', englishStem(en)}, meaning{es, value})
	if w := fold(es); !strings.Contains(w, " ") {
		put(d.spanish, key{'s', w}, meaning{english, value})
		put(d.spanish, key{'r', spanishStem(w)}, meaning{english, value})
	}
}

func put(m map[key][]meaning, k key, x meaning) {
	list := m[k]
	if len(list) < mostMeanings && !slices.ContainsFunc(list, func(y meaning) bool { return y.word == x.word }) {
		m[k] = append(list, x)
	}
}

// of returns the meanings of a folded word: those of the word itself, then
// those of others of its stem.
func of(m map[key][]meaning, exact, stem key) []meaning {
	out := slices.Clone(m[exact])
	for _, x := range m[stem] {
		if !slices.ContainsFunc(out, func(y meaning) bool { return y.word == x.word }) {
			if len(m[exact]) > 0 {
				x.value *= stemShare
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b meaning) int { return cmp.Compare(b.value, a.value) })
	return out
}

// A Language is one of the two, or neither.
type Language string

// The languages.
const (
	Unknown Language = ""
	English Language = "en"
	Spanish Language = "es"
)

// Telling are terms that only one of the languages has, and that its texts are full of.
var Telling = map[Language][]string{
	English: {"the", "and", "of", "is"},
	Spanish: {"que", "los", "una", "para"},
}

var (
	onlySpanish = kb.WordsOf(`que los las una uno unos unas para por con del al el la lo se su sus como cuando cual cuales
		quien quienes donde porque esta este esto estos estas ese esa hay ser es son fue sin sobre entre hasta desde pero si
		cuanto cuanta cuantos cuantas debe deben puede pueden hace hacer tiene tienen le les nos mi antes despues y o un en de
		alguien algo cada solo sola dentro manera mismo misma ellos ella eso aquel propio propia cada mas muy ya todo toda todos todas otro otra tras segun qué`)
	onlyEnglish = kb.WordsOf(`the and of is are was were be been being to in on at by for from with into it its this that
		these those what which who whom whose when where why how do does did can could may might must should would will shall
		has have had if then than there their they them he she his her you your we our i an as not or but about after before
		any each some someone something whether while until between without during out up a`)
)

// LanguageOf tells the language of a question by its small words and letters.
func LanguageOf(text string) Language {
	if strings.ContainsAny(text, "¿¡ñÑ") {
		return Spanish
	}
	es, en := 0, 0
	for w := range eachWord(text) {
		w = fold(w)
		if onlySpanish[w] {
			es++
		}
		if onlyEnglish[w] {
			en++
		}
	}
	switch {
	case es > en:
		return Spanish
	case en > es:
		return English
	case strings.ContainsAny(text, "áéíóúÁÉÍÓÚ"):
		return Spanish
	}
	return Unknown
}

// languageOf tells the language of words without small ones between them: that which
// has more of them.
func (d *dictionary) languageOf(text string) Language {
	es, en := 0, 0
	for w := range eachWord(text) {
		w = fold(w)
		if len(d.spanish[key{'s', w}])+len(d.spanish[key{'r', spanishStem(w)}]) > 0 {
			es++
		}
		if len(d.english[key{'e', w}])+len(d.english[key{'r', englishStem(w)}]) > 0 {
			en++
		}
	}
	switch {
	case es > en:
		return Spanish
	case en > es:
		return English
	}
	return Unknown
}
