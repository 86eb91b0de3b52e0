package vector

import (
	"encoding/binary"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	magic      = "kvec"
	version    = 1
	headerSize = 32
	align      = 16 // codes per step of the scan; rows are padded to it

	// MaxDims is the largest number of dimensions of a matrix.
	MaxDims = 1 << 16

	maxWeight = 127*16 + 7 // the largest w that code and rest can hold
)

// Matrix is a read-only view of an encoded matrix. It is safe for concurrent
// use as long as the bytes it was made from stay as they are.
type Matrix struct {
	dims, stride, rows int
	codes              []int8
	rests              []byte
	scales             []float32
	sketch             *Sketch                  // nil without one
	size               int64                    // of all bytes
	verify             func(off, n int64) error // nil when all bytes are verified
	seen               []atomic.Uint64          // by touched bytes: verified
}

// RawRow is one encoded row. The slices point into the matrix.
type RawRow struct {
	Codes []int8  // stride values, the last stride-dims are 0
	Rests []byte  // stride/2 bytes, two values each
	Scale float32 // 0 for a zero vector
}

// View makes a Matrix of encoded bytes. It copies nothing except the scales,
// and those only where b is not aligned to 4 bytes or the machine is big
// endian. Bytes that are no matrix give Corrupt, a later format gives Newer.
func View(b []byte) (*Matrix, error) {
	if len(b) < headerSize || string(b[:4]) != magic {
		return nil, kb.Errorf(kb.Corrupt, "not a matrix of vectors: wrong header").WithHint("index the store again")
	}
	le := binary.LittleEndian
	if v := le.Uint16(b[4:]); v > version {
		return nil, kb.Errorf(kb.Newer, "the vectors have format %d, this program reads up to %d", v, version).
			WithHint("restart this session to run the newer program")
	} else if v != version {
		return nil, corrupt("format %d does not exist", v)
	}
	dims, stride, rows := le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint64(b[16:])
	if dims < 1 || dims > MaxDims || stride != uint32(pad(int(dims))) {
		return nil, corrupt("%d dimensions in rows of %d", dims, stride)
	}
	if le.Uint16(b[6:]) != 0 || le.Uint64(b[24:]) != 0 {
		return nil, corrupt("reserved bytes are set")
	}
	body := uint64(len(b) - headerSize)
	perRow := uint64(stride) + uint64(stride)/2 + 4
	if rows > body/perRow || rows*perRow != body || rows > math.MaxInt32 {
		return nil, corrupt("%d rows do not fit %d bytes", rows, len(b))
	}
	m := &Matrix{dims: int(dims), stride: int(stride), rows: int(rows), size: int64(len(b))}
	b = b[headerSize:]
	n := m.rows * m.stride
	m.codes, b = Int8s(b[:n]), b[n:]
	m.rests, b = b[:n/2:n/2], b[n/2:]
	m.scales = float32s(b)
	return m, nil
}

// ViewLazily is View of bytes that nothing has verified yet: verify does it for n
// of them from off. The matrix calls it for what it searches; who reads rows
// calls Touch before.
func ViewLazily(b []byte, verify func(off, n int64) error) (*Matrix, error) {
	if err := verify(0, int64(min(len(b), headerSize))); err != nil {
		return nil, err
	}
	if !littleEndian { // View reads the scales
		if err := verify(0, int64(len(b))); err != nil {
			return nil, err
		}
	}
	m, err := View(b)
	if err == nil {
		m.verify, m.seen = verify, make([]atomic.Uint64, len(b)/touched/64+1)
	}
	return m, err
}

// touched is how many bytes of a lazy matrix are verified at once.
const touched = 1 << 14

// Touch verifies n rows from row on, which are then safe to read.
func (m *Matrix) Touch(row, n int) error {
	if err := m.touchCodes(row, n); err != nil {
		return err
	}
	return m.touch(headerSize+m.rows*m.stride+row*(m.stride/2), n*(m.stride/2))
}

// touchCodes is Touch without the rests.
func (m *Matrix) touchCodes(row, n int) error {
	if err := m.touch(headerSize+row*m.stride, n*m.stride); err != nil {
		return err
	}
	return m.touch(headerSize+m.rows*(m.stride+m.stride/2)+row*4, n*4)
}

// touch verifies n bytes from off.
func (m *Matrix) touch(off, n int) error {
	if m.verify == nil || n == 0 {
		return nil
	}
	for i := off / touched; i <= (off+n-1)/touched; i++ {
		if m.seen[i/64].Load()>>(i%64)&1 != 0 {
			continue
		}
		from := int64(i) * touched
		if err := m.verify(from, min(touched, m.size-from)); err != nil {
			return err
		}
		m.seen[i/64].Or(1 << (i % 64))
	}
	return nil
}

func corrupt(format string, args ...any) error {
	return kb.Errorf(kb.Corrupt, "damaged matrix of vectors: "+format, args...).WithHint("index the store again")
}

// pad rounds dims up to the stride of a row.
func pad(dims int) int { return (dims + align - 1) &^ (align - 1) }

// Int8s views bytes as signed ones without copying.
func Int8s(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// float32s returns the little-endian numbers in b, without copying where
// alignment and byte order of the machine allow.
func float32s(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(p)%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(p), len(b)/4)
	}
	f := make([]float32, len(b)/4)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return f
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return m.rows }

// Dims returns the number of dimensions of a row.
func (m *Matrix) Dims() int { return m.dims }

// Row returns row i as 12-bit values: of length 1, or all zero. It writes
// into dst if that is large enough.
func (m *Matrix) Row(i int, dst []float32) []float32 {
	if cap(dst) < m.dims {
		dst = make([]float32, m.dims)
	}
	dst = dst[:m.dims]
	r := m.Raw(i)
	f := float64(r.Scale) / 16
	for j := range dst {
		dst[j] = float32(f * float64(r.weight(j)))
	}
	return dst
}

// Raw returns row i as it is encoded, without copying.
func (m *Matrix) Raw(i int) RawRow {
	o, e := i*m.stride, (i+1)*m.stride
	return RawRow{Codes: m.codes[o:e:e], Rests: m.rests[o/2 : e/2 : e/2], Scale: m.scales[i]}
}

// weight returns the 12-bit integer of dimension j.
func (r RawRow) weight(j int) int {
	rest := int8(r.Rests[j/2] << 4) // the low half, moved to where its sign is
	if j%2 == 1 {
		rest = int8(r.Rests[j/2])
	}
	return 16*int(r.Codes[j]) + int(rest>>4)
}

// dot returns the sum of q(j)*w(j). len(q) is the stride, padded with zeros,
// and holds float32 numbers, so that every product is exact and the sum is
// the same with and without fused multiply-add.
func (r RawRow) dot(q []float64) float64 {
	var even, odd float64
	codes := r.Codes[:len(q)]
	for b, two := range r.Rests[:len(q)/2] {
		even += q[2*b] * float64(16*int(codes[2*b])+int(int8(two<<4)>>4))
		odd += q[2*b+1] * float64(16*int(codes[2*b+1])+int(int8(two)>>4))
	}
	return even + odd
}
