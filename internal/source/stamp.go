package source

import "strconv"

// formatStamp joins numbers with dots, in base 36.
func formatStamp(ns ...int64) string {
	b := make([]byte, 0, 48)
	for i, n := range ns {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, n, 36)
	}
	return string(b)
}
