package source

import "strings"

// nearest returns up to n of the names, those that share most with want first.
func nearest(want string, names []string, n int) []string {
	type scored struct {
		name  string
		score int
	}
	var best []scored
	for _, name := range names {
		if strings.HasSuffix(name, "^{}") || len(name) > 100 {
			continue
		}
		s := scored{name, shared(strings.ToLower(want), strings.ToLower(name))}
		i := len(best)
		for i > 0 && best[i-1].score < s.score {
			i--
		}
		if i < n {
			best = append(best[:i], append([]scored{s}, best[i:]...)...)
			best = best[:min(len(best), n)]
		}
	}
	out := make([]string, len(best))
	for i, b := range best {
		out[i] = b.name
	}
	return out
}

// shared is the length of the longest common beginning plus that of the longest common end.
func shared(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for i := 0; i < len(a)-n && i < len(b)-n && a[len(a)-1-i] == b[len(b)-1-i]; i++ {
		n++
	}
	return n
}
