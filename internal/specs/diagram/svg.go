package diagram

import (
	"fmt"
	"html"
	"strings"
)

func (g Graph) svg() string {
	l := newLayout(g)
	l.order()
	l.ports()
	l.place()
	return l.draw()
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
	// The line runs straight where its name is beside it.
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
