package app

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// sights are what one question has seen of the system that holds for more than one
// folder. The zero value is ready. They are safe for concurrent use.
type sights struct {
	source.Sights
	mu     sync.Mutex
	direct map[string]bool // directories that are reached through no link
}

// real is filepath.EvalSymlinks, which asks about the directories around folders
// that lie beside each other once.
func (s *sights) real(dir string) (string, error) {
	if runtime.GOOS != "windows" && filepath.Clean(dir) == dir && s.reached(filepath.Dir(dir)) {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return dir, nil
		}
	}
	return filepath.EvalSymlinks(dir)
}

// reached reports whether a directory is reached through no link.
func (s *sights) reached(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	direct, known := s.direct[dir]
	if !known {
		real, err := filepath.EvalSymlinks(dir)
		if direct = err == nil && real == dir; s.direct == nil {
			s.direct = map[string]bool{}
		}
		s.direct[dir] = direct
	}
	return direct
}

// tracing opens a source and keeps the trail that a walk of it leaves.
type tracing struct {
	*source.Opener
	trail *source.Trail
}

func (t *tracing) Open(ctx context.Context, spec kb.Spec) (kb.Snapshot, error) {
	snap, err := t.Opener.Open(ctx, spec)
	if err == nil {
		t.trail = source.TrailOf(snap)
	}
	return snap, err
}
