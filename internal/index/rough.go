package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A retrieval by words first scores roughly, in single precision and one number
// a chunk, to learn which chunks may be among the best; only these, a few more
// than are wanted, are then scored exactly. A rough score is off by
//
//	slack * score
//
// at most: a sum of 64 terms, each rounded six times by 2^-24.
const slack = 1e-4

// rough is the scratch space of rough scoring.
type rough struct {
	sums   []float32  // by chunk
	paths  []float32  // by document, the weighted frequency of the term in its path
	pathed []uint32   // documents with such
	below  bitset     // their chunks
	once   []float32  // by length of the body, the weighted frequency of a term that is there once
	onceOf [3]float64 // of which weight and norm that is
	gain   []float32  // what that adds to the score
	heap   []float32
	found  []uint32 // what above returned last
}

// lengths is up to which length of a body what a term adds is looked up.
const lengths = 1 << 11

// weight is a term at work: what a weighted frequency adds to the score.
type weight struct {
	w       *weighing
	top, k1 float32 // idf * (k1+1), k1
}

func (t *weight) of(f float32) float32 { return t.top * f / (f + t.k1) }

// likely returns the chunks that may be among the best limit of those that keep
// keeps; false when fewer than that many score above nothing, which then is to be
// found out exactly.
func (g *Generation) likely(ctx context.Context, w *weighing, sc *scores, keep func(uint32) bool, limit int) ([]uint32, bool, error) {
	if limit <= 0 || len(g.docs) == 0 {
		return nil, false, nil
	}
	plan, err := g.plan(w)
	if plan == nil {
		return nil, false, err
	}
	r := &sc.rough
	if r.sums == nil {
		r.sums, r.paths = make([]float32, g.base[len(g.docs)]), make([]float32, len(g.docs))
		r.below = make(bitset, len(r.sums)/64+1)
		r.once, r.gain = make([]float32, lengths), make([]float32, lengths)
	}
	defer clear(r.sums)
	if of := [3]float64{w.BM25F.Weight[kb.FieldBody], w.c0[fieldBody], w.c1[fieldBody]}; r.onceOf != of {
		for n := range r.once {
			r.once[n] = float32(of[0] / (of[1] + of[2]*float64(n)))
		}
		r.onceOf = of
	}
	var found []uint32 // nil: every chunk
	read := 0          // postings since the last look
	for k, t := range plan {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if err := g.addRoughly(w, t.number, r); err != nil {
			return nil, false, err
		}
		read += t.postings
		if k+1 < len(plan) && (t.more < worthLooking || read+plan[k+1].postings < lookEvery) {
			continue
		}
		floor := r.nth(limit, found, keep, float32(t.left*(1+slack)))
		if floor == 0 {
			continue
		}
		// Whatever was not met yet is not among the best.
		read = 0
		found = r.above(found, keep, floor*(1-slack)-float32(t.left))
		if len(found)*perChunk <= t.more {
			if err := g.addRest(ctx, w, plan[k+1:], found, r); err != nil {
				return nil, false, err
			}
			k = len(plan) - 1
			found = r.above(found, keep, r.nth(limit, found, keep, 0)*(1-slack))
		}
		if k+1 == len(plan) {
			return found, true, nil
		}
	}
	return nil, false, nil
}

// addRest adds what the terms left give to the chunks found.
func (g *Generation) addRest(ctx context.Context, w *weighing, left []step, found []uint32, r *rough) error {
	in := g.chunkSet(found, false)
	for _, x := range left {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := w.weightOf(x.number)
		err := g.addPaths(w, x.number, &t, r, func(from, to uint32) bool { return in.all.any(from, to) })
		if err == nil {
			err = g.eachOf(w.Terms[x.number], in, func(si int, p *posting, c uint32) {
				f := float32(w.text(p, g.segs[si].lens(p.chunk)))
				if !r.below.has(c) {
					r.sums[c] += t.of(f)
					return
				}
				g.addOne(&t, c, int32(g.docOf(c)), f, t.of(f), r)
			})
		}
		r.forget(g)
		if err != nil {
			return err
		}
	}
	return nil
}

// above returns the chunks, of those given or all, whose sums may be least or more.
func (r *rough) above(of []uint32, keep func(uint32) bool, least float32) []uint32 {
	if of != nil {
		return slices.DeleteFunc(of, func(c uint32) bool { return r.sums[c]*(1+slack) < least })
	}
	of = r.found[:0]
	if of == nil {
		of = []uint32{} // nil is every chunk
	}
	// Numbers below that are too small, also when they were rounded up twice.
	from := max(least/(1+slack)*(1-1e-6), math.SmallestNonzeroFloat32)
	r.eachAtLeast(func() float32 { return from }, func(c uint32, x float32) {
		if x*(1+slack) >= least && keep(c) {
			of = append(of, c)
		}
	})
	r.found = of
	return of
}

// scanned is how many sums eachAtLeast takes at once.
const scanned = 4096

// eachAtLeast calls f with every chunk whose sum is at least what least returns
// when its neighbours are looked at.
func (r *rough) eachAtLeast(least func() float32, f func(c uint32, x float32)) {
	var bytes [scanned / 8]byte
	for from := 0; from < len(r.sums); from += scanned {
		sums := r.sums[from:min(from+scanned, len(r.sums))]
		found := bytes[:len(sums)/8]
		floor := least()
		vector.AtLeast(found, sums[:8*len(found)], floor)
		for i := 0; i+8 <= len(found); i += 8 {
			for w := binary.LittleEndian.Uint64(found[i:]); w != 0; w &= w - 1 {
				c := 8*i + bits.TrailingZeros64(w)
				f(uint32(from+c), sums[c])
			}
		}
		for c := len(found) &^ 7 * 8; c < len(sums); c++ {
			if x := sums[c]; x >= floor {
				f(uint32(from+c), x)
			}
		}
	}
}

// nth returns the n-th greatest of the sums of the chunks given, or of all that
// keep keeps, 0 unless that many are greater than least.
func (r *rough) nth(n int, of []uint32, keep func(uint32) bool, least float32) float32 {
	top := r.heap[:0]
	add := func(x float32) {
		if len(top) < n {
			if top = append(top, x); len(top) == n {
				slices.Sort(top) // which is a heap
				least = top[0]
			}
			return
		}
		top[0] = x
		siftDown(top, 0, func(a, b float32) int { return cmp.Compare(b, a) })
		least = top[0]
	}
	for _, c := range of {
		if x := r.sums[c]; x > least {
			add(x)
		}
	}
	if of == nil {
		r.eachAtLeast(func() float32 { return max(least, math.SmallestNonzeroFloat32) }, func(c uint32, x float32) {
			if x > least && keep(c) {
				add(x)
			}
		})
	}
	r.heap = top
	if len(top) < n {
		return 0
	}
	return top[0]
}

// weightOf returns what term i adds.
func (w *weighing) weightOf(i int) weight {
	return weight{w, float32(w.IDF[i] * (w.BM25F.K1 + 1)), float32(w.BM25F.K1)}
}

// addRoughly adds what term i gives to every chunk in which it occurs. Segments have
// chunks of their own, so that several processors add at once.
func (g *Generation) addRoughly(w *weighing, i int, r *rough) error {
	t := w.weightOf(i)
	defer r.forget(g)
	if err := g.addPaths(w, i, &t, r, func(uint32, uint32) bool { return true }); err != nil {
		return err
	}
	at, err := g.lookup(w.Terms[i])
	if err != nil {
		return err
	}
	n := 0
	for si := range at {
		n += int(at[si].count)
	}
	var gain []float32
	if n >= lengths { // else the table would cost more than it saves
		gain = r.gain
		for n, f := range r.once {
			gain[n] = t.of(f)
		}
	}
	return g.sideBySide(len(at), n >= aloneBelow, func(si int) error {
		if at[si].count == 0 {
			return nil
		}
		b, err := g.segs[si].dict.read(at[si])
		if err != nil {
			return err
		}
		return g.addPostings(&t, si, b, gain, r)
	})
}

// aloneBelow is how many postings one processor adds sooner than several.
const aloneBelow = 8192

// addPaths adds what a term gives to the chunks of the documents that have it in
// their paths, those that keep keeps.
func (g *Generation) addPaths(w *weighing, i int, t *weight, r *rough, keep func(from, to uint32) bool) error {
	return g.pathPostings(w.Terms[i], func(p *posting) {
		d := p.chunk
		from, to := g.base[d], g.base[d+1]
		if !keep(from, to) {
			return
		}
		f := float32(w.path(p, g.docs[d].terms))
		r.paths[d], r.pathed = f, append(r.pathed, d)
		x := t.of(f)
		r.below.addAll(from, to)
		sums := r.sums[from:to]
		for c := range sums {
			sums[c] += x
		}
	})
}

// forget forgets what a term gives to documents by their paths.
func (r *rough) forget(g *Generation) {
	for _, d := range r.pathed {
		r.paths[d] = 0
		clear(r.below[g.base[d]/64 : g.base[d+1]/64+1])
	}
	r.pathed = r.pathed[:0]
}

// addPostings adds what the postings of a term in one segment give; gain is what
// one in a body gives by its length, nil where that is not known beforehand.
func (g *Generation) addPostings(t *weight, si int, b []byte, gain []float32, r *rough) error {
	globals, sizes := g.globals[si], g.segs[si].sizes
	at, limit := uint64(0), uint64(len(globals))
	for i := 0; i < len(b); {
		v := uint64(b[i])
		i++
		switch {
		case v < 0x80:
		case i < len(b) && b[i] < 0x80:
			v = v&0x7f | uint64(b[i])<<7
			i++
		default:
			n := 0
			if v, n = binary.Uvarint(b[i-1:]); n <= 0 {
				return errPostings
			}
			i += n - 1
		}
		if at += v >> 2; at >= limit {
			return errPostings
		}
		var f, x float32
		switch body := sizes[at] & (1<<16 - 1); {
		case v&3 == 0 && body < lengths:
			if f = r.once[body]; gain != nil {
				x = gain[body]
			} else {
				x = t.of(f)
			}
		case v&3 == 1 && i < len(b) && b[i] < 0x80 && body < lengths:
			f = float32(b[i]) * r.once[body]
			x = t.of(f)
			i++
		default:
			var p posting
			var err error
			if i, err = p.counts(b, i, byte(v&3)); err != nil {
				return err
			}
			f = float32(t.w.text(&p, g.segs[si].lens(uint32(at))))
			x = t.of(f)
		}
		global := globals[at]
		switch {
		case global >= 0 && !r.below.has(uint32(global)):
			r.sums[global] += x
		case global >= 0:
			g.addOne(t, uint32(global), g.first[si][g.segs[si].doc[at]]-1, f, x, r)
		case global == -2:
			g.each(si, uint32(at), func(c uint32) { g.addOne(t, c, int32(g.docOf(c)), f, x, r) })
		}
	}
	return nil
}

// addOne adds what a weighted frequency of f in the text gives to a chunk of a
// document whose path may hold the term too: alone that is x.
func (g *Generation) addOne(t *weight, c uint32, doc int32, f, x float32, r *rough) {
	if p := r.paths[doc]; p > 0 {
		x = t.of(f+p) - t.of(p)
	}
	r.sums[c] += x
}

// counts reads how often a term occurs in each field, from i on, and returns where
// that ends.
func (p *posting) counts(b []byte, i int, mode byte) (int, error) {
	fields, mask := 1, byte(1)<<fieldBody
	switch mode {
	case 0:
		p.tf[fieldBody] = 1
		return i, nil
	case 1:
	default:
		if i >= len(b) {
			return 0, errPostings
		}
		mask = b[i]
		i++
		fields = bits.OnesCount8(mask & (1<<numFields - 1))
	}
	for j := 0; fields > 0; j++ {
		if mask&(1<<j) == 0 {
			continue
		}
		c, n := binary.Uvarint(b[i:])
		if n <= 0 {
			return 0, errPostings
		}
		i += n
		p.tf[j] = uint16(c)
		fields--
	}
	return i, nil
}
