package index

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
)

// A stream is a run of bytes kept as zstd frames of streamBlock each, so that
// any part can be had by unpacking little. It is two sections: the frames, and
// u32 a frame, its compressed length.

type streamWriter struct {
	enc    *zstd.Encoder
	raw    []byte // what is not yet a full block
	at     uint64 // offset of the next byte
	frames []byte
	blocks []byte
}

func (w *streamWriter) write(s string) {
	w.at += uint64(len(s))
	for len(s) > 0 {
		n := min(len(s), streamBlock-len(w.raw))
		w.raw = append(w.raw, s[:n]...)
		s = s[n:]
		if len(w.raw) == streamBlock {
			w.flush()
		}
	}
}

func (w *streamWriter) flush() {
	if len(w.raw) == 0 {
		return
	}
	before := len(w.frames)
	w.frames = w.enc.EncodeAll(w.raw, w.frames)
	w.blocks = binary.LittleEndian.AppendUint32(w.blocks, uint32(len(w.frames)-before))
	w.raw = w.raw[:0]
}

// stream reads what a streamWriter wrote. It is safe for concurrent use.
type stream struct {
	frames blockfile.Section
	size   int64
	blocks []int64 // where each frame begins, and where the last ends
}

var errStream = errors.New("a stream does not hold what is asked of it")

func (s *stream) open(frames, blocks blockfile.Section, size int64) error {
	raw, err := blocks.All()
	if err != nil {
		return err
	}
	s.frames, s.size = frames, size
	s.blocks = make([]int64, len(raw)/4+1)
	for i := range len(raw) / 4 {
		s.blocks[i+1] = s.blocks[i] + int64(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

var decoder = sync.OnceValue(func() *zstd.Decoder {
	// What a block file returns is verified already.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(4*streamBlock), zstd.IgnoreChecksum(true))
	if err != nil {
		panic(err) // only bad options fail
	}
	return d
})

// read returns n bytes from off, copied. errStream when they are not there.
func (s *stream) read(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || n > s.size || off > s.size-n || off+n > int64(len(s.blocks)-1)*streamBlock {
		return nil, errStream
	}
	out := make([]byte, 0, n)
	for n > 0 {
		at := off % streamBlock
		var take int64
		var err error
		if out, take, err = s.copyBlock(out, int(off/streamBlock), at, n); err != nil {
			return nil, err
		}
		off += take
		n -= take
	}
	return out, nil
}

// copyBlock appends what frame i has of n bytes from at, and returns how many
// those are.
func (s *stream) copyBlock(out []byte, i int, at, n int64) ([]byte, int64, error) {
	if i+1 >= len(s.blocks) {
		return out, 0, errStream
	}
	f := unpacked.get(frame{s, i})
	defer unpacked.put(f)
	f.mu.Lock() // the second reader waits until the first has unpacked it
	defer f.mu.Unlock()
	if !f.full {
		b, err := s.frames.Bytes(s.blocks[i], s.blocks[i+1]-s.blocks[i])
		if err != nil {
			return out, 0, err
		}
		if f.raw, err = decoder().DecodeAll(b, f.raw[:0]); err != nil {
			return out, 0, errStream
		}
		f.full = true
	}
	if at >= int64(len(f.raw)) {
		return out, 0, errStream
	}
	take := min(n, int64(len(f.raw))-at)
	return append(out, f.raw[at:at+take]...), take, nil
}
