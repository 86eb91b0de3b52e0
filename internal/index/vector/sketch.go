package vector

import (
	"encoding/binary"
	"math"
)

// A Sketch is a first look at the rows of a matrix: one bit a dimension after a
// random rotation, an eighth of the codes. A scan reads all of it, and of the
// matrix only the rows that it cannot rule out.
//
// With o a row at length 1, rotated, and y its signs, 1 and -1, the cosine s of
// the row and a query u of length 1, rotated alike, is about
//
//	estimate = <y,u> / <y,o>
//
// The rotation makes the error as good as normal, with deviation
//
//	error * sqrt(1-s²),  error = sqrt((1-c²)/c²/(dims-1)),  c = <y,o> / |y|
//
// (Gao, Long: RaBitQ, 2024), 0.047 at 256 dimensions. So a row whose estimate is
// more than sure deviations below what K others score is not looked at again.
//
// # Format
//
// Little endian, beside the matrix:
//
//	offset          bytes        what
//	0               4            magic "kskt"
//	4               2            format version, 1
//	6               2            0
//	8               4            dims
//	12              4            nibbles: dims/4, rounded up to an even number
//	16              8            rows
//	24              8            seed of the rotation, see newRotation
//	32              4+4          float32: the least gain, and how much a step is
//	40              4+4          the same of the errors
//	48              16           0
//	64              n*nibbles*16 signs, in n blocks of 32 rows, the last padded with
//	                             zeros: byte 16*i+k has dimensions 4i to 4i+3 of row k
//	                             in its low and of row k+16 in its high four bits, 1
//	                             for 0 and above, the first dimension lowest
//	...             n*32*2       gains, 1/<y,o>, in steps above the least
//	...             n*32*2       errors, likewise
type Sketch struct {
	dims, nibbles, rows   int
	seed                  uint64 // of the rotation
	raw                   []byte
	rotation              *rotation
	signs                 []byte
	gains, errors         []byte
	leastGain, gainStep   float32
	leastError, errorStep float32
}

const (
	sketchMagic   = "kskt"
	sketchVersion = 1
	sketchHeader  = 64
	sketchSeed    = 0x6b6e6f776c656467
	sketchBlock   = 32 // rows whose signs lie together

	// Matrices of fewer rows are scanned whole in a fifth of a millisecond.
	sketchRows = 4096
	// Of fewer dimensions too little is known, of more the sums do not fit 16 bits.
	leastSketched, mostSketched = 64, 4096

	// sure is how many deviations an estimate may be off: at 3 the rotation loses
	// one in 740 of the rows that score least among the K best, and hardly any
	// of the others. Of 22,402 chunks of Python 1.4 % are looked at for the ten
	// best, 0.6 % at 2.
	sure = 3
)

// sketched reports whether a matrix of that size is worth a sketch.
func sketched(rows, dims int) bool {
	return rows >= sketchRows && dims >= leastSketched && dims <= mostSketched
}

// nibblesOf returns the nibbles of a row's signs.
func nibblesOf(dims int) int { return (dims + 7) / 8 * 2 }

// WithSketch returns m with a sketch, which scans of it then begin with. It
// copies nothing of raw. Bytes that are no sketch of m give Corrupt. A later
// format is left alone: the matrix answers without it.
func (m *Matrix) WithSketch(raw []byte) (*Matrix, error) {
	if len(raw) < sketchHeader || string(raw[:4]) != sketchMagic {
		return nil, corrupt("its sketch has a wrong header")
	}
	le := binary.LittleEndian
	if le.Uint16(raw[4:]) > sketchVersion {
		return m, nil
	}
	s := &Sketch{dims: int(le.Uint32(raw[8:])), nibbles: int(le.Uint32(raw[12:])), rows: m.rows, raw: raw}
	if le.Uint16(raw[4:]) != sketchVersion || s.dims != m.dims || s.dims > mostSketched || s.nibbles != nibblesOf(m.dims) ||
		le.Uint64(raw[16:]) != uint64(m.rows) {
		return nil, corrupt("its sketch is of another")
	}
	n := (m.rows + sketchBlock - 1) / sketchBlock
	if len(raw) != sketchHeader+n*sketchBlock*(s.nibbles/2+4) {
		return nil, corrupt("its sketch is cut short")
	}
	float := func(at int) float32 { return math.Float32frombits(le.Uint32(raw[at:])) }
	s.leastGain, s.gainStep, s.leastError, s.errorStep = float(32), float(36), float(40), float(44)
	for _, x := range []float32{s.leastGain, s.gainStep, s.leastError, s.errorStep} {
		if !(x >= 0 && x < math.MaxFloat32/math.MaxUint16/2) {
			return nil, corrupt("its sketch has no measure")
		}
	}
	s.seed = le.Uint64(raw[24:])
	s.rotation = newRotation(s.dims, s.seed)
	raw = raw[sketchHeader:]
	s.signs, raw = raw[:n*s.nibbles*16], raw[n*s.nibbles*16:]
	s.gains, s.errors = raw[:n*sketchBlock*2], raw[n*sketchBlock*2:]
	with := *m
	with.sketch = s
	return &with, nil
}

// glance is a query against a sketch.
type glance struct {
	*Sketch
	lut   []byte  // 16 a nibble: what each pattern of signs adds to a sum
	unit  float64 // of a sum
	whole int     // what is taken from twice a sum
	// The estimate of row i is (2*sum(i)-whole) * unit * gain(i).
}

// glance prepares a query of length norm.
func (s *Sketch) glance(vec []float64, norm float64) *glance {
	u := make([]float32, s.dims)
	for j := range u {
		u[j] = float32(vec[j] / norm)
	}
	s.rotation.apply(u)
	largest, total := 0.0, 0.0
	for j := 0; j < s.dims; j += 4 {
		sum := 0.0
		for _, x := range u[j:min(j+4, s.dims)] {
			sum += math.Abs(float64(x))
		}
		largest, total = max(largest, sum), total+sum
	}
	// Four sizes are rounded, by half at most, and must fit a byte together; all
	// of them must fit 16 bits.
	g := &glance{Sketch: s, lut: make([]byte, 16*s.nibbles)}
	g.unit = max(largest/(math.MaxUint8-2), total/float64(math.MaxUint16-2*s.nibbles))
	for j, x := range u {
		size := int(math.RoundToEven(math.Abs(float64(x)) / g.unit))
		g.whole += size
		for pattern := range 16 {
			if above := pattern>>(j%4)&1 != 0; above == (x >= 0) {
				g.lut[16*(j/4)+pattern] += byte(size)
			}
		}
	}
	return g
}

// of returns the same query against another sketch; nil where that is rotated
// otherwise.
func (g *glance) of(s *Sketch) *glance {
	if g == nil || g.dims != s.dims || g.nibbles != s.nibbles || g.seed != s.seed {
		return nil
	}
	same := *g
	same.Sketch = s
	return &same
}

// slack returns by how much an estimate may be wrong for a row that scores
// floor or more, as a factor of its error and a number that is added.
func (g *glance) slack(floor float32) (factor, more float64) {
	f := min(max(float64(floor), 0), 1)
	return sure * math.Sqrt(1-f*f), sure * g.unit / 2 // rounding the query: 0.29 units a dimension, over c
}

// least returns the sum below which no row can score floor.
func (g *glance) least(floor float32) uint32 {
	if floor <= -1 {
		return 0
	}
	factor, more := g.slack(floor)
	x := float64(floor) - more - factor*(float64(g.leastError)+math.MaxUint16*float64(g.errorStep))
	gain := float64(g.leastGain)
	if x > 0 {
		gain += math.MaxUint16 * float64(g.gainStep)
	}
	x = (x/(g.unit*gain) + float64(g.whole)) / 2
	if !(x > 0) { // a gain of 0 is damage, or all rows are zero
		return 0
	}
	return uint32(min(math.Ceil(x), math.MaxUint16+1))
}

// bounds returns the estimate of row i, whose sum is known, and its reach: up to
// which score a row may have to be found. It is the greatest floor that the row,
// by its estimate and the slack at that floor, may score.
func (g *glance) bounds(i int, sum uint16) (estimate, reach float32) {
	gain := float64(g.leastGain) + float64(g.gainStep)*float64(binary.LittleEndian.Uint16(g.gains[2*i:]))
	off := float64(g.leastError) + float64(g.errorStep)*float64(binary.LittleEndian.Uint16(g.errors[2*i:]))
	about := float64(2*int(sum)-g.whole) * g.unit * gain
	// reach = a + b*sqrt(1-reach²), where reach is above 0.
	a, b := about+sure*g.unit/2, sure*off
	most := a + b
	if most > 0 {
		most = (a + b*math.Sqrt(max(0, 1+b*b-a*a))) / (1 + b*b)
	}
	return float32(about), float32(most)
}

// sums sets dst to the sums of the rows of whole blocks from row from on.
func (g *glance) sums(dst []uint16, from int) {
	row := g.nibbles / 2
	sketchSums(dst, g.signs[from*row:(from+len(dst))*row], g.lut)
}
