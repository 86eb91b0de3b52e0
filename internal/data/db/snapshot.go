package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"modernc.org/sqlite/vfs"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A snapshot is a copy in memory of a database on disk, with the commits in its
// write-ahead log. SQLite cannot read a database in WAL mode where it
// cannot make the log's shared memory: on a full disk, in a directory that may
// only be read, on a medium that is mounted read-only. What was committed can be
// read there all the same, without a lock and without writing a byte.
//
// The format of the log: https://www.sqlite.org/fileformat2.html#walformat
type snapshot struct {
	name string // of the file system that is registered with SQLite
	fs   *vfs.FS
	of   [2]state // the files as they were read
}

// maxSnapshot is the largest database that is read into memory.
const maxSnapshot = 512 << 20

// state differs between two contents of a file, nearly always.
type state struct {
	size int64
	mod  time.Time
}

func stateOf(path string) state {
	info, err := os.Stat(path)
	if err != nil {
		return state{size: -1}
	}
	return state{info.Size(), info.ModTime()}
}

func states(path string) [2]state { return [2]state{stateOf(path), stateOf(path + "-wal")} }

// take reads the database at path. Others may write meanwhile: what was read is
// believed when a second look finds the same.
func take(path string) (*snapshot, error) {
	creating.Lock()
	defer creating.Unlock()
	if inUse[path] > 0 { // to close a file that SQLite has open would drop its locks
		return nil, kb.Errorf(kb.Busy, "another part of this program uses the database %q", path).
			WithHint("try again in a moment")
	}
	for range 8 {
		of := states(path)
		if of[0].size > maxSnapshot || of[1].size > maxSnapshot {
			return nil, kb.Errorf(kb.TooLarge, "the database %q is too large to be read into memory", path)
		}
		main, wal, err := both(path)
		if err != nil {
			return nil, err
		}
		again, walAgain, err := both(path)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(main, again) || !bytes.Equal(wal, walAgain) {
			continue
		}
		if main, err = replay(main, wal); err != nil {
			return nil, kb.Errorf(kb.Corrupt, "the database %q is damaged: %w", path, err)
		}
		s := &snapshot{of: of}
		if s.name, s.fs, err = vfs.New(memory(main)); err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, kb.Errorf(kb.Busy, "the database %q is being written all the time", path).
		WithHint("try again in a moment")
}

func both(path string) (main, wal []byte, err error) {
	if main, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	if wal, err = os.ReadFile(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return main, wal, err
}

var errPage = errors.New("its log and its pages do not agree")

// replay returns main with what the log has committed, as a database without a
// log. A frame that is torn, or left from before the log began anew, ends it.
func replay(main, wal []byte) ([]byte, error) {
	const header, frame = 32, 24
	be := binary.BigEndian
	if len(wal) >= header && be.Uint32(wal)&^1 == 0x377f0682 {
		order := binary.ByteOrder(binary.LittleEndian)
		if wal[3]&1 != 0 {
			order = be
		}
		page := int(be.Uint32(wal[8:]))
		if page < 512 || page > 65536 || page&(page-1) != 0 {
			return nil, errPage
		}
		var sum walSum
		sum.add(order, wal[:24])
		if sum.is(wal[24:]) {
			pages := map[uint32][]byte{} // since the last commit
			for rest := wal[header:]; len(rest) >= frame+page; rest = rest[frame+page:] {
				sum.add(order, rest[:8])
				sum.add(order, rest[frame:frame+page])
				if !bytes.Equal(rest[8:16], wal[16:24]) || !sum.is(rest[16:]) {
					break
				}
				pages[be.Uint32(rest)] = rest[frame : frame+page]
				size := int(be.Uint32(rest[4:]))
				if size == 0 {
					continue
				}
				if size > maxSnapshot/page {
					return nil, errPage
				}
				if size*page > len(main) {
					main = append(main, make([]byte, size*page-len(main))...)
				}
				main = main[:size*page]
				for n, p := range pages {
					if n == 0 || int(n) > size {
						continue // of a larger database that has shrunk
					}
					copy(main[(int(n)-1)*page:], p)
				}
				clear(pages)
			}
		}
	}
	if len(main) >= 20 {
		main[18], main[19] = 1, 1 // how it is written and read: without a log
	}
	return main, nil
}

// walSum is the checksum of a log, which goes on from frame to frame.
type walSum [2]uint32

func (s *walSum) add(order binary.ByteOrder, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
}

func (s *walSum) is(b []byte) bool {
	return s[0] == binary.BigEndian.Uint32(b) && s[1] == binary.BigEndian.Uint32(b[4:])
}

// memory is a file system of one file.
type memory []byte

const memoryName = "snapshot.db"

func (m memory) Open(name string) (fs.File, error) {
	if path.Base(name) != memoryName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{bytes.NewReader(m)}, nil
}

type memoryFile struct{ *bytes.Reader }

var _ io.Seeker = (*memoryFile)(nil)

func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo(f.Reader.Size()), nil }

type memoryInfo int64

func (i memoryInfo) Name() string       { return memoryName }
func (i memoryInfo) Size() int64        { return int64(i) }
func (i memoryInfo) Mode() fs.FileMode  { return 0o400 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }
