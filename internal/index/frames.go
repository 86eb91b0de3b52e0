package index

import (
	"container/list"
	"sync"
)

// unpackedFrames is how many unpacked frames of streams a process keeps, 8 MiB:
// one search reads the same documents to rank, to choose lines and to show them,
// and the next of a session often asks for some of them again.
const unpackedFrames = 256

// unpacked has the frames that were used last, of all segments.
var unpacked = frames{most: unpackedFrames, by: map[frame]*unpackedFrame{}}

// frame is a frame of a stream by its number.
type frame struct {
	of     *stream
	number int
}

// unpackedFrame is a frame with what was unpacked of it.
type unpackedFrame struct {
	frame frame
	users int // of frames.mu
	at    *list.Element

	mu   sync.Mutex
	full bool
	raw  []byte
}

// frames keeps the frames used last. It is safe for concurrent use.
type frames struct {
	most int

	mu  sync.Mutex
	by  map[frame]*unpackedFrame
	use list.List // of *unpackedFrame, the one used last in front
}

// get returns the entry of a frame, which may be empty still. It stays until put.
func (c *frames) get(k frame) *unpackedFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.by[k]
	if f == nil {
		f = c.oldest()
		f.frame = k
		c.by[k] = f
	}
	c.use.MoveToFront(f.at)
	f.users++
	return f
}

// oldest returns an entry to fill: where there is no room the one that was used
// longest ago and is not in use, with its memory. c.mu is held.
func (c *frames) oldest() *unpackedFrame {
	if len(c.by) >= c.most {
		for e := c.use.Back(); e != nil; e = e.Prev() {
			if f := e.Value.(*unpackedFrame); f.users == 0 {
				delete(c.by, f.frame)
				f.full = false
				return f
			}
		}
	}
	f := &unpackedFrame{}
	f.at = c.use.PushFront(f)
	return f
}

// put says that an entry got is no longer used. One that could not be unpacked
// is forgotten.
func (c *frames) put(f *unpackedFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.users--; f.users > 0 {
		return
	}
	if !f.full || len(c.by) > c.most {
		c.drop(f)
	}
}

// drop forgets an entry. c.mu is held.
func (c *frames) drop(f *unpackedFrame) {
	delete(c.by, f.frame)
	c.use.Remove(f.at)
}

// forget drops the frames of a stream that is closed.
func (c *frames) forget(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, f := range c.by {
		if k.of == s && f.users == 0 {
			c.drop(f)
		}
	}
}
