package search

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// plain writes a place as text: what it is, its lines with their numbers, then
// what uses it and what it uses, a row each.
func (c Context) plain() string {
	var b strings.Builder
	head := []string{visible.Name(plainPlace(c.At))}
	for _, s := range []string{c.Symbol, c.Kind, c.Store, c.ID} {
		if s != "" {
			head = append(head, visible.Name(s))
		}
	}
	b.WriteString(strings.Join(head, "  ") + "\n")
	if c.Page != nil {
		title := append(append([]string{}, c.Breadcrumbs...), cmp.Or(c.Title, c.URL))
		page := "page: " + strings.Join(title, " › ")
		if c.Version != "" {
			page += ", version " + c.Version
		}
		b.WriteString(oneLine(page))
	}
	if c.Note != "" {
		b.WriteString(oneLine("note: " + c.Note))
	}
	o := extract{numbered: c.Page == nil, lines: lines{first: c.Start, text: strings.Split(strings.TrimRight(c.Code, " \t\r\n"), "\n")}}
	if c.Code != "" {
		for i := range o.text {
			b.WriteString(o.line(i))
		}
	}
	c.plainUses(&b)
	for _, x := range c.Extras {
		b.WriteByte('\n')
		for _, l := range x.Lines {
			b.WriteString(oneLine(l))
		}
	}
	if c.Next != "" {
		fmt.Fprintf(&b, "\ngoes on: get_full_context {\"resultId\":%q}\n", c.Next)
	}
	for _, o := range c.Others {
		o.Plain = true
		b.WriteString("\n" + o.plain() + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// plainUses writes what uses a place and what it uses.
func (c Context) plainUses(b *strings.Builder) {
	if c.Of != "" {
		fmt.Fprintf(b, "\nseveral stand here; what follows is of %s\n", c.Of)
	}
	rows := func(title string, links []Link, more int, command string) {
		if len(links) == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for _, l := range links {
			row := l.named()
			if l.Code != "" {
				row += "\t" + l.Code
			}
			b.WriteString(oneLine(row))
		}
		if more > 0 {
			fmt.Fprintf(b, "%d more: get_full_context {\"resultId\":\"%s %s\"}\n", more, command, c.ID)
		}
	}
	rows("called by", c.Callers, c.MoreCallers, "code:callers")
	rows("tests that reach it", c.Tests, 0, "")
	rows("types it uses", c.Types, 0, "")
	rows("calls", c.Callees, c.MoreCallees, "code:callees")
	if len(c.Inherits) > 0 {
		b.WriteString("\ninherits: " + strings.Join(c.Inherits, ", ") + "\n")
	}
	if len(c.Imports) > 0 {
		b.WriteString("\nimports used: " + strings.Join(c.Imports, "; ") + "\n")
	}
	if len(c.Members) > 0 {
		b.WriteString("\nmembers:\n")
		for _, m := range c.Members {
			b.WriteString(oneLine(fmt.Sprintf("%s %s:%s", m.Symbol, visible.Name(c.Path), m.Lines)))
		}
	}
	first := true
	for _, r := range c.Related {
		if r.Why == "before it" || r.Why == "after it" {
			continue // their lines follow by themselves
		}
		if first {
			b.WriteByte('\n')
		}
		first = false
		b.WriteString(r.Why + ": " + Link{At: r.At, Symbol: r.Symbol}.named() + "\n")
	}
}

// Several are places that were asked for together, each as far as it was found.
type Several struct {
	Places []Context `json:"places"`
	Notes  []string  `json:"notes,omitempty"` // what was not found, and why
	Plain  bool      `json:"-"`
}

// Text is the places as an agent gets them.
func (s Several) Text() string {
	if !s.Plain {
		return marshal(s)
	}
	var all []string
	for _, c := range s.Places {
		all = append(all, c.Text())
	}
	for _, n := range s.Notes {
		all = append(all, "note: "+n)
	}
	return strings.Join(all, "\n\n")
}

// Shorten keeps of the code of each place its share of what one reply holds.
func (s *Several) Shorten() {
	n := len(s.Places)
	for i := range s.Places {
		c := &s.Places[i]
		all := strings.Split(c.Code, "\n")
		keep := fitting(all, contextBytes/n)
		if keep == len(all) || c.Start == c.End {
			continue
		}
		c.End, c.Code = c.Start+keep-1, strings.Join(all[:keep], "\n")
		c.Next = fmt.Sprintf("%s+%d", c.ID, c.End+1)
		c.At = (&Target{Rev: c.rev}).dated(fmt.Sprintf("%s:L%d-%d", c.Path, c.Start, c.End))
	}
}
