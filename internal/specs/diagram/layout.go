package diagram

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The layout is columns: the first node alone in the middle, the others as far
// from it as their Column says. An edge leaves a box from a port of its own
// towards the other box, and its name is drawn beside its port at the end
// farther out. Ports of one side of a box are portStep apart and a box is
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
	weight     float64  // where its neighbours are
}

type layout struct {
	g       Graph
	boxes   []box
	columns [][]int  // boxes of each column, from the left
	first   int      // column number of columns[0]
	labels  []string // of the edges, cut
	w, h    float64
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

// order sorts each column so that neighbours are near each other: by the
// mean place of what a box is tied to, in a few sweeps from the middle.
func (l *layout) order() {
	rank := make([]float64, len(l.boxes))
	number := func(col []int) {
		for i, b := range col {
			rank[b] = float64(i) - float64(len(col)-1)/2
		}
	}
	for _, col := range l.columns {
		kb.SortStableFunc(col, func(a, b int) int {
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
			kb.SortStableFunc(col, func(a, b int) int { return cmp.Compare(l.boxes[a].weight, l.boxes[b].weight) })
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

// named returns the end of an edge that has its name: the one farther out.
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
			kb.SortStableFunc(b.ports[side], func(x, y int) int {
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
	// A name lies in the space on the side of the box that it belongs to.
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
