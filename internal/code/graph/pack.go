package graph

import (
	"context"
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	viewKind    = "view"
	viewVersion = 3

	stringsPerFrame = 1024
	hashBytes       = 16
	maxFrame        = 256 << 20 // bytes of a frame unpacked: more is damage
)

// documentsPerFrame returns how many documents a frame of the packs "decls" and
// "into", and one of "edges", has. Whoever asks for one document unpacks the frame.
func documentsPerFrame(version uint32) (decls, edges int) {
	if version < 2 {
		return 64, 32
	}
	return 16, 8
}

// enc builds lists of varints.
type enc struct{ b []byte }

func (e *enc) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *enc) int(v int)       { e.uint(uint64(v)) }
func (e *enc) zig(v int)       { e.b = binary.AppendVarint(e.b, int64(v)) }
func (e *enc) string(s string) { e.int(len(s)); e.b = append(e.b, s...) }

// dec reads them. Damage sets bad and gives zeros from then on.
type dec struct {
	b   []byte
	bad bool
}

func (d *dec) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *dec) int() int {
	v := d.uint()
	if v > 1<<40 {
		d.b, d.bad = nil, true
		return 0
	}
	return int(v)
}

// skip passes over n numbers: eight bytes at a time, of which those that end one
// have no high bit.
func (d *dec) skip(n int) {
	for len(d.b) >= 8 {
		ends := bits.OnesCount64(^binary.LittleEndian.Uint64(d.b) & 0x8080808080808080)
		if ends >= n {
			break
		}
		n -= ends
		d.b = d.b[8:]
	}
	for i, c := range d.b {
		if n == 0 {
			d.b = d.b[i:]
			return
		}
		if c < 0x80 {
			n--
		}
	}
	if n > 0 {
		d.bad = true
	}
	d.b = nil
}

// count reads the length of a list whose items take a byte or more each.
func (d *dec) count() int {
	n := d.int()
	if n > len(d.b) {
		d.b, d.bad = nil, true
		return 0
	}
	return n
}

func (d *dec) zig() int {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return int(v)
}

func (d *dec) bytes(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.bad = nil, true
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

// unshare reads a list of strings written by share, into one piece of memory.
func unshare(d *dec) []string {
	n := d.count()
	var all []byte
	ends := make([]int, 1, n+1)
	for range n {
		k := d.int()
		rest := d.bytes(d.int())
		at := ends[len(ends)-1]
		before := at
		if len(ends) > 1 {
			before = ends[len(ends)-2]
		}
		if d.bad || k > at-before {
			d.bad = true
			return nil
		}
		all = append(append(all, all[before:before+k]...), rest...)
		ends = append(ends, len(all))
	}
	out, text := make([]string, n), string(all)
	for i := range out {
		out[i] = text[ends[i]:ends[i+1]]
	}
	return out
}

// share writes a sorted list of n strings, each as what it adds to the one before.
func share(e *enc, n int, at func(int) string) {
	e.int(n)
	prev := ""
	for i := range n {
		s := at(i)
		k := 0
		for k < len(s) && k < len(prev) && s[k] == prev[k] {
			k++
		}
		e.int(k)
		e.string(s[k:])
		prev = s
	}
}

// zstdDecoder unpacks frames; it keeps no state between calls.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		panic(err) // only bad options fail
	}
	return d
})

// packer writes the sections of a view.
type packer struct {
	ctx context.Context // ends the writing at the next frame
	w   *blockfile.Writer
	z   *zstd.Encoder
	out []byte
	at  enc // ends of the frames of the pack being written
}

func newPacker(ctx context.Context, path string) (*packer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "cannot compress: %w", err)
	}
	w, err := blockfile.Create(path, blockfile.Header{Kind: viewKind, Version: viewVersion})
	if err != nil {
		return nil, err
	}
	return &packer{ctx: ctx, w: w, z: z}, nil
}

// frame compresses b into the current section.
func (p *packer) frame(b []byte) error {
	if err := p.ctx.Err(); err != nil {
		return canceled(err)
	}
	p.out = p.z.EncodeAll(b, p.out[:0])
	p.at.int(len(p.out))
	_, err := p.w.Write(p.out)
	return err
}

// single writes a section of one frame.
func (p *packer) single(name string, b []byte) error {
	if err := p.w.Section(name); err != nil {
		return err
	}
	return p.frame(b)
}

// pack writes a section of frames of per items each, of which there are n;
// item writes the i-th.
func (p *packer) pack(name string, n, per int, item func(e *enc, i int)) error {
	if err := p.w.Section(name); err != nil {
		return err
	}
	p.at.b = nil
	var e enc
	for i := 0; i < n; i += per {
		e.b = e.b[:0]
		for k := i; k < min(i+per, n); k++ {
			item(&e, k)
		}
		if err := p.frame(e.b); err != nil {
			return err
		}
	}
	if err := p.w.Section(name + ".at"); err != nil {
		return err
	}
	_, err := p.w.Write(p.at.b)
	return err
}
