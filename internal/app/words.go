package app

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// BytesOf writes a number of bytes.
func BytesOf(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// ClipRunes cuts a string to n runes, the last of which then is an ellipsis.
func ClipRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}
