// Package terms turns text into the normalised tokens that the index holds
// and queries look up.
//
// A word is a run of letters, digits and underscores. A word made of several
// parts (parseHTTPHeader, max_retries, utf8) gives each part and the whole;
// any other gives itself. Everything is lower-cased, Latin diacritics are
// folded ("café", "cafe"), and parts are stemmed lightly; wholes are kept as
// they are, so that an identifier is found exactly. A run of Han, kana or
// Hangul gives its overlapping pairs of characters, since words are not set
// apart there.
package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxLen is the length in bytes at which a term is cut; longer words are
// data, and a query for them is cut at the same place.
const MaxLen = 48

// A Scanner splits text; the zero value is ready. It is not safe for
// concurrent use: its scratch space is what keeps scanning free of allocation.
type Scanner struct {
	lower []byte
	part  []byte
	folds []byte
}

// Scan calls emit for every term of text, in order: parts before their whole.
// The slice is only valid during the call.
func (s *Scanner) Scan(text string, emit func(term []byte, whole bool)) {
	i := 0
	for i < len(text) {
		c := text[i]
		if class[c] == other {
			i++
			continue
		}
		start := i
		ascii := true
		for i < len(text) && class[text[i]] != other {
			if text[i] >= utf8.RuneSelf {
				ascii = false
			}
			i++
		}
		if ascii {
			s.word(text[start:i], emit)
		} else {
			s.unicode(text[start:i], emit)
		}
	}
}

// Character classes of single bytes; bytes above 0x7f are sorted out by rune.
const (
	other = iota
	lower
	upper
	digit
	under
	high
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '_':
			t[c] = under
		case c >= utf8.RuneSelf:
			t[c] = high
		}
	}
	return t
}()

// word emits the terms of one ASCII word.
func (s *Scanner) word(w string, emit func([]byte, bool)) {
	w = strings.Trim(w, "_")
	if w == "" {
		return
	}
	if class[w[0]] == digit { // a number: 0x7fff, 1e9, 3
		s.lower = appendLower(s.lower[:0], w)
		emit(cut(s.lower), true)
		return
	}
	parts := 0
	for i := 0; i < len(w); {
		j := partEnd(w, i)
		if j > i {
			if i > 0 || j < len(w) {
				if parts == 0 {
					s.lower = appendLower(s.lower[:0], w)
				}
				k := j
				if j-i > 2 && class[w[j-1]] == lower && class[w[j-2]] == upper {
					k-- // the plural of an acronym: IDs, URLs
				}
				s.part = appendLower(s.part[:0], w[i:k])
				// A lone digit or letter inside an identifier says nothing.
				if j-i > 1 {
					emit(cut(Stem(s.part)), false)
				}
			}
			parts++
		}
		i = j
		for i < len(w) && class[w[i]] == under {
			i++
		}
	}
	if parts > 1 {
		emit(cut(s.lower), true)
		return
	}
	if n := len(w); n > 2 && class[w[n-1]] == lower && class[w[n-2]] == upper {
		w = w[:n-1] // IDs, URLs
	}
	s.part = appendLower(s.part[:0], w)
	emit(cut(Stem(s.part)), true)
}

// partEnd returns where the part of an identifier that begins at i ends:
// before an underscore, between lower and upper case, before the last capital
// of a run that goes on in lower case (HTTPServer: HTTP, Server), and between
// letters and digits.
func partEnd(w string, i int) int {
	first := class[w[i]]
	j := i + 1
	if first == upper {
		for j < len(w) && class[w[j]] == upper {
			j++
		}
		if j-i > 1 && j < len(w) && class[w[j]] == lower {
			// "URLs" is one part, not UR and Ls.
			if w[j] == 's' && (j+1 == len(w) || class[w[j+1]] != lower) {
				return j + 1
			}
			return j - 1
		}
		if j-i == 1 {
			for j < len(w) && class[w[j]] == lower {
				j++
			}
		}
		return j
	}
	for j < len(w) && class[w[j]] == first {
		j++
	}
	return j
}

func appendLower(dst []byte, w string) []byte {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if class[c] == upper {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func cut(b []byte) []byte {
	if len(b) <= MaxLen {
		return b
	}
	n := MaxLen
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// unicode emits the terms of a run that holds letters beyond ASCII.
func (s *Scanner) unicode(w string, emit func([]byte, bool)) {
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		folded := fold(w[start:end])
		start = -1
		if isASCII(folded) {
			s.word(folded, emit)
			return
		}
		s.folds = append(s.folds[:0], strings.ToLower(folded)...)
		emit(cut(s.folds), true)
	}
	var prev rune
	var prevAt int
	for i, r := range w {
		switch {
		case unbroken(r):
			flush(i)
			size := utf8.RuneLen(r)
			if prev != 0 && unbroken(prev) {
				emit([]byte(w[prevAt:i+size]), true)
			} else if next, _ := utf8.DecodeRuneInString(w[i+size:]); !unbroken(next) {
				emit([]byte(w[i:i+size]), true)
			}
			prevAt = i
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
		prev = r
	}
	flush(len(w))
}

// unbroken reports whether r belongs to a script written without spaces.
func unbroken(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// fold takes combining marks off Latin letters: "señal" becomes "senal".
func fold(w string) string {
	d := norm.NFD.String(w)
	var b strings.Builder
	var base rune
	for _, r := range d {
		if unicode.Is(unicode.Mn, r) && base < 0x250 {
			continue
		}
		base = r
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Stem takes the commonest English endings off a lower-case ASCII word of at
// least four letters, in place, so that "parse", "parses", "parsed" and
// "parsing" meet at "pars". It is deliberately weaker than Porter's stemmer:
// "parser" stays apart, because in code the doer and the deed are different
// things. Spanish and other plurals in -s meet as well.
func Stem(w []byte) []byte {
	n := len(w)
	if n < 4 {
		return w
	}
	has := func(suffix string) bool { return n > len(suffix) && string(w[n-len(suffix):]) == suffix }
	switch {
	case has("ies") && n > 4:
		w[n-3] = 'y'
		return w[:n-2]
	case has("sses"):
		w, n = w[:n-2], n-2
	case has("ss"), has("us"), has("is"):
	case has("s"):
		w, n = w[:n-1], n-1
	}
	switch {
	case has("ing") && n > 5:
		w, n = undouble(w[:n-3])
	case has("ed") && n > 4 && w[n-3] != 'e':
		w, n = undouble(w[:n-2])
	}
	if n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

// undouble mends "stopp" to "stop" but leaves "call", "pass" and "buzz".
func undouble(w []byte) ([]byte, int) {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lszaeiou", rune(w[n-1])) {
		w = w[:n-1]
	}
	return w, len(w)
}

// Exact returns the term under which the definition of a name is indexed: the
// name itself, lower-cased, behind a sign that no word holds, so that the
// definition of "parse" differs from one of "parseHeader" or "parsing".
func Exact(name string) string {
	return "=" + string(cut([]byte(strings.ToLower(strings.TrimLeft(name, sigils)))))
}

// sigils mark what a name is in some languages and are left out when people
// ask for it: $this, @count, $ZodType.
const sigils = "$@"

// Cased returns the term under which the definition of a name is indexed as
// it is written, so that the type Session differs from the variable session; ""
// for a name without capitals, for which Exact is enough.
func Cased(name string) string {
	if strings.ToLower(name) == name {
		return ""
	}
	return "=" + string(cut([]byte(strings.TrimLeft(name, sigils))))
}

// Of returns the distinct terms of text in order of first appearance.
func Of(text string) []string {
	var s Scanner
	var out []string
	seen := map[string]bool{}
	s.Scan(text, func(t []byte, _ bool) {
		if !seen[string(t)] {
			seen[string(t)] = true
			out = append(out, string(t))
		}
	})
	return out
}

// Words returns the parts of the identifiers of text, stemmed, without the
// wholes; what the stem of a file's name is made of.
func Words(text string) []string {
	var s Scanner
	var out []string
	pending := 0
	s.Scan(text, func(t []byte, whole bool) {
		if whole && pending > 0 {
			pending = 0
			return
		}
		if !whole {
			pending++
		}
		out = append(out, string(t))
	})
	return out
}

// Edits returns how many letters must be exchanged with their neighbour,
// replaced, left out or put in to make b of a, at most most + 1; underscores
// count for nothing.
func Edits(a, b string, most int) int {
	var x, y, two, one, row [MaxLen + 1]uint8
	n, m := letters(&x, a), letters(&y, b)
	if n-m > most || m-n > most {
		return most + 1
	}
	for j := range m + 1 {
		one[j] = uint8(j)
	}
	for i := 1; i <= n; i++ {
		row[0] = uint8(i)
		least := row[0]
		for j := 1; j <= m; j++ {
			d := one[j-1]
			if x[i-1] != y[j-1] {
				d = 1 + min(d, one[j], row[j-1])
				if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
					d = min(d, 1+two[j-2])
				}
			}
			row[j] = d
			least = min(least, d)
		}
		if int(least) > most {
			return most + 1
		}
		two, one = one, row
	}
	return min(int(one[m]), most+1)
}

// letters writes the bytes of a word but underscores to dst and returns their number.
func letters(dst *[MaxLen + 1]uint8, w string) (n int) {
	for i := 0; i < len(w) && n < MaxLen; i++ {
		if w[i] != '_' {
			dst[n] = w[i]
			n++
		}
	}
	return n
}
