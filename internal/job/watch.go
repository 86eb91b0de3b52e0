package job

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// watcher writes a run's progress, at most once per tick, and cancels the run
// when its row says so.
type watcher struct {
	m      *Manager
	id     string
	cancel context.CancelCauseFunc
	done   chan struct{}
	wg     sync.WaitGroup

	mu    sync.Mutex
	now   kb.Progress
	told  bool // there is progress of this pass
	fresh bool // it is not written yet
	pace  kb.Pace
}

func newWatcher(m *Manager, id string, cancel context.CancelCauseFunc) *watcher {
	w := &watcher{m: m, id: id, cancel: cancel, done: make(chan struct{})}
	w.wg.Go(w.loop)
	return w
}

// close ends the loop and waits for it.
func (w *watcher) close() {
	close(w.done)
	w.wg.Wait()
}

// reset forgets the progress of an earlier pass.
func (w *watcher) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.told, w.fresh, w.pace = kb.Progress{}, false, false, kb.Pace{}
}

// report takes the progress of kb.Report and adds how fast it is, by the
// monotonic clock, so that clock steps do no harm.
func (w *watcher) report(p kb.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.told, w.fresh = w.pace.Add(time.Now(), p), true, true
}

// last returns the newest progress, if any.
func (w *watcher) last() (kb.Progress, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = false
	return w.now, w.told
}

func (w *watcher) loop() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-t.C:
		}
		ctx, stop := context.WithTimeout(context.Background(), 4*tick)
		w.look(ctx)
		w.write(ctx)
		stop()
	}
}

// look cancels the run on request, or when the job is gone.
func (w *watcher) look(ctx context.Context) {
	var cancelled bool
	err := w.m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT cancel FROM jobs WHERE id = ?", w.id).Scan(&cancelled)
	})
	if cancelled || errors.Is(err, sql.ErrNoRows) {
		w.cancel(errCancelled)
	}
}

// write keeps progress for others to see. Failing to is no harm: the next
// tick tries again.
func (w *watcher) write(ctx context.Context) {
	w.mu.Lock()
	p, fresh := w.now, w.fresh
	w.fresh = false
	w.mu.Unlock()
	if !fresh {
		return
	}
	err := w.m.cfg.DB.WriteSoon(ctx, func(tx *sql.Tx) error {
		return writeProgress(ctx, tx, w.id, p, w.m.cfg.Now())
	})
	if err != nil {
		w.mu.Lock()
		w.fresh = true
		w.mu.Unlock()
	}
	w.m.announce()
}
