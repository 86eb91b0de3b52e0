package catalog

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// View is what one of several users is shown of a catalog: the stores that the
// user has named, and those of the machine's names that the user may read. All
// others are as if they were not there: in lists, under their ids, in errors and
// in what is suggested.
type View struct {
	// Project holds the user's own names; it is never "", which holds the machine's.
	Project string
	// Reads reports whether the user may read what the machine calls so, now.
	Reads func(name string) bool
}

// For returns the catalog as a user is shown it. Only the user's own names can
// be given, changed or taken away through it.
func (c *Catalog) For(v View) *Catalog { return &Catalog{db: c.db, now: c.now, view: &v} }

// names reports whether a name of a project is shown.
func (v *View) names(projectID, name string) bool {
	return v == nil || projectID == v.Project || projectID == "" && v.Reads(name)
}

// writes refuses to change the names of others.
func (v *View) writes(projectID string) error {
	if v == nil || projectID == v.Project {
		return nil
	}
	return kb.Errorf(kb.Denied, "this name is not yours to change").WithHint("ask who runs this server")
}

// shows reports whether a store has a name that is shown.
func (v *View) shows(ctx context.Context, tx *sql.Tx, id kb.StoreID) (bool, error) {
	if v == nil {
		return true, nil
	}
	shown, err := v.shown(ctx, tx, []kb.StoreID{id})
	return shown[id], err
}

// shown returns which of the stores have a name that is shown.
func (v *View) shown(ctx context.Context, tx *sql.Tx, ids []kb.StoreID) (map[kb.StoreID]bool, error) {
	shown := map[kb.StoreID]bool{}
	for some := range slices.Chunk(ids, 500) {
		args := make([]any, 0, len(some)+1)
		for _, id := range some {
			args = append(args, id)
		}
		_, err := db.Rows(ctx, tx, func(r *sql.Rows) (none struct{}, err error) {
			var id kb.StoreID
			var project, name string
			err = r.Scan(&id, &project, &name)
			shown[id] = shown[id] || err == nil && v.names(project, name)
			return none, err
		}, "SELECT store, project, name FROM names WHERE store IN (?"+strings.Repeat(", ?", len(some)-1)+
			") AND project IN (?, '')", append(args, v.Project)...)
		if err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// Shows reports whether a store is shown.
func (c *Catalog) Shows(ctx context.Context, id kb.StoreID) (ok bool, err error) {
	if c.view == nil {
		return true, nil
	}
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		ok, err = c.view.shows(ctx, tx, id)
		return err
	})
	return ok, err
}

// scopes are the projects in which a name is looked for, in order.
func (v *View) scopes(projectID, name string) []string {
	all := slices.Compact([]string{projectID, ""})
	return slices.DeleteFunc(all, func(p string) bool { return !v.names(p, name) })
}

// shownIDs returns the ids of at most five stores that begin so and are shown.
func (c *Catalog) shownIDs(ctx context.Context, tx *sql.Tx, prefix string) ([]string, error) {
	ids, err := db.Column[string](ctx, tx, "SELECT DISTINCT store FROM names WHERE project IN (?, '') ORDER BY store", c.view.Project)
	if err != nil {
		return nil, err
	}
	all := make([]kb.StoreID, len(ids))
	for i, id := range ids {
		all[i] = kb.StoreID(id)
	}
	shown, err := c.view.shown(ctx, tx, all)
	ids = slices.DeleteFunc(ids, func(id string) bool { return !shown[kb.StoreID(id)] || !strings.HasPrefix(id, prefix) })
	return ids[:min(5, len(ids))], err
}

// underName returns a store that is shown, by the user's own name for it or one of
// the machine's that the user may read.
func (c *Catalog) underName(ctx context.Context, tx *sql.Tx, id string) (st kb.Store, err error) {
	type named struct{ project, name string }
	all, err := db.Rows(ctx, tx, func(r *sql.Rows) (n named, err error) {
		err = r.Scan(&n.project, &n.name)
		return n, err
	}, "SELECT project, name FROM names WHERE store = ? AND project IN (?, '') ORDER BY project = '', name", id, c.view.Project)
	if err != nil {
		return st, err
	}
	for _, n := range all {
		if c.view.names(n.project, n.name) {
			return byName(ctx, tx, n.project, n.name)
		}
	}
	return st, c.notFound(ctx, tx, c.view.Project, id)
}
