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
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, closedError()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := prepare(f.m, q)
	if p == nil {
		return nil, err
	}
	s := newScan(p)
	workers := 1
	if f.m.rows >= parallelMin {
		workers = min(runtime.GOMAXPROCS(0), f.m.rows/(parallelMin/2))
	}
	found := make([]finds, workers)
	var wg sync.WaitGroup
	for _, step := range []func(context.Context, *finds){s.run, s.catchUp} {
		for w := 1; w < workers; w++ {
			wg.Go(func() { step(ctx, &found[w]) })
		}
		step(ctx, &found[0])
		wg.Wait()
		if s.glance == nil {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range found {
		if err := found[i].err; err != nil {
			return nil, err
		}
	}
	return s.rescore(ctx, found)
}

// candidate is a row that may be among the K best, with its upper bound.
type candidate struct {
	row   int32
	upper float32
}

// finds is what one goroutine of a scan has found.
type finds struct {
	lower best // of lower bounds
	cands []candidate
	later []candidate // by the sketch's estimate
	err   error
	dots  [block]int32
}

// scan is one search under way.
type scan struct {
	*prepared
	glance *glance // nil without a sketch
	t      []int16
	step   float32
	slack  float32       // E
	next   atomic.Int64  // first row that is not taken
	floor  atomic.Uint32 // bits of the greatest lower bound of T known to any goroutine
}

func newScan(p *prepared) *scan {
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
	low := float32(math.Inf(-1))
	if p.Min != 0 {
		low = p.Min
	}
	s.floor.Store(math.Float32bits(low))
	if p.m.sketch != nil {
		s.glance = p.m.sketch.glance(p.vec, p.norm)
	}
	return s
}

// raise makes floor at least x.
func (s *scan) raise(x float32) {
	for {
		old := s.floor.Load()
		if math.Float32frombits(old) >= x || s.floor.CompareAndSwap(old, math.Float32bits(x)) {
			return
		}
	}
}

// run scans blocks of rows until none is left, ctx ends, or some are damaged.
func (s *scan) run(ctx context.Context, f *finds) {
	f.lower.k = s.K
	for ctx.Err() == nil && f.err == nil {
		from := int(s.next.Add(block)) - block
		if from >= s.m.rows {
			return
		}
		n := min(block, s.m.rows-from)
		switch {
		case s.dead(from, n):
		case s.glance != nil:
			s.glimpse(f, from, n)
		default:
			s.look(f, from, n)
		}
	}
}

// glimpse looks at those of n rows from from on that the sketch cannot rule out:
// at once where the estimate is among the best so far, since that raises the
// floor, and at the others when all are known.
func (s *scan) glimpse(f *finds, from, n int) {
	var sums [block]uint16
	s.glance.sums(sums[:(n+sketchBlock-1)/sketchBlock*sketchBlock], from)
	floor := math.Float32frombits(s.floor.Load())
	least := s.glance.least(floor)
	for i, sum := range sums[:n] {
		if uint32(sum) < least || !s.live(from+i) {
			continue
		}
		estimate, upper := s.glance.bounds(from+i, sum, floor)
		switch {
		case upper < floor:
		case estimate < floor:
			f.later = append(f.later, candidate{row: int32(from + i), upper: upper})
		default:
			if s.look(f, from+i, 1); f.err != nil {
				return
			}
			if now := math.Float32frombits(s.floor.Load()); now > floor {
				floor, least = now, s.glance.least(now)
			}
		}
	}
}

// catchUp looks at what glimpse left for later.
func (s *scan) catchUp(ctx context.Context, f *finds) {
	for i, c := range f.later {
		if f.err != nil || i%block == 0 && ctx.Err() != nil {
			return
		}
		if c.upper >= math.Float32frombits(s.floor.Load()) {
			s.look(f, int(c.row), 1)
		}
	}
}

// look scans the codes of at most a block of rows.
func (s *scan) look(f *finds, from, n int) {
	if f.err = s.m.touchCodes(from, n); f.err != nil {
		return
	}
	dots, stride := f.dots[:n], s.m.stride
	dotRows(dots, s.m.codes[from*stride:(from+n)*stride], s.t)
	floor := math.Float32frombits(s.floor.Load())
	for i, scale := range s.m.scales[from : from+n] {
		c := float32(dots[i]) * s.step
		upper := scale * (c + s.slack)
		if !(upper >= floor) || !(scale > 0 && scale <= 16) || !s.live(from+i) {
			continue
		}
		f.cands = append(f.cands, candidate{row: int32(from + i), upper: upper})
		f.lower.add(scale * (c - s.slack))
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
func (s *scan) rescore(ctx context.Context, found []finds) ([]Match, error) {
	lower := best{k: s.K}
	total := 0
	for _, f := range found {
		for _, x := range f.lower.heap {
			lower.add(x)
		}
		total += len(f.cands)
	}
	floor := max(lower.floor(), math.Float32frombits(s.floor.Load()))
	cands := make([]candidate, 0, min(total, 4*s.K+64))
	for _, f := range found {
		for _, c := range f.cands {
			if c.upper >= floor {
				cands = append(cands, c)
			}
		}
	}
	slices.SortFunc(cands, func(a, b candidate) int { return cmp.Compare(b.upper, a.upper) })
	scores := best{k: s.K}
	matches := make([]Match, 0, min(len(cands), 4*s.K))
	for i, c := range cands {
		if i%block == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if c.upper < scores.floor() {
			break
		}
		if err := s.m.Touch(int(c.row), 1); err != nil {
			return nil, err
		}
		score, ok := s.score(int(c.row))
		if !ok {
			continue
		}
		scores.add(score)
		matches = append(matches, Match{Row: int(c.row), Score: score})
	}
	return s.finish(matches), nil
}
