package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word of a text, or a mark that counts: what it reads, without
// its ending, and the kind of thing that it names, "" for none.
type Word struct{ Text, Kind string }

// Words returns the words of text, which is in small letters. A sentence or a
// line begins with "^"; of writing without spaces every two neighbouring
// characters are a word; of an address its scheme is.
func Words(text string) []Word {
	out, known := make([]Word, 0, len(text)/4), kinds()
	add := func(s string) {
		kind := known[s]
		if kind == "" {
			s = stem(s)
			kind = known[s]
		}
		out = append(out, Word{s, kind})
	}
	begins := true
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case together(r):
			if begins {
				out, begins = append(out, Word{Text: "^"}), false
			}
			next, m := utf8.DecodeRuneInString(text[i+n:])
			if together(next) {
				add(text[i : i+n+m])
			}
			i += n
			continue
		case letter(r):
			if begins {
				out, begins = append(out, Word{Text: "^"}), false
			}
			end := i + n
			for end < len(text) {
				r, n := rune(text[end]), 1
				if r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(text[end:])
				}
				apostrophe := (r == '\'' || r == '’') && end+n < len(text) && text[end+n] >= 'a' && text[end+n] <= 'z'
				if !apostrophe && (!letter(r) || together(r)) {
					break
				}
				end += n
			}
			add(text[i:end])
			if strings.HasPrefix(text[end:], "://") {
				for end < len(text) && text[end] > ' ' && text[end] != '"' && text[end] != ')' && text[end] != '>' {
					end++
				}
			}
			i = end
			continue
		}
		switch r {
		case '\n', '!', '?', '。', '！', '？':
			begins = true
		case '.':
			begins = begins || i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'
		case ':', '：':
			out = append(out, Word{Text: ":"})
		case '"', '“', '”', '„', '«', '»', '`', '「', '」':
			out = append(out, Word{Text: `"`})
		case '<', '[', '|', '@', '{':
			if len(out) == 0 || out[len(out)-1].Text != string(r) {
				out = append(out, Word{Text: text[i : i+n]})
			}
		}
		i += n
	}
	return out
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r == '_' || r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// together reports whether r is of a script that is written without spaces.
func together(r rune) bool {
	return r >= 0x0e00 && (r < 0x0e80 || r >= 0x3040 && r < 0xa000)
}

// stem cuts the endings of English from a word.
func stem(s string) string {
	if len(s) < 5 || s[len(s)-1] >= 0x80 {
		return s
	}
	for _, end := range [...]string{"ing", "ed", "es", "s", "e"} {
		if rest, ok := strings.CutSuffix(s, end); ok && len(rest) > 3 && rest[len(rest)-1] < 0x80 {
			return rest
		}
	}
	return s
}

// Sign is what is counted of a text: a word or a kind (B empty), two side by
// side, or, Far, two kinds of which the second comes later.
type Sign struct {
	A, B string
	Far  bool
}

// reach is how many words later the second kind of two may come.
const reach = 10

// Signs calls f with the signs that end with each of words, in order.
func Signs(words []Word, f func(at int, sign uint32, s Sign)) {
	hash := make([]uint32, 2*len(words))
	for i, w := range words {
		hash[2*i] = fnv(w.Text)
		if w.Kind != "" {
			hash[2*i+1] = fnv(w.Kind)
		}
	}
	for i, w := range words {
		f(i, hash[2*i], Sign{A: w.Text})
		if w.Kind != "" {
			f(i, hash[2*i+1], Sign{A: w.Kind})
		}
		if i == 0 {
			continue
		}
		b := words[i-1]
		f(i, pair(hash[2*i-2], hash[2*i], false), Sign{b.Text, w.Text, false})
		if w.Kind != "" || b.Kind != "" {
			x, y, hx, hy := b.Text, w.Text, hash[2*i-2], hash[2*i]
			if b.Kind != "" {
				x, hx = b.Kind, hash[2*i-1]
			}
			if w.Kind != "" {
				y, hy = w.Kind, hash[2*i+1]
			}
			f(i, pair(hx, hy, false), Sign{x, y, false})
		}
		if w.Kind == "" {
			continue
		}
		for j := max(0, i-reach); j < i; j++ {
			if k := words[j].Kind; k != "" {
				f(i, pair(hash[2*j+1], hash[2*i+1], true), Sign{k, w.Kind, true})
			}
		}
	}
}

func (s Sign) hash() uint32 {
	if s.B == "" {
		return fnv(s.A)
	}
	return pair(fnv(s.A), fnv(s.B), s.Far)
}

func pair(a, b uint32, far bool) uint32 {
	h := a*0x9e3779b1 ^ b
	if far {
		h ^= 0x5bd1e995
	}
	h ^= h >> 15
	h *= 0x85ebca6b
	return h ^ h>>13
}

// fnv is FNV-1a of 32 bits.
func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
