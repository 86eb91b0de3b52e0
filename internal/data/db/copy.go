package db

import (
	"context"
	"database/sql"
	"os"
)

// CopyTo writes the database as it is at one moment into a file that is not there
// yet, or empty; who writes meanwhile does not wait.
func (d *DB) CopyTo(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) // SQLite would make it readable for all
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return osError(err, path)
	}
	p, err := sql.Open("sqlite", dsn(d.path, "_pragma=busy_timeout(10000)&_pragma=temp_store(2)"))
	if err != nil {
		return d.translate(ctx, err)
	}
	defer p.Close()
	if _, err := p.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return d.translate(ctx, err)
	}
	return nil
}
