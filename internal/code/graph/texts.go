package graph

import (
	"encoding/binary"
	"math"
	"sort"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// texts are the strings of a view, in order, as the file has them, which is mapped:
// of a large store they are some ten megabytes, and one question reads a few of
// them. Each is read from the first of its run on. Use them within View.guard: what is
// damaged makes it fail.
type texts struct {
	n    int
	heap *unpacked // of a file of version 1 or 2
	at32 blockfile.Section
	raw  blockfile.Section
	bad  *atomic.Bool // something read was damaged
}

// writeTexts writes n strings, which are in order, as the sections "texts" and
// "texts.at".
func (p *packer) writeTexts(n int, at func(int) string) error {
	var e enc
	ends := binary.LittleEndian.AppendUint32(nil, uint32(n))
	if err := p.w.Section("texts"); err != nil {
		return err
	}
	size, prev := 0, ""
	for i := range n {
		s, k := at(i), 0
		if i%textRun == 0 {
			if err := p.ctx.Err(); err != nil {
				return canceled(err)
			}
			if size > math.MaxUint32 {
				return kb.Errorf(kb.TooLarge, "the names of the store take more than 4 GiB").WithHint("narrow the store with paths")
			}
			ends, prev = binary.LittleEndian.AppendUint32(ends, uint32(size)), ""
		}
		for k < len(s) && k < len(prev) && s[k] == prev[k] {
			k++
		}
		before := len(e.b)
		e.int(k)
		e.string(s[k:])
		size, prev = size+len(e.b)-before, s
		if len(e.b) >= 1<<16 || i+1 == n {
			if _, err := p.w.Write(e.b); err != nil {
				return err
			}
			e.b = e.b[:0]
		}
	}
	if err := p.w.Section("texts.at"); err != nil {
		return err
	}
	_, err := p.w.Write(ends)
	return err
}

// openTexts opens what writeTexts wrote; bad is told of damage.
func openTexts(r *blockfile.Reader, bad *atomic.Bool) (*texts, error) {
	t := &texts{bad: bad, at32: r.Section("texts.at"), raw: r.Section("texts")}
	b, err := t.at32.Bytes(0, 4)
	if err != nil {
		return nil, err
	}
	t.n = int(binary.LittleEndian.Uint32(b))
	if t.at32.Len() != 4+4*int64((t.n+textRun-1)/textRun) {
		t.bad.Store(true)
	}
	return t, nil
}

// run returns the strings from the first of a run on, as the file has them.
func (t *texts) run(i int) (d dec) {
	at := 4 + 4*int64(i)
	b, err := t.at32.Bytes(at, min(8, t.at32.Len()-at))
	if err != nil || len(b) < 4 {
		t.bad.Store(true)
		return d
	}
	from, to := int64(binary.LittleEndian.Uint32(b)), t.raw.Len()
	if len(b) == 8 {
		to = int64(binary.LittleEndian.Uint32(b[4:]))
	}
	if d.b, err = t.raw.Bytes(from, to-from); err != nil {
		t.bad.Store(true)
	}
	return d
}

// next reads the string after cur.
func (t *texts) next(d *dec, cur []byte) []byte {
	k := d.int()
	rest := d.bytes(d.int())
	if d.bad || k > len(cur) {
		d.bad = true
		t.bad.Store(true)
		return nil
	}
	return append(cur[:k], rest...)
}

// at returns the i-th string.
func (t *texts) at(i int) string {
	if t.heap != nil {
		return t.heap.at(i)
	}
	var room [128]byte
	d, cur := t.run(i/textRun), room[:0]
	for range i%textRun + 1 {
		cur = t.next(&d, cur)
	}
	return string(cur)
}

// search returns the number of a string, -1 if there is none.
func (t *texts) search(s string) int {
	if t.heap != nil {
		return t.heap.search(s)
	}
	run := sort.Search((t.n+textRun-1)/textRun, func(i int) bool {
		d := t.run(i)
		d.int()
		return string(d.bytes(d.int())) > s
	}) - 1
	if run < 0 {
		return -1
	}
	var room [128]byte
	d, cur := t.run(run), room[:0]
	for i := run * textRun; i < min((run+1)*textRun, t.n); i++ {
		if cur = t.next(&d, cur); string(cur) == s {
			return i
		}
	}
	return -1
}

// all returns every string.
func (t *texts) all() []string {
	if t.heap != nil {
		return t.heap.all()
	}
	out := make([]string, 0, t.n)
	var d dec
	var cur []byte
	for i := range t.n {
		if i%textRun == 0 {
			d, cur = t.run(i/textRun), cur[:0]
		}
		cur = t.next(&d, cur)
		out = append(out, string(cur))
	}
	return out
}

// unpacked are the strings of a view of version 1 or 2, which are one frame: millions
// of strings of their own would take three times the memory.
type unpacked struct {
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
func readTexts(d *dec) (*unpacked, bool) {
	n := d.count()
	t := &unpacked{n: n, raw: d.b}
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
func (t *unpacked) at(i int) string {
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
func (t *unpacked) search(s string) int {
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
func (t *unpacked) all() []string {
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
