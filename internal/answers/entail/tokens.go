package entail

import (
	_ "embed" // the lists are a part of the program
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

//go:embed words.txt
var wordsText string

// lists are the words of words.txt by the name of their list.
var lists = kb.WordLists(wordsText)

// tables are the lists of several columns, by their first column: what a form
// is a form of, the value of a number, what a unit measures and in how many of
// its basic unit.
type tables struct {
	irregular map[string]string
	number    map[string]string
	unit      map[string]unit
	opposite  map[string][]string
}

type unit struct {
	kind string
	size float64
}

var table = sync.OnceValue(func() tables {
	t := tables{irregular: map[string]string{}, number: map[string]string{}, unit: map[string]unit{}, opposite: map[string][]string{}}
	for row := range lists["irregular"] {
		a, b, _ := strings.Cut(row, " ")
		t.irregular[a] = b
	}
	for row := range lists["number"] {
		a, b, _ := strings.Cut(row, " ")
		t.number[a] = b
	}
	for row := range lists["unit"] {
		if f := strings.Fields(row); len(f) == 3 {
			size, err := strconv.ParseFloat(f[2], 64)
			if err == nil {
				t.unit[f[0]] = unit{f[1], size}
			}
		}
	}
	for row := range lists["opposite"] {
		a, b, _ := strings.Cut(row, " ")
		a, b = string(terms.Stem([]byte(a))), string(terms.Stem([]byte(b)))
		t.opposite[a], t.opposite[b] = append(t.opposite[a], b), append(t.opposite[b], a)
	}
	return t
})

// kind is what a token is.
type kind uint8

const (
	word   kind = iota // a word that tells something
	idle               // a word that binds others, or says how much or whether
	number             // with its unit, where it has one
	name               // code, an abbreviation, a name: found as it is or not at all
)

// token is one word of a text.
type token struct {
	text     string // folded to lower case without accents
	raw      string
	kind     kind
	stem     string
	also     []string // stems of what it says in English
	value    float64  // of a number, in the basic unit where it has a unit
	unit     string   // what the unit measures; "" for none
	basic    float64  // how many of the basic unit the unit is
	clause   int      // of the text, from 0
	sentence int      // of the text, from 0
	faint    bool     // says little: make, use, give
	span     bool     // goes on with the code of the token before
}

var (
	tokenRE = lazyregexp.New("`[^`]+`|\\d{1,3}(?:,\\d{3})+\\b|\\d+(?:[.:]\\d+)+|\\d+x{2}|[\\p{L}\\p{N}_$@#+*/.=?\\-'’]*[\\p{L}\\p{N}_*][\\p{L}\\p{N}_*/=+#()]*|%|[.;:,!?]")
	codeRE  = lazyregexp.New(`^(?:--?\p{L}|[\p{L}\p{N}]+[_/=(.]|.*\p{Ll}\p{Lu}|\p{Lu}[\p{Lu}\p{N}]+|.*[*$@#_()])`)
	unitRE  = lazyregexp.New(`^(\d+(?:\.\d+)?)(\p{L}{1,4}|%)$`)
)

// read takes a text apart. english gives the English words for a word that is
// not English; it may be nil.
func read(sentences []string, english func(string) []string) []token {
	if !isSpanish(strings.Join(sentences, " ")) {
		english = nil
	}
	var out []token
	clause := 0
	for n, s := range sentences {
		fresh := true // at the begin of a clause
		for _, raw := range tokenRE.FindAllString(s, -1) {
			if len(raw) == 1 && strings.ContainsAny(raw, ".;:,!?") {
				if !fresh {
					clause++
				}
				fresh = true
				continue
			}
			t := token{raw: raw, clause: clause, sentence: n}
			parts := t.fill(english)
			if lists["and"][t.text] && t.kind == idle && !fresh {
				clause++
				t.clause = clause
			}
			fresh = false
			out = append(out, t)
			for _, p := range parts {
				p.clause, p.sentence = clause, n
				out = append(out, p)
			}
		}
		clause++
	}
	for i := range out { // as a state, not as a place
		if out[i].text == "on" && (i+1 == len(out) || out[i+1].clause != out[i].clause || lists["state"][out[i+1].text]) {
			out[i].kind, out[i].stem = word, "on"
		}
	}
	out = units(out)
	for i := range out[:max(0, len(out)-1)] {
		if said := phrases()[out[i].stem+" "+out[i+1].text]; said != nil && out[i+1].kind == idle && out[i].clause == out[i+1].clause {
			out[i].also, out[i].faint, out[i].kind = append(out[i].also, said...), false, word
		}
	}
	return out
}

// isSpanish reports whether a text has more words that bind Spanish ones than
// words that bind English ones.
func isSpanish(text string) bool {
	n := 0
	for w := range strings.FieldsSeq(fold(text)) {
		switch {
		case lists["spanish"][w]:
			n++
		case lists["english"][w]:
			n--
		}
	}
	return n > 0
}

// fill says what a token is; what follows it from the same run is returned.
func (t *token) fill(english func(string) []string) []token {
	if strings.HasPrefix(t.raw, "`") {
		return t.code(strings.Trim(t.raw, "`"))
	}
	raw := strings.TrimRight(strings.TrimLeft(t.raw, "'’"), ".'’-=/?")
	if strings.HasPrefix(raw, "-") && strings.TrimLeft(raw, "-") == "" || raw == "" {
		t.kind = idle
		return nil
	}
	t.text = fold(strings.ReplaceAll(raw, "’", "'"))
	clean := strings.ReplaceAll(raw, ",", "")
	if v, err := strconv.ParseFloat(strings.ReplaceAll(clean, ":", "."), 64); err == nil {
		t.kind, t.value, t.stem = number, v, clean
		return nil
	}
	if v, ok := table().number[t.text]; ok && t.text != "one" && t.text != "once" && !(t.text == "second") {
		t.kind, t.stem = number, v
		t.value, _ = strconv.ParseFloat(v, 64)
		return nil
	}
	if m := unitRE.FindStringSubmatch(clean); m != nil {
		if u, ok := table().unit[strings.ToLower(m[2])]; ok {
			v, _ := strconv.ParseFloat(m[1], 64)
			t.kind, t.value, t.unit, t.stem = number, v*u.size, u.kind, clean
			return nil
		}
	}
	t.text = strings.TrimSuffix(strings.TrimSuffix(t.text, "'s"), "s'")
	if strings.HasSuffix(t.text, "n't") {
		t.kind, t.text = idle, "not"
		return nil
	}
	if codeRE.MatchString(raw) && !strings.Contains(t.text, "-") || strings.ContainsAny(raw, "0123456789") {
		t.kind, t.stem = name, t.text
		return nil
	}
	if first, rest, ok := strings.Cut(t.text, "-"); ok && first != "" && rest != "" {
		other := token{raw: rest}
		more := other.fill(english)
		t.raw, t.text = first, first
		t.word(english)
		return append([]token{other}, more...)
	}
	t.word(english)
	return nil
}

// word fills in a plain word.
func (t *token) word(english func(string) []string) {
	if v, ok := table().number[t.text]; ok && t.text != "one" && t.text != "once" {
		t.kind, t.stem = number, v
		t.value, _ = strconv.ParseFloat(v, 64)
		return
	}
	t.stem = stem(t.text)
	if strings.HasPrefix(t.text, "re") && len(t.text) > 6 { // restarted: started again
		t.also = append(t.also, stem(t.text[2:]))
	}
	if lists["idle"][t.text] || lists["and"][t.text] || isClass(t.text) {
		t.kind = idle
	}
	t.faint = lists["faint"][t.text] || lists["faint"][t.stem]
	if english != nil {
		for _, e := range english(t.text) {
			t.also = append(t.also, stem(e))
		}
	}
}

// code fills in what stands between backticks: a name for each of its words.
func (t *token) code(s string) []token {
	var all []token
	for f := range strings.FieldsSeq(s) {
		all = append(all, token{raw: f, text: strings.ToLower(f), stem: strings.ToLower(f), kind: name, span: len(all) > 0})
	}
	if len(all) == 0 {
		t.kind = idle
		return nil
	}
	keep := *t
	*t = all[0]
	t.clause, t.sentence = keep.clause, keep.sentence
	return all[1:]
}

// units joins numbers with the units behind them.
func units(in []token) []token {
	out := in[:0]
	for i := 0; i < len(in); i++ {
		t := in[i]
		if ones[t.text] && t.kind == idle && i+1 < len(in) { // an hour
			if _, ok := table().unit[in[i+1].text]; ok && len(in[i+1].text) > 2 && in[i+1].text != "second" && in[i+1].text != "segundo" {
				t.kind, t.value, t.stem = number, 1, "1"
			}
		}
		if t.kind == number && t.unit == "" && i+1 < len(in) {
			if u, ok := table().unit[strings.ToLower(in[i+1].text)]; ok || in[i+1].raw == "%" {
				if !ok {
					u = unit{"share", 0.01}
				}
				t.value, t.unit, t.basic = t.value*u.size, u.kind, u.size
				i++
			}
		}
		if t.text == "twice" {
			t.kind, t.value, t.unit, t.stem = number, 2, "times", "2"
		}
		out = append(out, t)
	}
	for i := len(out) - 2; i >= 0; i-- { // 5, 20 and 60 seconds
		next := i + 1
		if next+1 < len(out) && lists["and"][out[next].text] {
			next++
		}
		if a, b := &out[i], &out[next]; a.kind == number && a.unit == "" && b.kind == number && b.unit != "" && b.basic > 0 {
			a.value, a.unit, a.basic = a.value*b.basic, b.unit, b.basic
		}
	}
	return out
}

// ones are words for one of something.
var ones = map[string]bool{"one": true, "a": true, "an": true, "un": true, "una": true}

// isClass reports whether a word is one of those that decide.
func isClass(w string) bool {
	for _, l := range []string{"no", "only", "perhaps", "must", "because", "unless", "every"} {
		if lists[l][w] {
			return true
		}
	}
	return false
}

// stem brings the forms of a word together.
func stem(w string) string {
	if b, ok := table().irregular[w]; ok {
		w = b
	}
	return string(terms.Stem([]byte(w)))
}

// fold lower-cases a text and takes its accents off.
func fold(s string) string { return accents.Replace(strings.ToLower(s)) }

var accents = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n")

// unitOf is one thing that lines say: a sentence of a paragraph, an item of a
// list, a row of a table, a heading; with its first and last line, from 0.
type unitOf struct {
	text     string
	from, to int
}

// said splits lines of a document into what they say one by one.
func said(lines []string) []unitOf {
	var out []unitOf
	var para []string
	first := 0
	flush := func() {
		line, text := first, strings.Join(para, " ")
		at := 0 // of text, where line begins
		for _, s := range split(text) {
			i := strings.Index(text, s)
			for n := line - first; n < len(para)-1 && i > at+len(para[n]); n = line - first {
				at += len(para[n]) + 1
				line++
			}
			to, end := line, at
			for n := to - first; n < len(para)-1 && i+len(s) > end+len(para[n]); n = to - first {
				end += len(para[n]) + 1
				to++
			}
			out = append(out, unitOf{s, line, to})
		}
		para = nil
	}
	for n, l := range lines {
		t := strings.TrimSpace(l)
		switch {
		case t == "":
			flush()
			continue
		case itemRE.MatchString(t):
			flush()
			t = itemRE.ReplaceAllString(t, "")
		case strings.HasPrefix(t, "|"):
			flush()
			out = append(out, unitOf{strings.TrimSpace(strings.ReplaceAll(strings.Trim(t, "|"), "|", ";")), n, n})
			continue
		case strings.HasPrefix(t, "#"):
			flush()
			out = append(out, unitOf{strings.TrimLeft(t, "# "), n, n})
			continue
		}
		if para == nil {
			first = n
		}
		para = append(para, t)
	}
	flush()
	return out
}

var itemRE = lazyregexp.New(`^(?:[-*+•]|\d{1,3}[.)])\s+`)

// split cuts a paragraph where a sentence ends.
func split(text string) []string {
	var out []string
	from, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '`':
			quoted = !quoted
		case quoted || c != '.' && c != '!' && c != '?':
		case i+2 < len(text) && text[i+1] == ' ':
			next := []rune(text[i+2 : min(len(text), i+8)])[0]
			if unicode.IsLower(next) || strings.HasSuffix(strings.ToLower(text[from:i]), "e.g") || strings.HasSuffix(strings.ToLower(text[from:i]), "i.e") {
				continue
			}
			out = append(out, strings.TrimSpace(text[from:i+1]))
			from = i + 1
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
