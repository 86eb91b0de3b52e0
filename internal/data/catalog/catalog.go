// Package catalog knows the stores: what they are made from, what they are
// called where, and which generation of each is live. It owns the tables
// stores, names, own, projects, store_segments, segment_uses, trust and defined.
//
// # The life of a file
//
// Segments and manifests are files that several stores and jobs share. A file
// may be deleted when no live head names it (store_segments) and no job uses
// it (segment_uses). To rely on a file, a job first calls UseSegments and only
// then looks whether the file exists or makes it; what it finds after that
// stays until ReleaseUses. Publish turns uses into references of the head.
// Garbage decides and deletes while it holds the database's write lock, so
// that no use begins between the two.
//
// Readers leave no trace here: one that maps a file keeps it after its
// name is deleted, and one that finds a file of its head gone asks for the head again.
package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Catalog knows the stores. It is safe for concurrent use, also by several
// processes over one database.
type Catalog struct {
	db   *db.DB
	now  func() time.Time
	view *View // nil shows everything
}

// New returns a catalog over an open database. now is the clock; nil means time.Now.
func New(d *db.DB, now func() time.Time) *Catalog {
	if now == nil {
		now = time.Now
	}
	return &Catalog{db: d, now: now}
}

// Scope says through whom a store is in a list.
type Scope string

// The scopes.
const (
	ScopeProject Scope = "project" // named by the project
	ScopeUser    Scope = "user"    // named by the user for every project
	ScopeOwn     Scope = "own"     // a work tree's own folder, without a name
	ScopeNone    Scope = ""        // without a holder
)

// Entry is one line of a list.
type Entry struct {
	kb.Store
	Scope   Scope
	Project string // the project's id for ScopeProject and ScopeOwn
}

// stamp returns the time as the tables hold it: microseconds since 1970.
func (c *Catalog) stamp() int64 { return c.now().UnixMicro() }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is kept beside what a wrong answer would come from. SQLite checks the
// structure of its pages, not their content.
func sum(spec, head string) int64 {
	return int64(crc32.Checksum([]byte(spec+"\x00"+head), castagnoli))
}

// columns are what scan reads, of stores as s and names as n.
const columns = `s.id, s.spec, s.created, s.generation, s.head, s.sum, s.last_error,
	coalesce(n.name, ''), coalesce(n.description, ''), coalesce(n.tags, '[]')`

// unnamed replaces n where no name matters.
const unnamed = `(SELECT NULL AS name, NULL AS description, NULL AS tags) AS n`

type row interface{ Scan(dest ...any) error }

// scan reads columns, then more. Of a damaged row it returns id and name beside the error.
func scan(r row, more ...any) (kb.Store, error) {
	var (
		st         kb.Store
		spec, tags string
		head       sql.NullString
		created    int64
		generation int64
		check      int64
	)
	dest := []any{&st.ID, &spec, &created, &generation, &head, &check, &st.LastError, &st.Name, &st.Description, &tags}
	if err := r.Scan(append(dest, more...)...); err != nil {
		return st, err
	}
	st.Created = time.UnixMicro(created).UTC()
	p, ok := memo.get(st.ID, spec, head)
	if !ok && p.check == check && json.Unmarshal([]byte(spec), &p.spec) == nil && p.spec.ID() == st.ID {
		p.head = kb.Head{}
		if ok = !head.Valid || json.Unmarshal([]byte(head.String), &p.head) == nil; ok {
			memo.put(st.ID, p)
		}
	}
	if st.Spec = p.spec; head.Valid {
		st.Head = &p.head
		ok = ok && p.head.Generation == generation
	}
	if !ok || p.check != check {
		return kb.Store{ID: st.ID, Name: st.Name}, kb.Errorf(kb.Corrupt, "what the catalog says of store %s is damaged", st.ID).
			WithHint("create the store again from the same source, or delete it")
	}
	if err := json.Unmarshal([]byte(tags), &st.Tags); err != nil {
		st.Tags = nil // decoration
	}
	return st, nil
}

// get returns a store by its full id, without a name.
func get(ctx context.Context, q db.Querier, id kb.StoreID) (kb.Store, error) {
	st, err := scan(q.QueryRowContext(ctx, "SELECT "+columns+" FROM stores s, "+unnamed+" WHERE s.id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return st, noStore(id)
	}
	return st, err
}

func noStore(id kb.StoreID) error {
	return kb.Errorf(kb.NotFound, "no store has the id %q", id).WithHint("list them with: stores")
}

// put makes the store of a spec unless it exists. A row that is damaged is
// made anew, without a head: indexing finds the segments that exist.
func (c *Catalog) put(ctx context.Context, tx *sql.Tx, spec kb.Spec) (st kb.Store, created bool, err error) {
	if spec.Ref.Type == kb.RefDefault {
		spec.Ref = kb.Ref{}
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return kb.Store{}, false, kb.Errorf(kb.Internal, "encode a store: %w", err)
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO stores (id, spec, created, sum) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		spec.ID(), string(b), c.stamp(), sum(string(b), ""))
	if err != nil {
		return kb.Store{}, false, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return kb.Store{}, false, err
	}
	st, err = get(ctx, tx, spec.ID())
	if kb.CodeOf(err) != kb.Corrupt {
		return st, n > 0, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE stores SET spec = ?, sum = ?, generation = 0, head = NULL WHERE id = ?",
		string(b), sum(string(b), ""), spec.ID())
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM store_segments WHERE store = ?", spec.ID())
	}
	if err != nil {
		return kb.Store{}, false, err
	}
	st, err = get(ctx, tx, spec.ID())
	return st, true, err
}

// Put makes the store of a spec, or returns the one that exists.
func (c *Catalog) Put(ctx context.Context, spec kb.Spec) (st kb.Store, err error) {
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		st, _, err = c.put(ctx, tx, spec)
		return err
	})
	return st, err
}

// Get returns the store by its full id; Name is "".
func (c *Catalog) Get(ctx context.Context, id kb.StoreID) (st kb.Store, err error) {
	if c.view == nil {
		err = c.db.One(ctx, func(ctx context.Context, q db.Querier) error {
			st, err = get(ctx, q, id)
			return err
		})
		return st, err
	}
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		if ok, err := c.view.shows(ctx, tx, id); !ok || err != nil {
			return cmp.Or(err, noStore(id))
		}
		st, err = get(ctx, tx, id)
		return err
	})
	return st, err
}

// List returns what the project and the user name, by name; a store that both
// name is listed once, as the project's. Own folders are not listed.
func (c *Catalog) List(ctx context.Context, projectID string) ([]Entry, error) {
	if c.view != nil {
		projectID = c.view.Project
	}
	seen := map[kb.StoreID]bool{}
	entries, err := c.entries(ctx, "SELECT "+columns+`, n.project, CASE n.project WHEN '' THEN 'user' ELSE 'project' END
		FROM names n JOIN stores s ON s.id = n.store
		WHERE n.project IN (?, '') ORDER BY n.project = '', n.name`, projectID)
	var out []Entry
	for _, scope := range []Scope{ScopeProject, ScopeUser} {
		for _, e := range entries {
			// A store that one scope names twice is listed under both names.
			if e.Scope == scope && (scope == ScopeProject || !seen[e.ID]) {
				out = append(out, e)
			}
		}
		for _, e := range out {
			seen[e.ID] = true
		}
	}
	return out, err
}

// All returns every store once, own folders and unheld ones included, named
// ones first. A store that several hold is listed through one of them.
func (c *Catalog) All(ctx context.Context) ([]Entry, error) {
	if c.view != nil {
		entries, err := c.List(ctx, c.view.Project)
		kb.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
		return once(entries), err
	}
	entries, err := c.entries(ctx, "SELECT "+columns+`,
			coalesce(n.project, o.project, ''),
			CASE WHEN n.project = '' THEN 'user' WHEN n.project IS NOT NULL THEN 'project' WHEN o.root IS NOT NULL THEN 'own' ELSE '' END
		FROM stores s LEFT JOIN names n ON n.store = s.id LEFT JOIN own o ON o.store = s.id
		ORDER BY n.name IS NULL, n.name, n.project, s.id`)
	return once(entries), err
}

// once keeps the first entry of each store.
func once(entries []Entry) (out []Entry) {
	seen := map[kb.StoreID]bool{}
	for _, e := range entries {
		if !seen[e.ID] {
			seen[e.ID] = true
			out = append(out, e)
		}
	}
	return out
}

// Look returns every store of the database at path, which is left as it is.
func Look(ctx context.Context, path string) ([]Entry, error) {
	d, err := db.Look(ctx, path)
	if err != nil {
		return nil, err
	}
	all, err := New(d, nil).All(ctx)
	return all, errors.Join(err, d.Close())
}

// Damaged returns the names, or ids, of the stores that lists leave out
// because their rows are damaged.
func (c *Catalog) Damaged(ctx context.Context) (names []string, err error) {
	found, err := db.List(ctx, c.db, func(r *sql.Rows) (label []string, err error) {
		var project string
		st, err := scan(r, &project)
		if kb.CodeOf(err) == kb.Corrupt {
			if err = nil; c.view == nil || st.Name != "" && c.view.names(project, st.Name) {
				label = []string{st.Label()}
			}
		}
		return label, err
	}, "SELECT "+columns+", coalesce(n.project, '') FROM stores s LEFT JOIN names n ON n.store = s.id ORDER BY n.name")
	names = slices.Concat(found...)
	if err == nil && c.view == nil {
		// Deleting a store takes its names along, so one without a store is damage.
		var lost []string
		lost, err = db.Values[string](ctx, c.db, "SELECT name FROM names WHERE store NOT IN (SELECT id FROM stores) ORDER BY name")
		names = append(names, lost...)
	}
	for i, n := range names {
		names[i] = cmp.Or(n, "without a name")
	}
	return names, err
}

// entries reads columns, project and scope. Stores that are damaged are left
// out while others are there to be served; if none is left, the error says so.
func (c *Catalog) entries(ctx context.Context, query string, args ...any) (out []Entry, err error) {
	var damaged error
	out, err = db.List(ctx, c.db, func(r *sql.Rows) (e Entry, err error) {
		e.Store, err = scan(r, &e.Project, &e.Scope)
		if kb.CodeOf(err) == kb.Corrupt {
			if c.view.names(e.Project, e.Name) {
				damaged = err
			}
			e.ID, err = "", nil
		}
		return e, err
	}, query, args...)
	out = slices.DeleteFunc(out, func(e Entry) bool { return e.ID == "" || !c.view.names(e.Project, e.Name) })
	if err == nil && len(out) == 0 {
		err = damaged
	}
	return out, err
}

// Delete deletes the store and all its names: names, head and segment
// references go. Its files go with the next Garbage.
func (c *Catalog) Delete(ctx context.Context, id kb.StoreID) error {
	if err := c.view.writes(""); err != nil {
		return err
	}
	n, err := c.db.Exec(ctx, "DELETE FROM stores WHERE id = ?", id) // the rest cascades
	if err == nil && n == 0 {
		return noStore(id)
	}
	return err
}

// Drop deletes the store if it has no holder. A store that does not exist is
// not removed, without an error.
func (c *Catalog) Drop(ctx context.Context, id kb.StoreID) (removed bool, err error) {
	n, err := c.db.Exec(ctx, `DELETE FROM stores WHERE id = ?1
		AND NOT EXISTS (SELECT 1 FROM names WHERE store = ?1)
		AND NOT EXISTS (SELECT 1 FROM own WHERE store = ?1)`, id)
	return n > 0, err
}

// Trust records that a person vouches for the file at path with that hash.
func (c *Catalog) Trust(ctx context.Context, path, hash string) error {
	_, err := c.db.Exec(ctx, "INSERT OR REPLACE INTO trust (path, hash, created) VALUES (?, ?, ?)", path, hash, c.stamp())
	return err
}

// Distrust forgets that a person vouched for what is at path; it reports
// whether one had.
func (c *Catalog) Distrust(ctx context.Context, path string) (there bool, err error) {
	n, err := c.db.Exec(ctx, "DELETE FROM trust WHERE path = ?", path)
	return n > 0, err
}

// Vouched returns the hash with which a person vouched for what is at path, ""
// for none.
func (c *Catalog) Vouched(ctx context.Context, path string) (string, error) {
	return db.Value[string](ctx, c.db, "SELECT coalesce(max(hash), '') FROM trust WHERE path = ?", path)
}

// Trusted reports whether a person vouched for the file at path with that hash.
func (c *Catalog) Trusted(ctx context.Context, path, hash string) (ok bool, err error) {
	if hash == "" || c.view != nil {
		return false, nil
	}
	return db.Value[bool](ctx, c.db, "SELECT EXISTS (SELECT 1 FROM trust WHERE path = ? AND hash = ?)", path, hash)
}
