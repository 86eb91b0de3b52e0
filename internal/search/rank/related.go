package rank

import (
	"cmp"
	_ "embed" // the table is a part of the program
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// relatedText holds a term a line with those of words that documentation and
// those who ask it use in its place, in byte order of the terms. It is made
// of the lists of package thesaurus (go test ./internal/search/rank -update), so that looking up
// a few words does not read thousands.
//
//go:embed related.txt
var relatedText string

// Related returns for a term those of words that are used in its place, the
// most usual first.
func Related(term string) []string { return related(term) }

// related returns for a term those of words that are used in its place.
func related(term string) []string {
	// The first line that does not come before term's.
	at := sort.Search(len(relatedText), func(i int) bool {
		from := strings.LastIndexByte(relatedText[:i], '\n') + 1
		have, _, _ := strings.Cut(relatedText[from:], " ")
		return have >= term
	})
	at = strings.LastIndexByte(relatedText[:at], '\n') + 1
	line, _, _ := strings.Cut(relatedText[at:], "\n")
	if have, others, _ := strings.Cut(line, " "); have == term {
		return strings.Fields(others)
	}
	return nil
}

// soft is a term that is looked for beside the words of a query, since code or
// documentation may have it in their place.
type soft struct {
	term  int
	value float64 // how much it stands for the words, in [0,1]
	words []int   // of the query
}

// Expand adds to a question in words the terms that are used for them, those
// that stand for most of its words first; see package thesaurus. What an entry
// lists later is less usual: it counts 1/√place.
func (q *Query) Expand() {
	if q.Class != Natural {
		return
	}
	values := map[string]*soft{}
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop || w.Named || w.Whole < 0 {
			continue
		}
		for place, t := range related(q.Terms[w.Whole]) {
			if stop[t] || slices.Contains(q.Terms, t) {
				continue
			}
			s := values[t]
			if s == nil {
				s = &soft{}
				values[t] = s
			}
			s.value += 1 / math.Sqrt(float64(place+1))
			s.words = append(s.words, i)
		}
	}
	best := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b].value, values[a].value), cmp.Compare(a, b))
	})
	for _, t := range best[:min(len(best), q.tuning.MostSoft)] {
		s := values[t]
		if s.term = q.term(t); s.term < 0 {
			break
		}
		s.value = min(1, s.value)
		q.soft = append(q.soft, *s)
	}
}

// Soft are the bits of the terms that Expand added.
func (q *Query) Soft() (bits uint64) {
	for i := range q.soft {
		bits |= 1 << q.soft[i].term
	}
	return bits
}

// Narrow takes the terms that Expand added out of the query and of what was
// found: sections of documentation count such words by themselves.
func (q *Query) Narrow(found []Evidence) {
	q.soft = nil
	for i := range found {
		e := &found[i]
		e.Lexical, e.Sum = e.Lexical-e.Beside, e.Sum-e.SumBeside
		e.Beside, e.SumBeside = 0, 0
	}
}

// softIDF is the weight of a soft term: its own, and at most that of the
// rarest word that it stands for.
func (q *Query) softIDF(s *soft) float64 {
	most := 0.0
	for _, i := range s.words {
		most = max(most, q.Words[i].idf)
	}
	return min(q.idf[s.term], most)
}
