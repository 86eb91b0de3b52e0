package specdoc

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Anchor returns what links call a heading: the text decomposed (NFKD) and in
// lower case, without what is no letter, digit, underscore, white space or
// hyphen, every run of white space one hyphen, and none at the ends:
//
//	Descripción              descripcion
//	¿Qué pasa si se incumple?  que-pasa-si-se-incumple
//	a -- b                   a----b
//
// It is the original engine's algorithm, not that of a forge: accents are
// gone, and of two equal headings both have the same anchor. CJK stays.
func Anchor(heading string) string {
	if plain(heading) {
		return fold(strings.ToLower(heading))
	}
	return fold(strings.ToLower(norm.NFKD.String(heading)))
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r):
			continue
		}
		if space {
			b.WriteByte('-')
			space = false
		}
		b.WriteRune(r)
	}
	return strings.Trim(b.String(), "-")
}

// Forge returns the anchor that GitHub gives a heading, without the number
// of equal ones: lower case, every space a hyphen, and of the rest letters,
// marks, decimal digits, hyphens and what joins words. Accents stay.
func Forge(heading string) string {
	var b strings.Builder
	heading = strings.TrimSpace(html.UnescapeString(heading))
	var before rune
	for i, r := range heading {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == 'İ': // two characters in lower case
			b.WriteString("i\u0307")
		case r == 'Σ' && unicode.IsLetter(before) && !startsWithLetter(heading[i+utf8.RuneLen(r):]):
			b.WriteRune('ς')
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic):
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return b.String()
}

func startsWithLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// Anchors returns the anchors of sections, each once: those that a forge gives
// their headings, or folded ones. Of equal ones the second ends in -1, and so
// on; a number that a heading has itself is passed over. "" has no heading, or
// none with a letter.
func Anchors(sections []kb.SpecSection, forge bool) []string {
	out := make([]string, len(sections))
	times := map[string]int{} // how often, less one, of each anchor that is taken
	for i := range sections {
		s := &sections[i]
		if s.Level == 0 || len(s.Path) == 0 {
			continue
		}
		name := s.Anchor
		if forge {
			name = Forge(s.Path[len(s.Path)-1])
		}
		if name == "" && !forge {
			continue
		}
		anchor := name
		for _, taken := times[anchor]; taken; _, taken = times[anchor] {
			times[name]++
			anchor = fmt.Sprintf("%s-%d", name, times[name])
		}
		times[anchor] = 0
		out[i] = anchor
	}
	return out
}

// loose folds an anchor further than Anchor, so that two that name the same
// heading are equal. It may be folded, accented, percent-decoded text, or the
// heading itself, with or without "#". Runs of hyphens count as one, since
// forges and the original differ there.
func loose(s string) string {
	s = Anchor(strings.TrimLeft(s, "# "))
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	return s
}

// Find returns the first of the anchors that is anchor exactly, else the first
// that is the same when loose, and -1 without any. A number at the end that a forge gives
// the second and later of equal headings ("-1") is understood.
func Find(anchors []string, anchor string) int {
	anchor = strings.TrimLeft(anchor, "# ")
	for i, a := range anchors {
		if a == anchor && a != "" {
			return i
		}
	}
	want := loose(anchor)
	if want == "" {
		return -1
	}
	for i, a := range anchors {
		if loose(a) == want {
			return i
		}
	}
	cut := strings.LastIndexByte(want, '-')
	if cut <= 0 || cut == len(want)-1 {
		return -1
	}
	n := 0
	for _, c := range want[cut+1:] {
		if c < '0' || c > '9' || n > 1000 {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	for i, a := range anchors {
		if loose(a) == want[:cut] {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}
