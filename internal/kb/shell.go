package kb

import "strings"

// ShellWord writes s as one word of a POSIX shell: as it stands when it is
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
