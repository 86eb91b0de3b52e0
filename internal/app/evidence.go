package app

import (
	"context"
	"os"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/evidence"
)

// evidenceCache keeps the evidence that was read last of each root, for as
// long as its file does not change. The zero value is ready.
type evidenceCache struct {
	mu sync.Mutex
	of map[string]*cachedEvidence
}

type cachedEvidence struct {
	info   os.FileInfo
	file   *evidence.File
	byFile map[string][]evidence.Finding // made at first use
}

// get returns the evidence of root, nil when there is none. Where there is
// none it costs one stat.
func (c *evidenceCache) get(root string) *cachedEvidence {
	info, err := os.Stat(root + string(os.PathSeparator) + evidence.Name)
	if os.IsNotExist(err) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.of[root]; err == nil && have != nil && os.SameFile(have.info, info) && have.info.Size() == info.Size() && have.info.ModTime().Equal(info.ModTime()) {
		return have
	}
	got := &cachedEvidence{info: info, file: evidence.Read(root)}
	if got.file.Kind == evidence.Valid {
		got.byFile = got.file.ByFile()
	}
	if c.of == nil {
		c.of = map[string]*cachedEvidence{}
	}
	if err == nil {
		c.of[root] = got
	}
	return got
}

// Evidence reads what a governance tool left about the project.
func (a *App) Evidence(context.Context) (*evidence.File, error) {
	p, err := a.where()
	if err != nil {
		return nil, err
	}
	return evidence.Read(p.Root), nil
}

// ValidEvidence is Evidence, and an error where there is none that is valid.
func (a *App) ValidEvidence(ctx context.Context) (*evidence.File, error) {
	f, err := a.Evidence(ctx)
	if err != nil {
		return nil, err
	}
	return f, f.Check()
}
