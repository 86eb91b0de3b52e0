package gitlog

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// words numbers lines. Two lines that differ in white space alone are one.
type words struct {
	number map[string]int32
	as     map[string]int32 // as written: versions have most lines in common
	weight []int32          // letters and digits of each
	buf    []byte
}

// version is a file as one commit has it: the number of each line's text.
type version struct {
	ids  []int32
	text [][]byte
}

func (w *words) read(body []byte) *version {
	v := &version{}
	body = bytes.TrimSuffix(body, []byte("\n"))
	if len(body) == 0 {
		return v
	}
	v.text = bytes.Split(body, []byte("\n"))
	v.ids = make([]int32, len(v.text))
	for i, line := range v.text {
		n, ok := w.as[string(line)]
		if !ok {
			n = w.of(line)
			w.as[string(line)] = n
		}
		v.ids[i] = n
	}
	return v
}

func (w *words) of(line []byte) int32 {
	w.buf = w.buf[:0]
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			w.buf = append(w.buf, c)
		}
	}
	n, ok := w.number[string(w.buf)]
	if !ok {
		n = int32(len(w.weight))
		w.number[string(w.buf)] = n
		letters := int32(0)
		for _, c := range w.buf {
			if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf {
				letters++
			}
		}
		w.weight = append(w.weight, letters)
	}
	return n
}

// match returns, for each line of b, the line of a that it is, or -1: lines that
// both have once are the anchors, as in patience diff, and between them the
// shortest edit script decides, as far as it is short.
func match(a, b []int32) []int32 {
	out := make([]int32, len(b))
	for i := range out {
		out[i] = -1
	}
	m := matching{a: a, b: b, out: out}
	m.between(0, len(a), 0, len(b), 0)
	return out
}

type matching struct {
	a, b []int32
	out  []int32
}

func (m *matching) between(a1, a2, b1, b2, depth int) {
	for a1 < a2 && b1 < b2 && m.a[a1] == m.b[b1] {
		m.out[b1] = int32(a1)
		a1, b1 = a1+1, b1+1
	}
	for a1 < a2 && b1 < b2 && m.a[a2-1] == m.b[b2-1] {
		a2, b2 = a2-1, b2-1
		m.out[b2] = int32(a2)
	}
	if a1 == a2 || b1 == b2 {
		return
	}
	if depth < 32 {
		if pairs := m.anchors(a1, a2, b1, b2); len(pairs) > 0 {
			for _, p := range pairs {
				m.between(a1, p[0], b1, p[1], depth+1)
				m.out[p[1]] = int32(p[0])
				a1, b1 = p[0]+1, p[1]+1
			}
			m.between(a1, a2, b1, b2, depth+1)
			return
		}
	}
	m.shortest(a1, a2, b1, b2)
}

// anchors returns the longest increasing run of pairs of lines that both sides
// have once.
func (m *matching) anchors(a1, a2, b1, b2 int) [][2]int {
	once := map[int32][2]int{} // place and one in a and b, negative where there are several
	note := func(id int32, side, at int) {
		p := once[id]
		if p[side] == 0 {
			p[side] = at + 1
		} else {
			p[side] = -1
		}
		once[id] = p
	}
	for i := a1; i < a2; i++ {
		note(m.a[i], 0, i)
	}
	for j := b1; j < b2; j++ {
		note(m.b[j], 1, j)
	}
	var pairs [][2]int // by b
	for j := b1; j < b2; j++ {
		if p := once[m.b[j]]; p[0] > 0 && p[1] > 0 {
			pairs = append(pairs, [2]int{p[0] - 1, j})
		}
	}
	// Patience: piles of ascending tops, and the pair below each.
	var tops []int
	below := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(tops, p[0], func(top, x int) int { return pairs[top][0] - x })
		below[k] = -1
		if at > 0 {
			below[k] = tops[at-1]
		}
		if at == len(tops) {
			tops = append(tops, k)
		} else {
			tops[at] = k
		}
	}
	if len(tops) == 0 {
		return nil
	}
	var out [][2]int
	for k := tops[len(tops)-1]; k >= 0; k = below[k] {
		out = append(out, pairs[k])
	}
	slices.Reverse(out)
	return out
}

// mostEdits bounds the shortest edit script that is looked for.
const mostEdits = 400

// shortest is the greedy algorithm of Myers, "An O(ND) Difference Algorithm and
// Its Variations" (1986), with the furthest points of each step kept.
func (m *matching) shortest(a1, a2, b1, b2 int) {
	a, b := m.a[a1:a2], m.b[b1:b2]
	most := min(len(a)+len(b), mostEdits)
	v := make([]int, 2*most+2)
	var steps [][]int
	for d := 0; d <= most; d++ {
		steps = append(steps, slices.Clone(v[most-d:most+d+1]))
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[most+k-1] < v[most+k+1] {
				x = v[most+k+1]
			} else {
				x = v[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				m.trace(steps, a1, b1, len(a), len(b))
				return
			}
		}
	}
}

// trace goes back along the furthest points; steps[d] holds those before step d,
// of the diagonals -d to d.
func (m *matching) trace(steps [][]int, a1, b1, x, y int) {
	for d := len(steps) - 1; d >= 0; d-- {
		v, k := steps[d], x-y
		at := func(k int) int { return v[k+d] }
		from := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			from = k + 1
		}
		px := 0
		if d > 0 {
			px = at(from)
		}
		py := px - from
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py && m.a[a1+x-1] == m.b[b1+y-1] {
			x, y = x-1, y-1
			m.out[b1+y] = int32(a1 + x)
		}
		x, y = px, py
	}
}

// hunk is a run of lines of b that are none of a, and the lines of a that lie
// between the same neighbours.
type hunk struct{ a1, a2, b1, b2 int }

// hunks returns the hunks of a match.
func hunks(matched []int32, lenA int) []hunk {
	var out []hunk
	last := 0 // the line of a after the last that matched
	for j := 0; j < len(matched); j++ {
		if matched[j] >= 0 {
			last = int(matched[j]) + 1
			continue
		}
		h := hunk{a1: last, b1: j}
		for j < len(matched) && matched[j] < 0 {
			j++
		}
		h.b2, h.a2 = j, lenA
		if j < len(matched) {
			h.a2 = max(int(matched[j]), last)
		}
		out = append(out, h)
		j--
	}
	return out
}

// reformatted maps the lines of a hunk to those of the file before where the two
// texts differ only in what formatters change: white space and the ends of
// lines, quotes, commas before a bracket that closes, semicolons. nil otherwise.
func reformatted(before, now *version, h hunk) map[int]int {
	if h.a1 == h.a2 || h.b1 == h.b2 {
		return nil
	}
	a, startsA := essence(before.text[h.a1:h.a2])
	b, startsB := essence(now.text[h.b1:h.b2])
	if len(a) == 0 || !bytes.Equal(a, b) {
		return nil
	}
	out := map[int]int{}
	for j, at := range startsB {
		i, exact := slices.BinarySearch(startsA, at)
		if !exact {
			i--
		}
		for i > 0 && i < len(startsA)-1 && startsA[i+1] == at {
			i++ // the last of those that begin there has the text
		}
		out[h.b1+j] = h.a1 + max(i, 0)
	}
	return out
}

// essence joins lines without what formatters change, and returns where each begins.
func essence(lines [][]byte) (out []byte, starts []int) {
	for _, l := range lines {
		starts = append(starts, len(out))
		for len(l) > 0 {
			r, n := utf8.DecodeRune(l)
			c := l[:n]
			l = l[n:]
			switch {
			case unicode.IsSpace(r) || r == ';' || r == '\\':
			case r == '\'' || r == '`':
				out = append(out, '"')
			case r == ')' || r == ']' || r == '}':
				if k := len(out); k > 0 && out[k-1] == ',' {
					out = out[:k-1]
				}
				out = append(out, c...)
			default:
				out = append(out, c...)
			}
		}
	}
	return out, starts
}

// alike is how much of two lines' words is in both, from 0 to 1.
func alike(a, b []byte) float64 {
	wordsOf := func(line []byte) map[string]int {
		out := map[string]int{}
		for _, w := range bytes.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			out[string(w)]++
		}
		return out
	}
	x, y := wordsOf(a), wordsOf(b)
	both, all := 0, 0
	for w, n := range x {
		both += min(n, y[w])
		all += n
	}
	for _, n := range y {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}

// indented returns the lines, as they are now, that a commit only indented
// otherwise because it put them into another block: the line that they stand
// below, the first above with less before it, is the commit's own.
func indented(before, now *version, matched []int32, lines []line) (out []line) {
	for _, l := range lines {
		if l.generation > 0 || matched[l.at] < 0 || bytes.Equal(margin(now.text[l.at]), margin(before.text[matched[l.at]])) {
			continue
		}
		own := len(margin(now.text[l.at]))
		for k := l.at - 1; k >= 0 && k > l.at-mostAround; k-- {
			if len(bytes.TrimSpace(now.text[k])) == 0 || len(margin(now.text[k])) >= own {
				continue
			}
			if matched[k] < 0 && !formatted(before, now, matched, k) {
				out = append(out, l)
			}
			break
		}
	}
	return out
}

// margin is the white space before a line.
func margin(text []byte) []byte { return text[:len(text)-len(bytes.TrimLeft(text, " \t"))] }

// formatted reports whether a line is in a hunk in which only the form changed.
func formatted(before, now *version, matched []int32, at int) bool {
	for _, h := range hunks(matched, len(before.ids)) {
		if h.b1 <= at && at < h.b2 {
			return reformatted(before, now, h) != nil
		}
	}
	return false
}
