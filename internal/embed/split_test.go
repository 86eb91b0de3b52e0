package embed

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplit(t *testing.T) {
	long := strings.Repeat("abcdefgh", 10)
	for text, want := range map[string]string{
		"":                           "",
		"  \n":                       "",
		"parseHTTPServer":            "parse http server",
		"HTTPServer_v2":              "http server v 2",
		"snake_case_NAME":            "snake case name",
		"URLs IDs2 IDsOf":            "urls ids 2 ids of",
		"ABCsx":                      "ab csx",
		"As IsA":                     "as is a",
		"sha256sum":                  "sha 256 sum",
		"x86_64-linux":               "x 86 64 linux",
		"don't":                      "don t",
		"Größe straßenBahn ÄÖÜNamen": "grosse strassen bahn aou namen",
		"世界Hello":                    "世界 hello",
		"hello世界":                    "hello世界",
		"URLs世 URLs→ URLs":           "ur ls世 urls urls",
		"٣٤abc12٣":                   "٣٤ abc 12٣",
		"a\xffb":                     "a b",
		"é":                          "e",
		"e\u0301 función FUNCIÓN":    "e funcion funcion",
		"\u0301 x":                   "x",
		"Æon œuvre":                  "aeon oeuvre",
		"ЖуковскийНиколай":           "жуковский николай",
		long:                         long[:64] + " " + long[64:],
		long + "é":                   long[:64] + " " + long[64:] + "e",
	} {
		if got := strings.Join(Split(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The fast path of ASCII text agrees with the definition.
func checkSplit(t *testing.T, text string) {
	t.Helper()
	var want []string
	c := newCounter()
	for i := 0; i < len(text); {
		i = c.splitWide(text, i, func(w []byte) { want = append(want, string(w)) })
	}
	got := Split(text)
	if !slices.Equal(got, want) {
		t.Fatalf("%q: %q, want %q", text, got, want)
	}
	for _, w := range got {
		if w == "" || len(w) > maxWord || !utf8.ValidString(w) {
			t.Fatalf("%q: word %q", text, w)
		}
	}
	// Counting finds the same words.
	c = newCounter()
	c.count(text)
	counts, n := map[string]uint32{}, 0
	for _, w := range c.words {
		counts[string(c.bytes(w))] += w.n
		n += int(w.n)
	}
	if n != len(got) {
		t.Fatalf("%q: %d words counted, want %d", text, n, len(got))
	}
	for _, w := range got {
		if counts[w] == 0 {
			t.Fatalf("%q: word %q is not counted", text, w)
		}
	}
}

var pieces = strings.Fields("a b s S sé é É A B AB Ab aB 1 23 ٣ _ - 世 ß → \xff \xe4 URL URLs HTTPServer x́ ǅ İ K")

func TestFastPath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkSplit(t, b.String())
	}
	checkSplit(t, strings.Repeat("ABcd1é", 10000))
}

func FuzzSplit(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Fuzz(checkSplit)
}
