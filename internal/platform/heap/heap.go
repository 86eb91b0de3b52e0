// Package heap delays the first collection of garbage. What packages set up when a
// process starts is kept for its whole life, and to look through it twice before the first
// reply takes a quarter of a start. It imports little, so that it is initialized before
// those packages are.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// first is what the first collection waits for, in percent of the least heap that the
// runtime collects, which is 4 MiB: see https://go.dev/doc/gc-guide.
const first = 300

type collector struct {
	sync.Mutex
	collected bool
	percent   int // from the first collection on
}

// state delays the first collection by being set up, while packages are initialized.
var state = delay()

func delay() *collector {
	if os.Getenv("GOGC") != "" {
		return &collector{collected: true} // as the user says
	}
	c := &collector{percent: debug.SetGCPercent(first)}
	runtime.AddCleanup(&struct{ next *int }{}, func(c *collector) {
		c.Lock()
		defer c.Unlock()
		c.collected = true
		debug.SetGCPercent(c.percent)
	}, c)
	return c
}

// SetPercent sets how much of the heap may be garbage before it is collected, as
// [debug.SetGCPercent] does, from the first collection on.
func SetPercent(p int) {
	state.Lock()
	defer state.Unlock()
	if state.percent = p; state.collected {
		debug.SetGCPercent(p)
	}
}
