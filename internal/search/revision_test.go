package search

import "testing"

// TestCutRevision: what is behind a place is a revision only where a space and an @ say so.
func TestCutRevision(t *testing.T) {
	for text, want := range map[string][2]string{
		"pay.go:12 @ abc1234":             {"pay.go:12", "abc1234"},
		" pay.go:L12-40 @ v1.2~3 ":        {"pay.go:L12-40", "v1.2~3"},
		`"a b.go:3 @ main"`:               {"a b.go:3", "main"},
		"pay.go:12 @origin/x":             {"pay.go:12", "origin/x"},
		"a @ b/c.go:3 @ v1":               {"a @ b/c.go:3", "v1"},
		"node_modules/@types/x.d.ts:3":    {},
		"left-pad@1.2/index.js:10":        {},
		"docs/a @ b/c d.md:3":             {},
		"pay.go:12 @ v1, wire.go:3":       {},
		"pay.go:12 @ ":                    {},
		"@ v1":                            {},
		"k3vq7m2xabc":                     {},
		"k3vq7m2xabc.q5 @ 2026-11-01":     {"k3vq7m2xabc.q5", "2026-11-01"},
		"line\nend.go:3 @ abc1234":        {"line\nend.go:3", "abc1234"},
		"pay.go:12 @ --upload-pack=touch": {"pay.go:12", "--upload-pack=touch"}, // which is refused as a revision
	} {
		place, rev, ok := CutRevision(text)
		if !ok {
			place = ""
		}
		if place != want[0] || rev != want[1] || ok != (want[1] != "") {
			t.Errorf("%q: %q %q %v", text, place, rev, ok)
		}
	}
}
