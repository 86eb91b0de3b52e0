package code

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// viewShelf keeps a store's view open between questions, until its file is another.
type viewShelf struct {
	view *graph.View
	stat os.FileInfo
	// fits is the manifest that the view was found to be of.
	fits string
	refs int // readers, and one while it is the newest
}

// views are the open views of a process.
type views struct {
	mu       sync.Mutex
	open     map[kb.StoreID]*viewShelf
	named    map[kb.StoreID]named
	borrowed map[kb.StoreID]borrowed // from a cluster
}

// named is what a file STORE.now says, and which one that was.
type named struct {
	file os.FileInfo
	path string
}

// nowSettles is how old such a file has to be for its time to tell it from the next.
const nowSettles = 2 * time.Second

// pathOf is ViewOf, which reads the file only when it is another. v.mu is held.
func (v *views) pathOf(c *app.Core, id kb.StoreID) string {
	now := time.Now()
	file, err := os.Lstat(filepath.Join(c.Dir, "views", string(id)+nowExt))
	if err != nil {
		delete(v.named, id)
		return ""
	}
	if n, ok := v.named[id]; ok && os.SameFile(n.file, file) && n.file.ModTime().Equal(file.ModTime()) && n.file.Size() == file.Size() {
		return n.path
	}
	path := ViewOf(c, id)
	if v.named == nil {
		v.named = map[kb.StoreID]named{}
	}
	delete(v.named, id)
	if file.Mode().IsRegular() && now.Sub(file.ModTime()) > nowSettles {
		v.named[id] = named{file, path}
	}
	return path
}

// get returns the view of a store, nil without one, and what gives it back.
// damaged says that there should be one.
func (v *views) get(c *app.Core, id kb.StoreID) (view *graph.View, done func(), damaged bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	path := v.pathOf(c, id)
	stat, err := os.Stat(path)
	s := v.open[id]
	if s != nil && (err != nil || !os.SameFile(stat, s.stat) || stat.ModTime() != s.stat.ModTime()) {
		delete(v.open, id)
		v.drop(s)
		s = nil
	}
	if err != nil {
		return nil, func() {}, path != "" && errors.Is(err, fs.ErrNotExist)
	}
	if s == nil {
		view, err := graph.Open(path)
		if err == nil {
			// One that was copied from another store's place is none of this one's.
			if stamp, e := view.Stamp(); e != nil || stamp+viewExt != filepath.Base(path) {
				view.Close()
				err = kb.Errorf(kb.Corrupt, "the view %q is of other documents", path)
			}
		}
		if err != nil {
			if damaged = kb.CodeOf(err) == kb.Corrupt; damaged {
				_ = os.Remove(path) // the next link makes it anew
			}
			return nil, func() {}, damaged
		}
		s = &viewShelf{view: view, stat: stat, refs: 1}
		if v.open == nil {
			v.open = map[kb.StoreID]*viewShelf{}
		}
		v.open[id] = s
	}
	s.refs++
	var once sync.Once
	return s.view, func() {
		once.Do(func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.drop(s)
		})
	}, false
}

// lose gives up a store's view if its file is damaged, and deletes that: the
// next link makes it anew. Readers finish on it.
func (v *views) lose(c *app.Core, id kb.StoreID) bool {
	path := ViewOf(c, id)
	if err := whole(path); err == nil || kb.CodeOf(err) != kb.Corrupt {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.open[id]; s != nil {
		delete(v.open, id)
		v.drop(s)
	}
	_ = os.Remove(path)
	return true
}

// current reports whether a target's view is of the generation that it shows.
func (v *views) current(ctx context.Context, t *search.Target) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.open[t.Store.ID]
	if s == nil {
		return false
	}
	if s.fits == t.Store.Head.Manifest {
		return true
	}
	stamp, err := s.view.Stamp()
	if err != nil {
		return false
	}
	src, err := newLinkSource(ctx, t.Index)
	if err != nil || stamp != graph.StampOf(src.entries) {
		return false
	}
	s.fits = t.Store.Head.Manifest
	return true
}

// drop gives up one hold; v.mu is held.
func (v *views) drop(s *viewShelf) {
	if s.refs--; s.refs == 0 {
		s.view.Close()
	}
}

// Close gives up the views.
func (v *views) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, s := range v.open {
		delete(v.open, id)
		v.drop(s)
	}
	return nil
}
