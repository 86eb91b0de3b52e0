package transfer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Folder is where, in the data directory, a transfer keeps what is not
// complete, in a folder of its own that is deleted at its end.
const Folder = "transfer"

// Place is the data directory that a transfer reads or writes.
type Place struct {
	Dir     string
	Catalog *catalog.Catalog
	Indexer *ingest.Indexer
	Pool    *index.Pool // whose files are read and written: the indexes of this machine
	Opener  *source.Opener
	Program string // version of the program
}

const prefix = "transfer-" // begins the name under which a transfer uses files

// lockPath is the lock that a transfer holds as long as it runs: what it left
// when it is free may be deleted.
func lockPath(dir, id string) string { return filepath.Join(dir, "jobs", id+".lock") }

// Alive reports whether a user of files, see catalog.Users, is a transfer that
// is running now.
func Alive(dir, user string) bool {
	if !strings.HasPrefix(user, prefix) {
		return false
	}
	_, held := lockfile.Held(lockPath(dir, user))
	return held
}

// Leftovers returns the folders of transfers that died.
func Leftovers(dir string) []string {
	entries, _ := os.ReadDir(filepath.Join(dir, Folder)) // none without it
	var out []string
	for _, e := range entries {
		if !Alive(dir, e.Name()) {
			out = append(out, filepath.Join(dir, Folder, e.Name()))
		}
	}
	return out
}

// run is a transfer under way.
type run struct {
	Place
	id   string
	dir  string // its folder
	lock *lockfile.Lock
	keep bool // its folder stays, for the next try
}

// begin begins a transfer. One that goes on where another left off has a key that both
// have and no third: 12 characters of a-z and 2-7; "" is for one that does not.
func (p Place) begin(key string) (*run, error) {
	r := &run{Place: p, id: prefix + cmp.Or(key, strings.ToLower(rand.Text()[:12]))}
	var err error
	if r.lock, err = lockfile.TryLock(lockPath(p.Dir, r.id)); err != nil {
		return nil, err
	}
	r.dir = filepath.Join(p.Dir, Folder, r.id)
	if err := atomicfile.MkdirAll(filepath.Join(r.dir, "segments")); err != nil {
		return nil, errors.Join(err, r.lock.Remove())
	}
	return r, nil
}

// end releases what the transfer held. What cannot be deleted now, as an open file
// on Windows, goes with the next gc.
func (r *run) end(ctx context.Context) error {
	if !r.keep {
		_ = os.RemoveAll(r.dir)
	}
	_ = os.Remove(filepath.Dir(r.dir)) // if no other transfer uses it
	return errors.Join(r.Catalog.ReleaseUses(context.WithoutCancel(ctx), r.id), r.lock.Remove())
}

func (r *run) path(x Member) string {
	switch {
	case x.Name == generationName:
		return filepath.Join(r.dir, generationName)
	case strings.HasPrefix(x.Name, pagesDir):
		return filepath.Join(r.dir, "pages", x.base())
	}
	return filepath.Join(r.dir, "segments", x.base())
}

// gathered reports whether stores of a kind have a log of pages.
func gathered(k kb.Kind) bool { return source.TraitsOf(k).Gathered }
