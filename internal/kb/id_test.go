package kb

import (
	"fmt"
	"strings"
	"testing"
)

// An id names a place by its first eight characters and its text by the
// last three: it finds the place again after an edit.
func ExampleFormatID() {
	place := PlaceKey{1, 2, 3, 4, 5}
	before, after := FormatID(place, 100), FormatID(place, 101)
	fmt.Println(before, after)

	key, text, ok := ParseID(strings.ToUpper(after))
	fmt.Println(key == place, text, ok)
	// Output:
	// aebagbafade aebagbafadf
	// true 101 true
}

func FuzzParseID(f *testing.F) {
	f.Add("abcdefgh234")
	f.Fuzz(func(t *testing.T, s string) {
		if k, text, ok := ParseID(s); ok && FormatID(k, text) != strings.ToLower(s) {
			t.Fatalf("%q reads as %q", s, FormatID(k, text))
		}
	})
}
