package rank

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestDigest(t *testing.T) {
	if Parse("a short question about `pushContext`").Digest() != nil {
		t.Error("a short question is digested")
	}
	var b strings.Builder
	b.WriteString("Cookies vanish after a redirect\n\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "filler%d words\n", i%550)
	}
	b.WriteString("It began with `mergeCookies()`, ValueError: \"no jar here\". cookies cookies\n")
	d := Parse(b.String()).Digest()
	if d == nil {
		t.Fatal("a long text is not digested")
	}
	words := d.Terms()
	st := kb.TermStats{Chunks: 1000, Frequency: make([]int64, len(words))}
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "filler"):
			st.Frequency[i] = 500
		case w != "vanish":
			st.Frequency[i] = 20
		}
	}
	q := d.Query(st)
	for _, w := range []string{"mergeCookies", "redirect", "Cookies", "ValueError"} {
		if i := slices.IndexFunc(q.Words, func(x Word) bool { return x.Text == w }); i < 0 || i > 5 {
			t.Errorf("%s is at %d of %d words", w, i, len(q.Words))
		}
	}
	if slices.ContainsFunc(q.Words, func(x Word) bool { return x.Text == "vanish" }) {
		t.Error("a word that no store has is looked for")
	}
	if len(q.Terms) > maxTerms || len(q.Quoted) != 1 || !strings.Contains(q.Text, "no jar here") {
		t.Errorf("%d terms, quoted %q", len(q.Terms), q.Quoted)
	}
	var many strings.Builder
	for i := range 2 * mostDigested {
		fmt.Fprintf(&many, "word%dx ", i)
	}
	if n := len(Parse(many.String()).Digest().Terms()); n != 600 {
		t.Errorf("%d words are counted", n)
	}
}
