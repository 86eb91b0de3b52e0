package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxJournal is how large a journal grows before it begins anew; the one before
// is kept beside it.
const maxJournal = 2 << 30

// journal keeps the vectors that a provider was paid for, so that none is paid for
// twice, whatever becomes of the job that asked for them. It is a file of rows, each
//
//	32        SHA-256 of the text
//	4*dims    float32, little endian
//	4         CRC-32C of these
//
// which are added under a lock and never change. It holds no text. Several processes may use one.
type journal struct {
	path string
	dims int

	mu   sync.Mutex
	rows map[[32]byte]rowAt
	read [2]int64 // bytes of each file that rows is made of: the one before, the present one
	size [2]int64 // that the files had when they were read, to see one that was replaced
}

// rowAt is where a row is: the file, and the offset of its vector.
type rowAt struct {
	before bool
	off    int64
}

func newJournal(dir, id string, dims int) *journal {
	return &journal{path: filepath.Join(dir, id+".rows"), dims: dims, rows: map[[32]byte]rowAt{}}
}

func (j *journal) row() int64 { return 32 + 4*int64(j.dims) + 4 }

func (j *journal) file(before bool) string {
	if before {
		return j.path + ".before"
	}
	return j.path
}

// look returns the vectors of those texts that are kept.
func (j *journal) look(sums [][32]byte) (map[[32]byte][]float32, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.refresh(); err != nil {
		return nil, err
	}
	out := map[[32]byte][]float32{}
	var files [2]*os.File
	defer func() {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}()
	buf := make([]byte, j.row())
	for _, sum := range sums {
		at, ok := j.rows[sum]
		if !ok || out[sum] != nil {
			continue
		}
		n := 0
		if at.before {
			n = 1
		}
		if files[n] == nil {
			f, err := os.Open(j.file(at.before))
			if err != nil {
				continue // replaced just now: it is embedded again
			}
			files[n] = f
		}
		if _, err := files[n].ReadAt(buf, at.off); err != nil {
			continue
		}
		if v := j.parse(buf, sum); v != nil {
			out[sum] = v
		}
	}
	return out, nil
}

// has counts nothing twice and reads no vector.
func (j *journal) has(sum [32]byte) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.rows[sum]
	return ok
}

// parse returns the vector of a row; nil when it is damaged, or of another text.
func (j *journal) parse(b []byte, sum [32]byte) []float32 {
	end := len(b) - 4
	if binary.LittleEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) || [32]byte(b[:32]) != sum {
		return nil
	}
	v := make([]float32, j.dims)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[32+4*i:]))
	}
	return v
}

// refresh learns of the rows that were added since, by whomever. j.mu is held.
func (j *journal) refresh() error {
	for n, before := range []bool{false, true} {
		info, err := os.Stat(j.file(before))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return kb.Errorf(kb.Denied, "the journal of embeddings cannot be read: %w", err).WithHint("make it yours: ls -l %s", kb.ShellWord(j.path))
		}
		if info.Size() < j.size[n] { // begun anew
			j.rows, j.read, j.size = map[[32]byte]rowAt{}, [2]int64{}, [2]int64{}
			return j.refresh()
		}
		j.size[n] = info.Size()
		if err := j.scan(n, before); err != nil {
			return err
		}
	}
	return nil
}

// scan reads the names of rows from where the last scan ended.
func (j *journal) scan(n int, before bool) error {
	if j.size[n]-j.read[n] < j.row() {
		return nil
	}
	f, err := os.Open(j.file(before))
	if err != nil {
		return nil // replaced just now
	}
	defer f.Close()
	var sum [32]byte
	for ; j.read[n]+j.row() <= j.size[n]; j.read[n] += j.row() {
		if _, err := f.ReadAt(sum[:], j.read[n]); err != nil {
			return kb.Errorf(kb.Corrupt, "the journal of embeddings cannot be read: %w", err).WithHint("check that disk")
		}
		if _, there := j.rows[sum]; !there || !before {
			j.rows[sum] = rowAt{before, j.read[n]}
		}
	}
	return nil
}

// add makes rows durable. What a killed writer left of a row is cut off first.
func (j *journal) add(ctx context.Context, sums [][32]byte, vectors [][]float32) error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return kb.Errorf(kb.Denied, "cannot write to the data directory: %w", err).WithHint("check its permissions")
	}
	lock, err := lockfile.Acquire(ctx, j.path+".lock")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return kb.Errorf(kb.Denied, "the journal of embeddings cannot be written: %w", err).WithHint("check the permissions of %s", kb.ShellWord(j.path))
	}
	defer func() { f.Close() }()
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end > maxJournal {
		f.Close()
		if err = os.Rename(j.path, j.file(true)); err == nil {
			f, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
		}
		end = 0
	}
	var b []byte
	for i, v := range vectors {
		at := len(b)
		b = append(b, sums[i][:]...)
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
	}
	if err == nil {
		_, err = f.WriteAt(b, end-end%j.row())
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return kb.Errorf(kb.Full, "the journal of embeddings cannot be written: %w", err).WithHint("free some space; what was paid for before is kept")
	}
	return nil
}

func sumOf(text string) [32]byte { return sha256.Sum256([]byte(text)) }
