package history

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// printWhy prints commits: on a terminal with their messages, in a pipe a line each.
func printWhy(p *printer.Printer, r WhyReply) {
	if !p.Terminal {
		t := p.Table("commit", "date", "lines", "before", "author", "subject", "issues")
		for _, c := range r.Commits {
			t.Row(c.Commit, c.Date, c.Lines, c.Before, c.Author, c.Subject, strings.Join(c.Issues, " "))
		}
		t.Flush()
	} else {
		p.Parts("", "  ", p.At("", r.At), printer.Symbol.Text(r.Symbol))
		for _, c := range r.Commits {
			made := "made lines " + c.Lines
			switch {
			case c.Around:
				made = "put lines " + c.Lines + " into another block"
			case c.Before == 1:
				made = "made what was there before lines " + c.Lines
			case c.Before > 1:
				made = fmt.Sprintf("made what was there %d changes before lines %s", c.Before, c.Lines)
			case c.First:
				made += ", with the file"
			}
			if c.Path != "" {
				made += ", in " + string(printer.Name(c.Path))
			}
			p.Line("")
			p.Parts("", "  ", printer.Symbol.Text(c.Commit), printer.Plain.Text(c.Date), printer.Plain.Text(c.Author), printer.Plain.Text(made))
			p.Line("    " + c.Subject)
			for l := range strings.SplitSeq(c.Body, "\n") {
				if c.Body != "" {
					p.Line("    " + l)
				}
			}
			if c.Merge != "" {
				p.Line("    merged by: " + c.Merge)
			}
			if c.Note != "" {
				p.Line("    note: " + c.Note)
			}
			if len(c.Issues) > 0 {
				p.Line("    see " + strings.Join(c.Issues, ", "))
			}
		}
		if len(r.Commits) == 0 && r.Uncommitted != "" {
			p.Line("these lines are in no commit yet")
		}
	}
	for _, x := range []struct{ lines, text string }{
		{r.Uncommitted, "not committed yet: lines "}, {r.Older, "older than the history that was read: lines "},
	} {
		if x.lines != "" {
			p.Remark(x.text + x.lines)
		}
	}
	if r.More > 0 {
		p.Remark(kb.Count(r.More, "further commit") + ", with less part in it: --limit shows more")
	}
	p.Remarks(r.Notes)
}

// printChanged prints files, or hits, and on a terminal commits.
func printChanged(p *printer.Printer, r ChangedReply) {
	if p.Terminal {
		p.Line(fmt.Sprintf("%s and %s from %s to %s", kb.Count(r.Total, "file"), kb.Count(r.Count, "commit"), r.From, r.To))
	}
	if len(r.Hits) > 0 {
		if !p.Terminal {
			t := p.Table("id", "at", "symbol", "changed")
			for _, h := range r.Hits {
				t.Row(h.ID, printer.Name(h.At), h.Symbol, h.Lines)
			}
			t.Flush()
		} else {
			for _, h := range r.Hits {
				p.Line("")
				p.Head("", h.ID, p.At("", h.At), printer.Symbol.Text(h.Symbol), printer.Plain.Text("changed: "+h.Lines))
				if h.Code != "" {
					p.Snippet("    ", h.Code)
				}
			}
		}
		p.Remarks(r.Notes)
		return
	}
	t := p.Table("status", "path", "added", "removed", "commits", "declarations")
	for _, f := range r.Files {
		symbols := strings.Join(f.Symbols, ", ")
		if f.More > 0 {
			symbols += fmt.Sprintf(" and %d more", f.More)
		}
		t.Row(f.Status, printer.Name(f.Path), f.Added, f.Removed, f.Commits, symbols)
	}
	t.Flush()
	if p.Terminal && len(r.Commits) > 0 {
		p.Line("")
		t := p.Table("commit", "date", "author", "subject")
		for _, c := range r.Commits {
			t.Row(c.Commit, c.Date, c.Author, c.Subject)
		}
		t.Flush()
	}
	if n := r.Total - len(r.Files); n > 0 {
		p.Remark(kb.Count(n, "further file") + "; --limit shows more")
	}
	p.Remarks(r.Notes)
}
