package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// line is what is drawn of every size: a name, a colour and its values.
type line struct {
	name, colour string
	at           func(grown) time.Duration
}

var lines = []line{
	{"indexed, processor time", "#555", func(g grown) time.Duration { return g.indexed }},
	{"first search of a server", "#b40", func(g grown) time.Duration { return g.first }},
	{"warm search, p95", "#07a", func(g grown) time.Duration { return g.slow }},
	{"warm search, p50", "#0a5", func(g grown) time.Duration { return g.warm }},
	{"a search, processor time", "#83b", func(g grown) time.Duration { return g.cpu }},
}

const (
	plotWidth, plotHeight           = 760, 420
	plotLeft, plotTop, plotRight    = 70, 20, 200
	plotBottom                      = 50
	plotInnerWidth, plotInnerHeight = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// plot draws how the times of sizes grow, both axes by powers of ten.
func plot(all []grown) string {
	lowX, highX := math.Inf(1), math.Inf(-1)
	lowY, highY := math.Inf(1), math.Inf(-1)
	for _, g := range all {
		x := math.Log10(float64(g.Chunks))
		lowX, highX = min(lowX, x), max(highX, x)
		for _, l := range lines {
			y := math.Log10(max(float64(l.at(g)), 1))
			lowY, highY = min(lowY, y), max(highY, y)
		}
	}
	lowX, highX, lowY, highY = math.Floor(lowX), math.Ceil(highX+1e-9), math.Floor(lowY), math.Ceil(highY+1e-9)
	px := func(x float64) float64 { return plotLeft + (x-lowX)/max(highX-lowX, 1)*plotInnerWidth }
	py := func(y float64) float64 { return plotTop + (highY-y)/max(highY-lowY, 1)*plotInnerHeight }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	for x := lowX; x <= highX; x++ {
		fmt.Fprintf(&b, `<path d="M%.1f %dv%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			px(x), plotTop, plotInnerHeight, px(x), plotHeight-plotBottom+18, power(x))
	}
	for y := lowY; y <= highY; y++ {
		fmt.Fprintf(&b, `<path d="M%d %.1fh%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, py(y), plotInnerWidth, plotLeft-6, py(y)+4, time.Duration(math.Pow(10, y)))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">chunks</text>`+"\n", plotLeft+plotInnerWidth/2, plotHeight-10)
	for i, l := range lines {
		var points []string
		for _, g := range all {
			x, y := px(math.Log10(float64(g.Chunks))), py(math.Log10(max(float64(l.at(g)), 1)))
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, l.colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), l.colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotWidth-plotRight+10, plotTop+14+20*i, l.colour, l.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// power writes a power of ten: 10k, 1M.
func power(x float64) string {
	n := math.Pow(10, x)
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.0fM", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0fk", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
