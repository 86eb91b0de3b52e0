package printer

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table prints rows: aligned under a head on a terminal, separated by tabs
// and without a head elsewhere. Columns that are empty in every row are left
// out on a terminal only, so that programs can count fields.
type Table struct {
	p      *Printer
	head   []string
	Rows   [][]string
	indent string
	empty  string // said on a terminal when there is no row
}

// None sets what is said on a terminal when a table has no rows.
func (t *Table) None(text string) *Table {
	t.empty = text
	return t
}

// Table begins a table with a head.
func (p *Printer) Table(head ...string) *Table { return &Table{p: p, head: head} }

// Row adds a row.
func (t *Table) Row(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = Field(v)
	}
	t.Rows = append(t.Rows, row)
}

// Flush prints the table.
func (t *Table) Flush() {
	if !t.p.Terminal {
		for _, r := range t.Rows {
			t.p.Line(strings.Join(r, "\t"))
		}
		return
	}
	if len(t.Rows) == 0 {
		if t.empty != "" {
			t.p.Line(t.p.Words(t.empty))
		}
		return
	}
	used := make([]bool, len(t.head))
	for _, r := range t.Rows {
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
	for _, r := range t.Rows {
		write(r, Clean)
	}
	w.Flush()
	for l := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
		t.p.Line(strings.TrimRight(t.indent+l, " "))
	}
}
