package embed

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the length in bytes at which a word is cut; the rest is the next
// word. Nothing that a person wrote is longer.
const maxWord = 64

// counter counts the words of one text after the other. Its memory is reused.
type counter struct {
	words []counted
	arena []byte   // the bytes of words, in lower case
	slots []uint32 // open addressing by hash: index in words + 1, or 0
	runes []rune   // of a run with letters beyond ASCII
}

// counted is one distinct word of a text. Two words of one 64-bit hash count
// as one; that happens in one text of 10^13.
type counted struct {
	hash     uint64
	from, to uint32 // in arena
	n        uint32 // how often it occurs
}

func newCounter() *counter { return &counter{slots: make([]uint32, 1024)} }

// reset makes the counter ready for the next text. What a text of thousands of
// words made it grow to is dropped: clearing it each time would cost more.
func (c *counter) reset() {
	if len(c.slots) > 1<<13 || cap(c.runes) > 1<<16 {
		*c = *newCounter()
	}
	clear(c.slots)
	c.words, c.arena = c.words[:0], c.arena[:0]
}

func (c *counter) bytes(w counted) []byte { return c.arena[w.from:w.to] }

// The classes of bytes.
const (
	other = iota
	lower // letters of ASCII
	upper
	digit
	wide // part of a character beyond ASCII
)

var classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = wide
		case 'a' <= c && c <= 'z':
			t[c] = lower
		case 'A' <= c && c <= 'Z':
			t[c] = upper
		case '0' <= c && c <= '9':
			t[c] = digit
		}
	}
	return t
}()

// Split returns the words of a text in order: runs of letters (with their
// combining marks) and runs of digits, in lower case. A run of letters is
// split before an upper-case letter that follows a lower-case one and before
// the last of several upper-case letters when a lower-case one follows:
// "parseHTTPServer" is parse, http, server. A single "s" after upper-case
// letters belongs to them: "URLs" is urls. Letters without case count as
// lower-case. A word is cut at 64 bytes. Latin letters lose their accents:
// "función" and "funcion" are one word, "Straße" is strasse.
func Split(text string) []string {
	c := newCounter()
	var words []string
	c.split(text, func(w []byte) { words = append(words, string(w)) })
	return words
}

// count counts the words of text as Split defines them.
func (c *counter) count(text string) { c.split(text, nil) }

// split finds the words. They go to emit, or are counted when it is nil.
func (c *counter) split(text string, emit func([]byte)) {
	n := len(text)
	for i := 0; i < n; {
		start, j := i, i+1
		switch classes[text[i]] {
		case other:
			i++
			continue
		case digit:
			for j < n && classes[text[j]] == digit {
				j++
			}
			// Digits beyond ASCII may follow.
			if j < n && text[j] >= utf8.RuneSelf {
				i = c.splitWide(text, start, emit)
				continue
			}
		case upper:
			for j < n && classes[text[j]] == upper {
				j++
			}
			if j-start > 1 && j < n && classes[text[j]] == lower {
				if text[j] == 's' && (j+1 == n || classes[text[j+1]] != lower && classes[text[j+1]] != wide) {
					j++ // URLs
					break
				}
				if text[j] == 's' && j+1 < n && classes[text[j+1]] == wide {
					i = c.splitWide(text, start, emit)
					continue
				}
				j-- // the last one begins the next word
				break
			}
			fallthrough
		case lower:
			for j < n && classes[text[j]] == lower {
				j++
			}
			if j < n && text[j] >= utf8.RuneSelf {
				i = c.splitWide(text, start, emit)
				continue
			}
		case wide:
			i = c.splitWide(text, start, emit)
			continue
		}
		for ; j-start > maxWord; start += maxWord {
			c.ascii(text[start:start+maxWord], emit)
		}
		c.ascii(text[start:j], emit)
		i = j
	}
}

// ascii takes a word of ASCII letters or digits.
func (c *counter) ascii(w string, emit func([]byte)) {
	h := uint64(fnvOffset)
	for i := range len(w) {
		// Bit 5 makes a letter lower-case; digits have it.
		h = (h ^ uint64(w[i]|0x20)) * fnvPrime
	}
	if emit == nil && c.seen(h) {
		return
	}
	from := len(c.arena)
	for i := range len(w) {
		c.arena = append(c.arena, w[i]|0x20)
	}
	c.take(h, from, emit)
}

// seen counts a word that occurred before.
func (c *counter) seen(h uint64) bool {
	for at := slot(h, len(c.slots)); ; at = (at + 1) & (len(c.slots) - 1) {
		k := c.slots[at]
		if k == 0 {
			return false
		}
		if w := &c.words[k-1]; w.hash == h {
			w.n++
			return true
		}
	}
}

// take enters a word that seen does not know; its bytes end the arena.
func (c *counter) take(h uint64, from int, emit func([]byte)) {
	if emit != nil {
		emit(c.arena[from:])
		c.arena = c.arena[:from]
		return
	}
	c.words = append(c.words, counted{hash: h, from: uint32(from), to: uint32(len(c.arena)), n: 1})
	if 2*len(c.words) > len(c.slots) {
		c.slots = make([]uint32, 2*len(c.slots))
		for i := range c.words {
			c.place(i)
		}
		return
	}
	c.place(len(c.words) - 1)
}

func (c *counter) place(i int) {
	at := slot(c.words[i].hash, len(c.slots))
	for c.slots[at] != 0 {
		at = (at + 1) & (len(c.slots) - 1)
	}
	c.slots[at] = uint32(i) + 1
}

// classOf returns the class of any character; letters without case and marks
// are lower, characters that are no part of words are other.
func classOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return int(classes[r])
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// splitWide takes the characters from start up to the first that is no part
// of a word, whatever their script, and returns where that one ends or the
// text does. It is the definition of Split in full; the rest of split is its
// fast path.
func (c *counter) splitWide(text string, start int, emit func([]byte)) int {
	rs := c.runes[:0]
	i := start
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if classOf(r) == other || r == utf8.RuneError {
			break
		}
		rs = append(rs, r)
	}
	c.runes = rs
	class := func(i int) int {
		if i >= len(rs) {
			return other
		}
		return classOf(rs[i])
	}
	for i := 0; i < len(rs); {
		j, k := i+1, class(i)
		for class(j) == k {
			j++
		}
		if k == upper && class(j) == lower {
			switch {
			case j-i > 1 && rs[j] == 's' && class(j+1) != lower:
				j++
			case j-i > 1:
				j--
			default:
				for class(j) == lower {
					j++
				}
			}
		}
		c.wide(rs[i:j], emit)
		i = j
	}
	return i
}

// folded gives the letters of ASCII for those with accents in Latin-1 and Latin
// Extended-A, in lower case. Queries often leave accents out.
var folded = func() map[rune]string {
	m := map[rune]string{}
	for plain, accented := range map[string]string{
		"a": "àáâãäåāăą", "ae": "æ", "c": "çćĉċč", "d": "ďđð", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ",
		"i": "ìíîïĩīĭįı", "ij": "ĳ", "j": "ĵ", "k": "ķ", "l": "ĺļľŀł", "n": "ñńņňŋ", "o": "òóôõöøōŏő", "oe": "œ",
		"r": "ŕŗř", "s": "śŝşšſ", "ss": "ß", "t": "ţťŧ", "th": "þ", "u": "ùúûüũūŭůűų", "w": "ŵ", "y": "ýÿŷ", "z": "źżž",
	} {
		for _, r := range accented {
			m[r] = plain
		}
	}
	return m
}()

// wide takes a word of any letters or digits.
func (c *counter) wide(rs []rune, emit func([]byte)) {
	from := len(c.arena)
	done := func() {
		if h := hashWord(c.arena[from:]); emit == nil && c.seen(h) {
			c.arena = c.arena[:from]
		} else {
			c.take(h, from, emit)
		}
		from = len(c.arena)
	}
	for _, r := range rs {
		r = unicode.ToLower(r)
		if 0x300 <= r && r < 0x370 {
			continue // combining accents
		}
		plain, ok := folded[r]
		if !ok {
			plain = ""
		}
		if len(c.arena)-from+max(len(plain), utf8.RuneLen(r)) > maxWord {
			done()
		}
		if ok {
			c.arena = append(c.arena, plain...)
		} else {
			c.arena = utf8.AppendRune(c.arena, r)
		}
	}
	if len(c.arena) > from {
		done()
	}
}
