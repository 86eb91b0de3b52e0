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
	for n > 0 {
		before := len(out)
		var err error
		if out, err = s.take(out, int(off/streamBlock), off%streamBlock, n); err != nil {
			return nil, err
		}
		off += int64(len(out) - before)
		n -= int64(len(out) - before)
	}
	return out, nil
}

// take appends at most n bytes from at of a frame, one at least.
func (s *stream) take(out []byte, frame int, at, n int64) ([]byte, error) {
	if out, ok := frames.take(out, s, frame, at, n); ok {
		return out, nil
	}
	if frame+1 >= len(s.blocks) {
		return nil, errStream
	}
	b, err := s.frames.Bytes(s.blocks[frame], s.blocks[frame+1]-s.blocks[frame])
	if err != nil {
		return nil, err
	}
	raw, err := decoder().DecodeAll(b, frames.buffer())
	if err != nil || at >= int64(len(raw)) {
		return nil, errStream
	}
	out = append(out, raw[at:at+min(n, int64(len(raw))-at)]...)
	frames.put(s, frame, raw)
	return out, nil
}

// frames are those unpacked last, of all streams: a further search asks for the
// same documents.
var frames frameCache

// mostFrames is how many are kept, 32 KiB each.
const mostFrames = 192

type frameKey struct {
	stream *stream
	frame  int
}

type frameCache struct {
	mu    sync.Mutex
	at    map[frameKey]int // in ring
	ring  [mostFrames]unpacked
	next  int
	spare [][]byte
}

type unpacked struct {
	frameKey
	raw []byte
}

// take appends at most n bytes from at of a frame, if it is kept and has them.
func (c *frameCache) take(out []byte, s *stream, frame int, at, n int64) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.at[frameKey{s, frame}]
	if !ok || at >= int64(len(c.ring[i].raw)) {
		return out, false
	}
	raw := c.ring[i].raw
	return append(out, raw[at:at+min(n, int64(len(raw))-at)]...), true
}

// buffer returns what a frame can be unpacked into.
func (c *frameCache) buffer() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.spare)
	if n == 0 {
		return make([]byte, 0, streamBlock)
	}
	b := c.spare[n-1]
	c.spare = c.spare[:n-1]
	return b[:0]
}

// put keeps a frame; its bytes are the cache's from then on.
func (c *frameCache) put(s *stream, frame int, raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[frameKey]int{}
	}
	key := frameKey{s, frame}
	if _, ok := c.at[key]; ok {
		c.spare = append(c.spare, raw)
		return
	}
	old := &c.ring[c.next]
	if old.stream != nil {
		delete(c.at, old.frameKey)
		c.spare = append(c.spare, old.raw)
	}
	*old = unpacked{key, raw}
	c.at[key] = c.next
	c.next = (c.next + 1) % len(c.ring)
}

// drop forgets the frames of streams that are closed.
func (c *frameCache) drop(streams ...*stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.ring {
		u := &c.ring[i]
		for _, s := range streams {
			if u.stream == s {
				delete(c.at, u.frameKey)
				*u = unpacked{}
			}
		}
	}
}
