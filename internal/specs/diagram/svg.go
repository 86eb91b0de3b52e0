package diagram

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
)

// The layout is columns: the first node alone in the middle, the others as far
// from it as their Column says. An edge leaves a box from a port of its own
// towards the other box, and its name stands beside its port at the end that
// is farther out. Ports of one side of a box are portStep apart and a box is
// as high as they need, so that no two names meet; the space between columns
// is as wide as the longest name in it needs. Edges within a column bow out
// on its outer side. All sizes are pixels.
const (
	boxPad     = 10
	boxGap     = 16
	lineHeight = 17
	underLine  = 14
	portStep   = 19
	fontSize   = 13
	smallSize  = 10.5
	curve      = 70 // of the space between columns, beside the names
	margin     = 24
	labelRunes = 34 // of one line of a label
	labelLines = 2
	edgeRunes  = 40
	legendSize = 30
)

// width estimates how wide a text is in a sans-serif font, rather too wide.
func width(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfrI.,:;|!'()[] -", r):
			w += 0.36
		case r >= 0x2e80:
			w += 1.05
		case r >= 'A' && r <= 'Z' || strings.ContainsRune("mwMW@%—_", r):
			w += 0.74
		default:
			w += 0.58
		}
	}
	return w * size
}

type box struct {
	node       int
	column     int
	lines      []string
	under      string
	x, y, w, h float64
	ports      [2][]int // edges by side, 0 left and 1 right, from the top
	weight     float64  // where its neighbours stand
}

type layout struct {
	g       Graph
	boxes   []box
	columns [][]int  // boxes of each column, from the left
	first   int      // column number of columns[0]
	labels  []string // of the edges, cut
	w, h    float64
}

func (g Graph) svg() string {
	l := newLayout(g)
	l.order()
	l.ports()
	l.place()
	return l.draw()
}

func newLayout(g Graph) *layout {
	l := &layout{g: g}
	last := 0
	for _, n := range g.Nodes {
		l.first, last = min(l.first, n.Column), max(last, n.Column)
	}
	l.columns = make([][]int, last-l.first+1)
	for i, n := range g.Nodes {
		b := box{node: i, column: n.Column - l.first, lines: wrap(n.Label), under: cut(n.Under, labelRunes+6)}
		for _, s := range b.lines {
			if b.w = max(b.w, width(s, fontSize)); i == 0 { // it is bold
				b.w = max(b.w, 1.1*width(s, fontSize))
			}
		}
		b.w = max(b.w, width(b.under, smallSize)) + 2*boxPad
		b.h = float64(len(b.lines))*lineHeight + 2*boxPad - 4
		if b.under != "" {
			b.h += underLine
		}
		l.boxes = append(l.boxes, b)
		l.columns[b.column] = append(l.columns[b.column], i)
	}
	for _, e := range g.Edges {
		l.labels = append(l.labels, cut(e.Label, edgeRunes))
	}
	return l
}

// order sorts each column so that neighbours stand near each other: by the
// mean place of what a box is tied to, in a few sweeps from the middle.
func (l *layout) order() {
	rank := make([]float64, len(l.boxes))
	number := func(col []int) {
		for i, b := range col {
			rank[b] = float64(i) - float64(len(col)-1)/2
		}
	}
	for _, col := range l.columns {
		slices.SortStableFunc(col, func(a, b int) int {
			x, y := &l.g.Nodes[a], &l.g.Nodes[b]
			return cmp.Or(strings.Compare(x.Class, y.Class), strings.Compare(x.Label, y.Label), a-b)
		})
		number(col)
	}
	near := make([][]int, len(l.boxes))
	for _, e := range l.g.Edges {
		near[e.From], near[e.To] = append(near[e.From], e.To), append(near[e.To], e.From)
	}
	for range 6 {
		for c, col := range l.columns {
			if len(col) < 2 {
				continue
			}
			for _, b := range col {
				sum, n := 0.0, 0
				for _, x := range near[b] {
					if l.boxes[x].column != c {
						sum, n = sum+rank[x], n+1
					}
				}
				if l.boxes[b].weight = rank[b]; n > 0 {
					l.boxes[b].weight = sum / float64(n)
				}
			}
			slices.SortStableFunc(col, func(a, b int) int { return cmp.Compare(l.boxes[a].weight, l.boxes[b].weight) })
			number(col)
		}
	}
	for _, col := range l.columns {
		for i, b := range col {
			l.boxes[b].weight = float64(i)
		}
	}
}

// sides returns the sides at which an edge leaves and enters: towards each
// other, or both outwards within a column.
func (l *layout) sides(e Edge) (from, to int) {
	a, b := l.boxes[e.From].column, l.boxes[e.To].column
	switch {
	case a < b:
		return 1, 0
	case a > b:
		return 0, 1
	case a+l.first < 0:
		return 0, 0
	}
	return 1, 1
}

// named returns the end of an edge where its name stands: the one farther out.
func (l *layout) named(e Edge) (node, side int) {
	from, to := l.sides(e)
	if abs(l.boxes[e.From].column+l.first) > abs(l.boxes[e.To].column+l.first) {
		return e.From, from
	}
	return e.To, to
}

func abs(n int) int { return max(n, -n) }

// ports gives every edge its places at both ends, sorted by where it comes from.
func (l *layout) ports() {
	for i, e := range l.g.Edges {
		from, to := l.sides(e)
		l.boxes[e.From].ports[from] = append(l.boxes[e.From].ports[from], i)
		l.boxes[e.To].ports[to] = append(l.boxes[e.To].ports[to], i)
	}
	for i := range l.boxes {
		b := &l.boxes[i]
		for side := range b.ports {
			slices.SortStableFunc(b.ports[side], func(x, y int) int {
				return cmp.Compare(l.boxes[l.other(x, i)].weight, l.boxes[l.other(y, i)].weight)
			})
			b.h = max(b.h, float64(len(b.ports[side]))*portStep+4)
		}
	}
}

func (l *layout) other(edge, node int) int {
	e := l.g.Edges[edge]
	if e.From == node {
		return e.To
	}
	return e.From
}

// place gives every box its place.
func (l *layout) place() {
	// Names stand in the space on the side of the box that they belong to.
	space := make([][2]float64, len(l.columns))
	for i, e := range l.g.Edges {
		n, side := l.named(e)
		c := l.boxes[n].column
		w := width(l.labels[i], smallSize) + 14
		if from, to := l.sides(e); from == to {
			w += curve / 2 // it bows out beyond its name
		}
		space[c][side] = max(space[c][side], w)
	}
	x, tallest := float64(margin)+space[0][0], 0.0
	heights := make([]float64, len(l.columns))
	for c, col := range l.columns {
		w, h := 0.0, 0.0
		for i, b := range col {
			w = max(w, l.boxes[b].w)
			if h += l.boxes[b].h; i > 0 {
				h += boxGap
			}
		}
		heights[c], tallest = h, max(tallest, h)
		for _, b := range col {
			l.boxes[b].x, l.boxes[b].w = x, w
		}
		x += w
		if c+1 < len(l.columns) {
			x += space[c][1] + space[c+1][0] + curve
		}
	}
	l.w = x + space[len(l.columns)-1][1] + margin
	for c, col := range l.columns {
		y := margin + (tallest-heights[c])/2
		for _, b := range col {
			l.boxes[b].y = y
			y += l.boxes[b].h + boxGap
		}
	}
	l.h = tallest + 2*margin + legendSize
}

// port returns where an edge meets a box.
func (l *layout) port(node, side, edge int) (x, y float64) {
	b := &l.boxes[node]
	i := slices.Index(b.ports[side], edge)
	y = b.y + b.h/2 + (float64(i)-float64(len(b.ports[side])-1)/2)*portStep
	return b.x + float64(side)*b.w, y
}

func (l *layout) draw() string {
	var b strings.Builder
	legend := l.legend()
	w := max(l.w, legend.w)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">`+"\n", w, l.h, w, l.h)
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="#64748b"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", w, l.h)
	for i := range l.g.Edges {
		l.drawEdge(&b, i)
	}
	for i := range l.boxes {
		l.drawBox(&b, &l.boxes[i])
	}
	for i := range l.g.Edges { // above the lines
		l.drawName(&b, i)
	}
	b.WriteString(legend.text)
	b.WriteString("</svg>\n")
	return b.String()
}

func (l *layout) drawEdge(b *strings.Builder, i int) {
	e := l.g.Edges[i]
	from, to := l.sides(e)
	x1, y1 := l.port(e.From, from, i)
	x2, y2 := l.port(e.To, to, i)
	// A name stands beside the end of its edge: there the line runs straight.
	node, side := l.named(e)
	straight := width(l.labels[i], smallSize) + 12
	if l.labels[i] == "" {
		straight = 0
	}
	dir := func(side int) float64 { return float64(2*side - 1) }
	s1, s2 := x1, x2
	if node == e.From && side == from {
		s1 += dir(from) * straight
	} else {
		s2 += dir(to) * straight
	}
	bend := max(curve/2, (max(s1, s2)-min(s1, s2))/2)
	if from == to { // within a column, around
		bend = curve / 2
		if from == 1 {
			s1, s2 = max(s1, s2), max(s1, s2)
		} else {
			s1, s2 = min(s1, s2), min(s1, s2)
		}
	}
	dash := ""
	if e.Faded {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1fC%.1f %.1f %.1f %.1f %.1f %.1fH%.1f" fill="none" stroke="#94a3b8" stroke-width="1.3"%s marker-end="url(#a)"/>`+"\n",
		x1, y1, s1, s1+dir(from)*bend, y1, s2+dir(to)*bend, y2, s2, y2, x2, dash)
}

// drawName writes the name of an edge on its line, which it interrupts.
func (l *layout) drawName(b *strings.Builder, i int) {
	name := l.labels[i]
	if name == "" {
		return
	}
	node, side := l.named(l.g.Edges[i])
	x, y := l.port(node, side, i)
	anchor, dx := "start", 9.0 // beside the arrow's head
	if side == 0 {
		anchor, dx = "end", -9
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%.1f" text-anchor="%s" fill="#334155" stroke="#fff" stroke-width="4" paint-order="stroke">%s</text>`+"\n",
		x+dx, y+3.5, smallSize, anchor, html.EscapeString(name))
}

func (l *layout) drawBox(b *strings.Builder, x *box) {
	n := &l.g.Nodes[x.node]
	s := shadeOf(n.Class)
	stroke := 1.2
	if x.node == 0 {
		stroke = 2.8
	}
	dash := ""
	if n.Faded {
		dash = ` stroke-dasharray="5 3"`
	}
	linked := strings.HasPrefix(n.URL, "file://") || strings.HasPrefix(n.URL, "https://") || strings.HasPrefix(n.URL, "http://")
	if linked {
		fmt.Fprintf(b, `<a href="%s">`, html.EscapeString(n.URL))
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7" fill="%s" stroke="%s" stroke-width="%.1f"%s/>`,
		html.EscapeString(strings.TrimSpace(n.Label+"\n"+n.Under)), x.x, x.y, x.w, x.h, s.fill, s.stroke, stroke, dash)
	text := float64(len(x.lines)) * lineHeight
	if x.under != "" {
		text += underLine
	}
	y := x.y + (x.h-text)/2 + lineHeight - 4
	for _, line := range x.lines {
		weight := ""
		if x.node == 0 {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%d" text-anchor="middle" fill="#0f172a"%s>%s</text>`, x.x+x.w/2, y, fontSize, weight, html.EscapeString(line))
		y += lineHeight
	}
	if x.under != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%.1f" text-anchor="middle" fill="#475569">%s</text>`, x.x+x.w/2, y-2, smallSize, html.EscapeString(x.under))
	}
	b.WriteString("</g>")
	if linked {
		b.WriteString("</a>")
	}
	b.WriteByte('\n')
}

type drawnLegend struct {
	text string
	w    float64
}

// legend names the classes below the picture.
func (l *layout) legend() drawnLegend {
	var b strings.Builder
	x, y := float64(margin), l.h-margin
	for _, c := range l.g.classes() {
		s := shadeOf(c)
		name := strings.ToLower(strings.ReplaceAll(c, "_", " "))
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="12" height="12" rx="3" fill="%s" stroke="%s"/><text x="%.1f" y="%.1f" font-size="%.1f" fill="#475569">%s</text>`+"\n",
			x, y-10, s.fill, s.stroke, x+17, y, smallSize, html.EscapeString(name))
		x += 17 + width(name, smallSize) + 16
	}
	return drawnLegend{b.String(), x + margin - 16}
}

// wrap breaks a label into lines at spaces and after hyphens, the last cut.
func wrap(s string) []string {
	s = strings.Join(strings.Fields(s), " ")
	var out []string
	for len(out) < labelLines-1 && len([]rune(s)) > labelRunes {
		r := []rune(s)
		at := 0
		for i := range r[:labelRunes] {
			if i > labelRunes/3 && (r[i] == ' ' || r[i] == '-' || r[i] == '_' || r[i] == '/') {
				at = i + 1
			}
		}
		if at == 0 {
			at = labelRunes
		}
		out = append(out, strings.TrimSpace(string(r[:at])))
		s = strings.TrimSpace(string(r[at:]))
	}
	return append(out, cut(s, labelRunes))
}

// cut shortens a text to n runes.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return s
}
