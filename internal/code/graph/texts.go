package graph

import "sort"

// texts are the strings of a view, in order, as the file has them: millions of
// strings of their own would take three times the memory. Each is read from the
// first of its run on.
type texts struct {
	raw   []byte
	n     int
	heads []textHead // of every textRun-th string
}

const textRun = 32

type textHead struct {
	text string
	next int // where the string after it begins in raw
}

// readTexts reads a list of strings written by share; false for one that is
// damaged or out of order.
func readTexts(d *dec) (*texts, bool) {
	n := d.count()
	t := &texts{n: n, raw: d.b}
	var last, cur []byte
	for i := range t.n {
		k := d.int()
		rest := d.bytes(d.int())
		if d.bad || k > len(cur) {
			return nil, false
		}
		last = append(last[:0], cur...)
		cur = append(cur[:k], rest...)
		if i > 0 && string(last) > string(cur) {
			return nil, false
		}
		if i%textRun == 0 {
			t.heads = append(t.heads, textHead{string(cur), len(t.raw) - len(d.b)})
		}
	}
	return t, true
}

// at returns the i-th string.
func (t *texts) at(i int) string {
	h := &t.heads[i/textRun]
	if i%textRun == 0 {
		return h.text
	}
	d := dec{b: t.raw[h.next:]}
	cur := []byte(h.text)
	for range i % textRun {
		k := d.int()
		cur = append(cur[:k], d.bytes(d.int())...)
	}
	return string(cur)
}

// search returns the number of a string, -1 if there is none.
func (t *texts) search(s string) int {
	run := sort.Search(len(t.heads), func(i int) bool { return t.heads[i].text > s }) - 1
	if run < 0 {
		return -1
	}
	h := &t.heads[run]
	if h.text == s {
		return run * textRun
	}
	d := dec{b: t.raw[h.next:]}
	cur := []byte(h.text)
	for i := run*textRun + 1; i < min((run+1)*textRun, t.n); i++ {
		k := d.int()
		if cur = append(cur[:k], d.bytes(d.int())...); string(cur) == s {
			return i
		}
	}
	return -1
}

// qualified returns the pairs of numbers, of what encloses a declaration and of its
// name, that stand for a qualified name: a name may have a dot in it, too.
func (t *texts) qualified(decl string) (pairs [][2]int) {
	add := func(in, name string) {
		q := t.search(in)
		if q < 0 {
			return
		}
		if n := t.search(name); n >= 0 {
			pairs = append(pairs, [2]int{q, n})
		}
	}
	add("", decl)
	for i := 1; i < len(decl); i++ {
		if decl[i] == '.' {
			add(decl[:i], decl[i+1:])
		}
	}
	return pairs
}

// all returns every string.
func (t *texts) all() []string {
	d := dec{b: t.raw}
	out := make([]string, t.n)
	var cur []byte
	for i := range out {
		k := d.int()
		cur = append(cur[:k], d.bytes(d.int())...)
		out[i] = string(cur)
	}
	return out
}
