package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// line prints one line. On a terminal characters that would steer it are
// replaced: text of strangers must not move the cursor or set the title.
func (s *session) line(l string) {
	if s.env.Terminal {
		l = clean(l)
	}
	s.out.WriteString(l + "\n") // a failure stays in the writer until it is flushed
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
		row[i] = field(fmt.Sprint(v))
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
		name, value := fmt.Sprint(pairs[i]), field(fmt.Sprint(pairs[i+1]))
		switch {
		case value == "":
		case s.env.Terminal:
			s.line(fmt.Sprintf("%-12s %s", name, value))
		default:
			s.line(name + "\t" + value)
		}
	}
}

// field makes a value fit for one cell: tabs and line ends become spaces.
func field(v string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, v)
}

// clean replaces control characters other than tab and line end by U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// clip shortens what was typed for use in a message.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
