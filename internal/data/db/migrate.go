package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed migrations/*.sql
var files embed.FS

// migrations returns the statements of each migration; the one at index i
// leads to version i+1.
var migrations = sync.OnceValue(func() []string {
	entries, err := files.ReadDir("migrations") // sorted by name
	if err != nil {
		panic(err) // embedded
	}
	var out []string
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			panic("db: " + e.Name() + " is not migration " + strconv.Itoa(i+1)) // found by any test
		}
		b, err := files.ReadFile(path.Join("migrations", e.Name()))
		if err != nil {
			panic(err)
		}
		out = append(out, string(b))
	}
	return out
})

func current() int { return len(migrations()) }

// migrate brings the schema to the current version. Several processes may do
// so at once: the first does the work, the others find it done.
func (d *DB) migrate(ctx context.Context, c *conns) error {
	// The mode is a property of the file, so it is set once, before the first
	// table. It cannot be set inside a transaction; processes that try at once
	// find the file busy.
	err := d.retry(ctx, func() error {
		var mode string
		if err := c.full.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return kb.Errorf(kb.Unsupported, "the file system of %q does not support SQLite's write-ahead log", d.path).
				WithHint("choose a directory on a local disk with --data-dir")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.write(ctx, c.full, current(), func(tx *sql.Tx) error {
		var v int
		if err := version(ctx, tx, &v); err != nil {
			return err
		}
		if v >= current() {
			return nil
		}
		for _, m := range migrations()[v:] {
			if _, err := tx.ExecContext(ctx, m); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", current()))
		return err
	})
}
