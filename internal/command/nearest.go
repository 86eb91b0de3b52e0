package command

import "strings"

// Nearest returns the choice that name was most likely meant to be, or "". A
// choice qualifies when its edit distance (insertions, deletions,
// substitutions and swaps of neighbours, each 1; case does not count) is at
// most a third of the longer length, rounded up, or when one of the two
// begins with the other and both have three letters.
func Nearest(name string, choices []string) string {
	const longest = 64 // names are shorter; a megabyte of garbage is near to none
	name = strings.ToLower(name)
	if name == "" || len(name) > longest {
		return ""
	}
	best, least := "", 1<<30
	for _, c := range choices {
		low := strings.ToLower(c)
		d := distance(name, low)
		limit := (max(len(name), len(low)) + 2) / 3
		if len(name) >= 3 && len(low) >= 3 && (strings.HasPrefix(low, name) || strings.HasPrefix(name, low)) {
			limit = d
		}
		if d <= limit && d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance over bytes.
func distance(a, b string) int {
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, one[j]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
