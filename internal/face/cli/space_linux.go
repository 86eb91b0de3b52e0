package cli

import (
	"math"

	"golang.org/x/sys/unix"
)

// spaceLimit returns the limit of the address space in bytes, the greatest
// number when there is none or it is unknown.
func spaceLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil {
		return math.MaxUint64
	}
	return l.Cur
}
