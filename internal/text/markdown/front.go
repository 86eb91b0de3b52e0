package markdown

import "strings"

// frontLines is longer than any front matter; a rule at the top has no second.
const frontLines = 200

// FrontMatter returns how many lines a block of front matter at the start of
// a text has, its marks ("---" or "+++") included; 0 when there is none.
func FrontMatter(body string) int {
	line, at := lineAt(body, 0)
	mark := strings.TrimRight(line, " \t")
	if mark != "---" && mark != "+++" {
		return 0
	}
	for i := 1; at < len(body) && i < frontLines; i++ {
		line, at = lineAt(body, at)
		s := strings.TrimRight(line, " \t")
		if s == mark || mark == "---" && s == "..." {
			return i + 1
		}
		if i == 1 && s == "" {
			return 0
		}
	}
	return 0
}

// looksLikeFront reports whether n lines at the start of a text are front
// matter rather than text between two rules: they begin with a key, and each
// line is a key, an item, a comment or the continuation of one.
func looksLikeFront(body string, n int) bool {
	keys := 0
	_, at := lineAt(body, 0)
	var s string
	for i := 1; i < n-1; i++ {
		s, at = lineAt(body, at)
		t := strings.TrimSpace(s)
		switch {
		case t == "" || t[0] == '#':
		case keys > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '-' || s[0] == ']'):
		default:
			if _, _, ok := CutKey(t, ":"); !ok {
				return false
			}
			keys++
		}
	}
	return keys > 0
}

// CutKey parts a line of front matter, "key: value", at sep.
func CutKey(s, sep string) (key, value string, ok bool) {
	const most = 60 // bytes of a key
	at := strings.Index(s, sep)
	if at <= 0 || at > most || sep == ":" && at+1 < len(s) && s[at+1] != ' ' && s[at+1] != '\t' {
		return "", "", false
	}
	key = strings.Trim(strings.TrimSpace(s[:at]), `"'`)
	for _, r := range key {
		if r < 0x80 && !isLetter(byte(r)) && (r < '0' || r > '9') && !strings.ContainsRune("_- .", r) {
			return "", "", false
		}
	}
	return key, strings.TrimSpace(s[at+1:]), strings.Trim(key, "-. ") != ""
}
