package catalog

import (
	"context"
	"database/sql"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// SetPublic says whether questions from outside may be answered from a store.
// It ends with the store.
func (c *Catalog) SetPublic(ctx context.Context, id kb.StoreID, on bool) error {
	return c.db.Write(ctx, func(tx *sql.Tx) error {
		if !on {
			_, err := tx.ExecContext(ctx, "DELETE FROM public WHERE store = ?", id)
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO public (store, since) VALUES (?, ?)", id, c.stamp())
		return err
	})
}

// Public returns the stores that questions from outside may be answered from.
func (c *Catalog) Public(ctx context.Context) (ids []kb.StoreID, err error) {
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		ids = nil
		return each(ctx, tx, func(r *sql.Rows) error {
			var id kb.StoreID
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		}, "SELECT store FROM public ORDER BY store")
	})
	return ids, err
}
