package impact

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// replyTokens is what a reply may cost.
const replyTokens = 1450

// Text is the reply as an agent gets it, within its tokens: what is farthest
// from the change is left out first.
func (r Reply) Text() string {
	for {
		text := r.write()
		if tokens.Estimate(text) <= replyTokens || !r.shorten() {
			return text
		}
	}
}

// shorten leaves out one row; false where none can be spared.
func (r *Reply) shorten() bool {
	switch {
	case len(r.Callers) > 8:
		r.Callers, r.MoreCallers = r.Callers[:len(r.Callers)-1], r.MoreCallers+1
	case len(r.Changed) > 6:
		r.Changed, r.MoreChanged = r.Changed[:len(r.Changed)-1], r.MoreChanged+1
	case len(r.Evidence) > 2:
		r.Evidence = r.Evidence[:len(r.Evidence)-1]
	case len(r.API) > 4:
		r.API = r.API[:len(r.API)-1]
	case len(r.Callers) > 3:
		r.Callers, r.MoreCallers = r.Callers[:len(r.Callers)-1], r.MoreCallers+1
	case len(r.Specs) > 2:
		r.Specs = r.Specs[:len(r.Specs)-1]
	case len(r.Tests) > 5:
		r.Tests, r.MoreTests = r.Tests[:len(r.Tests)-1], r.MoreTests+1
		r.Run = runs(r.Tests)
	case len(r.Run) > 1:
		r.Run = r.Run[:1]
	case len(r.Changed) > 2:
		r.Changed, r.MoreChanged = r.Changed[:len(r.Changed)-1], r.MoreChanged+1
	case len(r.Notes) > 1:
		r.Notes = r.Notes[:len(r.Notes)-1]
	default:
		return false
	}
	return true
}

// write lays the reply out: a title and its rows each.
func (r Reply) write() string {
	var b strings.Builder
	row := func(parts ...string) {
		var kept []string
		for _, p := range parts {
			if p != "" {
				kept = append(kept, visible.Name(p))
			}
		}
		b.WriteString("  " + printer.Field(strings.Join(kept, "  ")) + "\n")
	}
	b.WriteString("what " + visible.Name(r.About) + " reaches\n")
	if len(r.Changed) == 0 {
		b.WriteString("nothing differs\n")
	} else {
		b.WriteString("\nchanged:\n")
	}
	shown, more := r.Changed, r.MoreChanged
	if len(shown) > mostShownChanged {
		shown, more = shown[:mostShownChanged], more+len(shown)-mostShownChanged
	}
	for _, c := range shown {
		row(c.At, c.Symbol, c.Kind, c.What, word(c.Public, "public"))
	}
	rest(&b, more)
	if len(r.Tests) > 0 {
		b.WriteString("\ntests to run, the likeliest to notice first:\n")
		for _, t := range r.Tests {
			row(t.At, t.Symbol, t.Why)
		}
		rest(&b, r.MoreTests)
	} else if len(r.Changed) > 0 {
		b.WriteString("\nno test is known that reaches it\n")
	}
	for _, l := range r.Run {
		b.WriteString("run: " + l + "\n")
	}
	if len(r.Callers) > 0 {
		b.WriteString("\ncalled by:\n")
		for _, c := range r.Callers {
			depth, sure := "", ""
			if c.Depth > 1 {
				depth = fmt.Sprintf("%d calls away", c.Depth)
			}
			if c.Confidence > 0 {
				sure = fmt.Sprintf("confidence %.2f", c.Confidence)
			}
			row(c.At, c.Symbol, depth, sure, word(c.Public, "public"))
		}
		rest(&b, r.MoreCallers)
	}
	for _, list := range []struct {
		title string
		rows  []string
	}{
		{"public and changed", r.API}, {"specifications that name it", r.Specs}, {"evidence", r.Evidence},
		{"not known", r.Unknown}, {"notes", r.Notes},
	} {
		if len(list.rows) == 0 {
			continue
		}
		b.WriteString("\n" + list.title + ":\n")
		for _, l := range list.rows {
			row(l)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func word(yes bool, w string) string {
	if yes {
		return w
	}
	return ""
}

// rest says how many rows are left out.
func rest(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
}

// printImpact prints the same for a terminal, and in a pipe the tests, a line each.
func printImpact(p *printer.Printer, r Reply) {
	if p.Terminal {
		for l := range strings.SplitSeq(r.Text(), "\n") {
			p.Line(l)
		}
		return
	}
	if len(r.Changed) == 0 {
		p.Remarks([]string{"nothing differs: " + visible.Name(r.About)})
	}
	t := p.Table("test", "at", "why")
	for _, x := range r.Tests {
		t.Row(x.Symbol, printer.Name(x.At), x.Why)
	}
	t.Flush()
	p.Remarks(r.Unknown)
	p.Remarks(r.Notes)
}
