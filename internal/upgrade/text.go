package upgrade

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// replyTokens bounds the reply.
const replyTokens = 1450

func lines(from, to int) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

// shorten cuts the lists until the reply fits, the least important first: what is
// not used here, what the changelog says of it, further places of one declaration,
// declarations with the fewest places.
func (r *Reply) shorten() {
	for _, most := range []struct{ groups, places, api, says, lines, also int }{
		{24, 12, 24, 6, 4, 8}, {20, 10, 16, 5, 3, 6}, {16, 8, 12, 4, 3, 4}, {14, 6, 8, 3, 2, 3}, {12, 5, 5, 3, 2, 2}, {10, 4, 3, 2, 1, 2}, {8, 3, 2, 1, 1, 1}, {5, 3, 0, 1, 0, 0},
	} {
		cut(&r.Sites, most.groups, &r.left.groups)
		for i := range r.Sites {
			cut(&r.Sites[i].At, most.places, &r.Sites[i].More)
		}
		cut(&r.API, most.api, &r.left.api)
		cut(&r.Says, most.says, &r.left.says)
		for i := range r.Says {
			var dropped int
			cut(&r.Says[i].Lines, most.lines, &dropped)
			cut(&r.Says[i].Names, 6, &dropped)
		}
		cut(&r.Also, most.also, &r.left.also)
		if tokens.Estimate(r.Text()) <= replyTokens {
			return
		}
	}
}

// cut leaves the first n of a list and counts the others.
func cut[T any](list *[]T, n int, left *int) {
	if len(*list) > n {
		*left += len(*list) - n
		*list = (*list)[:n]
	}
}

// Text is the reply as agents and people read it: what breaks first.
func (r Reply) Text() string {
	var b strings.Builder
	name := r.Package
	if r.Now != "" {
		name += " → " + r.Now
	}
	fmt.Fprintf(&b, "%s %s → %s, compared by %s: %s, %d changed so that users may break, %d newly deprecated, %d added\n",
		name, r.From, r.To, r.By, kb.Count(r.Removed, "declaration")+" removed", r.Changed, r.Deprecated, r.Added)
	switch {
	case r.Breaks == 0 && r.Warns == 0:
		b.WriteString("nothing was found in this project that breaks\n")
	default:
		fmt.Fprintf(&b, "in this project %s, and %s what is deprecated or has another value\n", breakLines(r.Breaks), useLines(r.Warns))
	}
	warned := false
	for _, g := range r.Sites {
		if g.Warns && !warned {
			warned = true
			b.WriteString("\nwarns:\n")
		}
		g.write(&b)
	}
	if r.left.groups > 0 {
		fmt.Fprintf(&b, "  and %s with fewer places\n", kb.Count(r.left.groups, "further declaration"))
	}
	if len(r.Says) > 0 {
		b.WriteString("\nwhat its changelog says:\n")
	}
	for _, s := range r.Says {
		fmt.Fprintf(&b, "  %s %s", s.At, s.Heading)
		if len(s.Names) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(s.Names, ", "))
		}
		b.WriteByte('\n')
		for _, l := range s.Lines {
			fmt.Fprintf(&b, "    %s\n", l)
		}
	}
	if r.left.says > 0 {
		fmt.Fprintf(&b, "  and %s\n", kb.Count(r.left.says, "further section"))
	}
	if len(r.API) > 0 {
		b.WriteString("\nchanged and not used here:\n")
	}
	for _, d := range r.API {
		fmt.Fprintf(&b, "  %s: %s%s\n", d.Name, d.What, instead(d.Instead, d.Note))
	}
	if r.left.api > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.left.api)
	}
	if len(r.Also) > 0 {
		fmt.Fprintf(&b, "\nit raises: %s", strings.Join(r.Also, ", "))
		if r.left.also > 0 {
			fmt.Fprintf(&b, " and %d more", r.left.also)
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func breakLines(n int) string {
	switch n {
	case 0:
		return "no line breaks"
	case 1:
		return "1 line breaks"
	}
	return fmt.Sprintf("%d lines break", n)
}

func useLines(n int) string {
	switch n {
	case 0:
		return "none uses"
	case 1:
		return "1 uses"
	}
	return fmt.Sprintf("%d use", n)
}

func instead(name, note string) string {
	switch {
	case name != "":
		return "; now " + name
	case note != "":
		return ": " + note
	}
	return ""
}

// oneLine is what a checker says without its line ends, cut.
func oneLine(s string) string { return kb.Clip(strings.Join(strings.Fields(s), " "), 200) }

func (g Group) write(b *strings.Builder) {
	b.WriteByte('\n')
	switch {
	case g.Name != "" && g.What != "":
		fmt.Fprintf(b, "%s: %s%s\n", g.Name, kb.Clip(g.What, 240), instead(g.Instead, g.Note))
	case g.Name != "":
		fmt.Fprintf(b, "%s\n", g.Name)
	}
	if g.Says != "" {
		fmt.Fprintf(b, "  %s\n", g.Says)
	}
	fmt.Fprintf(b, "  %s", strings.Join(g.At, " "))
	if g.More > 0 {
		fmt.Fprintf(b, " and %d more", g.More)
	}
	b.WriteByte('\n')
}
