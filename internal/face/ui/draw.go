package ui

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// layout is where things are on the screen: the query on top, hits at the left,
// the document at the right or, where that is too narrow, below, and a line
// about what can be done.
type layout struct {
	width, height int
	list          int // columns of the hits
	rows          int // of the hits
	beside        int // first column of the document, 0 where it is below
	below         int // its first row
	previewRows   int
}

const narrow = 72 // columns; below that hits and document are one above the other

func (f *finder) layout() layout {
	w, h := f.screen.Size()
	l := layout{width: w, height: h, list: w, rows: max(h-2, 1), below: 1}
	if w >= narrow {
		l.list = min(w*2/5, 60)
		l.beside = l.list + 1
		l.previewRows = l.rows
		return l
	}
	l.rows = max((h-3)/3, 1)
	l.below = l.rows + 2
	l.previewRows = max(h-1-l.below, 0)
	return l
}

func (f *finder) style(role printer.Role) tcell.Style {
	s := tcell.StyleDefault
	switch role {
	case printer.Symbol:
		s = s.Bold(true)
	case printer.Label, printer.ID:
		s = s.Dim(true)
	case printer.Match:
		s = s.Bold(true)
		if f.o.Color {
			return s.Foreground(color.Maroon)
		}
		return s.Underline(true)
	case printer.Path:
		if f.o.Color {
			return s.Foreground(color.Purple)
		}
	case printer.Number, printer.Score:
		if f.o.Color {
			return s.Foreground(color.Green)
		}
	}
	return s
}

// pen writes a row from left to right.
type pen struct {
	screen tcell.Screen
	x, y   int
	end    int // the first column that is not its own
}

// put writes what there is room for, with a sign where it is cut. What a
// stranger wrote steers nothing: every text comes through here.
func (p *pen) put(text string, style tcell.Style) {
	if p.x >= p.end {
		return
	}
	text = printer.Cut(printer.Clean(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)), p.end-p.x)
	p.screen.PutStrStyled(p.x, p.y, text, style)
	p.x += printer.Width(text)
}

// marked writes a line with what was looked for marked.
func (p *pen) marked(line string, f *finder, style tcell.Style) {
	from := 0
	if f.mark != nil {
		for _, m := range f.mark(line) {
			if m[0] < from || m[1] > len(line) {
				continue
			}
			p.put(line[from:m[0]], style)
			p.put(line[m[0]:m[1]], f.style(printer.Match))
			from = m[1]
		}
	}
	p.put(line[from:], style)
}

func (f *finder) draw() {
	f.screen.Clear()
	l := f.layout()
	f.drawQuery(l)
	f.drawHits(l)
	f.drawPreview(l)
	f.drawFoot(l)
	f.screen.Show()
}

func (f *finder) drawQuery(l layout) {
	where := "all stores"
	if s := f.scope(); len(s) > 0 {
		where = strings.Join(s, ", ")
	}
	right := where
	if n := len(f.reply.Hits); n > 0 {
		right = fmt.Sprintf("%d/%d  %s", f.selected+1, n, where)
	}
	if f.busy {
		right = "…  " + right
	}
	right = printer.Cut(printer.Clean(right), l.width/2)
	end := max(l.width-printer.Width(right)-1, 3)
	p := pen{screen: f.screen, end: end}
	p.put("> ", f.style(printer.Path))
	begin := 0 // the part of the query that is seen ends at the cursor or behind it
	for begin < f.cursor && printer.Width(string(f.query[begin:f.cursor])) > end-4 {
		begin++
	}
	f.screen.ShowCursor(p.x+printer.Width(string(f.query[begin:f.cursor])), 0)
	p.put(string(f.query[begin:]), tcell.StyleDefault)
	p = pen{screen: f.screen, x: l.width - printer.Width(right), end: l.width}
	p.put(right, f.style(printer.Label))
}

// drawHits writes two rows for each hit: its place, and what is there.
func (f *finder) drawHits(l layout) {
	fit := max(l.rows/2, 1)
	f.top = min(max(f.top, f.selected-fit+1), f.selected)
	for i := f.top; i < len(f.reply.Hits) && i < f.top+fit; i++ {
		h := &f.reply.Hits[i]
		y := 1 + 2*(i-f.top)
		p := pen{screen: f.screen, y: y, end: l.list}
		bar := "  "
		if i == f.selected {
			bar = "▌ "
		}
		p.put(bar, f.style(printer.Match))
		score := fmt.Sprintf(" %.2f", h.Score)
		p.end -= len(score)
		p.put(short(place(h).written, p.end-p.x), f.pathStyle(i == f.selected))
		p = pen{screen: f.screen, x: l.list - len(score), y: y, end: l.list}
		p.put(score, f.style(printer.Score))
		if 2*(i-f.top)+1 >= l.rows {
			continue
		}
		p = pen{screen: f.screen, x: 0, y: y + 1, end: l.list}
		p.put(bar, f.style(printer.Match))
		p.put("  ", tcell.StyleDefault)
		if h.Symbol != "" {
			p.put(h.Symbol, f.style(printer.Symbol))
			p.put("  ", tcell.StyleDefault)
		}
		p.marked(firstLine(h), f, f.style(printer.Label))
	}
}

func (f *finder) pathStyle(selected bool) tcell.Style {
	return f.style(printer.Path).Bold(selected)
}

// short cuts the beginning of a path, whose end says most.
func short(path string, columns int) string {
	path = printer.Clean(path)
	for printer.Width(path) > columns && columns > 1 {
		_, rest, ok := strings.Cut(strings.TrimPrefix(path, "…/"), "/")
		if !ok {
			break
		}
		path = "…/" + rest
	}
	return path
}

func firstLine(h *find.Hit) string {
	for l := range strings.SplitSeq(h.Code, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

func (f *finder) drawPreview(l layout) {
	if l.beside > 0 {
		for y := range l.rows {
			f.screen.PutStrStyled(l.list, 1+y, "│", f.style(printer.Label))
		}
	} else if l.below <= l.height-1 {
		f.screen.PutStrStyled(0, l.below-1, strings.Repeat("─", l.width), f.style(printer.Label))
	}
	p := &f.preview
	if p.id == "" || p.lines == nil || l.previewRows == 0 {
		return
	}
	x := l.beside
	if x > 0 {
		x++
	}
	h := f.hit()
	y := l.below
	head := pen{screen: f.screen, x: x, y: y, end: l.width}
	head.put(place(h).lines(), f.style(printer.Path).Bold(true))
	if h.Symbol != "" {
		head.put("  "+h.Symbol, f.style(printer.Symbol))
	}
	head.put("  "+h.Store, f.style(printer.Label))
	rows := l.previewRows - 1
	start := max(p.best-p.first, 0) - min(3, rows/4) // a little of what is before it
	start = min(max(start+p.scroll, 0), max(len(p.lines)-rows, 0))
	p.scroll = start - (max(p.best-p.first, 0) - min(3, rows/4)) // it ends where the document does
	digits := len(fmt.Sprint(p.first + len(p.lines) - 1))
	for i := range rows {
		n := start + i
		if n >= len(p.lines) {
			break
		}
		number := p.first + n
		w := pen{screen: f.screen, x: x, y: y + 1 + i, end: l.width}
		inside := p.from > 0 && number >= p.from && number <= p.to
		style := f.style(printer.Label)
		if inside {
			style = f.style(printer.Number)
		}
		w.put(fmt.Sprintf("%*d  ", digits, number), style)
		w.marked(spaces(p.lines[n]), f, tcell.StyleDefault.Dim(p.from > 0 && !inside))
	}
}

// spaces writes tabs as spaces, four for each.
func spaces(line string) string { return strings.ReplaceAll(line, "\t", "    ") }

func (f *finder) drawFoot(l layout) {
	enter := "enter opens"
	if f.o.Print {
		enter = "enter prints"
	}
	text := enter + "  ↑↓ hits  pgup/pgdn code  tab store  ctrl-o prints place  esc leaves"
	role := printer.Label
	if f.status != "" {
		text, role = f.status, printer.Plain
	} else if f.preview.note != "" {
		text = f.preview.note
	}
	p := pen{screen: f.screen, y: l.height - 1, end: l.width}
	p.put(text, f.style(role))
}
