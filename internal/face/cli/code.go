package cli

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// codeReply prints declarations and uses: on a terminal grouped, in a pipe the
// uses, one line of fields each, or the declarations where no uses were asked for.
// Total counts what was asked for: with no use of a declaration it is 0.
func (s *session) codeReply(r app.CodeReply) {
	if !s.env.Terminal {
		t := s.table("id", "at", "symbol", "kind", "code", "store")
		for _, u := range r.Uses {
			t.row(u.ID, name(u.At), u.Symbol, u.Kind, u.Code, u.Store)
		}
		if len(r.Uses) == 0 && r.Total > 0 {
			for _, p := range r.Symbols {
				t.row(p.ID, name(p.At), p.Symbol, p.Kind, p.Signature, p.Store)
			}
		}
		t.flush()
	} else {
		for _, p := range r.Symbols {
			s.head("", []string{string(name(p.At)), p.Symbol, p.Kind, p.Store}, p.ID)
			for _, l := range []string{p.Signature, p.Doc} {
				if l != "" {
					s.line("    " + l)
				}
			}
		}
		for _, u := range r.Uses {
			line := strings.Repeat("  ", max(1, u.Depth)) + string(name(u.At))
			if u.Symbol != "" {
				line += "  " + u.Symbol
			}
			if u.Confidence > 0 {
				line += fmt.Sprintf("  (confidence %.2f)", u.Confidence)
			}
			s.line(line)
			if u.Code != "" {
				s.line(strings.Repeat("  ", max(1, u.Depth)) + "    " + u.Code)
			}
		}
		if len(r.Symbols) == 0 && len(r.Uses) == 0 {
			s.line("nothing found")
		}
	}
	for _, n := range r.Notes {
		s.remark(n)
	}
}

// outline prints what a document declares, nested by indentation.
func (s *session) outline(r app.OutlineReply) {
	if !s.env.Terminal {
		t := s.table("id", "lines", "symbol", "kind", "signature")
		var rows func(items []search.OutlineItem, path string)
		rows = func(items []search.OutlineItem, path string) {
			for _, i := range items {
				t.row(i.ID, i.Lines, path+i.Symbol, i.Kind, i.Signature)
				rows(i.Members, path+i.Symbol+".")
			}
		}
		rows(r.Symbols, "")
		t.flush()
	} else {
		s.line(string(name(r.Path)) + "  " + r.Language + "  " + r.Store)
		var lines func(items []search.OutlineItem, indent string)
		lines = func(items []search.OutlineItem, indent string) {
			for _, i := range items {
				text := i.Signature
				if text == "" {
					text = i.Kind + " " + i.Symbol
				}
				s.line(fmt.Sprintf("%s%s  %s  %s", indent, i.Lines, text, i.ID))
				lines(i.Members, indent+"  ")
			}
		}
		lines(r.Symbols, "  ")
	}
	s.remark(r.Note)
}

// usage prints what a place is called by, what it calls, imports and holds.
func (s *session) usage(c app.Context) {
	if c.Of != "" {
		s.line("")
		s.line("several stand here; what follows is of " + c.Of)
	}
	list := func(title string, links []search.Link, more int) {
		if len(links) == 0 {
			return
		}
		if more > 0 {
			title += fmt.Sprintf(" (%d more: knowledge code:%s %s)", more, map[string]string{"called by": "callers", "calls": "callees"}[title], c.ID)
		}
		s.line("")
		s.line(title)
		for _, l := range links {
			s.line(strings.TrimRight(strings.Join([]string{"  " + string(name(l.At)), l.Symbol, l.ID}, "  "), " "))
		}
	}
	if len(c.Imports) > 0 {
		s.line("")
		s.line("imports used: " + strings.Join(c.Imports, "; "))
	}
	if len(c.Inherits) > 0 {
		s.line("inherits: " + strings.Join(c.Inherits, ", "))
	}
	list("called by", c.Callers, c.MoreCallers)
	list("calls", c.Callees, c.MoreCallees)
	if len(c.Members) > 0 {
		s.line("")
		s.line("members")
		for _, m := range c.Members {
			s.line(fmt.Sprintf("  L%s  %s  %s", m.Lines, m.Symbol, m.ID))
		}
	}
}
