package traces

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// Reply says what most likely caused a trace.
type Reply struct {
	Says     []string  `json:"says,omitempty"` // what went wrong, in the words of the trace
	Failures int       `json:"failures"`       // that the text tells of
	Tests    []string  `json:"tests,omitempty"`
	Causes   []Cause   `json:"causes"` // the likeliest first
	Calls    []Step    `json:"calls,omitempty"`
	Reach    []Test    `json:"reach,omitempty"` // tests that reach the first cause
	Missing  []Missing `json:"missing,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
}

// Cause is a declaration that may have caused a trace.
type Cause struct {
	At     string   `json:"at"` // path:Lfrom-Lto
	Store  string   `json:"store,omitempty"`
	Symbol string   `json:"symbol"`
	Share  float64  `json:"share"` // of the blame of all that is listed, in [0,1]
	Why    []string `json:"why"`
	Line   int      `json:"line,omitempty"`
	Code   string   `json:"code,omitempty"`
}

// Step is a frame of the trace that is in a store, or a call between two that is
// rebuilt.
type Step struct {
	At      string `json:"at"` // path:Lline
	Store   string `json:"store,omitempty"`
	Symbol  string `json:"symbol"`
	Rebuilt bool   `json:"rebuilt,omitempty"` // not in the trace
}

// Test is a test that reaches a cause.
type Test struct {
	At     string   `json:"at"`
	Symbol string   `json:"symbol"`
	Failed bool     `json:"failed,omitempty"`
	Via    []string `json:"via,omitempty"`
}

// Missing is code that frames are in and no store has.
type Missing struct {
	Name   string `json:"name"` // npm:react 18.2.0, or a folder
	Frames int    `json:"frames"`
	Add    string `json:"add,omitempty"` // the command that adds it
}

const (
	replyTokens = 1450
	shownCalls  = 14
)

// reply shows suspects, and how they were come by.
func (e *explainer) reply(w *walker, suspects []*suspect) (Reply, error) {
	r := Reply{Failures: len(e.report.failures) + e.report.more, Causes: []Cause{}}
	orders := false
	for i := range e.report.failures {
		f := &e.report.failures[i]
		for _, s := range f.says {
			masked, _ := secret.Mask("", strings.ToValidUTF8(s, "\uFFFD"))
			orders = orders || visible.ToAssistant(masked)
			if masked = kb.Clip(visible.Line(masked), 200); len(r.Says) < 4 && !slices.Contains(r.Says, masked) {
				r.Says = append(r.Says, masked)
			}
		}
		if t := e.tests[i]; t != nil {
			if name := t.path + " " + t.name; len(r.Tests) < 8 && !slices.Contains(r.Tests, name) {
				r.Tests = append(r.Tests, name)
			}
		}
	}
	if orders {
		r.Notes = append(r.Notes, visible.Orders)
	}
	sum := 0.0
	for _, s := range suspects[:min(len(suspects), e.limit)] {
		sum += s.score
	}
	for _, s := range suspects[:min(len(suspects), e.limit)] {
		if s.score <= 0 {
			break
		}
		c, err := e.cause(s)
		if err != nil {
			return r, err
		}
		c.Share = float64(int(s.score/sum*100+0.5)) / 100
		r.Causes = append(r.Causes, c)
	}
	if err := e.chain(&r); err != nil {
		return r, err
	}
	if len(suspects) > 0 && len(r.Causes) > 0 {
		if err := e.reaching(&r, suspects[0].at); err != nil {
			return r, err
		}
	}
	if len(r.Causes) == 0 {
		r.Notes = append(r.Notes, "no frame is in a file of this project or of a store in scope")
	}
	return r, nil
}

// label names the store of a place, "" for the project's own folder.
func (e *explainer) label(p *place) string {
	if t := &e.targets[p.target]; !t.Own {
		return t.Label
	}
	return ""
}

func called(p *place) string {
	if p.name == "" {
		return "top level"
	}
	return p.name
}

// cause says of a suspect where it is and why it is one.
func (e *explainer) cause(s *suspect) (Cause, error) {
	p := s.at
	c := Cause{At: fmt.Sprintf("%s:L%d-%d", p.path, p.start, p.end), Store: e.label(p), Symbol: called(p)}
	doc, err := e.file(p.target, p.path)
	if err != nil {
		return c, err
	}
	switch {
	case s.frame == 0:
		c.Why = append(c.Why, fmt.Sprintf("the innermost frame, line %d", s.line))
		c.Line = s.line
	case s.frame > 0:
		c.Why = append(c.Why, fmt.Sprintf("%s above the innermost frame, line %d", kb.Count(s.frame, "call"), s.line))
		c.Line = s.line
	case s.from != nil:
		c.Why = append(c.Why, fmt.Sprintf("called by %s on line %d, and had returned", called(s.from), s.line))
		c.Line = p.line
	}
	if len(s.names) > 0 {
		slices.Sort(s.names)
		c.Why = append(c.Why, "has "+strings.Join(s.names[:min(4, len(s.names))], ", ")+" of the message")
	}
	c.Why = append(c.Why, s.why...)
	text, _ := secret.Mask("", strings.TrimSpace(doc.line(c.Line)))
	c.Code = kb.Clip(text, 120)
	for _, extra := range e.targets[p.target].Extras {
		if x, ok := extra(p.path); ok && len(x.Lines) > 0 {
			c.Why = append(c.Why, kb.Clip(x.Lines[0], 100))
		}
	}
	return c, nil
}

// chain shows the frames of the first failure that has some in stores, the
// outermost first, with the calls that lie between them.
func (e *explainer) chain(r *Reply) error {
	k := slices.IndexFunc(e.steps, func(s []step) bool { return len(s) > 1 })
	if k < 0 {
		if k = slices.IndexFunc(e.steps, func(s []step) bool { return len(s) > 0 }); k < 0 {
			return nil
		}
	}
	steps := e.steps[k]
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		r.Calls = append(r.Calls, Step{At: fmt.Sprintf("%s:L%d", s.at.path, max(s.line, s.at.line)), Store: e.label(s.at), Symbol: called(s.at)})
		if i == 0 || s.at == steps[i-1].at || steps[i-1].raw == s.raw-1 {
			continue
		}
		way, err := e.between(s.at, steps[i-1].at, 4)
		if err != nil {
			return err
		}
		for _, p := range way {
			r.Calls = append(r.Calls, Step{At: fmt.Sprintf("%s:L%d", p.path, p.line), Store: e.label(p), Symbol: called(p), Rebuilt: true})
		}
	}
	if n := len(r.Calls) - shownCalls; n > 0 {
		r.Calls = slices.Delete(r.Calls, 3, 3+n)
		r.Notes = append(r.Notes, fmt.Sprintf("%d calls in the middle are not shown", n))
	}
	return nil
}

// reaching adds the tests that reach a cause, those that failed first.
func (e *explainer) reaching(r *Reply, p *place) error {
	for _, t := range e.tests {
		if t == nil || len(r.Reach) == 3 {
			continue
		}
		at := fmt.Sprintf("%s:L%d", t.path, t.line)
		if slices.ContainsFunc(r.Reach, func(x Test) bool { return x.At == at }) {
			continue
		}
		way, err := e.between(t, p, reachedDepth)
		if err != nil {
			return err
		}
		x := Test{At: at, Symbol: called(t), Failed: true}
		for _, w := range way {
			x.Via = append(x.Via, called(w))
		}
		r.Reach = append(r.Reach, x)
	}
	v := e.targets[p.target].View
	if v == nil || p.name == "" || len(r.Reach) > 0 {
		return nil
	}
	list, err := v.Callers(p.spot(), 5, 2000)
	if err != nil {
		return err
	}
	for _, c := range list {
		from := c.Edge.From
		if !rank.IsTest(from.Path) || len(r.Reach) == 3 || slices.ContainsFunc(r.Reach, func(x Test) bool { return x.Symbol == from.Decl }) {
			continue
		}
		r.Reach = append(r.Reach, Test{At: fmt.Sprintf("%s:L%d", from.Path, from.Line), Symbol: from.Decl})
	}
	return nil
}

// Text is the reply as it is read, within its tokens.
func (r Reply) Text() string {
	for {
		text := r.plain()
		switch {
		case tokens.Estimate(text) <= replyTokens:
			return text
		case len(r.Calls) > 6:
			r.Calls = slices.Delete(slices.Clone(r.Calls), 2, 3)
		case len(r.Causes) > 5:
			r.Causes = r.Causes[:len(r.Causes)-1]
		case len(r.Says) > 2:
			r.Says = r.Says[:len(r.Says)-1]
		case len(r.Missing) > 3:
			r.Missing = r.Missing[:3]
		case len(r.Calls) > 2:
			r.Calls = r.Calls[len(r.Calls)-2:]
		case len(r.Causes) > 1:
			r.Causes = r.Causes[:len(r.Causes)-1]
		default:
			return kb.Clip(text, 4000)
		}
	}
}

func (r Reply) plain() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(visible.Line(fmt.Sprintf(format, args...)) + "\n") }
	for _, s := range r.Says {
		line("%s", s)
	}
	if r.Failures > 1 {
		line("%d failures", r.Failures)
	}
	at := func(store, at string) string {
		if store != "" {
			return store + ":" + at
		}
		return at
	}
	line("likely causes, the likeliest first:")
	for i, c := range r.Causes {
		line("%d. %s  %s  %.0f%%: %s", i+1, at(c.Store, c.At), c.Symbol, c.Share*100, strings.Join(c.Why, "; "))
		if c.Code != "" {
			line("   %d: %s", c.Line, c.Code)
		}
	}
	if len(r.Calls) > 0 {
		line("calls, the outermost first:")
	}
	for _, s := range r.Calls {
		rebuilt := ""
		if s.Rebuilt {
			rebuilt = "  (not in the trace)"
		}
		line("  %s  %s%s", at(s.Store, s.At), s.Symbol, rebuilt)
	}
	for _, t := range r.Reach {
		how := "reaches it"
		if t.Failed {
			how = "failed"
		}
		via := ""
		if len(t.Via) > 0 {
			via = ", via " + strings.Join(t.Via, " → ")
		}
		line("test %s  %s %s%s", t.At, t.Symbol, how, via)
	}
	for _, m := range r.Missing {
		add := ""
		if m.Add != "" {
			add = "; add it with: " + m.Add
		}
		line("%s in %s, which no store has%s", kb.Count(m.Frames, "frame"), m.Name, add)
	}
	for _, n := range r.Notes {
		line("note: %s", n)
	}
	return strings.TrimRight(b.String(), "\n")
}
