package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Head returns the live head of a store, nil before the first generation.
func (c *Catalog) Head(ctx context.Context, id kb.StoreID) (*kb.Head, error) {
	st, err := c.Get(ctx, id)
	return st.Head, err
}

// Publish makes head the live one, in one durable transaction, if the live
// generation is still expectGeneration (0: none yet): kb.Busy otherwise,
// kb.NotFound when the store was deleted meanwhile. head.Generation must be
// expectGeneration+1. It clears the store's last error. The files that head
// names must be durable before; the references of the previous generation go
// with it. Uses of the job that publishes stay until it releases them.
func (c *Catalog) Publish(ctx context.Context, id kb.StoreID, expectGeneration int64, head kb.Head) error {
	if head.Generation != expectGeneration+1 || head.Manifest == "" {
		return cannotFollow(head, expectGeneration)
	}
	return c.db.Write(ctx, func(tx *sql.Tx) error {
		var spec string
		var live int64
		err := tx.QueryRowContext(ctx, "SELECT spec, generation FROM stores WHERE id = ?", id).Scan(&spec, &live)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return kb.Errorf(kb.NotFound, "store %s was deleted meanwhile", id).
				WithHint("create it again if it is still wanted")
		case err != nil:
			return err
		case live != expectGeneration:
			return kb.Errorf(kb.Busy, "another process has published generation %d of store %s meanwhile", live, id).
				WithHint("index the store again")
		}
		return setHead(ctx, tx, id, spec, head)
	})
}

// Heads returns the live heads of stores in one look, which takes a tenth of the
// time that a look at each takes. A store without one, or whose row is damaged or
// gone, is left out: Head says which.
func (c *Catalog) Heads(ctx context.Context, ids []kb.StoreID) (heads map[kb.StoreID]*kb.Head, err error) {
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		heads = make(map[kb.StoreID]*kb.Head, len(ids))
		if c.view != nil {
			shown, err := c.view.shown(ctx, tx, ids)
			if err != nil {
				return err
			}
			ids = slices.DeleteFunc(slices.Clone(ids), func(id kb.StoreID) bool { return !shown[id] })
		}
		for some := range slices.Chunk(ids, 500) {
			args := make([]any, len(some))
			for i, id := range some {
				args[i] = id
			}
			_, err := db.Rows(ctx, tx, func(r *sql.Rows) (none struct{}, err error) {
				st, err := scan(r)
				if err == nil && st.Head != nil {
					heads[st.ID] = st.Head
				}
				if kb.CodeOf(err) == kb.Corrupt {
					err = nil
				}
				return none, err
			}, "SELECT "+columns+" FROM stores s, "+unnamed+" WHERE s.id IN (?"+strings.Repeat(", ?", len(some)-1)+")", args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return heads, err
}

func cannotFollow(head kb.Head, expect int64) error {
	return kb.Errorf(kb.Internal, "generation %d with manifest %q cannot follow generation %d",
		head.Generation, head.Manifest, expect)
}

// setHead makes head the live one of a store, whatever was before.
func setHead(ctx context.Context, tx *sql.Tx, id kb.StoreID, spec string, head kb.Head) error {
	b, err := json.Marshal(head)
	if err != nil {
		return kb.Errorf(kb.Internal, "encode a head: %w", err)
	}
	names, err := array(Files(head))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE stores SET generation = ?, head = ?, sum = ?, last_error = '' WHERE id = ?",
		head.Generation, string(b), sum(spec, string(b)), id)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx,
		"DELETE FROM store_segments WHERE store = ? AND segment NOT IN (SELECT value FROM json_each(?))", id, names)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO store_segments (store, segment) SELECT ?, value FROM json_each(?)", id, names)
	return err
}

// Walked notes in the live head that a run which began to look at the source at that
// time has found nothing else there. A head of another generation stays as it is.
func (c *Catalog) Walked(ctx context.Context, id kb.StoreID, generation int64, at time.Time) error {
	return c.db.WriteSoon(ctx, func(tx *sql.Tx) error {
		var spec, text string
		err := tx.QueryRowContext(ctx, "SELECT spec, head FROM stores WHERE id = ? AND generation = ?", id, generation).Scan(&spec, &text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		var head kb.Head
		if err == nil {
			err = json.Unmarshal([]byte(text), &head)
		}
		if err != nil {
			return err
		}
		head.Walked = at
		b, err := json.Marshal(head)
		if err != nil {
			return kb.Errorf(kb.Internal, "encode a head: %w", err)
		}
		_, err = tx.ExecContext(ctx, "UPDATE stores SET head = ?, sum = ? WHERE id = ?", string(b), sum(spec, string(b)), id)
		return err
	})
}

// Files returns the names of the files that a head needs, as UseSegments takes them.
func Files(head kb.Head) []string {
	files := append([]string{head.Manifest}, head.Segments...)
	if head.Layout != "" {
		files = append(files, head.Layout)
	}
	if head.Base != "" {
		files = append(files, head.Base)
	}
	return files
}

// Adopt makes, names and publishes a store in one durable transaction: one
// that was indexed elsewhere. expectGeneration is that of the store's head
// now, 0 when there is no such store; head.Generation must be greater. Errors
// are those of Add and Publish.
func (c *Catalog) Adopt(ctx context.Context, projectID, name string, spec kb.Spec, description string, tags []string,
	expectGeneration int64, head kb.Head) (st kb.Store, err error) {
	if err := CheckName(name); err != nil {
		return st, err
	}
	if head.Generation <= expectGeneration || head.Manifest == "" {
		return st, cannotFollow(head, expectGeneration)
	}
	err = c.db.Write(ctx, func(tx *sql.Tx) error {
		old, _, err := c.put(ctx, tx, spec)
		if err != nil {
			return err
		}
		live := int64(0)
		if old.Head != nil {
			live = old.Head.Generation
		}
		if live != expectGeneration {
			return kb.Errorf(kb.Busy, "another process has published generation %d of store %s meanwhile", live, old.ID).
				WithHint("try again")
		}
		var text string
		if err := tx.QueryRowContext(ctx, "SELECT spec FROM stores WHERE id = ?", old.ID).Scan(&text); err != nil {
			return err
		}
		if err := setHead(ctx, tx, old.ID, text, head); err != nil {
			return err
		}
		st, err = c.attach(ctx, tx, projectID, name, old.ID, description, tags)
		return err
	})
	return st, err
}

// Unreferenced returns which of a head's files the catalog would let go.
func (c *Catalog) Unreferenced(ctx context.Context, id kb.StoreID, head kb.Head) (names []string, err error) {
	list, err := array(Files(head))
	if err != nil {
		return nil, err
	}
	return db.Values[string](ctx, c.db,
		"SELECT value FROM json_each(?) WHERE value NOT IN (SELECT segment FROM store_segments WHERE store = ?)", list, id)
}

// Rehead writes a head again as Publish does, with the next number: the
// catalog's list of its files is true afterwards.
func (c *Catalog) Rehead(ctx context.Context, id kb.StoreID, head kb.Head) error {
	expect := head.Generation
	head.Generation++
	return c.Publish(ctx, id, expect, head)
}

func array(names []string) (string, error) {
	if names == nil {
		names = []string{} // json_each makes a row of null
	}
	b, err := json.Marshal(names)
	if err != nil {
		return "", kb.Errorf(kb.Internal, "encode names: %w", err)
	}
	return string(b), nil
}

// SetError records why the last run failed; "" clears it. The live generation
// stays. A store that was deleted meanwhile has no error.
func (c *Catalog) SetError(ctx context.Context, id kb.StoreID, msg string) error {
	_, err := c.db.Exec(ctx, "UPDATE stores SET last_error = ? WHERE id = ?", msg, id)
	return err
}

// UseSegments keeps segments (and manifests) from being deleted until
// ReleaseUses(job). Call it before a file of that name is looked for or made
// visible: a file found after UseSegments stays.
func (c *Catalog) UseSegments(ctx context.Context, job string, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	list, err := array(names)
	if err != nil {
		return err
	}
	// Not synced: a use means nothing after a power cut, which ends the job and
	// any Garbage alike; before the next Garbage the job is resumed or released.
	_, err = c.db.ExecSoon(ctx, "INSERT OR IGNORE INTO segment_uses (job, segment, created) SELECT ?, value, ? FROM json_each(?)",
		job, c.stamp(), list)
	return err
}

// ReleaseUses gives up all uses of a job.
func (c *Catalog) ReleaseUses(ctx context.Context, job string) error {
	_, err := c.db.ExecSoon(ctx, "DELETE FROM segment_uses WHERE job = ?", job)
	return err
}

// Used returns how many files a job uses.
func (c *Catalog) Used(ctx context.Context, job string) (int, error) {
	return db.Value[int](ctx, c.db, "SELECT count(*) FROM segment_uses WHERE job = ?", job)
}

// Users returns the jobs that use segments. Release those that have ended: a
// job that was killed did not.
func (c *Catalog) Users(ctx context.Context) ([]string, error) {
	return db.Values[string](ctx, c.db, "SELECT DISTINCT job FROM segment_uses ORDER BY job")
}

// File is one segment or manifest as found on disk, by the name that kb.Head knows it by.
type File struct {
	Name    string
	ModTime time.Time
}

// batch bounds how many files go while the write lock is held: some 10 ms.
const batch = 128

// Garbage calls remove for each file that no head and no use names and that
// is older than grace, while holding the database's write lock, so that no
// process begins to rely on a file while it goes. remove deletes the file and its
// siblings (vectors); names whose removal fails are left for the next time,
// and the first such error is returned after the others were tried. A file
// dated in the future is young: a clock that was set back deletes nothing.
func (c *Catalog) Garbage(ctx context.Context, files []File, grace time.Duration, remove func(name string) error) (
	removed int, err error,
) {
	limit := c.now().Add(-grace)
	var old []string
	for _, f := range files {
		if !f.ModTime.After(limit) {
			old = append(old, f.Name)
		}
	}
	// Most files are needed. Finding that out takes no lock; what is left is
	// asked again under it.
	var suspects []string
	err = c.db.Read(ctx, func(tx *sql.Tx) error {
		suspects, err = unneeded(ctx, tx, old)
		return err
	})
	if err != nil {
		return 0, err
	}
	var failed error
	for len(suspects) > 0 {
		n := min(batch, len(suspects))
		done := map[string]bool{} // the transaction may be tried again
		err := c.db.WriteSoon(ctx, func(tx *sql.Tx) error {
			names, err := unneeded(ctx, tx, suspects[:n])
			if err != nil {
				return err
			}
			for _, name := range names {
				if done[name] {
					continue
				}
				if err := remove(name); err != nil {
					failed = cmp.Or(failed, err)
					continue
				}
				done[name] = true
			}
			return nil
		})
		removed += len(done)
		if err != nil {
			return removed, err
		}
		suspects = suspects[n:]
	}
	return removed, failed
}

// unneeded returns those of names that no head and no use needs.
func unneeded(ctx context.Context, tx *sql.Tx, names []string) ([]string, error) {
	list, err := array(names)
	if err != nil {
		return nil, err
	}
	return db.Column[string](ctx, tx, `SELECT value FROM json_each(?) WHERE value NOT IN (SELECT segment FROM store_segments)
		AND value NOT IN (SELECT segment FROM segment_uses)`, list)
}
