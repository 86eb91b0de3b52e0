// Package secret finds credentials: in the names of files, in their content, and
// in a text that is kept. It decides; its callers leave out, mask and count.
//
// Three kinds of evidence are used. A token has a prefix and a length that its
// givers publish (tokens.txt). A value that looks random, or a word with digits
// in a file of settings, is a credential where it is assigned to the name of one
// (assign.go, weak.go). A block, an address or a header has a place for a
// credential (blocks.go). Randomness alone is no evidence: hashes, ids and
// pictures look the same.
//
// One automaton finds all the words with which a rule can begin, so a text is
// read once and expressions are tried only at such a word.
package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Version is that of the rules. It grows whenever they find more or less: a
// store that another version indexed is read again.
const Version = 1

// Match is one secret in a text.
type Match struct {
	From, To int    // byte offsets of what is masked, half open
	Kind     string // what found it: "GitHub token", "assignment", "private key", …
}

// Find returns the secrets in text, in order, none overlapping another. The name
// of the document decides whether it is a file of settings.
func Find(name, text string) []Match {
	f := &finder{name: name, text: text, settings: isSettings(name), last: -1}
	automaton().each(text, f.at)
	if f.manifest {
		f.manifests()
	}
	slices.SortFunc(f.found, func(a, b Match) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	out := f.found[:0]
	for _, m := range f.found {
		if n := len(out); n > 0 && m.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, m.To)
			continue
		}
		out = append(out, m)
	}
	return out
}

// Mask returns text with an asterisk for every byte of the secrets in it, and
// their number. Line ends stay, so every line and every offset is where it was.
func Mask(name, text string) (string, int) {
	found := Find(name, text)
	if len(found) == 0 {
		return text, 0
	}
	b := []byte(text)
	for _, m := range found {
		for i := m.From; i < m.To; i++ {
			switch {
			case b[i] == '\n' || b[i] == '\r':
			case m.Kind != kindKey:
				b[i] = '*'
			case b[i] == '\\' && i+1 < m.To && text[i+1] == 'n':
				i++ // a line end inside a string of source or JSON
			case isBase64(b[i]):
				b[i] = '*'
			}
		}
	}
	return string(b), len(found)
}

// Kinds of matches that have rules of their own.
const (
	kindAssignment = "assignment"
	kindPassword   = "password"
	kindKey        = "private key" // of which only the letters are masked
)

// MaskJSON is Mask for valid JSON, which stays valid: only strings are masked, and
// no escape is broken.
func MaskJSON(name string, raw []byte) []byte {
	found := Find(name, string(raw))
	if len(found) == 0 {
		return raw
	}
	out := slices.Clone(raw)
	inside := false
	for i := 0; i < len(raw); i++ {
		for len(found) > 0 && found[0].To <= i {
			found = found[1:]
		}
		switch {
		case raw[i] == '"':
			inside = !inside
		case raw[i] == '\\':
			if i++; i < len(raw) && raw[i] == 'u' {
				i += 4
			}
		case inside && len(found) > 0 && found[0].From <= i:
			out[i] = '*'
		}
	}
	return out
}

// finder collects the matches of one text.
type finder struct {
	name     string
	text     string
	settings bool // a file of settings: a value needs no quotes and may be a plain word
	manifest bool // it contains "kind: Secret"
	last     int  // beginning of the name that was judged last
	keyEnd   int  // end of the last private key
	found    []Match
}

func (f *finder) add(from, to int, kind string) {
	if from < to {
		f.found = append(f.found, Match{from, to, kind})
	}
}

// at judges a word of the automaton that ends before end.
func (f *finder) at(word *word, end int) {
	start := end - len(word.text)
	switch {
	case word.token != nil:
		f.token(word.token, start)
	case word.block != nil:
		word.block(f, start, end)
	default:
		f.assigned(word, start, end)
	}
}

var settingsExt = set("settings")

// isSettings reports whether the file of that name holds settings: by its
// ending, or because it has none beyond a leading dot, as .gitconfig.
func isSettings(name string) bool {
	base := strings.ToLower(baseOf(name))
	i := strings.LastIndexByte(base, '.')
	return i == 0 || i < 0 && (base == "config" || base == "settings") || i > 0 && settingsExt[base[i:]] ||
		strings.HasPrefix(base, ".env")
}

func baseOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}
func isIdent(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' || c == '$' }

// span returns the end of the run of such bytes that begins at i, at most that long.
func span(s string, i, most int, is func(byte) bool) int {
	end := min(len(s), i+most)
	for i < end && is(s[i]) {
		i++
	}
	return i
}

func all(s string, is func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !is(s[i]) {
			return false
		}
	}
	return true
}
