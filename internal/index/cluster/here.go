package cluster

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
)

// Here reports whether the table of a segment lies in a data directory.
func Here(dir, segment string) bool {
	_, err := os.Stat(index.SegmentPath(filepath.Join(dir, Folder, "segments"), segment))
	return err == nil
}

// Unneeded returns the files of tables in a data directory that the generations with
// these manifests do not consist of, as far as they were written before a time: others may just
// be fetched. A generation that does not open needs all that is there.
func Unneeded(dir string, pool *index.Pool, manifests []string, before time.Time) (paths []string, err error) {
	thin := index.NewPool(filepath.Join(dir, Folder), "", pool.Engine)
	needed := map[string]bool{}
	for _, m := range manifests {
		if _, err := os.Stat(path(thin, m)); err != nil {
			continue // it was not fetched yet
		}
		g, err := thin.OpenGeneration(path(thin, m))
		if err != nil {
			return nil, nil
		}
		info, err := g.Info(context.Background())
		if err != nil {
			g.Release()
			return nil, err
		}
		needed[path(thin, m)], needed[path(thin, g.Layout()+index.LayoutExt)] = true, true
		if base := g.Base(); base != "" {
			needed[path(thin, base)] = true
		}
		g.Release()
		for _, s := range info.Segments {
			needed[path(thin, s+index.Ext)] = true
		}
	}
	for _, folder := range []string{thin.Dir, thin.Generations} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // nothing was fetched
		}
		for _, e := range entries {
			p := filepath.Join(folder, e.Name())
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && !needed[p] && info.ModTime().Before(before) {
				paths = append(paths, p)
			}
		}
	}
	return paths, nil
}
