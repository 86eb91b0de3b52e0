package rank

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMisspeltWords(t *testing.T) {
	knows := func(w string) bool { return w == "kafka" || w == "harbour" }
	for text, want := range map[string][]string{
		"how is a berth alocated":      {"alocat"},
		"parseHaeder":                  {"haeder", "parsehaeder"},
		"kafka and the harbour":        nil, // known words that are not here
		"order 4711x":                  nil, // a value
		"net/htpp/sever.go":            nil, // a path
		`"alocated berth"`:             nil, // a phrase is as it is
		"las autorizaciones del berth": nil, // Spanish
	} {
		q := Parse(text)
		st := kb.TermStats{Chunks: 100, Documents: 10, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
		if i := slices.Index(q.Terms, "berth"); i >= 0 {
			st.Frequency[i] = 3
		}
		if i := slices.Index(q.Terms, "pars"); i >= 0 {
			st.Frequency[i] = 3
		}
		got := q.Doubtful(st, knows)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestCorrectedWords(t *testing.T) {
	q := Parse("how is a bertj alocated")
	q.Correct(map[string]string{"alocat": "allocat", "bertj": "berth"})
	if q.Text != "how is a berth allocated" {
		t.Errorf("the text is %q", q.Text)
	}
	for w, meant := range q.Misspelt() {
		if want := map[string]string{"bertj": "berth", "alocated": "allocat"}[w]; meant != want {
			t.Errorf("%q for %q", meant, w)
		}
	}
	for _, w := range q.Words[3:] {
		if w.Meant == "" || q.Terms[w.Whole] != w.Meant {
			t.Errorf("%q looks for %q", w.Text, q.Terms[w.Whole])
		}
	}
}
