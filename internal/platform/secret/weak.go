package secret

import (
	"slices"
	"strings"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// assignment is the place of a value that is assigned to a name.
type assignment struct {
	from, to   int
	quote      byte // 0 for none, '\\' for one that is escaped
	connection bool // of a string of connection: "Server=db;Uid=app;Password=…"
	defined    bool // by PHP's define
}

// weak masks values that need not look random: a plain word with digits that a
// file of settings, or a line of a form that only settings have, gives a password
// or token. It reports whether it did. to is the end of the name.
func (f *finder) weak(name string, to int) bool {
	password, strong := weakName(name)
	if !password && !strong {
		return false
	}
	s := f.text
	a, ok := f.assignment(to)
	v := s[a.from:a.to]
	switch {
	case !ok, len(v) < 6, len(v) > 200, a.quote != 0 && (a.to >= len(s) || s[a.to] != a.quote):
		return false
	case strings.ContainsAny(v, " \t{}<>$"), isPlaceholder(v), manuals[v], strings.Contains(v, "://"), v[0] == '!',
		strings.HasPrefix(v, "%") && strings.HasSuffix(v, "%"):
		return false
	case a.quote == 0 && a.to < len(s) && strings.IndexByte("({[", s[a.to]) >= 0:
		return false
	}
	lower, upper, digit, mark := classes(v)
	if f.settings || a.defined || a.connection {
		if !(digit && (lower || upper)) && !(mark && (lower || upper) && password) {
			return false
		}
		if !password && (len(v) < 8 || isVersionLike(v) || isReference(s, a.from, v)) || strings.Count(v, "/") > 1 || v[0] == '/' {
			return false
		}
		if mark && !digit && strings.Trim(v, letters+"._-:/") == "" {
			return false // words and the marks between them
		}
	} else if !password || a.quote == 0 || len(v) < 8 || !lower || !upper || !digit || !mark ||
		strings.Trim(v, letters+"0123456789._-:/") == "" {
		return false // in source only what cannot be a word at all
	}
	f.add(a.from, a.to, kindPassword)
	return true
}

// assignment finds the value that is assigned to the name that ends at to.
func (f *finder) assignment(to int) (a assignment, ok bool) {
	s := f.text
	i := to
	skip := func(set string) {
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			i++
		}
	}
	skip(`"'` + "`\\])")
	skip(" \t")
	if i >= len(s) {
		return a, false
	}
	switch {
	case strings.HasPrefix(s[i:], ":="), strings.HasPrefix(s[i:], "=>"):
		i += 2
	case s[i] == '=' || s[i] == ':':
		a.connection = s[i] == '=' && i == to
		i++
	case s[i] == '>' && f.settings: // <password>…</password>
		i++
	case s[i] == ',' && strings.Contains(f.line(to), "define("):
		a.defined = true
		i++
	case strings.HasPrefix(s[i:], "value=") && f.settings: // key="…Password" value="…"
		i += len("value=")
	default:
		return a, false
	}
	skip(" \t")
	if i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`') {
		a.quote = s[i]
		i++
	} else if strings.HasPrefix(s[i:], `\"`) {
		a.quote = '\\'
		i += 2
	}
	ends := "\n\r \t\"'`,;<>&(){}[]"
	if a.quote != 0 {
		ends = "\n\r" + string(a.quote)
	}
	a.from, a.to = i, len(s)
	if n := strings.IndexAny(s[i:], ends); n >= 0 {
		a.to = i + n
	}
	a.connection = a.connection && a.quote == 0 && (a.to < len(s) && s[a.to] == ';' || strings.Contains(f.line(to), ";"))
	return a, true
}

// weakName reports whether a name is that of a password, or of a credential.
func weakName(name string) (password, strong bool) {
	words := wordsOf(name)
	if len(words) == 0 || nameStrength(name, false) < strongName || slices.Contains(lists()["about"], words[len(words)-1]) {
		return false, false
	}
	for _, w := range words {
		switch {
		case strings.Contains(w, "passw"), w == "pwd", w == "pass", w == "passphrase":
			password = true
		case strings.Contains(w, "secret"), strings.Contains(w, "token") && !strings.Contains(w, "tokeni") && w != "tokens",
			w == "key", w == "apikey", w == "bearer":
			strong = true
		}
	}
	return password, strong
}

func classes(v string) (lower, upper, digit, mark bool) {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case isLower(c):
			lower = true
		case isUpper(c):
			upper = true
		case isDigit(c):
			digit = true
		default:
			mark = true
		}
	}
	return
}

// isVersionLike reports whether v is words with a number: "cache-v2", "v1.2.3", "sha256".
func isVersionLike(v string) bool {
	digits := 0
	for i := 0; i < len(v); i++ {
		if isDigit(v[i]) {
			digits++
		}
	}
	return digits < 2 || strings.Contains(v, ".") && !strings.Contains(v, "hvs.") ||
		strings.Count(v, "-") > 1 || strings.Count(v, "_") > 1
}
