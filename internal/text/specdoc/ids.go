package specdoc

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// idPrefixes begin the ids that specifications give, beyond those of Kinds.
var idPrefixes = func() map[string]bool {
	m := map[string]bool{}
	for _, p := range list("DC UV REL TC SLO OBS RNF RFC-KDD TS HU EP EPIC FEAT") {
		m[p] = true
	}
	for _, k := range Kinds {
		for _, p := range k.ids {
			m[p] = true
		}
	}
	for _, p := range list("UI VIEW EVENT ENTITY RULE TS REL RFC OTEP KEP PEP") {
		delete(m, p) // words of their own in prose, or others' ids: only what resolves counts
	}
	return m
}()

// spacedPrefixes begin ids that are often written with a space: "ADR 7".
var spacedPrefixes = kb.WordsOf("ADR RFC OTEP KEP PEP")

// spacedID returns the id that s begins with and its length in s, where it is
// written with a space before its number: "RFC-012" of "RFC 012: Cards".
func spacedID(s string) (id string, n int) {
	prefix, rest, ok := strings.Cut(s[:min(len(s), 20)], " ")
	if !ok || !spacedPrefixes[prefix] {
		return "", 0
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 || digits > 5 || digits < len(rest) && isWordByte(rest[digits]) {
		return "", 0
	}
	return prefix + "-" + rest[:digits], len(prefix) + 1 + digits
}

// wordID returns the length of an id of a known kind without a number that s
// begins with: "CMD-CHILL", 0 for none.
func wordID(s string) int {
	n := strings.IndexByte(s[:min(len(s), 9)], '-')
	if n < 2 || !idPrefixes[s[:n]] {
		return 0
	}
	to := n + 1
	for to < len(s) && (s[to] >= 'A' && s[to] <= 'Z' || s[to] >= '0' && s[to] <= '9' || s[to] == '-' && to+1 < len(s) && s[to+1] >= 'A' && s[to+1] <= 'Z') {
		to++
	}
	if to-n < 3 || to < len(s) && isWordByte(s[to]) {
		return 0
	}
	return to
}

// KnownID reports whether a name is an id by its prefix, as "BR-LAYER-001" is
// and "UTF-8" is not: who points at one that does not exist has made a mistake.
func KnownID(name string) bool {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	n := strings.IndexByte(name, '-')
	return n > 0 && idPrefixes[name[:n]] && idLength(name) == len(trimVersion(name))
}

// trimVersion takes a version ("@v2") off an id.
func trimVersion(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i]
	}
	return s
}

// idLength returns the length of the id that s begins with, without a version,
// 0 for none: two to eight capitals, and parts of letters and digits behind
// hyphens, of which one has a digit; events go without.
func idLength(s string) int {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	if n < 2 || n > 8 || n+1 >= len(s) || s[n] != '-' {
		return 0
	}
	prefix, digit, parts := s[:n], false, 0
	for n < len(s) && s[n] == '-' && n < maxName {
		from := n + 1
		i := from
		for i < len(s) {
			c := s[i]
			if c >= '0' && c <= '9' {
				digit = true
			} else if c >= utf8.RuneSelf {
				r, size := utf8.DecodeRuneInString(s[i:])
				if !unicode.IsLetter(r) {
					break
				}
				i += size - 1
			} else if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_') {
				break
			}
			i++
		}
		if i == from {
			break
		}
		parts++
		n = i
	}
	if parts == 0 || !digit && (prefix != "EVT" || parts < 2) {
		return 0
	}
	return n
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// linksDoc reports whether a link's target is a document of Markdown in the
// same store: a relative path.
func linksDoc(s string) bool {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	ext := strings.ToLower(path.Ext(s))
	return !strings.Contains(s, ":") && len(s) > len(ext) && slices.Contains([]string{".md", ".mdx", ".markdown"}, ext)
}

// looksLikeCode reports whether inline code or a link's target names a file or
// a symbol: it has a path's slashes and an extension, a dot or
// :: between names, or the capitals and underscores of an identifier.
func looksLikeCode(s string) bool {
	if len(s) < 4 || len(s) > maxName {
		return false
	}
	if isFile(s) {
		return true
	}
	letters, humps, joints := 0, 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z':
			letters++
			if i+1 < len(s) && s[i+1] >= 'A' && s[i+1] <= 'Z' {
				humps++
			}
		case c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9':
			if i == 0 {
				return false
			}
		case c == '_':
			joints++
		case c == '.':
			if i == 0 || i+1 == len(s) || !isWordByte(s[i+1]) || s[i-1] >= '0' && s[i-1] <= '9' {
				return false
			}
			joints++
		case c == ':' && strings.HasPrefix(s[i:], "::") && i > 0:
			joints++
			i++
		case c == '(' && s[i:] == "()" && i > 1:
			joints++
			i++
		case c == '#' && i > 0 && i+1 < len(s): // Class#method
			joints++
		default:
			return false
		}
	}
	return letters >= 3 && (humps > 0 || joints > 0)
}

// isFile reports whether s is a file's name or path: an extension of one to
// five letters behind a name, no spaces.
func isFile(s string) bool {
	base := s[strings.LastIndexByte(s, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	if dot < 1 || len(base)-dot-1 < 1 || len(base)-dot-1 > 5 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(isWordByte(c) || c == '/' || c == '.' || c == '-' || c == '@' || c == '+' || c == '[' || c == ']') {
			return false
		}
	}
	ext := base[dot+1:]
	if ext[0] >= '0' && ext[0] <= '9' && ext != "7z" {
		return false
	}
	for i := range len(ext) {
		if c := ext[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			return false
		}
	}
	return strings.IndexByte(s, '/') >= 0 || extensions[ext]
}

// extensions are those by which a file's name differs from "config.yes" or "user.name".
var extensions = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range list(`c cc cpp cs css cxx dart ex exs go h hpp hs html java jl js json jsx kt kts lua m mjs ml mm
		md mdx php pl proto ps1 py pyi r rb rs sass scala scss sh sol sql svelte swift tf toml ts tsx vue xml yaml yml zig feature graphql lock mod txt cfg ini env`) {
		m[e] = true
	}
	return m
}()
