package secret

import (
	_ "embed"
	"regexp"
	"strings"
)

// token is a credential that is known by its own form.
type token struct {
	kind   string
	prefix string
	rest   func() *regexp.Regexp
	inside bool // rest matches the whole token, which contains the prefix
}

// tokensText lists them.
//
//go:embed tokens.txt
var tokensText string

func tokenWords() []*word {
	var words []*word
	for line := range strings.Lines(tokensText) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue
		}
		expr, inside := strings.CutPrefix(f[2], "inside:")
		t := token{kind: f[0], rest: lazy(`^(?:` + expr + `)`), inside: inside}
		for t.prefix = range strings.FieldsSeq(f[1]) {
			own := t
			words = append(words, &word{text: strings.ToLower(t.prefix), token: &own})
		}
	}
	return words
}

// manuals are keys that vendors' manuals show as examples.
var manuals = set("manuals")

// longestToken bounds how far a token is looked for.
const longestToken = 4096

// token judges the text whose prefix, or mark, is at start.
func (f *finder) token(t *token, start int) {
	s := f.text
	if s[start:start+len(t.prefix)] != t.prefix {
		return
	}
	from, skip := start, len(t.prefix)
	if t.inside {
		for from > 0 && start-from < 100 && (isIdent(s[from-1]) || s[from-1] == '~') {
			from--
		}
		skip = 0
	}
	if from > 0 && !t.inside && isAlnum(t.prefix[0]) && isWordByte(s[from-1]) && !escaped(s, from) {
		return
	}
	if from > 0 && strings.IndexByte("+/", s[from-1]) >= 0 && all(t.prefix, isAlnum) {
		return // inside of Base64
	}
	m := t.rest().FindStringIndex(s[from+skip : min(len(s), from+skip+longestToken)])
	if m == nil {
		return
	}
	end := from + skip + m[1]
	// A longer run of the same letters is something else: a hash, a picture.
	if end < len(s) && isAlnum(s[end]) && isAlnum(s[end-1]) {
		return
	}
	body := s[from+skip : end]
	if manuals[s[from:end]] || isPlaceholder(body) || distinct(body) < 6 {
		return
	}
	last := t.prefix[len(t.prefix)-1]
	short := len(t.prefix) < 3 || len(t.prefix) <= 4 && isAlnum(last) || last == '.'
	if short && !t.inside && !looksRandom(body, 0.12) {
		return // so short a prefix begins other words too
	}
	f.add(from, end, t.kind)
}

// isWordByte reports whether a token cannot begin after c.
func isWordByte(c byte) bool { return isAlnum(c) || c == '_' }

// escaped reports whether the byte before i is the letter of an escape, as in the
// JSON string "…\nghp_…".
func escaped(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}
