package vector

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Sketch returns the sketch of the rows so far, nil when they are too few to be
// worth one. The same rows give the same bytes on every machine.
func (b *Builder) Sketch() []byte {
	return sketchOf(&Matrix{dims: b.dims, stride: b.stride, rows: b.Len(), codes: Int8s(b.codes), rests: b.rests})
}

// CheckSketch reports whether the sketch of m is its own; without one it is.
func (m *Matrix) CheckSketch() error {
	if m.sketch == nil {
		return nil
	}
	if err := m.Touch(0, m.rows); err != nil {
		return err
	}
	if !bytes.Equal(sketchOf(m), m.sketch.raw) {
		return corrupt("its sketch is of another")
	}
	return nil
}

func sketchOf(m *Matrix) []byte {
	if !sketched(m.rows, m.dims) {
		return nil
	}
	rows, nibbles := m.rows, nibblesOf(m.dims)
	n := (rows + sketchBlock - 1) / sketchBlock
	gains, offs := make([]float32, rows), make([]float32, rows)
	out := make([]byte, sketchHeader+n*sketchBlock*(nibbles/2+4))
	copy(out, sketchMagic)
	le := binary.LittleEndian
	le.PutUint16(out[4:], sketchVersion)
	le.PutUint32(out[8:], uint32(m.dims))
	le.PutUint32(out[12:], uint32(nibbles))
	le.PutUint64(out[16:], uint64(rows))
	le.PutUint64(out[24:], sketchSeed)
	signs := out[sketchHeader:][:n*nibbles*16]
	r := newRotation(m.dims, sketchSeed)
	x, spare := make([]float32, m.dims), make([]float32, m.dims)
	for i := range rows {
		at := i * m.stride
		row := RawRow{Codes: m.codes[at:][:m.stride], Rests: m.rests[at/2:][:m.stride/2]}
		for j := range x {
			x[j] = float32(row.weight(j))
		}
		r.into(x, spare)
		block := signs[i/sketchBlock*nibbles*16:][:nibbles*16]
		gains[i], offs[i] = sketchRow(block, i%sketchBlock, x)
	}
	rest := out[sketchHeader+len(signs):]
	leastGain, gainStep := steps(rest[:n*sketchBlock*2], gains)
	leastError, errorStep := steps(rest[n*sketchBlock*2:], offs)
	for i, f := range []float32{leastGain, gainStep, leastError, errorStep} {
		le.PutUint32(out[32+4*i:], math.Float32bits(f))
	}
	return out
}

// sketchRow writes the signs of a rotated row of any length over zeros into its
// place in a block, and returns its gain and its error; 0 for a zero row.
func sketchRow(block []byte, row int, x []float32) (gain, off float32) {
	var sum, squares float64
	for j, v := range x {
		if v >= 0 {
			block[j/4*16+row%16] |= 1 << (j%4 + row/16*4)
		}
		sum += math.Abs(float64(v))
		squares += float64(float64(v) * float64(v))
	}
	if squares == 0 {
		return 0, 0
	}
	n := float64(len(x))
	c2 := sum * sum / squares / n
	return float32(math.Sqrt(squares) / sum), float32(math.Sqrt(max(0, 1-c2) / c2 / (n - 1)))
}

// steps writes numbers as steps of 16 bits above the least of those that are not
// 0, which zero rows have.
func steps(dst []byte, xs []float32) (least, step float32) {
	lo, hi := math.Inf(1), 0.0
	for _, x := range xs {
		if x != 0 {
			lo, hi = min(lo, float64(x)), max(hi, float64(x))
		}
	}
	if hi == 0 {
		return 0, 0
	}
	least = float32(lo)
	step = float32((hi - float64(least)) / (math.MaxUint16 - 1))
	for i, x := range xs {
		if x != 0 && step > 0 {
			n := math.RoundToEven((float64(x) - float64(least)) / float64(step))
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(min(max(n, 0), math.MaxUint16)))
		}
	}
	return least, step
}
