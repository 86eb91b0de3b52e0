package source

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
)

// mostTrail bounds the file of a trail: that of a million files takes half of it.
const mostTrail = 64 << 20

// WriteTrail writes a trail to a file, after a line that says of what it is.
func WriteTrail(path, of string, trail []byte) error {
	if len(of)+len(trail) > mostTrail {
		return nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, append([]byte(of), trail...))
}

// ReadTrail returns the trail in a file, nil unless the file begins with that line.
func ReadTrail(path, of string) []byte {
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostTrail))
	if err != nil {
		return nil
	}
	trail, ok := bytes.CutPrefix(b, []byte(of))
	if !ok {
		return nil
	}
	return trail
}
