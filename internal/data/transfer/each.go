package transfer

import (
	"context"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// atOnce is how many files are looked at, or fetched, side by side.
const atOnce = 4

// each calls f with all names, some of them side by side, until one fails. What is
// under way then is seen to its end: it need not be done again.
func each(ctx context.Context, phase string, names []string, f func(ctx context.Context, name string) error) error {
	var (
		mu         sync.Mutex
		next, done int
		failed     error
		wg         sync.WaitGroup
	)
	take := func() (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(names) || failed != nil || ctx.Err() != nil {
			return "", false
		}
		next++
		return names[next-1], true
	}
	for range min(atOnce, len(names)) {
		wg.Go(func() {
			for {
				name, ok := take()
				if !ok {
					return
				}
				err := f(ctx, name)
				mu.Lock()
				if done++; err == nil {
					kb.Report(ctx, kb.Progress{Phase: phase, Done: int64(done), Total: int64(len(names))})
				} else if failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed == nil {
		failed = context.Cause(ctx)
	}
	return failed
}
