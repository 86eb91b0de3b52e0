package catalog

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// SetOwn makes the store of spec the unlisted own folder of the work tree at
// root; projectID is "" outside any project. It writes only when that has changed.
func (c *Catalog) SetOwn(ctx context.Context, projectID, root string, spec kb.Spec) (st kb.Store, err error) {
	if err := c.view.writes(""); err != nil {
		return st, err
	}
	if st, err = c.Own(ctx, root); err == nil && st.ID == spec.ID() {
		return st, nil
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		if st, _, err = c.put(ctx, tx, spec); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO own (root, project, store, created) VALUES (?, ?, ?, ?)",
			root, projectID, st.ID, c.stamp())
		return err
	})
	return st, err
}

// UnsetOwn forgets the own folder of the work tree at root, so that Drop can
// delete its store. A root without one is left as it is.
func (c *Catalog) UnsetOwn(ctx context.Context, root string) error {
	_, err := c.db.Exec(ctx, "DELETE FROM own WHERE root = ?", root)
	return err
}

// Own returns the own folder's store of the work tree at root, or kb.NotFound.
func (c *Catalog) Own(ctx context.Context, root string) (st kb.Store, err error) {
	if c.view != nil { // folders of the machine are no user's
		return st, kb.Errorf(kb.NotFound, "there is no folder of yours here").WithHint("list the stores there are with: stores")
	}
	err = c.db.One(ctx, func(ctx context.Context, q db.Querier) error {
		st, err = scan(q.QueryRowContext(ctx,
			"SELECT "+columns+" FROM own o JOIN stores s ON s.id = o.store, "+unnamed+" WHERE o.root = ?", root))
		if errors.Is(err, sql.ErrNoRows) {
			return kb.Errorf(kb.NotFound, "the folder %q is not indexed yet", root).
				WithHint("search in it once, or make a store of it")
		}
		return err
	})
	return st, err
}
