package reach

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Signals are what is known of a test and a change, each in [0,1].
type Signals [signalCount]float64

// The signals.
const (
	Reached  = iota // references, or guesses, lead from the change to it
	Strength        // of the strongest path, on a scale of logarithms
	Mass            // see Node.Mass, likewise
	Direct          // it uses the change itself
	Named           // its name has the words of the declaration's
	File            // its file is named for the changed one
	Folder          // it lies in the same folder
	Line            // it has the rare words of the changed lines
	Around          // it has those of the declaration around
	Together        // its file changed in the same commits
	Commit          // commits that made the changed lines made lines of it
	Size            // how long it is, on a scale of logarithms
	signalCount
)

// SignalNames are what the signals are called in reports.
var SignalNames = [signalCount]string{"reached", "strength", "mass", "direct", "named", "file", "folder", "line", "around", "together", "commit", "size"}

// Weights is how much each signal counts: fitted on the open mutants of
// bench/impact, of which without Strength 76 of 84 had a test that notices among the first ten,
// without Line 74, without File 76, without Mass or Commit 78, and with all of them 80.
// Folder, Together and Reached changed none; they order what nothing else does.
var Weights = Signals{
	Reached: 0.2, Strength: 5.5, Mass: 1.75, Direct: 0.6, Named: 1, File: 1.1, Folder: 0.2, Line: 2, Around: 1, Together: 0.2, Commit: 1.6, Size: 0.8,
}

// Ranked is a test with how likely it notices a change.
type Ranked struct {
	Test
	Node    *Node // nil where nothing leads to it
	Signals Signals
	Score   float64
}

// Hunk is changed lines of a document: words of the lines, on both sides, and of
// the declaration around.
type Hunk struct {
	Path         string
	Line, Around string
	Name         string // of the declaration, qualified; "" at top level
}

// Past is what the history says of a change; a nil function says nothing.
type Past struct {
	// Together is how often a file changed with those that change now, in [0,1].
	Together func(path string) float64
	// Commit is how much of a test the commits made that made the changed
	// lines, in [0,1].
	Commit func(t Test) float64
}

// mostTestFiles bounds the documents whose tests are ranked, beyond those that
// the change reaches.
const mostTestFiles = 400

// Rank returns the tests that may notice a change, the likeliest first.
func (s Source) Rank(ctx context.Context, web *Web, hunks []Hunk, past Past) ([]Ranked, error) {
	all, err := s.candidates(ctx, web, hunks)
	if err != nil {
		return nil, err
	}
	v := vocabulary(all)
	for i := range all {
		all[i].judge(v, hunks, past)
	}
	for i := range all {
		for k, w := range Weights {
			all[i].Score += w * all[i].Signals[k]
		}
	}
	kb.SortStableFunc(all, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return all, nil
}

// candidates are the tests that the change reaches, and those of files that
// lie beside or are named for the changed ones.
func (s Source) candidates(ctx context.Context, web *Web, hunks []Hunk) ([]Ranked, error) {
	reached := map[kb.Spot]*Node{}
	var files []string
	for _, n := range web.Nodes {
		if n.Test {
			reached[n.Spot()] = n
			files = append(files, n.Path)
		} else if IsTest(n.Path) && n.Of == nil {
			files = append(files, n.Path)
		}
	}
	every, err := s.Index.Documents(ctx, "")
	if err != nil {
		return nil, err
	}
	var beside []string
	for _, p := range every {
		if IsTest(p) && slices.ContainsFunc(hunks, func(h Hunk) bool { return near(p, h.Path) }) && len(beside) < mostTestFiles {
			beside = append(beside, p)
		}
	}
	files = append(files, beside...)
	slices.Sort(files)
	var out []Ranked
	for _, p := range slices.Compact(files) {
		tests, err := s.TestsIn(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, t := range tests {
			out = append(out, Ranked{Test: t, Node: reached[kb.Spot{Path: p, Line: t.Line, Decl: t.Symbol}]})
		}
	}
	return out, nil
}

// near reports whether the tests of a file may be about another without using it
// in a way that is known: one folder, or one name, or the folder of all tests.
func near(test, changed string) bool {
	return path.Dir(test) == path.Dir(changed) || stem(test) == stem(changed) || path.Ext(test) == path.Ext(changed) && strings.HasPrefix(test, "test")
}

// judge sets the signals of a test.
func (r *Ranked) judge(v *words, hunks []Hunk, past Past) {
	s := &r.Signals
	if n := r.Node; n != nil {
		s[Reached] = 1
		s[Strength] = logScale(n.Strength, 3)
		s[Mass] = logScale(n.Mass, 4)
		if n.Depth <= 1 {
			s[Direct] = 1
		}
	}
	own := v.of(r.Body)
	name := split(r.Name)
	for _, h := range hunks {
		if stem(h.Path) == stem(r.Path) {
			s[File] = 1
		}
		if path.Dir(h.Path) == path.Dir(r.Path) {
			s[Folder] = 1
		}
		s[Named] = max(s[Named], v.share(split(h.Name), set(name)))
		s[Line] = max(s[Line], v.share(identifiers(h.Line), own))
		s[Around] = max(s[Around], v.share(identifiers(h.Around), own))
	}
	if past.Together != nil {
		s[Together] = past.Together(r.Path)
	}
	if past.Commit != nil {
		s[Commit] = past.Commit(r.Test)
	}
	s[Size] = min(1, math.Log1p(float64(r.End-r.Start))/6)
}

// logScale maps 1 to 1 and 10^-decades to 0.
func logScale(x, decades float64) float64 {
	if x <= 0 {
		return 0
	}
	return max(0, min(1, 1+math.Log10(x)/decades))
}

// words knows in how many tests each word is.
type words struct {
	tests int
	in    map[string]int
	sets  map[string]map[string]bool
}

func vocabulary(all []Ranked) *words {
	v := &words{tests: len(all), in: map[string]int{}, sets: map[string]map[string]bool{}}
	for i := range all {
		for w := range v.of(all[i].Body) {
			v.in[w]++
		}
	}
	return v
}

// of returns the words of a text.
func (v *words) of(text string) map[string]bool {
	s, ok := v.sets[text]
	if !ok {
		s = set(identifiers(text))
		v.sets[text] = s
	}
	return s
}

// share is which part of words, weighed by how few tests have them, is in a set;
// of words that no test has nothing is said.
func (v *words) share(list []string, in map[string]bool) float64 {
	all, some := 0.0, 0.0
	for _, w := range slices.Compact(slices.Sorted(slices.Values(list))) {
		n := v.in[w]
		if n == 0 {
			continue
		}
		weight := math.Log(float64(v.tests+1) / float64(n))
		all += weight
		if in[w] {
			some += weight
		}
	}
	if all == 0 {
		return 0
	}
	return some / all
}

func set(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, w := range list {
		out[w] = true
	}
	return out
}

// identifiers returns the words of code: each whole, and its parts.
func identifiers(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) < 2 || len(w) > 80 || unicode.IsDigit(rune(w[0])) {
			continue
		}
		parts := split(w)
		out = append(out, parts...)
		if len(parts) > 1 {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// split takes a name apart: "HTTPServer.serve_all" is http, server, serve, all.
func split(name string) []string {
	var out []string
	var part []rune
	flush := func() {
		if len(part) > 1 {
			out = append(out, strings.ToLower(string(part)))
		}
		part = part[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		part = append(part, r)
	}
	flush()
	return out
}
