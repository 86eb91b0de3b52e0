package printer

import (
	"slices"
	"strings"
)

// Table prints rows: aligned under a head on a terminal, separated by tabs
// and without a head elsewhere. Columns that are empty in every row are left
// out on a terminal only, so that programs can count fields.
//
// Where a terminal is too narrow long cells go on below themselves, paths lose
// their beginning, and what fits not even so is printed row by row.
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

// roles are those of columns and facts by their names.
var roles = map[string]Role{
	"path": Path, "file": Path, "at": Path, "place": Path, "source": Path, "address": Path, "url": Path, "repository": Path, "leads to": Path,
	"id": ID, "job": ID, "score": Score,
	"name": Symbol, "symbol": Symbol, "store": Symbol, "dependency": Symbol, "client": Symbol, "argument": Symbol, "requirement": Symbol, "project": Symbol,
}

// states are the roles of what stands in a column "status" or "state".
var states = map[string]Role{
	"ready": Good, "completed": Good, "ok": Good, "kept": Good,
	"failed": Bad, "cancelled": Bad, "cancelling": Bad, "interrupted": Bad, "error": Bad, "empty": Bad, "critical": Bad, "high": Bad,
}

// role is that of a value by the name of its column.
func role(name, value string) Role {
	if name = strings.ToLower(name); name == "status" || name == "state" || name == "severity" || name == "job status" {
		return states[strings.ToLower(value)]
	}
	return roles[name]
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
	t.drop()
	widths := t.widths()
	if widths == nil {
		t.records()
		return
	}
	head := make([]string, len(t.head))
	for i, h := range t.head {
		head[i] = strings.ToUpper(h)
	}
	t.row(widths, head, true)
	for _, r := range t.Rows {
		t.row(widths, r, false)
	}
}

// drop leaves out columns that are empty in every row.
func (t *Table) drop() {
	for i := len(t.head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(r []string) bool { return r[i] != "" }) {
			continue
		}
		t.head = slices.Delete(slices.Clone(t.head), i, i+1)
		for j, r := range t.Rows {
			t.Rows[j] = slices.Delete(r, i, i+1)
		}
	}
}

const (
	gap      = 2  // between columns
	short    = 20 // columns of at most this are never cut: ids, states, counts, times
	least    = 10 // a cut column has this at least
	mostLine = 4  // a cell goes on for so many lines
)

// widths returns how wide each column is on the terminal, nil when a table
// does not fit.
func (t *Table) widths() []int {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = Width(h)
		for _, r := range t.Rows {
			widths[i] = max(widths[i], Width(r[i]))
		}
	}
	rest := t.p.room() - Width(t.indent) - gap*(len(widths)-1)
	var long []int
	for i, w := range widths {
		if w <= short || role(t.head[i], "") == ID {
			rest -= w
		} else {
			long = append(long, i)
		}
	}
	slices.SortFunc(long, func(a, b int) int { return widths[a] - widths[b] })
	for n, i := range long { // the narrowest first: what it does not need is for others
		widths[i] = min(widths[i], rest/(len(long)-n))
		if rest -= widths[i]; widths[i] < least {
			return nil
		}
		for _, r := range t.Rows {
			if role(t.head[i], "") != Path && len(wrap(r[i], widths[i])) > mostLine {
				return nil
			}
		}
	}
	if rest < 0 {
		return nil
	}
	return widths
}

// row prints the cells of a row side by side.
func (t *Table) row(widths []int, row []string, head bool) {
	cells := make([][]string, len(row))
	height := 1
	for i, c := range row {
		if role(t.head[i], "") == Path && !head {
			cells[i] = []string{cutFront(c, widths[i])}
		} else {
			cells[i] = []string{c}
			if Width(c) > widths[i] {
				cells[i] = wrap(c, widths[i])
			}
		}
		height = max(height, len(cells[i]))
	}
	for y := range height {
		parts := []Part{{Text: t.indent}}
		blank := 0 // columns that are due before the next text
		for i, c := range cells {
			text := ""
			if y < len(c) {
				text = c[y]
			}
			if text != "" {
				r := role(t.head[i], row[i])
				if head {
					r = Label
				}
				parts = append(parts, Part{Text: strings.Repeat(" ", blank)}, r.Text(text))
				blank = 0
			}
			blank += widths[i] - Width(text) + gap
		}
		t.p.emit(parts...)
		t.p.Out.WriteString("\n")
	}
}

// records prints each row as pairs of a name and a value.
func (t *Table) records() {
	width := 0
	for _, h := range t.head {
		width = max(width, Width(h))
	}
	for i, r := range t.Rows {
		if i > 0 {
			t.p.Out.WriteString("\n")
		}
		for j, c := range r {
			if c != "" {
				t.p.pair(t.indent, width, "  ", t.head[j], c, role(t.head[j], c))
			}
		}
	}
}
