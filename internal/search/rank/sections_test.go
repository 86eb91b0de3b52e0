package rank

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// sectionSet is a page of three sections, another page and two files of code.
func sectionSet() (*Query, []Evidence) {
	q := Parse("remove a record through the api")
	stats := kb.TermStats{Documents: 10, Chunks: 100, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
	for i := range stats.Frequency {
		stats.Frequency[i] = 5
	}
	q.Weigh(stats)
	at := func(path string, chunk int, flags kb.DocFlags, lexical float64, s *Section) Evidence {
		return Evidence{Candidate: kb.Candidate{Place: kb.Place{Path: path, Chunk: chunk}, ID: path + string(rune('a'+chunk)),
			Flags: flags, Lexical: lexical, Cosine: lexical / 10, Matched: 1, DocMatched: 1, Start: 10 * chunk, End: 10*chunk + 9, Chunks: 3, Sum: lexical}, Section: s}
	}
	return q, []Evidence{
		at("a.go", 0, 0, 5, nil),
		at("api.md", 0, kb.FlagProse, 4, &Section{Title: "API", Words: 0.3}),
		at("api.md", 1, kb.FlagProse, 3.8, &Section{Title: "API\x00Delete records", Words: 1, Lead: 0.6}),
		at("api.md", 2, kb.FlagProse, 3.7, &Section{Title: "API\x00Delete records", Words: 0.9, Lead: 0.5}),
		at("b.go", 0, 0, 3, nil),
		at("list.md", 0, kb.FlagProse, 2, &Section{Title: "Lists", Words: 0.4, Lead: 0.2}),
	}
}

func ids(hits []Scored) (prose, code []string, kinds string) {
	for _, h := range hits {
		if h.Flags&kb.FlagProse != 0 {
			prose, kinds = append(prose, h.ID), kinds+"p"
		} else {
			code, kinds = append(code, h.ID), kinds+"c"
		}
	}
	return prose, code, kinds
}

func TestSectionsMoveProseAlone(t *testing.T) {
	q, cands := sectionSet()
	with, _ := Rank(q, cands, Options{Limit: 10, Explain: true})
	plain := slices.Clone(cands)
	for i := range plain {
		plain[i].Section = nil
	}
	without, _ := Rank(q, plain, Options{Limit: 10})
	prose, code, kinds := ids(with)
	_, codeBefore, kindsBefore := ids(without)
	if kinds != kindsBefore || !slices.Equal(code, codeBefore) {
		t.Errorf("code moved: %s %v, before %s %v", kinds, code, kindsBefore, codeBefore)
	}
	if d := cmp.Diff([]string{"api.mdb", "list.mda"}, []string{prose[0], prose[len(prose)-1]}); d != "" {
		t.Errorf("prose (-want +got):\n%s", d)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(prose))); len(distinct) != len(prose) {
		t.Errorf("a section is shown twice: %v", prose)
	}
	for i := 1; i < len(with); i++ {
		if with[i].Score > with[i-1].Score {
			t.Errorf("hit %d has a higher score than the one before", i)
		}
	}
	for _, h := range with {
		if _, ok := h.Parts["section.words"]; ok != (h.Flags&kb.FlagProse != 0) {
			t.Errorf("%s is explained by %v", h.ID, h.Parts)
		}
	}
}

func TestClosely(t *testing.T) {
	q, cands := sectionSet()
	if got := Closely(q, cands, Options{}); !slices.Equal(got, []int{1, 2, 3, 5}) {
		t.Errorf("looks at %v", got)
	}
	for name, o := range map[string]Options{"fts": {Mode: FTS}, "vector": {Mode: Vector}, "usage": {Intent: "find-usage"}} {
		if got := Closely(q, cands, o); got != nil {
			t.Errorf("%s looks at %v", name, got)
		}
	}
	for _, text := range []string{"parseHeader", `"in quotes"`, "net/http/server.go"} {
		if got := Closely(Parse(text), cands, Options{}); got != nil {
			t.Errorf("%s looks at %v", text, got)
		}
	}
}

func TestCovers(t *testing.T) {
	q, _ := sectionSet()
	near := q.Near()
	covers := func(terms ...string) float64 {
		var has uint64
		for _, w := range terms {
			has |= near[w]
		}
		return q.Covers(has)
	}
	for _, c := range []struct {
		terms []string
		want  float64
	}{
		{[]string{"remov", "record", "through", "api"}, 1},
		{[]string{"delet"}, fitted.Related / 4},
		{[]string{"delet", "remov"}, 1.0 / 4},
		{[]string{"borrar"}, fitted.Related / 4},
		{[]string{"the"}, 0},
		{nil, 0},
	} {
		if got := covers(c.terms...); max(got-c.want, c.want-got) > 1e-9 {
			t.Errorf("%v cover %.3f, not %.3f", c.terms, got, c.want)
		}
	}
}

// A query has bits for so many of its words.
func TestCoversFirstWords(t *testing.T) {
	var query strings.Builder
	for i := range 60 {
		fmt.Fprintf(&query, "%c%czz ", 'b'+i%20, 'b'+i/20)
	}
	n := 0
	for range Parse(query.String()).covered() {
		n++
	}
	if n != 32 {
		t.Errorf("%d words are looked at", n)
	}
}

// Of two sections with the same words the shorter one comes first, and what
// tells of changes after what tells how things are, unless that is asked for.
func TestSectionsLengthAndDates(t *testing.T) {
	first := func(query string, change func(e []Evidence)) string {
		q, cands := sectionSet()
		if query != "" {
			q = Parse(query)
			stats := kb.TermStats{Documents: 10, Chunks: 100, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
			for i := range stats.Frequency {
				stats.Frequency[i] = 5
			}
			q.Weigh(stats)
		}
		a, b := cands[1], cands[5]
		a.Path, a.ID, b.Path, b.ID = "a.md", "a", "b.md", "b"
		a.Lexical, b.Lexical, a.Cosine, b.Cosine, a.Sum, b.Sum = 4, 4, 0.5, 0.5, 4, 4
		a.Section, b.Section = &Section{Title: "A", Words: 0.5, Bytes: 100}, &Section{Title: "B", Words: 0.5, Bytes: 100}
		two := []Evidence{a, b}
		change(two)
		hits, _ := Rank(q, two, Options{Limit: 10})
		return hits[0].ID
	}
	if got := first("", func([]Evidence) {}); got != "a" {
		t.Errorf("alike: %s first", got)
	}
	if got := first("", func(e []Evidence) { e[0].Section.Bytes = 4000 }); got != "b" {
		t.Errorf("the longer of two: %s first", got)
	}
	dated := func(e []Evidence) { e[0].Path, e[0].Lexical = "docs/release-notes/a.md", 4.4 }
	if got := first("", dated); got != "b" {
		t.Errorf("release notes: %s first", got)
	}
	if got := first("what changed when a record is removed", dated); got != "a" {
		t.Errorf("release notes that are asked for: %s first", got)
	}
}
