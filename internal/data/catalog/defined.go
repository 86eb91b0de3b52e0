package catalog

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Defined records how a project came by a name.
type Defined struct {
	Name  string
	Store kb.StoreID // what the name meant then
	// ByFile says that the project's definitions name it, so that it is an
	// orphan when they no longer do.
	ByFile bool
	// Follows is the dependency whose locked version the store is pinned to,
	// "npm:react"; "" for a store that follows its ref.
	Follows string
}

// SetDefined records how a project came by a name; what was recorded of that
// name before is replaced.
func (c *Catalog) SetDefined(ctx context.Context, projectID string, d Defined) error {
	_, err := c.db.Exec(ctx, "INSERT OR REPLACE INTO defined (project, name, store, by_file, follows) VALUES (?, ?, ?, ?, ?)",
		projectID, d.Name, d.Store, d.ByFile, d.Follows)
	return err
}

// UnsetDefined forgets how a project came by a name.
func (c *Catalog) UnsetDefined(ctx context.Context, projectID, name string) error {
	_, err := c.db.Exec(ctx, "DELETE FROM defined WHERE project = ? AND name = ?", projectID, name)
	return err
}

// Defined returns how a project came by its names, by name. A name that was
// given to another store since, or taken away, is left out.
func (c *Catalog) Defined(ctx context.Context, projectID string) (list []Defined, err error) {
	return db.List(ctx, c.db, func(r *sql.Rows) (d Defined, err error) {
		err = r.Scan(&d.Name, &d.Store, &d.ByFile, &d.Follows)
		return d, err
	}, `SELECT d.name, d.store, d.by_file, d.follows FROM defined d
		JOIN names n ON n.project = d.project AND n.name = d.name AND n.store = d.store
		WHERE d.project = ? ORDER BY d.name`, projectID)
}

// Move lets a name of a project mean the store of another spec in one
// transaction, made when there is none. What is said of the name stays where
// description is "" and tags nil. The store that it meant is deleted when
// it has no holder any more, which gone reports. kb.NotFound when the project has no
// such name.
func (c *Catalog) Move(ctx context.Context, projectID, name string, spec kb.Spec, description string, tags []string) (st kb.Store, gone bool, err error) {
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		gone = false
		old, err := byName(ctx, tx, projectID, name)
		if err != nil && kb.CodeOf(err) != kb.Corrupt {
			if err == sql.ErrNoRows {
				err = c.notFound(ctx, tx, projectID, name)
			}
			return err
		}
		if _, _, err := c.put(ctx, tx, spec); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM names WHERE project = ? AND name = ?", projectID, name); err != nil {
			return err
		}
		if tags == nil {
			tags = old.Tags
		}
		st, err = c.attach(ctx, tx, projectID, name, spec.ID(), cmp.Or(description, old.Description), tags)
		if err != nil {
			return err
		}
		holders, err := holdersOf(ctx, tx, old.ID)
		if err == nil && len(holders) == 0 {
			_, err = tx.ExecContext(ctx, "DELETE FROM stores WHERE id = ?", old.ID)
			gone = true
		}
		return err
	})
	return st, gone, err
}
