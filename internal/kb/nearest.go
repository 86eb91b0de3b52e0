package kb

import (
	"slices"
	"strings"
)

// longestName bounds what names are compared with: names are shorter, and a
// megabyte of garbage is near to none.
const longestName = 128

// Nearest returns the choice that name was most likely meant to be, or "". A
// choice qualifies when its edit distance (insertions, deletions,
// substitutions and swaps of neighbours, each 1; case does not count) is at
// most a third of the longer length, rounded up, or when one of the two
// begins with the other and both have three letters. Something must be shared.
func Nearest(name string, choices []string) string {
	if few := NearestFew(name, choices, 1); few != nil {
		return few[0]
	}
	return ""
}

// NearestFew returns up to n choices that qualify as Nearest says and are as
// near as the nearest, or one step further: nearest first, equals in the order
// of choices, each once. Choices may be many: what cannot qualify by its length
// is not compared.
func NearestFew(name string, choices []string, n int) []string {
	name = strings.ToLower(name)
	if name == "" || len(name) > longestName {
		return nil
	}
	type candidate struct {
		choice string
		cost   int
	}
	var near []candidate
	for _, c := range choices {
		low := strings.ToLower(c)
		longer, shorter := max(len(name), len(low)), min(len(name), len(low))
		limit := (longer + 2) / 3
		if shorter >= 3 && (strings.HasPrefix(low, name) || strings.HasPrefix(name, low)) {
			limit = longer
		}
		if longer > longestName || longer-shorter > limit {
			continue
		}
		if d := Distance(name, low); d <= limit && d < longer && !slices.ContainsFunc(near, func(x candidate) bool { return x.choice == c }) {
			near = append(near, candidate{c, d})
		}
	}
	SortStableFunc(near, func(a, b candidate) int { return a.cost - b.cost })
	var few []string
	for _, c := range near[:min(n, len(near))] {
		if c.cost <= near[0].cost+1 { // beside a near one, one far off is noise
			few = append(few, c.choice)
		}
	}
	return few
}

// DidYouMean is the first half of a hint, "did you mean a, b or c? ", for the
// choices that are near to name; "" when none is. What to type next follows.
func DidYouMean(name string, choices []string) string {
	few := NearestFew(name, choices, 3)
	switch len(few) {
	case 0:
		return ""
	case 1:
		return "did you mean " + few[0] + "? "
	}
	last := len(few) - 1
	return "did you mean " + strings.Join(few[:last], ", ") + " or " + few[last] + "? "
}

// Distance is the edit distance of two short strings over bytes: insertions,
// deletions, substitutions and swaps of neighbours, each 1 (the optimal string
// alignment distance). It takes len(a)·len(b) steps, so callers bound what
// strangers wrote.
func Distance(a, b string) int {
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
