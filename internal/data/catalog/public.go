package catalog

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// SetPublic sets whether questions from outside may be answered from a store.
// It ends with the store.
func (c *Catalog) SetPublic(ctx context.Context, id kb.StoreID, on bool) error {
	query, args := "INSERT OR IGNORE INTO public (store, since) VALUES (?, ?)", []any{id, c.stamp()}
	if !on {
		query, args = "DELETE FROM public WHERE store = ?", []any{id}
	}
	_, err := c.db.Exec(ctx, query, args...)
	return err
}

// Public returns the stores that questions from outside may be answered from.
func (c *Catalog) Public(ctx context.Context) ([]kb.StoreID, error) {
	if c.view != nil {
		return nil, nil
	}
	return db.Values[kb.StoreID](ctx, c.db, "SELECT store FROM public ORDER BY store")
}
