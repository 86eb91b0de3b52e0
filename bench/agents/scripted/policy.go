package scripted

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
)

// The bounds of both policies.
const (
	around     = 40     // lines read before and after a place: windows of 81 lines
	grepShown  = 50     // lines of a grep that an agent looks at, as with "| head -50"
	grepWidth  = 250    // characters of each
	words      = 6      // greps for one question
	perWord    = 12     // windows read after a grep
	mostTokens = 60_000 // at which a policy gives up
	mostCalls  = 80
	hitsRead   = 5   // hits of a search that are read, as far as they were not shown
	hitLines   = 120 // lines of a hit that are read at most
)

// Limits says when a policy gives up.
func Limits() string { return fmt.Sprintf("%d tokens or %d calls", mostTokens, mostCalls) }

// Outcome is what a policy came to.
type Outcome struct {
	Found  bool
	Calls  int
	Tokens int     // in the window when all was found, or when it gave up
	Needed int     // lines
	Share  float64 // of the needed lines that are in the window
	First  float64 // of them after the first call
	Told   bool    // the first call named every place
}

// run is one question under one policy.
type run struct {
	q   Question
	t   *window.Tree
	w   *window.Window
	out Outcome
}

func newRun(q Question, t *window.Tree) *run { return &run{q: q, t: t, w: window.New(t)} }

// over reports whether the run has ended.
func (r *run) over() bool {
	return r.w.Complete(r.q.Gold) || r.w.Calls >= mostCalls || r.w.Tokens >= mostTokens
}

func (r *run) end() Outcome {
	r.out.Found, r.out.Calls, r.out.Tokens = r.w.Complete(r.q.Gold), r.w.Calls, r.w.Tokens
	in, all := r.w.Found(r.q.Gold)
	r.out.Needed, r.out.Share = all, float64(in)/float64(max(1, all))
	return r.out
}

// read puts lines of a file into the window, unless they are there.
func (r *run) read(s window.Span) {
	s.From, s.To = max(1, s.From), min(s.To, len(r.t.Lines[s.Path]))
	if r.over() || r.w.Has(s) {
		return
	}
	r.w.Add(fmt.Sprintf("sed -n '%d,%dp' %s", s.From, s.To, s.Path), r.t.Numbered(s))
}

func (r *run) readAround(s window.Span) {
	r.read(window.Span{Path: s.Path, From: s.From - around, To: s.From + around})
}

// Grep is policy A: it greps the rarest words of the question and reads windows
// around the hits in their order.
func Grep(q Question, t *window.Tree) Outcome {
	r := newRun(q, t)
	r.greps(func([]counted, string, []match) {})
	return r.end()
}

// GrepBest is policy A with what a good reader would do besides: a place that the
// question names is read first, and of hits those that look like a declaration
// of the word and then those near which most words of the question are.
func GrepBest(q Question, t *window.Tree) Outcome {
	r := newRun(q, t)
	for _, s := range placesIn(q.Text, t) {
		r.readAround(s)
	}
	r.greps(func(all []counted, word string, found []match) {
		near := map[window.Span]int{}
		for _, m := range found {
			near[m.Span] = r.company(all, m)
		}
		slices.SortStableFunc(found, func(a, b match) int {
			da, db := declares(a.text, word), declares(b.text, word)
			if da != db {
				if da {
					return -1
				}
				return 1
			}
			return cmp.Compare(near[b.Span], near[a.Span])
		})
	})
	return r.end()
}

// company counts the words of the question within ten lines of a match.
func (r *run) company(all []counted, m match) (n int) {
	l := r.t.Lines[m.Path]
	near := strings.ToLower(strings.Join(l[max(0, m.From-11):min(len(l), m.From+10)], "\n"))
	for _, c := range all {
		if strings.Contains(near, strings.ToLower(c.word)) {
			n++
		}
	}
	return n
}

// greps is what both forms of policy A have in common; order puts the matches of
// a word in the order in which they are read.
func (r *run) greps(order func(all []counted, word string, found []match)) {
	if r.over() {
		return
	}
	all := rarest(r.t, r.q.Text)
	for _, c := range all[:min(words, len(all))] {
		found := grep(r.t, c.word)
		var b strings.Builder
		for _, m := range found {
			fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.From, m.text[:min(grepWidth, len(m.text))])
		}
		r.w.Add(fmt.Sprintf("grep -rni '%s' . | head -%d", c.word, grepShown), b.String())
		order(all, c.word, found)
		for _, m := range found[:min(perWord, len(found))] {
			r.readAround(m.Span)
		}
		if r.over() {
			return
		}
	}
}

// Search is policy B: it asks once and reads what it is told: the first hits as
// far as the reply has not shown them, then what these call, are called by and
// are related to. What is not found so is looked for as in policy A. search is
// given the question and returns the command and its reply.
func Search(q Question, t *window.Tree, search func(string) (command, reply string, err error)) (Outcome, error) {
	r := newRun(q, t)
	command, reply, err := search(q.Text)
	if err != nil {
		return r.out, err
	}
	told := r.w.Add(command, reply)
	in, all := r.w.Found(q.Gold)
	r.out.First = float64(in) / float64(max(1, all))
	r.out.Told = Names(told, q)
	seen := map[window.Span]bool{}
	var hits, others []window.Span
	for _, s := range told {
		switch {
		case seen[s]:
		case s.To > s.From && len(hits) < hitsRead:
			hits = append(hits, s)
		default:
			others = append(others, s)
		}
		seen[s] = true
	}
	for _, s := range hits {
		r.read(window.Span{Path: s.Path, From: s.From, To: min(s.To, s.From+hitLines-1)})
	}
	for _, s := range others[:min(perWord, len(others))] {
		if s.To > s.From {
			r.read(window.Span{Path: s.Path, From: s.From, To: min(s.To, s.From+hitLines-1)})
		} else {
			r.readAround(s)
		}
	}
	r.greps(func([]counted, string, []match) {})
	return r.end(), nil
}

// Names reports whether every place that is needed is among those told; of whole
// files any one.
func Names(told []window.Span, q Question) bool {
	n := 0
	for _, p := range q.Gold {
		if slices.ContainsFunc(told, func(s window.Span) bool { return p.Overlaps(s.Path, s.From, s.To) }) {
			n++
		}
	}
	if q.Gold[0].From == 0 {
		return n > 0
	}
	return n == len(q.Gold)
}

var writtenRE = regexp.MustCompile(`([\w@+.\\/-]*\w\.\w+)(?::|\(|", line |:line )(\d+)`)

// placesIn returns the places that a text names and the tree has, in its order:
// path:12, path(12), "path", line 12. Of an installed path the end is enough.
func placesIn(text string, t *window.Tree) (out []window.Span) {
	for _, m := range writtenRE.FindAllStringSubmatch(text, -1) {
		var n int
		if _, err := fmt.Sscan(m[2], &n); err != nil {
			continue
		}
		for p := m[1]; p != ""; {
			if f, ok := t.File(p); ok {
				if n <= len(t.Lines[f]) {
					out = append(out, window.Span{Path: f, From: n, To: n})
				}
				break
			}
			_, rest, ok := strings.Cut(p, "/")
			if !ok {
				break
			}
			p = rest
		}
	}
	return out
}
