package graph

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// spill keeps what is written once and read again in the same order: in memory
// up to spillAt bytes, beyond that in a file that has no name.
type spill struct {
	dir    string
	mu     sync.Mutex
	tail   []byte // what follows the file
	file   *os.File
	size   int64 // of the file
	window []byte
	at     int64 // where the window begins
	err    error // the first that writing or reading met
}

const (
	spillAt    = 4 << 20
	spillAhead = 256 << 10 // bytes that are read at once
)

// spilled is a place in a spill.
type spilled struct {
	off  int64
	size uint32
}

// add appends b and returns where it is. What fails is in err.
func (s *spill) add(b []byte) spilled {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := spilled{s.size + int64(len(s.tail)), uint32(len(b))}
	s.tail = append(s.tail, b...)
	if len(s.tail) < spillAt || s.err != nil {
		return at
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, atomicfile.TempPrefix+"link-*")
		if err != nil {
			s.fail(err)
			return at
		}
		_ = os.Remove(f.Name()) // where that is not possible close does it
		s.file = f
	}
	if _, err := s.file.WriteAt(s.tail, s.size); err != nil {
		s.fail(err)
		return at
	}
	s.size += int64(len(s.tail))
	s.tail = s.tail[:0]
	return at
}

// get returns what was added, until the next call.
func (s *spill) get(at spilled) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, size := at.off, int(at.size)
	switch {
	case size == 0 || s.err != nil:
		return nil
	case from >= s.size:
		return s.tail[from-s.size:][:size]
	case from >= s.at && from+int64(size) <= s.at+int64(len(s.window)):
		return s.window[from-s.at:][:size]
	}
	n := int(min(max(int64(size), spillAhead), s.size-from))
	if cap(s.window) < n {
		s.window = make([]byte, n)
	}
	s.window, s.at = s.window[:n], from
	if _, err := s.file.ReadAt(s.window, from); err != nil {
		s.window = s.window[:0]
		s.fail(err)
		return nil
	}
	return s.window[:size]
}

func (s *spill) fail(err error) {
	code := kb.Internal
	if errors.Is(err, syscall.ENOSPC) {
		code = kb.Full
	}
	if s.err == nil {
		s.err = kb.Errorf(code, "cannot keep in a file what is being linked: %w", err).
			WithHint("free some space on the disk of %q, then ask again", s.dir)
	}
}

func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
