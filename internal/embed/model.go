package embed

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	magic         = "kembmodl"
	formatVersion = 2
	headerSize    = 64
	nameSize      = 24
	maxDims       = 4096
	maxRows       = 1 << 24
	maxCode       = 15
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Model is a static model in parts, for its trainer. Rows are numbered
// words first, then buckets.
type Model struct {
	Name    string   // a-z, 0-9 and "-", at most 24 bytes
	Version int      // counting from 1
	Dims    int      // 1 to 4096
	Words   []string // as Split gives them, ascending, no two alike
	Buckets int      // at least 1
	Scales  []float32
	Codes   []int8 // row after row, -15 to 15
}

// NewModel returns a Model of zero rows.
func NewModel(name string, version, dims int, words []string, buckets int) *Model {
	rows := len(words) + buckets
	return &Model{
		Name: name, Version: version, Dims: dims, Words: words, Buckets: buckets,
		Scales: make([]float32, rows), Codes: make([]int8, rows*dims),
	}
}

// The scale of a row is looked for among 64ths of the one that cuts nothing,
// in integers, so that a row gives the same codes on every machine.
const (
	fine  = 127 // parts of the largest element
	steps = 64
)

// SetRow quantises v, of Dims elements, as row i, with the scale that loses
// the least squares: one or few large elements may be cut for the sake of the
// others.
func (m *Model) SetRow(i int, v []float32) {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	whole := make([]int, len(v))
	for j, x := range v {
		if largest > 0 {
			whole[j] = int(math.RoundToEven(float64(x) / largest * fine))
		}
	}
	unit := float32(largest / fine)
	// With step, a code means code*step/(steps*maxCode) of the largest.
	nearest := func(x, step int) int {
		a := (2*max(x, -x)*steps*maxCode + fine*step) / (2 * fine * step)
		if a = min(a, maxCode); x < 0 {
			return -a
		}
		return a
	}
	best, least := steps, math.MaxInt
	for step := steps; step >= steps/4; step-- {
		lost := 0
		for _, x := range whole {
			e := x*steps*maxCode - nearest(x, step)*step*fine
			lost += e * e
		}
		if lost < least {
			best, least = step, lost
		}
	}
	m.Scales[i] = float32(float64(unit) * fine * float64(best) / (steps * maxCode))
	for j, x := range whole {
		m.Codes[i*m.Dims+j] = int8(nearest(x, best))
	}
}

// Encode returns the model as a file. The same model gives the same bytes.
func (m *Model) Encode() ([]byte, error) {
	rows := len(m.Words) + m.Buckets
	switch {
	case m.Version < 1 || m.Dims < 1 || m.Dims > maxDims || m.Buckets < 1 || rows > maxRows:
		return nil, invalid("version %d, %d dimensions, %d words, %d buckets", m.Version, m.Dims, len(m.Words), m.Buckets)
	case !validName(m.Name):
		return nil, invalid("name %q", m.Name)
	case len(m.Scales) != rows || len(m.Codes) != rows*m.Dims:
		return nil, invalid("%d scales and %d codes for %d rows", len(m.Scales), len(m.Codes), rows)
	case slices.ContainsFunc(m.Scales, badScale):
		return nil, invalid("a scale is negative or not finite")
	case slices.ContainsFunc(m.Codes, func(c int8) bool { return c < -maxCode || c > maxCode }):
		return nil, invalid("a code is beyond %d", maxCode)
	}
	text := strings.Join(m.Words, "")
	le := binary.LittleEndian
	b := make([]byte, headerSize, headerSize+4*(2*len(m.Words)+1+m.Buckets)+len(text)+rows*rowSize(m.Dims)+4)
	copy(b, magic)
	for i, v := range []int{formatVersion, m.Dims, len(m.Words), m.Buckets, len(text), m.Version} {
		le.PutUint32(b[8+4*i:], uint32(v))
	}
	copy(b[32:], m.Name)
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	offset := 0
	for i, w := range m.Words {
		if w == "" || i > 0 && w <= m.Words[i-1] {
			return nil, invalid("word %q is empty or out of order", w)
		}
		b = le.AppendUint32(b, uint32(offset))
		offset += len(w)
	}
	b = le.AppendUint32(b, uint32(offset))
	for _, s := range m.Scales {
		b = le.AppendUint32(b, math.Float32bits(s))
	}
	b = append(b, text...)
	for i := range rows {
		b = appendRow(b, m.Codes[i*m.Dims:][:m.Dims])
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// rowSize returns the bytes of a row in the file.
func rowSize(dims int) int { return padded(dims) * 5 / 8 }

func padded(dims int) int { return (dims + 15) &^ 15 }

// appendRow packs the codes of a row; unpackRow is its inverse.
func appendRow(b []byte, codes []int8) []byte {
	n := padded(len(codes))
	b = append(b, make([]byte, n*5/8)...)
	low, signs := b[len(b)-n*5/8:], b[len(b)-n/8:]
	for i, c := range codes {
		low[i/16*8+i%8] |= byte(c) & 15 << (i / 8 % 2 * 4)
		signs[i/8] |= byte(c) >> 7 << (i % 8)
	}
	return b
}

// unpackRow writes the codes of a row, and zeros after them, to dst as bytes
// of two's complement.
func unpackRow(dst, row []byte) {
	le := binary.LittleEndian
	low, signs := row[:len(dst)/2], row[len(dst)/2:]
	for len(dst) >= 16 {
		w := le.Uint64(low)
		le.PutUint64(dst, w&nibbles|spread(signs[0]))
		le.PutUint64(dst[8:], w>>4&nibbles|spread(signs[1]))
		dst, low, signs = dst[16:], low[8:], signs[2:]
	}
}

const (
	ones    = 0x0101010101010101
	nibbles = 15 * ones
)

// spread returns a word whose byte i is 0xf0 if bit i of b is set, else 0.
func spread(b byte) uint64 {
	w := uint64(b) * ones & 0x8040201008040201 // bit i in byte i
	w = (w + 0x7f*ones) >> 7 & ones            // 1 where there is one
	return w * 0xf0
}

func invalid(format string, args ...any) error {
	return kb.Errorf(kb.Invalid, "not a model: "+format, args...).WithHint("see the package comment of embed")
}

func validName(s string) bool {
	if s == "" || len(s) > nameSize {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func badScale(s float32) bool { return !(s >= 0 && s <= math.MaxFloat32) }

// Load returns the embedder of a model file. It keeps b and reads rows in
// place; b must not change. Damaged bytes give Corrupt, a later format Newer.
func Load(b []byte) (*Static, error) { return load(b, true) }

// headerID and headerDims read the header of a model that is known to be one.
func headerID(b []byte) string {
	le := binary.LittleEndian
	name := strings.TrimRight(string(b[32:32+nameSize]), "\x00")
	return "static-" + name + "-" + strconv.Itoa(int(le.Uint32(b[28:]))) + "-" + strconv.Itoa(headerDims(b))
}

func headerDims(b []byte) int { return int(binary.LittleEndian.Uint32(b[12:])) }

func load(b []byte, sum bool) (*Static, error) {
	le := binary.LittleEndian
	if len(b) < headerSize+4 || string(b[:8]) != magic {
		return nil, corrupt("it does not begin like one")
	}
	if le.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return nil, corrupt("the header fails its checksum")
	}
	if v := le.Uint32(b[8:]); v > formatVersion {
		return nil, kb.Errorf(kb.Newer, "the embedding model has format %d, this program reads up to %d", v, formatVersion).
			WithHint("install the newer program")
	}
	if le.Uint32(b[8:]) == 1 {
		return nil, kb.Errorf(kb.Invalid, "the embedding model has format 1, which this program no longer reads").
			WithHint("make it again with bench/embedtrain")
	}
	// Numbers below are bounded before they are multiplied.
	dims, words, buckets := int64(le.Uint32(b[12:])), int64(le.Uint32(b[16:])), int64(le.Uint32(b[20:]))
	text, version := int64(le.Uint32(b[24:])), le.Uint32(b[28:])
	name := strings.TrimRight(string(b[32:32+nameSize]), "\x00")
	rows := words + buckets
	if le.Uint32(b[8:]) == 0 || dims < 1 || dims > maxDims || buckets < 1 || rows > maxRows ||
		version < 1 || version > math.MaxInt32 || !validName(name) || le.Uint32(b[56:]) != 0 ||
		headerSize+4*(words+1)+4*rows+text+rows*int64(rowSize(int(dims)))+4 != int64(len(b)) {
		return nil, corrupt("the header contradicts itself or the size of %d bytes", len(b))
	}
	if sum && le.Uint32(b[len(b)-4:]) != crc32.Checksum(b[:len(b)-4], castagnoli) {
		return nil, corrupt("it fails its checksum")
	}

	s := &Static{id: headerID(b), dims: int(dims), words: int(words), buckets: int(buckets)}
	b = b[headerSize:]
	s.offsets = make([]uint32, words+1)
	for i := range s.offsets {
		s.offsets[i] = le.Uint32(b[4*i:])
	}
	b = b[4*len(s.offsets):]
	s.scales = make([]float32, rows)
	for i := range s.scales {
		s.scales[i] = math.Float32frombits(le.Uint32(b[4*i:]))
		if badScale(s.scales[i]) {
			return nil, corrupt("row %d has scale %v", i, s.scales[i])
		}
	}
	b = b[4*len(s.scales):]
	s.text, b = b[:text], b[text:]
	s.rows = b[:len(b)-4]
	if int64(s.offsets[0]) != 0 || int64(s.offsets[words]) != text {
		return nil, corrupt("the list of words has a gap")
	}
	for i := range s.words {
		if from, to := s.offsets[i], s.offsets[i+1]; from >= to || int64(to) > text ||
			i > 0 && string(s.word(i-1)) >= string(s.text[from:to]) {
			return nil, corrupt("word %d is out of order", i)
		}
	}
	s.index()
	return s, nil
}

func corrupt(format string, args ...any) error {
	return kb.Errorf(kb.Corrupt, "not an embedding model, or a damaged one: "+format, args...).
		WithHint("fetch the model file again")
}
