package shared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/cluster"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// writerFile lies in the data directory of a machine that has put something on the cluster.
// Others leave the cluster's garbage alone: their key may be one that only reads.
const writerFile = "writer"

func writerPath(c *app.Core) string { return filepath.Join(c.Dir, cluster.Folder, writerFile) }

// writes notes that this machine puts something on the cluster.
func writes(c *app.Core) error {
	if _, err := os.Stat(writerPath(c)); err == nil {
		return nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(writerPath(c))); err != nil {
		return err
	}
	return atomicfile.Write(writerPath(c), nil)
}

// remove implements app.Sharing.Remove.
func remove(ctx context.Context, c *app.Core, id kb.StoreID) error {
	x, err := indexesOf(c)
	if err != nil {
		return err
	}
	if err := writes(c); err != nil { // who deletes cleans up
		return err
	}
	return x.Remove(ctx, id)
}

// removed says that a store was deleted from the cluster, "" when it was not. Who has nothing
// but tables of it can do no more with it where now is set.
func removed(ctx context.Context, x *cluster.Indexes, st kb.Store, now bool) (string, error) {
	gone, err := x.Deleted(ctx, st.ID)
	if err != nil || !gone {
		return "", err
	}
	if !st.Head.Afar() {
		return fmt.Sprintf("store %s was deleted from the cluster; this machine has it whole", st.Label()), nil
	}
	note := fmt.Sprintf("store %s was deleted from the cluster, and answers for an hour at most", st.Label())
	if now {
		return "", kb.Errorf(kb.NotFound, "%s", note).WithHint("delete it here: store:delete %s", app.Args{"store": string(st.ID)})
	}
	return note, nil
}

// collect implements app.Sharing.Collect.
func collect(ctx context.Context, c *app.Core, dry bool) ([]kb.Deleted, string, error) {
	if _, err := os.Stat(writerPath(c)); err != nil {
		return nil, "", nil
	}
	x, err := indexesOf(c)
	if err != nil {
		return nil, "", err
	}
	got, err := x.Collect(ctx, dry, 0)
	var notes []string
	if got.Documents+got.Chunks > 0 {
		notes = append(notes, fmt.Sprintf("with them go %s and %s from the cluster", kb.Count(int(got.Documents), "document"), kb.Count(int(got.Chunks), "chunk")))
	}
	if got.Waiting > 0 {
		notes = append(notes, fmt.Sprintf("%s more on the cluster may go, the first at %s: readers elsewhere have an hour to finish",
			kb.Count(got.Waiting, "file"), got.Next.UTC().Format("15:04 UTC")))
	}
	return got.Files, strings.Join(notes, "; "), err
}

// tables implements app.Room.Leftovers: tables of generations that are not those of
// any store here.
func tables(ctx context.Context, c *app.Core) (what string, paths []string, err error) {
	const why = "tables of a shared store as it was"
	folder := filepath.Join(c.Dir, cluster.Folder)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return why, nil, nil
	}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return why, nil, err
	}
	var live []string
	for _, e := range all {
		if e.Head.Afar() {
			live = append(live, e.Head.Manifest)
		}
	}
	paths, err = cluster.Unneeded(c.Dir, c.Pool, live, time.Now().Add(-app.TempAge))
	return why, paths, err
}
