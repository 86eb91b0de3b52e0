package shared

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// lend implements app.Sharing.Lend.
func lend(ctx context.Context, c *app.Core, id kb.StoreID, kind, name string, raw []byte) error {
	x, err := indexesOf(c)
	if err != nil {
		return err
	}
	return x.Lend(ctx, id, kind, name, raw)
}

// borrow implements app.Sharing.Borrow.
func borrow(ctx context.Context, c *app.Core, id kb.StoreID, kind, have string, save func(name string, raw []byte) error) (bool, error) {
	x, err := indexesOf(c)
	if err != nil {
		return false, err
	}
	name, err := x.Lent(ctx, id, kind)
	if err != nil || name == "" || name == have {
		return name != "", err
	}
	raw, err := x.Borrow(ctx, id, kind, name)
	if err != nil {
		return false, err
	}
	return true, save(name, raw)
}
