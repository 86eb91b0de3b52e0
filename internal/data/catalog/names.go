package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const maxName = 64

// CheckName returns kb.Invalid with the rule when name cannot name a store.
func CheckName(name string) error {
	ok := len(name) >= 1 && len(name) <= maxName && name[0] != '-' && name[0] != '.'
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}
	if ok {
		return nil
	}
	return kb.Errorf(kb.Invalid, "%q cannot name a store", kb.Clip(name, maxName)).
		WithHint("use 1 to 64 letters, digits, dots, underscores and hyphens, beginning with a letter, a digit or an underscore")
}

// Attach lets name mean the store id in a project ("" is the user). Attaching
// the same again updates description and tags where given. kb.Exists when the
// name means another store here, kb.NotFound when there is no such store.
func (c *Catalog) Attach(ctx context.Context, projectID, name string, id kb.StoreID, description string, tags []string) (st kb.Store, err error) {
	if err := CheckName(name); err != nil {
		return st, err
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		st, err = c.attach(ctx, tx, projectID, name, id, description, tags)
		return err
	})
	return st, err
}

// Add is Put and Attach in one transaction; use it to create a named store,
// so that it is not dropped as unheld in between. created reports whether the
// store is new.
func (c *Catalog) Add(ctx context.Context, projectID, name string, spec kb.Spec, description string, tags []string) (st kb.Store, created bool, err error) {
	if err := CheckName(name); err != nil {
		return st, false, err
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		if _, created, err = c.put(ctx, tx, spec); err != nil {
			return err
		}
		st, err = c.attach(ctx, tx, projectID, name, spec.ID(), description, tags)
		return err
	})
	if err != nil {
		return kb.Store{}, false, err
	}
	return st, created, nil
}

func (c *Catalog) attach(ctx context.Context, tx *sql.Tx, projectID, name string, id kb.StoreID, description string, tags []string) (kb.Store, error) {
	if err := c.view.writes(projectID); err != nil {
		return kb.Store{}, err
	}
	old, err := byName(ctx, tx, projectID, name)
	switch {
	case err == nil && old.ID != id:
		return kb.Store{}, kb.Errorf(kb.Exists, "the name %q means %s %s here already", name, old.Spec.Kind, described(old.Spec)).
			WithHint("choose another name, or free this one with: store:delete %s", name)
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return kb.Store{}, err
	}
	if _, err := get(ctx, tx, id); err != nil {
		return kb.Store{}, err
	}
	if err == nil { // the same again
		description = cmp.Or(description, old.Description)
		if tags == nil {
			tags = old.Tags
		}
	}
	b, err := json.Marshal(append([]string{}, tags...))
	if err != nil {
		return kb.Store{}, kb.Errorf(kb.Internal, "encode tags: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO names (project, name, store, description, tags, created) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET description = excluded.description, tags = excluded.tags`,
		projectID, name, id, description, string(b), c.stamp())
	if err != nil {
		return kb.Store{}, err
	}
	return byName(ctx, tx, projectID, name)
}

// Rename gives the store that old means in a project ("" is the user) another
// name there; what is said of it, and how the project came by it, goes along.
// kb.Exists when name means a store here, the user's names included, and
// kb.NotFound when old means nothing in exactly that project.
func (c *Catalog) Rename(ctx context.Context, projectID, old, name string) (st kb.Store, err error) {
	if err := CheckName(name); err != nil {
		return st, err
	}
	if err := c.view.writes(projectID); err != nil {
		return st, err
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		for _, scope := range c.view.scopes(projectID, name) {
			if err := free(ctx, tx, scope, name); err != nil {
				return err
			}
		}
		if _, err := byName(ctx, tx, projectID, old); errors.Is(err, sql.ErrNoRows) {
			return c.notFound(ctx, tx, projectID, old)
		} else if err != nil {
			return err
		}
		// What was recorded of a store that had the name before is out of date.
		for _, change := range []string{
			"DELETE FROM defined WHERE project = ?1 AND name = ?3",
			"UPDATE names SET name = ?3 WHERE project = ?1 AND name = ?2",
			"UPDATE defined SET name = ?3 WHERE project = ?1 AND name = ?2",
		} {
			if _, err := tx.ExecContext(ctx, change, projectID, old, name); err != nil {
				return err
			}
		}
		st, err = byName(ctx, tx, projectID, name)
		return err
	})
	return st, err
}

// free refuses a name that means a store in exactly that project.
func free(ctx context.Context, tx *sql.Tx, projectID, name string) error {
	taken, err := byName(ctx, tx, projectID, name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil && kb.CodeOf(err) != kb.Corrupt {
		return err
	}
	return kb.Errorf(kb.Exists, "the name %q means %s %s here already", name, taken.Spec.Kind, described(taken.Spec)).
		WithHint("choose another name; list those that are taken with: stores")
}

func described(s kb.Spec) string {
	if s.Ref.String() == string(kb.RefDefault) {
		return s.Source
	}
	return s.Source + " at " + s.Ref.String()
}

func byName(ctx context.Context, tx *sql.Tx, projectID, name string) (kb.Store, error) {
	return scan(tx.QueryRowContext(ctx, "SELECT "+columns+` FROM names n JOIN stores s ON s.id = n.store
		WHERE n.project = ? AND n.name = ?`, projectID, name))
}

// Detach takes name away from a project ("" is the user) and returns the
// store it meant and its other holders; a store without any is
// deleted with its last name, as Delete does. kb.NotFound when the name means
// nothing in exactly that project.
func (c *Catalog) Detach(ctx context.Context, projectID, name string) (id kb.StoreID, holders []string, err error) {
	if err := c.view.writes(projectID); err != nil {
		return "", nil, err
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "DELETE FROM names WHERE project = ? AND name = ? RETURNING store", projectID, name).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return c.notFound(ctx, tx, projectID, name)
		}
		if err != nil {
			return err
		}
		if holders, err = holdersOf(ctx, tx, id); err == nil && len(holders) == 0 {
			_, err = tx.ExecContext(ctx, "DELETE FROM stores WHERE id = ?", id)
		}
		return err
	})
	return id, holders, err
}

// Abandon takes every name away from a store that was made at that time and of
// which nothing was ever published, but those that a project's definitions
// give it, and deletes the store when it has no holder any more. One that has a
// head, or was made at another time, stays as it is.
func (c *Catalog) Abandon(ctx context.Context, id kb.StoreID, created time.Time) error {
	return c.db.Write(ctx, func(tx *sql.Tx) error {
		const empty = "EXISTS (SELECT 1 FROM stores WHERE id = ?1 AND created = ?2 AND head IS NULL)"
		_, err := tx.ExecContext(ctx, `DELETE FROM names WHERE store = ?1 AND `+empty+` AND NOT EXISTS (
			SELECT 1 FROM defined d WHERE d.project = names.project AND d.name = names.name AND d.store = ?1 AND d.by_file)`,
			id, created.UnixMicro())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM stores WHERE id = ?1 AND created = ?2 AND head IS NULL
			AND NOT EXISTS (SELECT 1 FROM names WHERE store = ?1) AND NOT EXISTS (SELECT 1 FROM own WHERE store = ?1)`,
			id, created.UnixMicro())
		return err
	})
}

// Holders names, for a reader, who holds a store: `project /src/app as "react"`,
// `user as "react"`, `own folder of /src/app`.
func (c *Catalog) Holders(ctx context.Context, id kb.StoreID) (holders []string, err error) {
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		if c.view != nil { // of a user's own store there is one, and of the others it is not the user's to know
			holders, err = db.Column[string](ctx, tx, "SELECT name FROM names WHERE store = ? AND project = ? ORDER BY name", id, c.view.Project)
			return err
		}
		holders, err = holdersOf(ctx, tx, id)
		return err
	})
	return holders, err
}

func holdersOf(ctx context.Context, tx *sql.Tx, id kb.StoreID) ([]string, error) {
	named, err := db.Rows(ctx, tx, func(r *sql.Rows) (string, error) {
		var project, name, dir string
		err := r.Scan(&project, &name, &dir)
		who := "user"
		if project != "" {
			who = "project " + dir
		}
		return fmt.Sprintf("%s as %q", who, name), err
	}, `SELECT n.project, n.name, coalesce(p.dir, n.project) FROM names n LEFT JOIN projects p ON p.id = n.project
		WHERE n.store = ? ORDER BY n.project, n.name`, id)
	if err != nil {
		return nil, err
	}
	own, err := db.Column[string](ctx, tx, "SELECT 'own folder of ' || root FROM own WHERE store = ? ORDER BY root", id)
	return append(named, own...), err
}

// NoteProject records the directory of a project, for Holders to show. It
// writes only when that has changed.
func (c *Catalog) NoteProject(ctx context.Context, projectID, dir string) error {
	if projectID == "" || c.view != nil {
		return nil
	}
	known, err := db.Value[bool](ctx, c.db, "SELECT EXISTS (SELECT 1 FROM projects WHERE id = ? AND dir = ?)", projectID, dir)
	if err != nil || known {
		return err
	}
	_, err = c.db.ExecSoon(ctx, "INSERT OR REPLACE INTO projects (id, dir, seen) VALUES (?, ?, ?)", projectID, dir, c.stamp())
	return err
}

// Projects returns the directories of the projects that were noted, sorted.
func (c *Catalog) Projects(ctx context.Context) ([]string, error) {
	return db.Values[string](ctx, c.db, "SELECT DISTINCT dir FROM projects ORDER BY dir")
}

// Lookup returns the store that nameOrID means in a project: the project's
// names first, then the user's, then full ids and unique prefixes of at least
// 4 characters. kb.NotFound hints at the nearest names. With kb.Corrupt the
// store's ID is set, so that it can be deleted.
func (c *Catalog) Lookup(ctx context.Context, projectID, nameOrID string) (st kb.Store, err error) {
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		for _, scope := range c.view.scopes(projectID, nameOrID) {
			if st, err = byName(ctx, tx, scope, nameOrID); !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		st, err = c.byID(ctx, tx, projectID, nameOrID)
		return err
	})
	return st, err
}

const (
	minPrefix = 4
	fullID    = 16
)

func (c *Catalog) byID(ctx context.Context, tx *sql.Tx, projectID, id string) (kb.Store, error) {
	if len(id) < minPrefix || len(id) > fullID || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return kb.Store{}, c.notFound(ctx, tx, projectID, id)
	}
	var ids []string
	var err error
	if c.view != nil {
		ids, err = c.shownIDs(ctx, tx, id)
	} else {
		ids, err = db.Column[string](ctx, tx,
			"SELECT id FROM stores WHERE id >= ?1 AND id < ?1 || '{' ORDER BY id LIMIT 5", id) // '{' follows 'z'
	}
	switch {
	case err != nil:
		return kb.Store{}, err
	case len(ids) == 0:
		return kb.Store{}, c.notFound(ctx, tx, projectID, id)
	case len(ids) > 1:
		return kb.Store{}, kb.Errorf(kb.Invalid, "%q is the beginning of several store ids", id).
			WithHint("give more of it: %s", strings.Join(ids, ", "))
	}
	if c.view != nil {
		return c.underName(ctx, tx, ids[0])
	}
	// The name it goes by here, else anywhere.
	return scan(tx.QueryRowContext(ctx, "SELECT "+columns+` FROM stores s LEFT JOIN names n ON n.store = s.id
		WHERE s.id = ? ORDER BY n.project = ? DESC, n.project = '' DESC, n.name LIMIT 1`, ids[0], projectID))
}

// notFound suggests names that look like name.
func (c *Catalog) notFound(ctx context.Context, tx *sql.Tx, projectID, name string) error {
	names, err := db.Rows(ctx, tx, func(r *sql.Rows) (string, error) {
		var project, name string
		err := r.Scan(&project, &name)
		if !c.view.names(project, name) {
			name = ""
		}
		return name, err
	}, "SELECT project, name FROM names WHERE project IN (?, '') ORDER BY name", projectID)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
	name = kb.Clip(name, 2*maxName)
	e := kb.Errorf(kb.NotFound, "no store is named %q here", name)
	if near := nearest(name, names); len(near) > 0 {
		return e.WithHint("did you mean %s? list all with: stores", strings.Join(near, " or "))
	}
	return e.WithHint("list the stores there are with: stores")
}

// nearest returns up to three quoted names within an edit distance of a third
// of their length, or containing what was asked for, nearest first.
func nearest(name string, names []string) []string {
	type candidate struct {
		name string
		cost int
	}
	var near []candidate
	want := strings.ToLower(name)
	for _, n := range names {
		have := strings.ToLower(n)
		cost := len(want) // of what is no name
		if len(want) <= 2*maxName {
			cost = kb.Distance(want, have)
		}
		if len(want) >= 3 && (strings.Contains(have, want) || strings.Contains(want, have)) {
			cost = min(cost, 2)
		}
		if cost <= max(2, len(have)/3) && cost < len(have) {
			near = append(near, candidate{n, cost})
		}
	}
	kb.SortStableFunc(near, func(a, b candidate) int { return a.cost - b.cost })
	var out []string
	for _, c := range near[:min(3, len(near))] {
		out = append(out, fmt.Sprintf("%q", c.name))
	}
	return out
}
