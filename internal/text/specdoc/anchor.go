package specdoc

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
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
// of equal ones: accents stay, every space is one hyphen.
func Forge(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			b.WriteRune(r)
		}
	}
	return b.String()
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
