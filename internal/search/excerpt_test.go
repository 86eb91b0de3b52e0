package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"## Declaración":                            "Declaración",
		"- **El total** de un [[Pedido|pedido]].":   "El total de un pedido.",
		"- [x] done":                                "done",
		"3. Se aplica [[BR-1]] (`total`)":           "Se aplica BR-1 (total)",
		"> a [link](https://x.example/y) and __b__": "a link and b",
		"| `id` | `string` | Sí |":                  "id · string · Sí",
		"a_b and 2 * 3":                             "a_b and 2 * 3",
		"":                                          "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("relleno que no dice nada ", 30) + "el reembolso se paga en diez días " + strings.Repeat("más relleno al final ", 30)
	text := "---\nid: reembolso\n---\n# Reembolso\n\nOtra cosa.\n\n" + long + "\n|---|---|\n"
	q := rank.Parse("cuándo se paga el reembolso")
	st := kb.TermStats{Chunks: 100, Documents: 10, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
	for i := range st.Frequency {
		st.Frequency[i] = 3
	}
	q.Weigh(st)
	l := fitted.bestLines(newAsking(q), &kb.Passage{Chunk: kb.Chunk{Start: 1, End: 9}, Text: text})
	line, s := l.excerpt(nil, "a.md")
	if line != 8 || !strings.Contains(s, "el reembolso se paga") || utf8.RuneCountInString(s) > 150 || utf8.RuneCountInString(s) < 140 || !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "…") {
		t.Errorf("line %d, %d runes: %s", line, utf8.RuneCountInString(s), s)
	}
	parts := []kb.Part{{Path: "a.md", Lines: [][2]int{{5, 6}}}}
	if line, s = l.excerpt(parts, "a.md"); line != 6 || s != "Otra cosa." {
		t.Errorf("of lines 5 to 6: %d %q", line, s)
	}
	for n := range 400 { // words of any length, and none
		if got := l.around(strings.Repeat("ñ", n) + " reembolso " + strings.Repeat("x", n)); utf8.RuneCountInString(got) > ExcerptRunes {
			t.Fatalf("%d runes of %d", utf8.RuneCountInString(got), 2*n+11)
		}
	}
	if line, s = (&lines{first: 4, text: []string{"---", ""}}).excerpt(nil, "a.md"); line != 4 || s != "" {
		t.Errorf("of nothing: %d %q", line, s)
	}
}
