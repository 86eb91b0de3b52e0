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

	mu    sync.Mutex
	cache [16]streamCache // the frames unpacked last: a further search asks for the same documents
	next  int
}

type streamCache struct {
	block int // number + 1
	raw   []byte
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
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(4*streamBlock))
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for n > 0 {
		raw, err := s.block(int(off / streamBlock))
		if err != nil {
			return nil, err
		}
		at := off % streamBlock
		if at >= int64(len(raw)) {
			return nil, errStream
		}
		take := min(n, int64(len(raw))-at)
		out = append(out, raw[at:at+take]...)
		off += take
		n -= take
	}
	return out, nil
}

// block decompresses one frame; s.mu is held.
func (s *stream) block(i int) ([]byte, error) {
	for j := range s.cache {
		if s.cache[j].block == i+1 {
			return s.cache[j].raw, nil
		}
	}
	if i+1 >= len(s.blocks) {
		return nil, errStream
	}
	b, err := s.frames.Bytes(s.blocks[i], s.blocks[i+1]-s.blocks[i])
	if err != nil {
		return nil, err
	}
	slot := &s.cache[s.next]
	s.next = (s.next + 1) % len(s.cache)
	slot.block = 0
	if slot.raw, err = decoder().DecodeAll(b, slot.raw[:0]); err != nil {
		return nil, errStream
	}
	slot.block = i + 1
	return slot.raw, nil
}
