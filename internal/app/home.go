package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Home is what there is in the folder of the caller.
type Home struct {
	Root   string         // the own folder: what a search here looks through; "" when there is none
	Own    *StoreRow      // its index; nil when it has none yet
	Job    *kb.Job        // that works on it, or is to
	Why    string         // nothing in the folder can be indexed, for one that is not
	Left   map[string]int // of the own folder, what was left out of the index, by cause
	Stores []StoreRow     // the other stores in scope
}

// Home returns the state of this folder. It looks and starts nothing: an
// interrupted job stays interrupted, and a data directory that does not exist
// is not made.
func (a *App) Home(ctx context.Context) (h Home, err error) {
	p, err := a.Where()
	if err != nil {
		return h, err
	}
	h.Root = p.Root
	defer func() {
		if err == nil && h.Own == nil && h.Root != "" {
			h.Why = whyBarren(ctx, p.Root)
		}
	}()
	if there, err := a.hasData(); err != nil || !there {
		return h, err
	}
	c, err := a.Open(ctx)
	if err != nil {
		return h, err
	}
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return h, err
	}
	for _, e := range entries {
		row, j, err := c.row(ctx, e.Store, e.Scope)
		if err != nil {
			return h, err
		}
		if e.Scope != catalog.ScopeOwn && (e.Spec.Source != p.Root || source.TraitsOf(e.Spec.Kind).Refs) {
			h.Stores = append(h.Stores, row)
			continue
		}
		h.Own, h.Job = &row, j
		if e.Head != nil {
			h.Left = e.Head.Skipped
		}
	}
	return h, nil
}

// glanceAt bounds how long Home looks through a folder that is not indexed.
const glanceAt = 200 * time.Millisecond

// whyBarren says why nothing in a folder can be indexed; "" when something
// can, or there is too much to see at a glance.
func whyBarren(ctx context.Context, root string) string {
	ctx, cancel := context.WithTimeout(ctx, glanceAt)
	defer cancel()
	size, err := measure(ctx, kb.Spec{Kind: kb.KindFolder, Source: root}, "")
	if err != nil || size.Files > 0 {
		return ""
	}
	return size.Why
}

// hasData reports whether anything was kept in the data directory yet.
func (a *App) hasData() (bool, error) {
	dir, err := a.DataDir()
	if err != nil {
		return false, err
	}
	_, err = os.Stat(filepath.Join(dir, "knowledge.db"))
	return err == nil, nil
}
