// Package visible shows what strangers hide in text. File names, headings and
// messages of tools may hold characters that steer a terminal, turn the order
// of what is read around, or are seen by a language model and by nobody else.
//
// Three forms are for three readers: a name is quoted, so that it stays one
// field and can be told from every other; a line for people has U+FFFD in
// place of each such character; a reply for programs and agents has the escape
// of JSON, from which the text comes back as it was.
//
// What counts is listed in Unicode Technical Report 36 and in the paper that
// named CVE-2021-42574: controls, marks that override direction, characters of
// no width, tags and runs of variation selectors. Joiners, marks and selectors
// that writing needs are left alone where it needs them: beside a character
// beyond ASCII.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unseen are characters that draw nothing in any text, or turn text around.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x180e, Hi: 0x180e, Stride: 1}, // Mongolian vowel separator
		{Lo: 0x200b, Hi: 0x200b, Stride: 1}, // zero width space
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // separators, embeddings, overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // word joiner, invisible operators, isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // zero width no-break space
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // unassigned and interlinear annotation
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical format controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags and supplementary selectors
	},
}

// hidden reports whether r, which follows prev, steers or is not seen. Tabs
// and line ends are for the caller to judge.
func hidden(prev, r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x034f:
		return false
	case r == 0x200c || r == 0x200d || r == 0x200e || r == 0x200f || r == 0x061c:
		return prev < utf8.RuneSelf || unicode.Is(unseen, prev) // joiners and marks of direction
	case r >= 0xfe00 && r <= 0xfe0f:
		return prev < ' ' || prev >= 0xfe00 && prev <= 0xfe0f // one selector belongs to what it follows
	}
	return unicode.Is(unseen, r)
}

// plain reports whether s is ASCII that can be seen, tabs and line ends
// included: what nearly every text is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// each calls f for the runes of s in order; raw is the rune as it stands in s,
// which is a single byte where s is no UTF-8.
func each(s string, f func(raw string, r rune, hidden bool)) {
	prev := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		f(s[i:i+n], r, hidden(prev, r) || r == utf8.RuneError && n == 1)
		prev, i = r, i+n
	}
}

// Name returns a name as one field of one line. One that holds a tab, a line
// end or anything else that cannot be seen, or begins with a quotation mark,
// is quoted as in C, in the way of git: "new\nline.md". A character beyond
// ASCII that is not seen is \u or \U with its number, a byte that is no UTF-8
// is in octal.
func Name(s string) string {
	safe := !strings.HasPrefix(s, `"`) && !strings.ContainsAny(s, "\t\n")
	if safe && plain(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	each(s, func(raw string, r rune, hid bool) {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + raw)
			return
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteString(map[rune]string{'\t': `\t`, '\n': `\n`, '\r': `\r`}[r])
		case !hid:
			b.WriteString(raw)
			return
		case len(raw) == 1:
			fmt.Fprintf(&b, `\%03o`, raw[0])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		safe = false
	})
	if safe {
		return s
	}
	return b.String() + `"`
}

// Line returns s with U+FFFD in place of everything that steers or is not
// seen, tabs and line ends excepted.
func Line(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	each(s, func(raw string, _ rune, hid bool) {
		if hid {
			raw = string(utf8.RuneError)
		}
		b.WriteString(raw)
	})
	return b.String()
}

// Escape returns s, which is JSON or text, with \uXXXX in place of everything
// that steers or is not seen, tabs and line ends excepted. JSON that is read
// by a program holds the same values as before.
func Escape(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	each(s, func(raw string, r rune, hid bool) {
		switch {
		case !hid:
			b.WriteString(raw)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	})
	return b.String()
}
