package vector

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Builder collects rows and encodes them. The same rows in the same order
// give the same bytes. It is not safe for concurrent use.
type Builder struct {
	dims, stride int
	codes        []byte
	rests        []byte
	scales       []byte
}

// NewBuilder returns a Builder of rows of dims dimensions. It panics unless
// dims is in [1, MaxDims].
func NewBuilder(dims int) *Builder {
	if dims < 1 || dims > MaxDims {
		panic(fmt.Sprintf("vector: %d dimensions", dims))
	}
	return &Builder{dims: dims, stride: pad(dims)}
}

// Encode returns the matrix of the vectors, each of dims dimensions.
func Encode(dims int, vectors [][]float32) []byte {
	b := NewBuilder(dims)
	for _, v := range vectors {
		b.Add(v)
	}
	return b.Bytes()
}

// Grow makes room for n more rows.
func (b *Builder) Grow(n int) {
	b.codes = grow(b.codes, n*b.stride)
	b.rests = grow(b.rests, n*b.stride/2)
	b.scales = grow(b.scales, n*4)
}

func grow(s []byte, n int) []byte {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]byte, 0, len(s)+n), s...)
}

// Len returns the number of rows so far.
func (b *Builder) Len() int { return len(b.scales) / 4 }

// Dims returns the number of dimensions of a row.
func (b *Builder) Dims() int { return b.dims }

// Add encodes a vector as the next row. Its length is lost. A vector that has
// no direction (all zero, or with an element that is not finite) becomes a
// zero row, which no query matches. Add panics unless len(v) is the number of
// dimensions: whoever takes vectors from outside checks them there.
func (b *Builder) Add(v []float32) {
	if len(v) != b.dims {
		panic(fmt.Sprintf("vector: a vector of %d dimensions in a matrix of %d", len(v), b.dims))
	}
	o := len(b.codes)
	b.codes = append(b.codes, zeros(b.stride)...)
	b.rests = append(b.rests, zeros(b.stride/2)...)
	scale := quantise(v, b.codes[o:], b.rests[o/2:])
	b.scales = binary.LittleEndian.AppendUint32(b.scales, math.Float32bits(scale))
}

// AddRow copies row i of m bit for bit. It panics unless m has the Builder's
// number of dimensions.
func (b *Builder) AddRow(m *Matrix, i int) {
	if m.dims != b.dims {
		panic(fmt.Sprintf("vector: a row of %d dimensions in a matrix of %d", m.dims, b.dims))
	}
	r := m.Raw(i)
	for _, c := range r.Codes {
		b.codes = append(b.codes, byte(c))
	}
	b.rests = append(b.rests, r.Rests...)
	b.scales = binary.LittleEndian.AppendUint32(b.scales, math.Float32bits(r.Scale))
}

var zeroBytes [4096]byte

func zeros(n int) []byte {
	if n <= len(zeroBytes) {
		return zeroBytes[:n]
	}
	return make([]byte, n)
}

// quantise writes the codes and rests of v over zeros and returns the scale.
func quantise(v []float32, codes, rests []byte) float32 {
	largest := 0.0
	for _, x := range v {
		a := math.Abs(float64(x))
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return 0
		}
		largest = max(largest, a)
	}
	if largest == 0 {
		return 0
	}
	squares := 0
	for j, x := range v {
		// Divide by the largest first: float32's smallest numbers would
		// otherwise make the factor infinite.
		w := int(math.RoundToEven(float64(x) / largest * maxWeight))
		squares += w * w
		code := (w + 8) >> 4
		codes[j] = byte(code)
		rests[j/2] |= byte((w-16*code)&15) << (j % 2 * 4)
	}
	return float32(16 / math.Sqrt(float64(squares)))
}

func (b *Builder) header() []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	le := binary.LittleEndian
	le.PutUint16(h[4:], version)
	le.PutUint32(h[8:], uint32(b.dims))
	le.PutUint32(h[12:], uint32(b.stride))
	le.PutUint64(h[16:], uint64(b.Len()))
	return h
}

// Size returns the number of bytes of the matrix.
func (b *Builder) Size() int {
	return headerSize + len(b.codes) + len(b.rests) + len(b.scales)
}

// Bytes returns the encoded matrix in a slice of its own.
func (b *Builder) Bytes() []byte {
	out := make([]byte, 0, b.Size())
	out = append(out, b.header()...)
	out = append(out, b.codes...)
	out = append(out, b.rests...)
	return append(out, b.scales...)
}

// WriteTo writes what Bytes returns, without the copy.
func (b *Builder) WriteTo(w io.Writer) (int64, error) {
	var n int64
	for _, part := range [][]byte{b.header(), b.codes, b.rests, b.scales} {
		k, err := w.Write(part)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
