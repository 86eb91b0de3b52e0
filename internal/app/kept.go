package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Kept are the files that a room keeps in a folder of its own of the data directory.
type Kept struct {
	Folder, Ext string
	Files       string                 // what they are, in the plural
	What        string                 // what one is that is needed no more
	Over        func(path string) bool // whether one is
}

// Leftovers is Room.Leftovers: the files that are needed no more.
func (k Kept) Leftovers(_ context.Context, c *Core) (what string, paths []string, err error) {
	dir := filepath.Join(c.Dir, k.Folder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return k.What, nil, nil
	}
	if err != nil {
		return k.What, nil, kb.Errorf(kb.Denied, "list the folder of %s: %w", k.Files, err).WithHint("check the rights of the data directory")
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() && filepath.Ext(path) == k.Ext && project.Ours(c.Dir, path) && k.Over(path) {
			paths = append(paths, path)
		}
	}
	return k.What, paths, nil
}

// Remove deletes what Leftovers lists.
func (k Kept) Remove(ctx context.Context, c *Core) error {
	_, gone, err := k.Leftovers(ctx, c)
	for _, path := range gone {
		_ = os.Remove(path) // where it is in use, the next sweep does it
	}
	return err
}
