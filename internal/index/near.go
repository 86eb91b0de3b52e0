package index

import "strings"

// Misspelt returns the ids that one slip of the finger may have made s of: a
// letter wrong, missing, too many, or two neighbours swapped. They are a few
// hundred, for Resolve to tell which exist.
func Misspelt(s string) []string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
	s = strings.ToLower(strings.TrimSpace(s))
	var out []string
	add := func(id string) {
		if _, _, ok := ParseID(id); ok && id != s {
			out = append(out, id)
		}
	}
	switch len(s) {
	case IDLen:
		for i := range s {
			for _, c := range alphabet {
				add(s[:i] + string(c) + s[i+1:])
			}
			if i > 0 {
				add(s[:i-1] + s[i:i+1] + s[i-1:i] + s[i+1:])
			}
		}
	case IDLen - 1:
		for i := 0; i <= len(s); i++ {
			for _, c := range alphabet {
				add(s[:i] + string(c) + s[i:])
			}
		}
	case IDLen + 1:
		for i := range s {
			add(s[:i] + s[i+1:])
		}
	}
	return out
}
