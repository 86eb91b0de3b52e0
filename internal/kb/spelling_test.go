package kb

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"stores", "store", 1}, {"ab", "ba", 1}, {"same", "same", 0}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"añb", 2, "a…"}, {"añb", 3, "añ…"}, {"x", 0, "…"}} {
		if got := Clip(c.s, c.n); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.s, c.n, got, c.want)
		}
	}
}
