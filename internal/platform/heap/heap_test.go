package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// percent is what is set at this moment.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// TestFirst: the percentage of the start ends with the first collection, and what is set
// before that holds after it.
func TestFirst(t *testing.T) {
	if state.collected {
		t.Skip("GOGC is set, or something was collected before this test")
	}
	if got := percent(); got != first {
		t.Errorf("before the first collection: %d", got)
	}
	SetPercent(40)
	if got := percent(); got != first {
		t.Errorf("set before the first collection: %d", got)
	}
	for range 100 {
		runtime.GC()
		if percent() == 40 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := percent(); got != 40 {
		t.Errorf("after the first collection: %d", got)
	}
	if SetPercent(60); percent() != 60 {
		t.Error("what is set later does not hold at once")
	}
}
