package index

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// mostSide is on how many processors one question is worked on at once.
const mostSide = 4

// sideBySide calls f for 0 to n-1, on several processors where that is worth it.
// f must not depend on the order. Faults in the maps become errors on each of them.
func (g *Generation) sideBySide(n int, worth bool, f func(i int) error) error {
	workers := 1
	if worth {
		workers = min(mostSide, runtime.GOMAXPROCS(0))
	}
	return byWorkers(n, workers, g.guard, f)
}

// byWorkers calls f for 0 to n-1 by at most so many workers, until it fails in one. Of
// several each is within guard.
func byWorkers(n, workers int, guard func(work func() error) error, f func(i int) error) error {
	workers = min(workers, n)
	var next atomic.Int64
	work := func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := f(i); err != nil {
				return err
			}
		}
	}
	if workers < 2 {
		return work()
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for k := range errs[1:] {
		wg.Go(func() { errs[k+1] = guard(work) })
	}
	errs[0] = guard(work) // whatever happens, the others must end before the maps may go
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
