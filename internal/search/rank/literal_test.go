package rank

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        bool
	}{
		{`ValueError: the period 2024 is closed forever`, `raise ValueError("the period %d is closed forever")`, true},
		{`the berth 7 is closed forever`, `raise Closed("the berth %d is closed forever")`, true},
		{`the berth 7 is closed forever`, `# the berth is closed forever`, false},
		{`the berth is closed forever`, "it doesn't matter: the berth is closed forever, isn't it", false},
		{`ship red shed of Hull is moored`, `fmt.Errorf("ship %q is moored", s)`, true},
		{`ship red shed is moored`, "raise Moored(f\"ship {self.ships[name]!r} \"\n    'is moored')", true},
		{`unknown berth: 8080`, `puts "unknown berth: #{berths.map { |b| b.name }}"`, true},
		{`who is moored as an unknown berth`, `log("unknown berth")`, false},
		{`ship one two three four five six seven is moored`, `fmt.Errorf("ship %q is moored", s)`, false},
		{`ship Ann is moored`, "log(\"ship\")\nf()\ng()\nlog(\"is moored\")", false},
		{`who says "no berth" to a ship`, `// there is no berth`, true},
		{`who says "no berth" to a ship`, `// berth: no`, false},
		{`who says "berth" to a ship`, `// berth: no`, true},
	} {
		q := Parse(c.query)
		st := kb.TermStats{Chunks: 100, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
		for i := range st.Frequency {
			st.Frequency[i] = 1
		}
		q.Weigh(st)
		l := q.Literal()
		if l == nil {
			t.Fatalf("%q has no runs", c.query)
		}
		if got := l.In(c.text, false); (got > 0) != c.want || got > 1 {
			t.Errorf("%q in %q: %v", c.query, c.text, got)
		}
	}
	for _, name := range []string{"Allocator", "two words", "berth/allocate.go", `"only a phrase of words"`} {
		if q := Parse(name); q.Literal() != nil {
			t.Errorf("%q is read for runs", name)
		}
	}
}

func TestPhrasesOfALongerTextAreEvidence(t *testing.T) {
	for _, c := range []struct {
		query          string
		strict, quoted int
	}{{`"a phrase"`, 1, 0}, {`"a phrase" "another"?`, 2, 0}, {`the "phrase" in a text`, 0, 1}, {`no quotes`, 0, 0}} {
		if q := Parse(c.query); len(q.Phrases) != c.strict || len(q.Quoted) != c.quoted {
			t.Errorf("%s: %q strict, %q evidence", c.query, q.Phrases, q.Quoted)
		}
	}
}

// TestWordsThatSignsJoin: an option, a key of a style sheet or a route that is all
// of the query is looked for as it is written; a qualified name is not.
func TestWordsThatSignsJoin(t *testing.T) {
	for query, text := range map[string]string{
		"--no-reload": "p.add('--no-reload', False)", "text-align": "text-align: left", "/v1/jobs/{id}": `mux.Handle("/v1/jobs/{id}", h)`,
	} {
		c := newCorpus(query)
		l := c.q.Literal()
		if l == nil {
			t.Errorf("%s is not looked for", query)
			continue
		}
		if all, parts := l.In(text, false), l.In("jobs to align, no text; reload v1", false); all != 1 || parts != 0 {
			t.Errorf("%s: %v and of its parts %v", query, all, parts)
		}
	}
	for _, query := range []string{"sort.Slice", "Foo::bar", "align", "no reload"} {
		if newCorpus(query).q.Literal() != nil {
			t.Errorf("%s is looked for word for word", query)
		}
	}
}

// TestPathsThatAreThere: a path that is one finds the file, not what names it.
func TestPathsThatAreThere(t *testing.T) {
	c := newCorpus("net/http/server.go")
	c.add("net/http/server.go", 1, "", "", 0)
	c.add("readme.md", 9, strings.Join(c.q.Terms, " "), "", 0)
	c.cands[0].DocMatched = c.bits(strings.Join(c.q.Terms, " "))
	c.cands[0].Cosine, c.cands[1].Literal = 1, 1
	if got := c.order(Options{}); !strings.HasPrefix(got, "net/http/server.go") {
		t.Error(got)
	}
}

// TestLongQueriesAreReadOnce: a query costs a few allocations a word, however
// long it is and however often it repeats a word.
func TestLongQueriesAreReadOnce(t *testing.T) {
	cost := func(words int) float64 {
		text := "error: " + strings.Repeat("sort.it ", words)
		return testing.AllocsPerRun(1, func() {
			q := Parse(text)
			Frames(text)
			if l := q.Literal(); l != nil {
				l.In(text, false)
			}
		})
	}
	if short, long := cost(2000), cost(8000); long > 5*short {
		t.Errorf("%.0f allocations for 2,000 words, %.0f for 8,000", short, long)
	}
}

func TestCodeIsToldFromSentences(t *testing.T) {
	for text, want := range map[string]bool{
		"for _, b := range free { if b.Fits(s) { n++ } }":             true,
		"what does this do?\n```\nx = f(a, b);\nreturn g(x)[0];\n```": true,
		"how does it wait (twice a day) for the ship = no":            false,
		"where is Foo::bar called":                                    false,
	} {
		if got := Parse(text).Code(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestWordsThatMakeANameTogether(t *testing.T) {
	q := Parse("where is the session store made")
	q.Join()
	st := kb.TermStats{Chunks: 100, Documents: 10, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
	q.Weigh(st)
	r := newRanking(q, nil, Options{})
	for term, want := range map[string]bool{"=sessionstore": true, "=session_store": true, "=session": false, "=storemade": true} {
		i := slices.Index(q.Terms, term)
		if i < 0 {
			t.Fatalf("%s is not looked for", term)
		}
		if got := r.together(1<<i) > 0; got != want {
			t.Errorf("%s: %v", term, got)
		}
	}
}

func TestPlacesForValues(t *testing.T) {
	for s, want := range map[string]int{"%s x": 2, "%(name)5.2f": 11, "%lld": 4, "% of": 0, "%": 0, "{}": 2, "{a: {b}}": 8, "{": 0,
		"${x.y}": 6, "$name": 5, "$": 0, "#{x}": 4, "# x": 0, `\(x)`: 4, `\n`: 0} {
		if got := placeholder(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
