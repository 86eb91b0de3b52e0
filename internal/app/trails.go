package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// A look at a folder that finds it as it was indexed leaves a trail, by which the
// next one is told sooner that nothing has changed, see source.Trail. Those of
// small folders are kept in memory. That of a large one is a file, which the first
// question of another process finds: looks/STORE.trail, a line that says of what it
// is, and the trail.

const (
	// mostTrails bounds the bytes of the trails in memory; a file has some 25.
	mostTrails = 4 << 20
	trailsDir  = "looks"
	trailExt   = ".trail"
)

func (c *Core) trailPath(id kb.StoreID) string {
	return filepath.Join(c.Dir, trailsDir, string(id)+trailExt)
}

// trailOf is the first line of a trail's file: what has to be the same for the trail
// to tell anything: the index, and the program with its rules.
func trailOf(c *Core, st kb.Store) string {
	program := ""
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			program = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%s %d %s\n", st.Head.Manifest, c.Settings.MaxFileBytes, program)
}

// keep keeps the trail of a look that found a folder as it was indexed; nil is none.
func (l *library) keep(st kb.Store, trail []byte) {
	large := st.Head.Documents > smallFolder
	if large && trail != nil {
		// What cannot be written costs the next process a longer look.
		_ = source.WriteTrail(l.core.trailPath(st.ID), trailOf(l.core, st), trail)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Seen == nil {
		l.Seen = map[kb.StoreID]looked{}
	}
	was := l.Seen[st.ID]
	l.trails -= len(was.trail)
	was.alike, was.trail = "", nil
	if !large && trail != nil && l.trails+len(trail) <= mostTrails {
		l.trails += len(trail)
		was.alike, was.trail = st.Head.Manifest, trail
	}
	l.Seen[st.ID] = was
}

// alike reports whether a folder and its index are as they were when a look found
// no difference between them.
func (l *library) alike(ctx context.Context, st kb.Store, s *source.Sights) bool {
	if st.Head.Documents > smallFolder {
		trail := source.ReadTrail(l.core.trailPath(st.ID), trailOf(l.core, st))
		return trail != nil && source.SameTrail(ctx, st.Spec.Source, trail, s, runtime.GOMAXPROCS(0)) && l.whole(ctx, st)
	}
	l.mu.Lock()
	was := l.Seen[st.ID]
	l.mu.Unlock()
	return was.trail != nil && was.alike == st.Head.Manifest && source.SameTrail(ctx, st.Spec.Source, was.trail, s, 1) && l.whole(ctx, st)
}

// whole reports whether the index of a store is open, or can be opened, and all of
// it is where it belongs. Who opens it for the same question does not look again.
func (l *library) whole(ctx context.Context, st kb.Store) bool {
	h, err := l.hold(ctx, st.ID, st.Head.Manifest)
	if err != nil {
		return false
	}
	defer h.Release()
	info, err := h.Info(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open[st.ID]; s != nil && s.manifest == st.Head.Manifest {
		s.stood = time.Now()
	}
	return err == nil && len(info.Bare) == 0
}

// UnneededTrails returns the trails of stores that are no more.
func (c *Core) UnneededTrails(ctx context.Context) ([]string, error) {
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range all {
		known[string(e.ID)] = true
	}
	k := Kept{Folder: trailsDir, Ext: trailExt, Files: "looks", Over: func(path string) bool {
		return !known[strings.TrimSuffix(filepath.Base(path), trailExt)]
	}}
	_, paths, err := k.Leftovers(ctx, c)
	return paths, err
}

// SweepTrails deletes the trails of stores that are no more: Room.Sweep.
func SweepTrails(ctx context.Context, c *Core) error {
	gone, err := c.UnneededTrails(ctx)
	for _, path := range gone {
		_ = os.Remove(path) // where it is in use, the next sweep does it
	}
	return err
}
