package job

import (
	"context"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// local runs jobs in goroutines of this process.
type local struct {
	m  *Manager
	wg sync.WaitGroup
}

func (l *local) Start(ctx context.Context, j kb.Job) error {
	// Under the mutex, so that Close misses none.
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.base.Err() != nil {
		return context.Cause(l.m.base)
	}
	lock, err := lockfile.TryLock(l.m.lockPath(j.ID))
	if kb.CodeOf(err) == kb.Busy {
		return nil
	}
	if err != nil {
		return err
	}
	// The run outlives the request that started it. Its end is in the job's row;
	// when that cannot be written, the row remains true: the job is not finished.
	l.wg.Go(func() { _ = l.m.run(context.WithoutCancel(ctx), j.ID, lock) })
	return nil
}

func (l *local) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		l.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return kb.Errorf(kb.Busy, "a job did not stop in time").
			WithHint("it is resumed by the next command that looks at jobs")
	}
}
