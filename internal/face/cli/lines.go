package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// line prints one line, whatever l holds: a stranger's line end must not forge
// another. What else steers a terminal or is not seen is escaped by s.out, in a
// pipe too, since most pipes end at a terminal.
func (s *session) line(l string) {
	s.out.WriteString(ends.Replace(l) + "\n") // a failure stays in the buffer until it is flushed
}

var ends = strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\r`)

// content prints text of a document that was asked for, line by line as it
// stands. Of what cannot be seen the true bytes are in --json.
func (s *session) content(text string) {
	if text != "" {
		s.out.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
}

// head prints what a place is in one line, its id last: on a line of its own
// where the terminal would cut it in two.
func (s *session) head(indent string, parts []string, id string) {
	text := indent + strings.Join(parts, "  ")
	if w := s.env.Width; w > 0 && utf8.RuneCountInString(text)+2+len(id) > w {
		s.line(text)
		s.line(indent + "    " + id)
		return
	}
	s.line(text + "  " + id)
}

// remark tells what is not part of the answer: below it on a terminal, on
// standard error in a pipe.
func (s *session) remark(note string) {
	if note == "" {
		return
	}
	note = s.forTerminal(note)
	if s.env.Terminal {
		s.line("note: " + note)
		return
	}
	io.WriteString(s.env.Stderr, "note: "+clean(note)+"\n")
}

// none is said on a terminal when a table has no rows.
func (t *table) none(text string) *table {
	t.empty = text
	return t
}

// table prints rows: aligned under a head on a terminal, separated by tabs
// and without a head elsewhere. Columns that are empty in every row are left
// out on a terminal only, so that programs can count fields.
type table struct {
	s      *session
	head   []string
	rows   [][]string
	indent string
	empty  string // said on a terminal when there is no row
}

func (s *session) table(head ...string) *table { return &table{s: s, head: head} }

func (t *table) row(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = field(v)
	}
	t.rows = append(t.rows, row)
}

func (t *table) flush() {
	if !t.s.env.Terminal {
		for _, r := range t.rows {
			t.s.line(strings.Join(r, "\t"))
		}
		return
	}
	if len(t.rows) == 0 {
		if t.empty != "" {
			t.s.line(t.s.forTerminal(t.empty))
		}
		return
	}
	used := make([]bool, len(t.head))
	for _, r := range t.rows {
		for i, f := range r {
			used[i] = used[i] || f != ""
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	write := func(row []string, f func(string) string) {
		var cells []string
		for i, cell := range row {
			if used[i] {
				cells = append(cells, f(cell))
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	write(t.head, strings.ToUpper)
	for _, r := range t.rows {
		write(r, clean)
	}
	w.Flush()
	for l := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
		t.s.line(strings.TrimRight(t.indent+l, " "))
	}
}

// facts prints pairs of a name and a value, one to a line, without those that
// have no value.
func (s *session) facts(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), field(pairs[i+1])
		switch {
		case value == "":
		case s.env.Terminal:
			s.line(fmt.Sprintf("%-12s %s", name, value))
		default:
			s.line(name + "\t" + value)
		}
	}
}

// quoted is a name that was made fit for a cell already.
type quoted string

// name is a path, or a place in one, as a cell or a part of a line shows it:
// quoted where it holds what would end the line or cannot be seen.
func name(s string) quoted { return quoted(visible.Name(s)) }

// field makes a value fit for one cell: tabs and line ends become spaces.
func field(v any) string {
	if q, ok := v.(quoted); ok {
		return string(q)
	}
	return clean(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, fmt.Sprint(v)))
}

// clean escapes what steers a terminal or is not seen, before it is measured
// for a column or goes past s.out.
func clean(s string) string { return visible.Line(s) }

// clip shortens what was typed for use in a message.
func clip(s string) string { return kb.Clip(s, 60) }
