package window

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// Span is a range of lines of a file, both ends in it.
type Span struct {
	Path     string
	From, To int
}

// Window is what an agent has been shown so far. Nothing leaves it.
type Window struct {
	Calls  int
	Tokens int // of commands and replies, by the product's estimator
	Chars  int // of replies
	tree   *Tree
	shown  map[string]map[int]bool
}

// New returns an empty window on a tree.
func New(t *Tree) *Window { return &Window{tree: t, shown: map[string]map[int]bool{}} }

// Add puts a command and its reply into the window and returns the places that
// the reply names.
func (w *Window) Add(command, reply string) (told []Span) {
	w.Calls++
	w.Tokens += tokens.Estimate(command) + tokens.Estimate(reply)
	w.Chars += len(reply)
	shown, told := Read(w.tree, reply)
	for _, s := range shown {
		w.show(s)
	}
	return told
}

func (w *Window) show(s Span) {
	if w.shown[s.Path] == nil {
		w.shown[s.Path] = map[int]bool{}
	}
	for n := s.From; n <= s.To; n++ {
		w.shown[s.Path][n] = true
	}
}

// Has reports whether all lines of a span are in the window.
func (w *Window) Has(s Span) bool {
	for n := s.From; n <= s.To; n++ {
		if !w.shown[s.Path][n] {
			return false
		}
	}
	return true
}

// Most is how many lines of a place are needed: of a longer one its first.
// Otherwise a class of a thousand lines would decide over all others.
const Most = 60

// Needed returns the lines of a place that an agent needs: those that hold
// text, Most at most.
func Needed(t *Tree, p task.Place) (path string, lines []int) {
	path, ok := t.File(p.Path)
	if !ok {
		return p.Path, nil
	}
	for n := p.From; n <= p.To && len(lines) < Most; n++ {
		if l, ok := t.Line(path, n); ok && strings.TrimSpace(l) != "" {
			lines = append(lines, n)
		}
	}
	return path, lines
}

// Found returns how many of the needed lines of the places are in the window,
// and how many there are. A whole file counts as one line, which any line of it
// stands for.
func (w *Window) Found(gold []task.Place) (in, all int) {
	for _, p := range gold {
		if p.From == 0 {
			all++
			if path, ok := w.tree.File(p.Path); ok && len(w.shown[path]) > 0 {
				in++
			}
			continue
		}
		path, lines := Needed(w.tree, p)
		all += len(lines)
		for _, n := range lines {
			if w.shown[path][n] {
				in++
			}
		}
	}
	return in, all
}

// Complete reports whether all needed lines are in the window; of whole files
// any one does.
func (w *Window) Complete(gold []task.Place) bool {
	in, all := w.Found(gold)
	if len(gold) > 0 && gold[0].From == 0 {
		return in > 0
	}
	return all > 0 && in == all
}

// Numbered returns lines of a file as "sed -n" and "cat -n" print them.
func (t *Tree) Numbered(s Span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.Path)
	for n := max(1, s.From); n <= s.To; n++ {
		l, ok := t.Line(s.Path, n)
		if !ok {
			break
		}
		fmt.Fprintf(&b, "%d\t%s\n", n, l)
	}
	return b.String()
}
