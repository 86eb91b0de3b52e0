package secret

import (
	"strings"
)

// weak masks what need not look random: a plain word with digits that a file
// of settings, or a line of a form that only settings have, gives a password
// or token. It reports whether it did. to is where the name ends.
func (f *finder) weak(name string, to int) bool {
	s := f.text
	password, strong := weakName(name)
	if !password && !strong {
		return false
	}
	i := to
	skip := func(set string) {
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			i++
		}
	}
	skip(`"'` + "`\\])")
	skip(" \t")
	if i >= len(s) {
		return false
	}
	connection := false
	defined := false
	switch {
	case strings.HasPrefix(s[i:], ":="), strings.HasPrefix(s[i:], "=>"):
		i += 2
	case s[i] == '=' || s[i] == ':':
		connection = s[i] == '=' && i == to
		i++
	case s[i] == '>' && f.settings: // <password>…</password>
		i++
	case s[i] == ',' && strings.Contains(f.line(to), "define("):
		defined = true
		i++
	case strings.HasPrefix(s[i:], "value=") && f.settings: // key="…Password" value="…"
		i += len("value=")
	default:
		return false
	}
	skip(" \t")
	quote := byte(0)
	if i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`') {
		quote = s[i]
		i++
	} else if strings.HasPrefix(s[i:], `\"`) {
		quote = '\\'
		i += 2
	}
	end := i
	for end < len(s) && s[end] != '\n' && s[end] != '\r' {
		if quote != 0 && s[end] == quote {
			break
		}
		if quote == 0 && strings.IndexByte(" \t\"'`,;<>&(){}[]", s[end]) >= 0 {
			break
		}
		if connection && quote == 0 && s[end] == ';' {
			break
		}
		end++
	}
	v := s[i:end]
	// A string of connection: "Server=db;Uid=app;Password=…".
	connection = connection && quote == 0 && (end < len(s) && s[end] == ';' || strings.Contains(f.line(to), ";"))
	switch {
	case len(v) < 6 || len(v) > 200 || quote != 0 && (end >= len(s) || s[end] != quote):
		return false
	case strings.ContainsAny(v, " \t{}<>$") || isPlaceholder(v) || manuals[v] || strings.Contains(v, "://") || strings.HasPrefix(v, "%") && strings.HasSuffix(v, "%") || strings.HasPrefix(v, "!"):
		return false
	case quote == 0 && end < len(s) && strings.IndexByte("({[", s[end]) >= 0:
		return false
	}
	lower, upper, digit, mark := classes(v)
	switch {
	case f.settings || defined || connection:
		if !(digit && (lower || upper)) && !(mark && (lower || upper) && password) {
			return false
		}
		if !password && (len(v) < 8 || isVersionLike(v) || isReference(s, i, v)) || strings.Count(v, "/") > 1 || v[0] == '/' {
			return false
		}
		if mark && !digit && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-:/") == "" {
			return false // words and the marks between them
		}
	default:
		// In source only what cannot be a word at all.
		if !password || quote == 0 || len(v) < 8 || !lower || !upper || !digit || !mark || strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/") == "" {
			return false
		}
	}
	f.add(i, end, kindPassword)
	return true
}

// weakName reports whether a name is that of a password, or of a credential.
func weakName(name string) (password, strong bool) {
	words := wordsOf(name)
	if len(words) == 0 {
		return false, false
	}
	if nameStrength(name, false) < strongName {
		return false, false
	}
	last := words[len(words)-1]
	switch last {
	case "file", "path", "dir", "name", "id", "url", "uri", "type", "length", "size", "field", "policy", "min", "max", "count", "limit", "expiry", "ttl",
		"env", "ref", "hint", "label", "algorithm", "class", "version", "header", "prefix", "format", "store", "source", "command", "timeout", "arn", "mode":
		return false, false
	}
	for _, w := range words {
		switch {
		case strings.Contains(w, "passw"), w == "pwd", w == "pass", w == "passphrase":
			password = true
		case strings.Contains(w, "secret"), strings.Contains(w, "token") && !strings.Contains(w, "tokeni") && w != "tokens", w == "key", w == "apikey", w == "authtoken", w == "bearer":
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
	return digits < 2 || strings.ContainsAny(v, ".") && !strings.Contains(v, "hvs.") || strings.Count(v, "-") > 1 || strings.Count(v, "_") > 1
}
