package visible

import (
	"strings"
	"unicode"
)

// unseen are characters that draw nothing in any text, or turn text around:
// what Unicode calls Default_Ignorable_Code_Point and Bidi_Control, the line
// and paragraph separators, interlinear annotation and the noncharacters. See
// Unicode Technical Report 36, and CVE-2021-42574 for what order does.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors and vowel separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // no width, joiners, marks of direction
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // separators, embeddings, overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // word joiner, invisible operators, isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfdd0, Hi: 0xfdef, Stride: 1}, // noncharacters
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // zero width no-break space
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // unassigned and interlinear annotation
		{Lo: 0xfffe, Hi: 0xffff, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical format controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags and supplementary selectors
	},
}

// joining are scripts whose words are spelled with joiners; see section 5.3 of
// Unicode Technical Report 36 and the identifier rules of UAX 31.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Newa, unicode.Grantha, unicode.Brahmi,
}

// leftwards are scripts that are written from right to left.
var leftwards = []*unicode.RangeTable{unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam}

// hidden reports whether r, between prev and next, steers or is not seen. Tabs and line ends, those of two bytes too, are for the caller to
// judge. What ordinary writing needs is left alone where it needs it, one
// character at a time: a run of them spells no word and may carry any message.
func hidden(prev, r, next rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r' && next == '\n':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad || !unicode.Is(unseen, r):
		return r > 0xffff && r&0xfffe == 0xfffe
	}
	switch {
	case r == 0xad: // between the letters of a word
		return !unicode.IsLetter(prev) || !unicode.IsLetter(next)
	case r == 0x200c:
		return !unicode.IsOneOf(joining, prev)
	case r == 0x200d:
		return !unicode.IsOneOf(joining, prev) && !(pictured(prev) && pictured(next))
	case r == 0x200e || r == 0x200f || r == 0x061c:
		return !unicode.IsOneOf(leftwards, prev) && !unicode.IsOneOf(leftwards, next)
	case r >= 0x180b && r <= 0x180f:
		return !unicode.Is(unicode.Mongolian, prev) || unicode.Is(unseen, prev)
	case r == 0xfe0e || r == 0xfe0f: // text or emoji: after a sign, or a digit in a keycap
		return !(prev > 0x7f && pictured(prev) && prev != r) && !(next == 0x20e3 && strings.ContainsRune("0123456789#*", prev))
	case r >= 0xfe00 && r <= 0xfe02:
		return !unicode.In(prev, unicode.Sm, unicode.Han, unicode.Myanmar, unicode.Phags_Pa)
	case r >= 0xe0100 && r <= 0xe01ef: // the forms of one Han character
		return !unicode.Is(unicode.Han, prev)
	}
	return true
}

// pictured reports whether r may be part of an emoji.
func pictured(r rune) bool {
	return r > 0x7f && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) || r == 0xfe0f || r == 0x20e3 ||
		r == 'ℹ' || r == '‼' || r == '⁉' || r == '〰'
}

// flag returns the length of the flag of a part of a country that s begins
// with, 0 for none. Those of three parts are all there are.
func flag(s string) int {
	if !strings.HasPrefix(s, "🏴") {
		return 0
	}
	for _, part := range [...]string{"gbeng", "gbsct", "gbwls"} {
		tags := "🏴" + strings.Map(func(r rune) rune { return 0xe0000 + r }, part) + "\U000e007f"
		if strings.HasPrefix(s, tags) {
			return len(tags)
		}
	}
	return 0
}
