package kb

import (
	"strings"
	"unicode"
)

// ShellWord writes s as one word of a POSIX shell: unchanged when it is
// plain, else between single quotes. A ~/ before it stays the home folder.
func ShellWord(s string) string {
	home := ""
	if rest, ok := strings.CutPrefix(s, "~/"); ok && rest != "" {
		home, s = "~/", rest
	}
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@%+=", r))
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return home + s
	}
	return home + "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Kebab writes a name of JSON as a flag: words in lower case, hyphens between.
func Kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_':
			r = '-'
		case unicode.IsUpper(r):
			if i > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
