//go:build !linux

package cli

import "math"

// spaceLimit is that of Linux alone: elsewhere nobody sets one.
func spaceLimit() uint64 { return math.MaxUint64 }
