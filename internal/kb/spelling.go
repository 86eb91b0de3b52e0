package kb

import "unicode/utf8"

// Clip cuts a string of more than n bytes at a rune and says so with "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
