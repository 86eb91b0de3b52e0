package kb

import "unicode/utf8"

// Distance is the edit distance of two short strings over bytes: insertions,
// deletions and substitutions, each 1 (Levenshtein 1965). It takes
// len(a)·len(b) steps, so callers bound what strangers wrote. Hints name with it
// what was probably meant.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			corner, row[j] = row[j], min(row[j]+1, row[j-1]+1, corner+cost)
		}
	}
	return row[len(b)]
}

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
