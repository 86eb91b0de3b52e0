package job

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// MaxDeaths is how many workers may die at a document before it is skipped,
// or of a job, without getting further, before it fails.
const MaxDeaths = 3

type diedKey struct{}

// Died reports whether the process that ran a handler's job before died: not
// whether it was closed in an orderly way.
func Died(ctx context.Context) bool { return ctx.Value(diedKey{}) != nil }

// A Trail records the progress of a run, so that, should its process die, the next
// run knows what to be careful with. It is a file of slots of trailSlot bytes,
// one for each of the run's goroutines: the length of a path as a u16 and the
// path, or zero. Writes reach the page cache, which outlives the process;
// a power cut may take them, since then no document is to blame.
type Trail struct{ f *os.File }

const (
	trailSlot  = 4096
	trailSlots = 16
)

func (m *Manager) trailPath(id string) string { return filepath.Join(m.cfg.Dir, id+".at") }

// Trail begins the trail of a run and returns what the run before, which
// died, was at.
func (m *Manager) Trail(id string) (t *Trail, left []string, err error) {
	path := m.trailPath(id)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, kb.Errorf(kb.Denied, "read the trail of a job: %w", err).
			WithHint("check the permissions of the data directory")
	}
	for len(old) >= 2 {
		n := int(binary.LittleEndian.Uint16(old))
		if n > 0 && 2+n <= min(len(old), trailSlot) {
			left = append(left, string(old[2:2+n]))
		}
		old = old[min(len(old), trailSlot):] // the last slot ends with its path
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, kb.Errorf(kb.Denied, "write the trail of a job: %w", err).
			WithHint("check the permissions of the data directory")
	}
	return &Trail{f}, left, nil
}

// At notes that goroutine n is at a document; "" that it is at none. A path
// that cannot be noted is none.
func (t *Trail) At(n int, path string) {
	if n >= trailSlots || len(path) > trailSlot-2 {
		return
	}
	b := binary.LittleEndian.AppendUint16(make([]byte, 0, 2+len(path)), uint16(len(path)))
	_, _ = t.f.WriteAt(append(b, path...), int64(n)*trailSlot)
}

// Close ends the trail: the run it belongs to did not die.
func (t *Trail) Close() error {
	name := t.f.Name()
	return errors.Join(t.f.Close(), os.Remove(name))
}

// Blame counts a death of a worker against each of paths of a store; marks
// returns the state of a document, a new one starting its count anew. Without
// paths the death counts against the job as a whole, as far as mark "" says
// it had come.
func (m *Manager) Blame(ctx context.Context, store kb.StoreID, paths []string, mark func(path string) uint64) error {
	if len(paths) == 0 {
		paths = []string{""}
	}
	return m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		for _, p := range paths {
			_, err := tx.ExecContext(ctx, `INSERT INTO blame (store, path, mark, deaths) VALUES (?, ?, ?, 1)
				ON CONFLICT DO UPDATE SET deaths = iif(mark = excluded.mark, deaths, 0) + 1, mark = excluded.mark`,
				store, p, int64(mark(p)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Blamed returns the documents of a store at which workers died, and how
// often; "" is the job as a whole. Those whose mark is another now
// are left out, unless mark is nil.
func (m *Manager) Blamed(ctx context.Context, store kb.StoreID, mark func(path string) uint64) (map[string]int, error) {
	deaths := map[string]int{}
	_, err := db.List(ctx, m.cfg.DB, func(r *sql.Rows) (none struct{}, err error) {
		var p string
		var at int64
		var n int
		err = r.Scan(&p, &at, &n)
		if err == nil && (mark == nil || uint64(at) == mark(p)) {
			deaths[p] = n
		}
		return none, err
	}, "SELECT path, mark, deaths FROM blame WHERE store = ?", store)
	return deaths, err
}

// Forgive forgets the deaths at a store's documents, but for those that are skipped for it.
func (m *Manager) Forgive(ctx context.Context, store kb.StoreID, all bool) error {
	_, err := m.cfg.DB.Exec(ctx, "DELETE FROM blame WHERE store = ? AND (? OR path = '' OR deaths < ?)", store, all, MaxDeaths)
	return err
}
