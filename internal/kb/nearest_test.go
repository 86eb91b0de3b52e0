package kb

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"stores", "store:info", "store:create", "store:index", "job:status", "search"}
	for _, tc := range []struct{ name, want string }{
		{"serach", "search"}, {"store:crate", "store:create"}, {"Stores", "stores"}, {"store:inf", "store:info"},
		{"stroe:index", "store:index"}, {"", ""}, {"wholly-different", ""}, {strings.Repeat("s", 1<<20), ""},
	} {
		if got := Nearest(tc.name, names); got != tc.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNearestFew(t *testing.T) {
	paths := []string{"web.go", "web_test.go", "internal/web.go", "webb.go", "webb.go", "README.md"}
	if got := NearestFew("webb.go", paths, 3); !slices.Equal(got, []string{"webb.go", "web.go"}) {
		t.Errorf("NearestFew = %q", got)
	}
	if got := NearestFew("webb.go", paths, 1); len(got) != 1 {
		t.Errorf("one was asked for: %q", got)
	}
}

func TestDidYouMean(t *testing.T) {
	for _, tc := range []struct {
		name    string
		choices []string
		want    string
	}{
		{"webb", []string{"web", "react"}, "did you mean web? "},
		{"serv", []string{"serve", "server", "react"}, "did you mean serve or server? "},
		{"abc", []string{"abd", "abe", "abf", "abg"}, "did you mean abd, abe or abf? "},
		{"a", []string{"b"}, ""},
		{"zzz", []string{"react"}, ""},
		{"zzz", nil, ""},
	} {
		if got := DidYouMean(tc.name, tc.choices); got != tc.want {
			t.Errorf("%q of %q: %q, want %q", tc.name, tc.choices, got, tc.want)
		}
	}
}
