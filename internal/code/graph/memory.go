package graph

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// A link holds some 0.5 bytes per byte of Go source to its end and up to 110 MB of
// syntax trees and types at a time. The collector would let garbage double
// that; with a limit it costs a tenth more time (GOROOT/src: 315 MB and 20 s of
// processor time without, 230 MB and 21.5 s with it).
const (
	linkMemory     = 140 << 20
	bytesPerSource = 0.66
)

var memory struct {
	sync.Mutex
	users  int
	before int64
}

// limitMemory asks the collector of this process to keep a link of so many
// bytes of Go within bounds, beside what is there already. restore ends it. A
// lower limit that was set before stands.
func limitMemory(source int64) (restore func()) {
	memory.Lock()
	defer memory.Unlock()
	if memory.users++; memory.users == 1 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		limit := int64(m.Sys-m.HeapReleased) + linkMemory + int64(bytesPerSource*float64(source))
		if memory.before = debug.SetMemoryLimit(-1); limit < memory.before {
			debug.SetMemoryLimit(limit)
		}
	}
	return func() {
		memory.Lock()
		defer memory.Unlock()
		if memory.users--; memory.users == 0 {
			debug.SetMemoryLimit(memory.before)
		}
	}
}
