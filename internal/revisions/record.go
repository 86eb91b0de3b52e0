package revisions

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	folder    = "revisions"
	recordExt = ".json"
	// mostKept is how many generations are kept, of all repositories together: each
	// has a manifest of some hundred KB and a segment of what only it has.
	mostKept = 16
	keptFor  = 14 * 24 * time.Hour
	// userPrefix is before the id of one in what the catalog notes of who uses files.
	userPrefix = "revision-"
)

// record is what is kept of one generation.
type record struct {
	Store  kb.Store `json:"store"`             // with its head
	Common string   `json:"common"`            // the directory of its repository
	When   int64    `json:"when"`              // of the commit, in seconds
	Lacks  []string `json:"leftOut,omitempty"` // what could not be read, and why
	// Damaged says that what was shared by it is not to be trusted: it has no head
	// then, and is made anew of git alone.
	Damaged bool `json:"damaged,omitempty"`
	used    time.Time
}

func recordPath(c *app.Core, id kb.StoreID) string {
	return filepath.Join(c.Dir, folder, string(id)+recordExt)
}

// load reads a record; ok is false for one that is not there, or is damaged.
func load(path string) (r record, ok bool) {
	r, ok = read(path)
	return r, ok && !r.Damaged && r.Store.Head != nil
}

func read(path string) (r record, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return r, false
	}
	b, err := atomicfile.ReadFile(path)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return r, false
	}
	r.used = info.ModTime()
	id := r.Store.ID
	return r, id == r.Store.Spec.ID() && string(id)+recordExt == filepath.Base(path)
}

// write keeps a record.
func (r *record) write(c *app.Core) error {
	b, err := json.Marshal(r)
	if err != nil {
		return kb.Errorf(kb.Internal, "encode what is kept of a revision: %w", err)
	}
	if err := atomicfile.MkdirAll(filepath.Join(c.Dir, folder)); err != nil {
		return err
	}
	return atomicfile.Write(recordPath(c, r.Store.ID), b)
}

// touch notes that it was asked for.
func (r *record) touch(c *app.Core) {
	if now := time.Now(); now.Sub(r.used) > time.Minute {
		_ = os.Chtimes(recordPath(c, r.Store.ID), now, now) // where that cannot be noted it goes sooner
	}
}

// over reports whether it need not be kept any more.
func (r *record) over() bool {
	if _, err := os.Stat(r.Common); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return time.Since(r.used) > keptFor
}

// records returns what is kept, the one that was used last first.
func records(c *app.Core) (out []record) {
	entries, _ := os.ReadDir(filepath.Join(c.Dir, folder)) // there may be none
	for _, e := range entries {
		if r, ok := load(filepath.Join(c.Dir, folder, e.Name())); ok {
			out = append(out, r)
		}
	}
	kb.SortFunc(out, func(a, b record) int {
		if n := b.used.Compare(a.used); n != 0 {
			return n
		}
		return strings.Compare(string(a.Store.ID), string(b.Store.ID))
	})
	return out
}

// ids implements app.Revisions.
func ids(c *app.Core) (out []kb.StoreID) {
	entries, _ := os.ReadDir(filepath.Join(c.Dir, folder)) // there may be none
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), recordExt); ok {
			out = append(out, kb.StoreID(id))
		}
	}
	return out
}

// uses reports whether what the catalog notes as used under that id is kept here.
func uses(c *app.Core, user string) bool {
	id, ok := strings.CutPrefix(user, userPrefix)
	if !ok || strings.ContainsAny(id, `/\.`) {
		return false
	}
	r, ok := load(recordPath(c, kb.StoreID(id)))
	return ok && !r.over()
}

// distrust implements app.Revisions.
func distrust(ctx context.Context, c *app.Core, id kb.StoreID) error {
	r, ok := read(recordPath(c, id))
	if err := drop(ctx, c, id); err != nil || !ok {
		return err
	}
	r.Damaged, r.Store.Head, r.Lacks = true, nil, nil
	return r.write(c)
}

// drop forgets what is kept of one.
func drop(ctx context.Context, c *app.Core, id kb.StoreID) error {
	err := os.Remove(recordPath(c, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kb.Errorf(kb.Denied, "forget what is kept of a revision: %w", err).WithHint("check the rights of the data directory")
	}
	c.Library.Forget(id)
	return c.Catalog.ReleaseUses(ctx, userPrefix+string(id))
}

// bound drops what is more than mostKept.
func bound(ctx context.Context, c *app.Core) (err error) {
	for i, r := range records(c) {
		if i >= mostKept {
			err = errors.Join(err, drop(ctx, c, r.Store.ID))
		}
	}
	return err
}

// recordFiles are the records. One is over that nobody asks for any more, or that is damaged;
// its segments go with the next sweep.
var recordFiles = app.Kept{Folder: folder, Ext: recordExt, Files: "revisions", What: "a searched revision that nobody has asked for lately",
	Over: func(path string) bool {
		r, ok := read(path)
		return !ok || r.over()
	}}

// sweep deletes what is over, and what killed processes left.
func sweep(ctx context.Context, c *app.Core) error {
	if _, err := atomicfile.CleanTemp(filepath.Join(c.Dir, folder), app.TempAge); err != nil {
		return err
	}
	return recordFiles.Remove(ctx, c)
}
