//go:build unix

package blockfile

import "golang.org/x/sys/unix"

// Rest gives the memory of what was read of the file back to the system, which
// reads it again when it is asked for.
func (r *Reader) Rest() {
	if r.unmap != nil {
		_ = unix.Madvise(r.unmap, unix.MADV_DONTNEED) // a hint
	}
}
