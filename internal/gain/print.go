package gain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// printReport prints one table in a pipe, whose first column is "total", a
// project's folder or a session's id; on a terminal a table of each.
func printReport(p *printer.Printer, r Report) {
	if p.Terminal {
		p.Line(fmt.Sprintf("%s and %s of %s, %s to %s", kb.Count(r.Total.Sessions, "session"),
			kb.Count(r.Total.Agents, "sub-agent"), kb.Count(len(r.Projects), "project"), day(r.Oldest), day(r.Newest)))
		p.Line("written by Claude Code " + fromTo(r.Versions) + ", read in " + string(printer.Name(r.Folder)))
		p.Line("")
	}
	head := []string{"kind", "tool", "calls", "failed", "in", "out", "carried", "left"}
	t := p.Table(append([]string{"of"}, head...)...)
	rows(t, "total", r.Total.Kinds)
	t.Flush()
	t = p.Table(append([]string{"project"}, head...)...)
	for _, g := range r.Projects {
		rows(t, string(printer.Name(g.Project)), g.Kinds)
	}
	next(p, r.Projects)
	t.Flush()
	t = p.Table(append([]string{"session"}, head...)...)
	for _, s := range r.Sessions {
		rows(t, s.ID, untooled(s.Kinds))
	}
	next(p, r.Sessions)
	t.Flush()
	for _, s := range r.Sessions {
		if s.Window > 0 && p.Terminal {
			p.Line(fmt.Sprintf("%s ended %s with %s tokens in its window, by the client's own figure",
				s.ID, printer.At(s.Last), thousands(s.Window)))
		}
	}
	if p.Terminal { // for programs it is in the JSON
		p.Line("")
		for _, l := range r.Arithmetic {
			p.Line("- " + l)
		}
	}
	p.Remarks(passedOver(r))
}

// next parts tables on a terminal.
func next[T any](p *printer.Printer, rows []T) {
	if p.Terminal && len(rows) > 0 {
		p.Line("")
	}
}

func untooled(list []Kind) []Kind {
	list = slices.Clone(list)
	for i := range list {
		list[i].Tools = nil
	}
	return list
}

// rows adds the kinds, each with its tools where these say more, and their sum.
func rows(t *printer.Table, of string, list []Kind) {
	var all Use
	row := func(kind, tool string, u Use) {
		t.Row(of, kind, tool, u.Calls, none(int64(u.Failed)),
			thousands(u.In), thousands(u.Out), none(u.Carried), none(u.Left))
	}
	for _, k := range list {
		row(k.Kind, "", k.Use)
		if len(k.Tools) > 1 || len(k.Tools) == 1 && k.Kind != kindNames[other] {
			for _, x := range k.Tools {
				row(k.Kind, x.Tool, x.Use)
			}
		}
		all.add(k.Use)
	}
	row("all", "", all)
}

func none(n int64) string {
	if n == 0 {
		return ""
	}
	return thousands(n)
}

// thousands writes a number with a comma after each three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func day(t time.Time) string {
	if t.IsZero() {
		return "an unknown day"
	}
	return t.Local().Format(time.DateOnly)
}

// fromTo is the first and the last of a list.
func fromTo(list []string) string {
	switch len(list) {
	case 0:
		return "of unknown version"
	case 1:
		return list[0]
	}
	return list[0] + " to " + list[len(list)-1]
}

// arithmetic shows how the figures of the total come about.
func arithmetic(r *Report) []string {
	out := []string{"in and out are tokens of calls and replies as the model was given them, by the product's " +
		"estimator, which errs upwards by up to a third; images are not in it"}
	var means, left []string
	var all int64
	for _, k := range r.Total.Kinds {
		if n := k.Calls - k.Silent; n > 0 {
			means = append(means, fmt.Sprintf("%s %s / %d = %s", k.Kind, thousands(k.Out), n, thousands(k.Out/int64(n))))
		}
		left = append(left, k.Kind+" "+thousands(k.Left))
		all += k.Left
	}
	out = append(out, "a reply: out / calls with a reply: "+strings.Join(means, ", "),
		fmt.Sprintf("carried: a reply counts once for each later response that had it in its window, of %s responses "+
			"in all; clients read most of that from their cache", thousands(int64(r.Total.Responses))),
		fmt.Sprintf("left: what was still in the windows of %s at their end: %s; together %s. Windows of sub-agents "+
			"are gone; a fork has what it copied in its window too",
			kb.Count(r.Files, "session"), strings.Join(left, " + "), thousands(all)))
	if a := r.Total.After; a.Searches > 0 {
		out = append(out, fmt.Sprintf("after %s of the product, until the next or until somebody spoke: %s of it, %s, "+
			"%s (%d of lines that its replies had named), %s", many(a.Searches, "search", "searches"),
			kb.Count(a.Contexts, "other call"), kb.Count(a.Greps, "grep"), kb.Count(a.Reads, "read"), a.Again,
			kb.Count(a.Lists, "listing")))
	}
	return append(out,
		"a shell's line counts whole, by the first kind of program in it; one that starts other programs too is "+
			"among \"other\"",
		"these are counts and no savings: what the same work would have cost otherwise is not known")
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// passedOver says what was not counted.
func passedOver(r Report) []string {
	var out []string
	add := func(n int64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	s := r.Skipped
	add(int64(r.More), "%d more sessions are counted and not listed: --limit lists them")
	add(int64(r.Older), "%d files were not written to in that time: --since looks further back")
	add(int64(r.Copies), "%d calls are in the log of a fork too, and counted once")
	add(int64(r.Unread), "%d files could not be read to their end")
	add(s.Broken, "%d lines are damaged or half written")
	add(s.Long, "%d lines are longer than 16 MiB")
	for _, x := range []struct {
		what  string
		names map[string]int64
	}{{"lines", s.Types}, {"members", s.Fields}, {"parts of messages", s.Blocks}} {
		if len(x.names) == 0 {
			continue
		}
		var total int64
		for _, n := range x.names {
			total += n
		}
		names := slices.Sorted(maps.Keys(x.names))
		more := ""
		if len(names) > 6 {
			names, more = names[:6], ", …"
		}
		out = append(out, fmt.Sprintf("%d %s are of a sort that this program does not know (%s%s): "+
			"the client does not promise its format", total, x.what, strings.Join(names, ", "), more))
	}
	return out
}
