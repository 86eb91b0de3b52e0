// Package visible shows what strangers hide in text. File names, headings and
// messages of tools may hold characters that steer a terminal, turn the order
// of what is read around, or are seen by a language model alone.
//
// Every such character is shown as its number. A name is quoted besides, in the
// way of git, so that it stays one field and differs from every other. JSON that is
// read undecoded has the escapes of JSON, from which the text comes back as it
// was; JSON that is decoded before it is shown has them a second time, so that
// they are still there. Each face has one door that everything
// leaves through, a Writer or a call of Values: the writer of a reply need not
// think of it.
//
// See hidden.go for what counts as hidden.
package visible

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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

// each calls f for the runes of s in order; raw is the rune as written in s,
// a single byte where s is no UTF-8.
func each(s string, f func(raw string, r rune, hidden bool)) {
	prev := rune(0)
	for i := 0; i < len(s); {
		if n := flag(s[i:]); n > 0 {
			f(s[i:i+n], '🏴', false)
			prev, i = '🏴', i+n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		next := rune(0)
		if r > 0x7f || r == '\r' {
			next, _ = utf8.DecodeRuneInString(s[i+n:])
		}
		f(s[i:i+n], r, hidden(prev, r, next) || r == utf8.RuneError && n == 1)
		prev, i = r, i+n
	}
}

// number is a character as it is shown: \u202e, \U000e0069, and in octal the
// bytes of what is no UTF-8.
func number(raw string, r rune) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\%03o`, raw[0])
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Name returns a name as one field of one line. One that holds a tab, a line
// end or anything else that cannot be seen, or begins with a quotation mark,
// is quoted as in C, in the way of git: "new\nline.md". A character beyond
// ASCII that is not seen is \u or \U with its number, a byte that is no UTF-8
// is in octal.
func Name(s string) string {
	safe := !strings.HasPrefix(s, `"`) && !strings.ContainsAny(s, "\t\n\r")
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
		default:
			b.WriteString(number(raw, r))
		}
		safe = false
	})
	if safe {
		return s
	}
	return b.String() + `"`
}

// Line returns s with the number of everything that steers or is not seen in
// its place: \u001b, \u202e. Tabs and line ends stay.
func Line(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	each(s, func(raw string, r rune, hid bool) {
		if hid {
			raw = number(raw, r)
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
		if hid {
			raw = inJSON(r)
		}
		b.WriteString(raw)
	})
	return b.String()
}

func inJSON(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Values returns JSON in which every string still shows what steers or is not
// seen once it has been decoded, as Line does: what Escape writes as \u202e
// becomes \\u202e, which a program reads as six letters.
func Values(text string) string {
	if plain(text) && !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	prev := rune(0)
	for i := 0; i < len(text); {
		if n := flag(text[i:]); n > 0 {
			b.WriteString(text[i : i+n])
			prev, i = '🏴', i+n
			continue
		}
		r, n := inString(text[i:])
		if n > 1 || r == 0x7f { // other ASCII stays
			after, _ := inString(text[i+n:])
			if hidden(prev, r, after) {
				b.WriteString(`\` + number("", r))
				prev, i = r, i+n
				continue
			}
		}
		b.WriteString(text[i : i+n])
		prev, i = r, i+n
	}
	return b.String()
}

// inString returns the first character of JSON, escaped or not, and its length.
func inString(s string) (rune, int) {
	if len(s) < 2 || s[0] != '\\' {
		return utf8.DecodeRuneInString(s)
	}
	if s[1] != 'u' {
		if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(s[1]), 2
	}
	unit := func(s string) rune {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := unit(s)
	if r < 0 {
		return rune(s[1]), 2
	}
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, unit(s[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// Unquote returns the name that Name wrote as s; ok is false for anything that
// is not quoted.
func Unquote(s string) (name string, ok bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	name, err := strconv.Unquote(s)
	return name, err == nil
}

// Is reports whether shown is a form in which the name s leaves through one of
// the doors: what was copied from a reply finds the document that it came from.
func Is(shown, s string) bool {
	if name, ok := Unquote(shown); ok {
		return name == s
	}
	return shown == s || strings.Contains(shown, `\`) && (shown == Line(s) || shown == Escape(s))
}

// A Writer shows what is hidden in all that is written to it, as Line does.
// A call holds whole characters.
type Writer struct{ W io.Writer }

// Write implements io.Writer.
func (v Writer) Write(p []byte) (int, error) { return v.WriteString(string(p)) }

// WriteString implements io.StringWriter.
func (v Writer) WriteString(s string) (int, error) {
	if _, err := io.WriteString(v.W, Line(s)); err != nil {
		return 0, err
	}
	return len(s), nil
}
