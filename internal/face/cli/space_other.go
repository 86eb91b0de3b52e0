//go:build !linux

package cli

import "math"

// spaceLimit is that of Linux alone: elsewhere there is none.
func spaceLimit() uint64 { return math.MaxUint64 }
