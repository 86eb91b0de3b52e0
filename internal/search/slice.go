package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	// packWidth is how many bytes of a line a packed reply shows.
	packWidth = 400
	// nearby is how many lines before and after one that tells something are
	// shown with it.
	nearby = 2
	// closing is the longest gap between slices that is shown instead of named:
	// its name would cost as much.
	closing = 2
)

// An extract is the text of a place, of which a packed reply shows all or slices.
type extract struct {
	lines
	symbol   *kb.Symbol // that it declares, nil for none
	cost     []int      // of each line
	numbered bool
	shown    []bool
	alone    bool // one line is shown, and that there are others is plain
}

// extractOf reads the lines from start to end of a document.
func (s *shower) extractOf(d *kb.DocumentText, start, end int, y *kb.Symbol) *extract {
	a, b := chunkAt(d, start), chunkAt(d, end)
	for b+1 < len(d.Chunks) && d.Chunks[b+1].Start <= end { // the rest of a long line
		b++
	}
	p := kb.Passage{Language: d.Language, Text: d.Body[d.Chunks[a].From:d.Chunks[b].To]}
	p.Chunk.Start, p.Chunk.End = d.Chunks[a].Start, d.Chunks[b].End
	for i := a; i <= b; i++ {
		p.Chunk.Symbols = append(p.Chunk.Symbols, d.Chunks[i].Symbols...)
	}
	o := &extract{lines: s.r.Tuning.bestLines(s.asking(), &p), numbered: true}
	o.within(start, end)
	o.symbol = y
	return o
}

// keep says which lines stay whatever is left out: those of the declaration and
// of its doc comment, and the one that has to be seen.
func (o *extract) keep() (rows []int) {
	if y := o.symbol; y != nil && y.Line > 0 {
		rows = append(rows, o.row(y.Line), o.row(min(y.Start, y.Line)))
	}
	if o.must > 0 {
		rows = append(rows, o.row(o.must))
	}
	return rows
}

// trim leaves out blank lines at both ends, and returns the first line and the last.
func (o *extract) trim() (first, last int) {
	a, b := 0, len(o.text)
	for b > 1 && strings.TrimSpace(o.text[b-1]) == "" {
		b--
	}
	for a < b-1 && strings.TrimSpace(o.text[a]) == "" {
		a++
	}
	o.within(o.first+a, o.first+b-1)
	return o.first, o.first + len(o.text) - 1
}

// row returns the number of a line of the body.
func (o *extract) row(line int) int { return min(max(0, line-o.first), len(o.text)-1) }

// price returns what the whole body costs.
func (o *extract) price() (sum int) {
	if o.cost == nil {
		for i := range o.text {
			o.cost = append(o.cost, tokens.Estimate(o.line(i))+1)
		}
	}
	for _, c := range o.cost {
		sum += c
	}
	return sum
}

// line returns a line as it is shown.
func (o *extract) line(i int) string {
	text := kb.Clip(strings.TrimRight(o.text[i], " \t\r"), packWidth)
	if !o.numbered {
		return text + "\n"
	}
	return fmt.Sprintf("%d\t%s\n", o.first+i, text)
}

// choose marks the lines that are shown for a price: all, or those that tell
// most, each with what surrounds it, and of lines that tell as much the first.
func (o *extract) choose(price int) {
	o.shown = make([]bool, len(o.text))
	if o.price() <= price {
		for i := range o.shown {
			o.shown[i] = true
		}
		return
	}
	o.scan()
	tells := make([]float64, len(o.text))
	for i := range o.text {
		w := o.weight(o.terms[i])
		if o.must == o.first+i {
			w += 1000
		}
		for j := max(0, i-nearby); j <= min(len(tells)-1, i+nearby); j++ {
			far := float64(max(i-j, j-i))
			tells[j] = max(tells[j], w*(1-far/(2*nearby+1)))
		}
	}
	for _, i := range o.keep() {
		tells[i] += 1e6
	}
	order := make([]int, len(o.text))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tells[b], tells[a]) })
	for _, i := range order {
		if price -= o.cost[i]; price < 0 && i != order[0] {
			break
		}
		o.shown[i] = true
	}
	o.close()
}

// chooseOne marks the line that tells most, which stands for its place in a list.
func (o *extract) chooseOne() {
	o.shown, o.alone = make([]bool, len(o.text)), true
	o.scan()
	best, at := -1.0, 0
	for i := range o.text {
		if w := o.weight(o.terms[i]) + o.bonus[i]; w > best {
			best, at = w, i
		}
	}
	o.shown[at] = true
}

// close shows what lies between two slices where that is hardly longer than to
// say that it was left out, and no blank line at the end of a slice.
func (o *extract) close() {
	last := -1
	for i, is := range o.shown {
		if !is {
			continue
		}
		if last >= 0 && i-last-1 <= closing {
			for j := last + 1; j < i; j++ {
				o.shown[j] = true
			}
		}
		last = i
	}
	for i := len(o.shown) - 1; i >= 0; i-- {
		if o.shown[i] && strings.TrimSpace(o.text[i]) == "" && (i+1 == len(o.shown) || !o.shown[i+1]) {
			o.shown[i] = false
		}
	}
}

// render writes what is shown, and how many lines are not.
func (o *extract) render(b *strings.Builder) {
	left := 0
	flush := func() {
		if left > 0 && !o.alone {
			fmt.Fprintf(b, "\t… %s\n", kb.Count(left, "line"))
		}
		left = 0
	}
	for i, is := range o.shown {
		if !is {
			left++
			continue
		}
		flush()
		b.WriteString(o.line(i))
	}
	flush()
}

// whole reports whether every line of the body is shown as it is.
func (o *extract) whole() bool {
	return o.shown != nil && !slices.Contains(o.shown, false)
}
