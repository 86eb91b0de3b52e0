package elsewhere

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// TestDespite: the surer a hit is, the more has to speak for a dependency.
func TestDespite(t *testing.T) {
	for name, tc := range map[string]struct {
		x    Proposal
		sure float64
		want bool
	}{
		"two words, an unsure hit":           {Proposal{Fit: 0.6, Words: []string{"frames", "deflate"}}, 0.4, true},
		"one word, nothing near":             {Proposal{Fit: 0.9, Words: []string{"frames"}}, 0.4, false},
		"one word, imported by what is near": {Proposal{Fit: 0.7, Near: 0.2, Words: []string{"frames"}}, 0.4, true},
		"two words, a sure hit":              {Proposal{Fit: 0.99, Words: []string{"frames", "deflate"}}, 0.9, false},
		"three words, a sure hit":            {Proposal{Fit: 0.99, Words: []string{"frames", "deflate", "upgrade"}}, 0.9, true},
		"for tests alone":                    {Proposal{Fit: 0.99, Words: []string{"frames", "deflate"}, Dependency: deps.Dependency{Dev: true}}, 0.4, false},
		"too little":                         {Proposal{Fit: 0.4, Words: []string{"frames", "deflate"}}, 0.4, false},
	} {
		if got := tc.x.despite(tc.sure); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// TestAdd: the command names the dependency, whatever its name holds.
func TestAdd(t *testing.T) {
	for want, d := range map[string]deps.Dependency{
		`suggest {"add":true,"only":["go:example.org/x"]}`:                   {Ecosystem: "go", Name: "example.org/x", Repository: "https://example.org/x"},
		`store:create {"source":"npm:left@1.2.3"}`:                           {Ecosystem: "npm", Name: "left", Version: "1.2.3"},
		`suggest {"add":true,"only":["pypi:a\"; rm -rf b"],"registry":true}`: {Ecosystem: "pypi", Name: `a"; rm -rf b`},
	} {
		x := Proposal{Dependency: d}
		if got := x.add(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
