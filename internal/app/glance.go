package app

import (
	"context"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

// Glance is what there is to search here, seen without opening an index.
type Glance struct {
	Root   string        // the project's folder
	Own    *GlanceStore  // of that folder; nil unless it is indexed or about to be
	Stores []GlanceStore // the project's and the user's others, by name
}

// GlanceStore is a store of a Glance.
type GlanceStore struct {
	kb.Store
	Busy bool // a job that has not ended is about it
}

// Glance reads the catalog as it is: it makes, changes and migrates
// nothing, takes no lock and starts no job. kb.NotFound before the first
// store was made on this machine.
func (a *App) Glance(ctx context.Context) (Glance, error) {
	var g Glance
	dir, err := a.DataDir()
	if err != nil {
		return g, err
	}
	p, err := a.Where()
	if err != nil {
		return g, err
	}
	g.Root = p.Root
	d, err := db.Look(ctx, filepath.Join(dir, "knowledge.db"))
	if err != nil {
		return g, err
	}
	defer d.Close()
	c := catalog.New(d, nil)
	entries, err := c.List(ctx, p.ID)
	if err != nil {
		return g, err
	}
	busy, err := job.Waiting(ctx, d)
	if err != nil {
		return g, err
	}
	own := kb.Spec{Kind: kb.KindFolder, Source: p.Root}.ID()
	for _, e := range entries {
		st := GlanceStore{e.Store, busy[e.ID]}
		if e.ID == own {
			g.Own = &st
			continue
		}
		g.Stores = append(g.Stores, st)
	}
	if g.Own == nil {
		st, err := c.Own(ctx, p.Root)
		if err == nil {
			g.Own = &GlanceStore{st, busy[st.ID]}
		} else if kb.CodeOf(err) != kb.NotFound {
			return g, err
		}
	}
	return g, nil
}

// Settings returns the user's configuration as its file is now.
func (a *App) Settings() (config.Config, error) { return config.Load(a.Config.Env) }

// DataDir returns the directory that the App works in. It makes nothing.
func (a *App) DataDir() (string, error) {
	file, err := a.Settings()
	if err != nil {
		return "", err
	}
	return a.DataDirOf(file)
}
