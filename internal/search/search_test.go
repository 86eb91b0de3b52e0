package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

const body = `// Package list holds lists.
package list

// Len counts.
func Len(l *List) int {
	return l.n
}

// Reverse turns a list around, in place.
func Reverse(l *List) {
	for a, b := l.head, l.tail; a != b; a, b = a.next, b.prev {
		swap(a, b)
	}
}
`

func passage() *kb.Passage {
	return &kb.Passage{
		Place: kb.Place{Path: "list.go"}, Text: body, Language: "go",
		Chunk: kb.Chunk{Start: 1, End: 14, To: len(body), Decl: []string{"Len"}, Kind: "function", Symbols: []kb.Symbol{
			{Name: "Len", Kind: "function", Signature: "func Len(l *List) int", Start: 4, End: 7},
			{Name: "Reverse", Kind: "function", Signature: "func Reverse(l *List)", Start: 9, End: 14},
		}},
	}
}

func query(text string) *rank.Query {
	q := rank.Parse(text)
	st := kb.TermStats{Documents: 10, Chunks: 100, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
	q.Weigh(st)
	return q
}

func TestTheLinesThatAnswerAreShown(t *testing.T) {
	tests := []struct {
		query string
		n     int
		line  int
		code  string
	}{
		{"turn a list around", 1, 10, "func Reverse(l *List) {"}, // what the comment is about
		{"turn a list around", 2, 9, "// Reverse turns a list around, in place.\nfunc Reverse(l *List) {"},
		{"Reverse", 1, 10, "func Reverse(l *List) {"},
		{"swap", 1, 12, "\t\tswap(a, b)"},
		{"reverse swap", 3, 10, "func Reverse(l *List) {\n\tfor a, b := l.head, l.tail; a != b; a, b = a.next, b.prev {\n\t\tswap(a, b)"},
		{"nothing of this", 1, 5, "func Len(l *List) int {"},
	}
	for _, tt := range tests {
		l := fitted.bestLines(newAsking(query(tt.query)), passage())
		if line, code := l.window(tt.n, 160); line != tt.line || code != tt.code {
			t.Errorf("%q: line %d %q, want %d %q", tt.query, line, code, tt.line, tt.code)
		}
	}
}

func TestLongLinesAreCutAtRunes(t *testing.T) {
	p := passage()
	p.Text = strings.Repeat("é", 500) + "\n"
	l := fitted.bestLines(newAsking(query("x")), p)
	if _, code := l.window(1, 101); code != strings.Repeat("é", 50)+"…" {
		t.Errorf("got %q", code)
	}
}

func TestTitleNamesWhatAnswers(t *testing.T) {
	for text, want := range map[string]string{"Reverse": "Reverse", "count": "Len", "swap": "Reverse", "len": "Len"} {
		p := passage()
		s := &shower{q: query(text)}
		l := fitted.bestLines(newAsking(s.q), p)
		meant, _ := s.meant(&p.Chunk, &l, &rank.Scored{})
		if got, sym := s.title(&p.Chunk, meant); got != want || sym.Name != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestRequestsAreChecked(t *testing.T) {
	half, two := 0.5, 2.0
	good := Request{Query: "x", Threshold: &half}
	if err := good.Complete(); err != nil || good.Limit != 10 || good.Mode != "hybrid" || good.Detail != "minimal" {
		t.Errorf("%+v, %v", good, err)
	}
	for name, r := range map[string]Request{
		"empty": {}, "blank": {Query: " \n"}, "intent": {Query: "x", Intent: "find"}, "threshold": {Query: "x", Threshold: &two},
		"limit": {Query: "x", Limit: 1000},
	} {
		if err := r.Complete(); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongQueryIsCut(t *testing.T) {
	r := Request{Query: strings.Repeat("é", MaxQuery)}
	if err := r.Complete(); err != nil || len(r.Query) > MaxQuery || len(r.Query) < MaxQuery-1 || !r.cut {
		t.Errorf("%d bytes, cut %v, %v", len(r.Query), r.cut, err)
	}
}

func TestReplySaysTheStoreOnce(t *testing.T) {
	r := Reply{Hits: []Hit{{ID: "a", Store: "s", At: "x"}, {ID: "b", Store: "s", At: "y", Code: "a < b && c"}}}
	text := r.Text()
	if strings.Count(text, `"store"`) != 1 || !strings.Contains(text, "a < b && c") {
		t.Error(text)
	}
	if r.Hits[0].Store != "s" {
		t.Error("the reply itself was changed")
	}
	r.Hits[1].Store = "t"
	if strings.Count(r.Text(), `"store"`) != 2 {
		t.Error(r.Text())
	}
}

func TestContinuedIDs(t *testing.T) {
	for asked, want := range map[string]shownLines{"abcdefgh234+120": {from: 120}, "abcdefgh234.K7": {mark: "k7"}, "abcdefgh234.k7+9": {mark: "k7", from: 9}} {
		if id, lines, err := splitID(asked); err != nil || id != "abcdefgh234" || lines != want {
			t.Errorf("%s: %s %+v %v", asked, id, lines, err)
		}
	}
	for _, bad := range []string{"", "abc", "abcdefgh234+", "abcdefgh234+0", "abcdefgh234+x", "abcdefgh1!4"} {
		if _, _, err := splitID(bad); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFirstIsAsSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		values := make([]int, r.IntN(40))
		for i := range values {
			values[i] = r.IntN(6)
		}
		order := func(a, b int) int { return cmp.Compare(values[b], values[a]) }
		want := make([]int, len(values))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, order)
		most := r.IntN(12)
		if got := first(len(values), most, order); !slices.Equal(got, want[:min(most, len(want))]) {
			t.Fatalf("the first %d of %v: %v", most, values, got)
		}
	}
}
