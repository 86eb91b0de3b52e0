package vector

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// flat scans all codes, or those of the rows that a sketch cannot rule out, and
// rescores what may be among the K best.
//
// The scan multiplies the codes with the query rounded to 16 bits. With u the
// query at length 1, u(j) ≈ step*t(j), t an int16, the scan's score of a row is
//
//	coarse = scale * step * sum of t(j)*code(j)
//
// and differs from the score, scale * sum of u(j)*(code(j) + rest(j)/16), by
//
//	scale * | sum of u(j)*rest(j)/16 + sum of (u(j)-step*t(j))*code(j) | ≤ scale * E
//	E = 1/2 * sum of |u(j)|  +  127 * sum of |u(j)-step*t(j)|  +  rounding
//
// as rest/16 is at most 1/2 and a code at most 127. So a row scores at least
// coarse-scale*E and at most coarse+scale*E. Let T be the K-th greatest of all
// the lower bounds: K rows score T or more, so that no row whose upper bound
// is below T is among the K best, and none that ties with the last of them.
// The rest are rescored exactly: at K = 10 of 100,000 rows, 33 when they are
// random and 105 when they lie in 50 clusters.
//
// A sketch leaves out rows that would score T or more with a small probability,
// see Sketch; without one the answer is exact.
type flat struct {
	m      *Matrix
	mu     sync.RWMutex
	closed bool
}

const (
	block       = 1024 // rows scanned between two looks at the context
	parallelMin = 8192 // rows from which on the scan uses more than one goroutine
)

func newFlat(m *Matrix) (Engine, error) { return &flat{m: m}, nil }

func (f *flat) Len() int     { return f.m.rows }
func (f *flat) Dims() int    { return f.m.dims }
func (f *flat) Name() string { return "flat" }

func (f *flat) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *flat) Search(ctx context.Context, q Query) ([]Match, error) {
	found, err := searchFlats(ctx, []*flat{f}, []Query{q})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// searchFlats is SearchAll. All sketches are scanned before any row is looked at
// that is not among the best so far by its estimate: by then most can be ruled
// out.
func searchFlats(ctx context.Context, flats []*flat, queries []Query) ([][]Match, error) {
	for _, f := range flats {
		f.mu.RLock()
		defer f.mu.RUnlock()
		if f.closed {
			return nil, closedError()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([][]Match, len(flats))
	s := &search{matches: out}
	for i, f := range flats {
		p, err := prepare(f.m, queries[i])
		if err != nil {
			return nil, err
		}
		if p != nil {
			s.add(p, i, queries[i].K)
		}
	}
	if len(s.parts) == 0 {
		return out, nil
	}
	workers := 1
	if s.rows >= parallelMin {
		workers = min(runtime.GOMAXPROCS(0), s.rows/(parallelMin/2))
	}
	found := make([]*finds, workers)
	for w := range found {
		found[w] = spare.Get().(*finds)
	}
	var wg sync.WaitGroup
	for _, step := range []func(context.Context, *finds){s.run, s.catchUp} {
		for w := 1; w < workers; w++ {
			wg.Go(func() { step(ctx, found[w]) })
		}
		step(ctx, found[0])
		wg.Wait()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range found {
		if err := found[i].err; err != nil {
			return nil, err
		}
	}
	err := s.rescore(ctx, found)
	for _, f := range found { // where a fault ends the search, others may still use theirs
		f.free()
	}
	return out, err
}

// candidate is a row that may be among the K best, with its upper bound and, by
// the sketch, its reach. For what is found not to depend on the order in which rows
// are looked at, a row counts for the floor with its reach at most, and is left
// out where that is below the floor in the end, even if it was looked at.
type candidate struct {
	row, part    int32
	upper, reach float32
}

// finds is what one goroutine of a search has found.
type finds struct {
	lower best // of lower bounds
	cands []candidate
	later []candidate // by the sketch's estimate
	err   error
	dots  [block]int32
}

// spare has finds of searches that have ended: their lists grow to some hundred
// thousand rows.
var spare = sync.Pool{New: func() any { return &finds{} }}

// free keeps what was found no longer, and its memory.
func (f *finds) free() {
	f.lower.heap, f.cands, f.later, f.err = f.lower.heap[:0], f.cands[:0], f.later[:0], nil
	spare.Put(f)
}

// search is one search of several matrices under way.
type search struct {
	parts   []*scan
	k, rows int
	units   []unit
	next    atomic.Int64  // first unit that is not taken
	floor   atomic.Uint32 // bits of the greatest lower bound of T known to any goroutine
	matches [][]Match
}

// unit is a block of rows.
type unit struct{ part, from int32 }

// scan is a search of one matrix.
type scan struct {
	*prepared
	number int // of the matrix
	part   int32
	glance *glance // nil without a sketch
	t      []int16
	step   float32
	slack  float32 // E
}

// add adds a matrix to what is searched.
func (s *search) add(p *prepared, number, k int) {
	x := newScan(p, s.parts)
	x.number, x.part = number, int32(len(s.parts))
	if s.parts = append(s.parts, x); len(s.parts) == 1 {
		s.k = k
		low := float32(math.Inf(-1))
		if p.Min != 0 {
			low = p.Min
		}
		s.floor.Store(math.Float32bits(low))
	}
	for from := 0; from < p.m.rows; from += block {
		s.units = append(s.units, unit{x.part, int32(from)})
	}
	s.rows += p.m.rows
}

// newScan prepares the scan of a matrix; what is the same for those before is
// taken from them.
func newScan(p *prepared, before []*scan) *scan {
	if len(before) > 0 {
		s := *before[0]
		if s.prepared, s.glance = p, nil; p.m.sketch != nil {
			for _, b := range before {
				if s.glance = b.glance.of(p.m.sketch); s.glance != nil {
					return &s
				}
			}
			s.glance = p.m.sketch.glance(p.vec, p.norm)
		}
		return &s
	}
	s := &scan{prepared: p, t: make([]int16, p.m.stride)}
	largest := 0.0
	for _, x := range p.vec {
		largest = max(largest, math.Abs(x)/p.norm)
	}
	// Sums of products of codes and t must fit 32 bits, whatever the codes.
	limit := min(math.MaxInt16, math.MaxInt32/(128*p.m.stride))
	step := largest / float64(limit)
	var size, off float64
	for j, x := range p.vec {
		u := x / p.norm
		t := math.RoundToEven(u / step)
		s.t[j] = int16(t)
		size += math.Abs(u)
		off += math.Abs(u - step*t)
	}
	s.step = float32(step)
	// The last term is for float32: the scan rounds five times, by 2^-24 of
	// numbers of at most scale*128*size, and the score once.
	s.slack = float32(size/2 + 127*off + 1e-6*128*size)
	if p.m.sketch != nil {
		s.glance = p.m.sketch.glance(p.vec, p.norm)
	}
	return s
}

// raise makes floor at least x.
func (s *search) raise(x float32) {
	for {
		old := s.floor.Load()
		if math.Float32frombits(old) >= x || s.floor.CompareAndSwap(old, math.Float32bits(x)) {
			return
		}
	}
}

// run scans blocks of rows until none is left, ctx ends, or some are damaged.
func (s *search) run(ctx context.Context, f *finds) {
	f.lower.k = s.k
	for ctx.Err() == nil && f.err == nil {
		i := int(s.next.Add(1)) - 1
		if i >= len(s.units) {
			return
		}
		p, from := s.parts[s.units[i].part], int(s.units[i].from)
		n := min(block, p.m.rows-from)
		switch {
		case p.dead(from, n):
		case p.glance != nil:
			s.glimpse(p, f, from, n)
		default:
			s.look(p, f, from, n, math.MaxFloat32)
		}
	}
}

// glimpse looks at those of n rows from from on that the sketch cannot rule out:
// at once where the estimate is among the best so far, since that raises the
// floor, and at the others when all are known.
func (s *search) glimpse(p *scan, f *finds, from, n int) {
	var sums [block]uint16
	p.glance.sums(sums[:(n+sketchBlock-1)/sketchBlock*sketchBlock], from)
	floor := math.Float32frombits(s.floor.Load())
	least := p.glance.least(floor)
	for i, sum := range sums[:n] {
		if uint32(sum) < least || !p.live(from+i) {
			continue
		}
		estimate, reach := p.glance.bounds(from+i, sum)
		switch {
		case reach < floor:
		case estimate < floor:
			f.later = append(f.later, candidate{row: int32(from + i), part: p.part, reach: reach})
		default:
			if s.look(p, f, from+i, 1, reach); f.err != nil {
				return
			}
			if now := math.Float32frombits(s.floor.Load()); now > floor {
				floor, least = now, p.glance.least(now)
			}
		}
	}
}

// catchUp looks at what glimpse left for later.
func (s *search) catchUp(ctx context.Context, f *finds) {
	for i, c := range f.later {
		if f.err != nil || i%block == 0 && ctx.Err() != nil {
			return
		}
		if c.reach >= math.Float32frombits(s.floor.Load()) {
			s.look(s.parts[c.part], f, int(c.row), 1, c.reach)
		}
	}
}

// look scans the codes of at most a block of rows of that reach.
func (s *search) look(p *scan, f *finds, from, n int, reach float32) {
	if f.err = p.m.touchCodes(from, n); f.err != nil {
		return
	}
	dots, stride := f.dots[:n], p.m.stride
	dotRows(dots, p.m.codes[from*stride:(from+n)*stride], p.t)
	floor := math.Float32frombits(s.floor.Load())
	for i, scale := range p.m.scales[from : from+n] {
		c := float32(dots[i]) * p.step
		upper := min(scale*(c+p.slack), reach)
		if !(upper >= floor) || !(scale > 0 && scale <= 16) || !p.live(from+i) {
			continue
		}
		f.cands = append(f.cands, candidate{row: int32(from + i), part: p.part, upper: upper, reach: reach})
		f.lower.add(min(scale*(c-p.slack), reach))
		floor = max(floor, f.lower.floor())
	}
	s.raise(floor)
}

// dead reports whether no row of [from, from+n) is live. from is a multiple of 64.
func (s *scan) dead(from, n int) bool {
	if s.Live == nil {
		return false
	}
	for w := from >> 6; w<<6 < from+n && w < len(s.Live); w++ {
		if s.Live[w] != 0 {
			return false
		}
	}
	return true
}

// rescore gives the candidates their scores, from the greatest upper bound
// down to where none can be among the K best any more.
func (s *search) rescore(ctx context.Context, found []*finds) error {
	lower := best{k: s.k}
	total := 0
	for _, f := range found {
		for _, x := range f.lower.heap {
			lower.add(x)
		}
		total += len(f.cands)
	}
	floor := max(lower.floor(), math.Float32frombits(s.floor.Load()))
	cands := make([]candidate, 0, min(total, 4*s.k+64))
	for _, f := range found {
		for _, c := range f.cands {
			if c.upper >= floor {
				cands = append(cands, c)
			}
		}
	}
	slices.SortFunc(cands, func(a, b candidate) int { return cmp.Compare(b.upper, a.upper) })
	scores := best{k: s.k}
	type scored struct {
		candidate
		score float32
	}
	var kept []scored
	for i, c := range cands {
		if i%block == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if c.upper < scores.floor() {
			break
		}
		p := s.parts[c.part]
		if err := p.m.Touch(int(c.row), 1); err != nil {
			return err
		}
		score, ok := p.score(int(c.row))
		if !ok {
			continue
		}
		scores.add(min(score, c.reach))
		kept = append(kept, scored{c, score})
	}
	matches := make([][]Match, len(s.parts))
	for _, c := range kept {
		if min(c.score, c.reach) >= scores.floor() {
			matches[c.part] = append(matches[c.part], Match{Row: int(c.row), Score: c.score})
		}
	}
	for i, p := range s.parts {
		s.matches[p.number] = p.finish(matches[i])
	}
	return nil
}
