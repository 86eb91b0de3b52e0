package cluster

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// generationWriter writes into the pool, then to the cluster.
type generationWriter struct {
	kb.GenerationWriter
	x *Indexes
}

// NewGeneration implements kb.Indexes.
func (x *Indexes) NewGeneration(ctx context.Context, m kb.Manifest) (kb.GenerationWriter, error) {
	ctx = weaviate.Patient(ctx)
	for _, d := range m.Documents {
		if err := x.stage(ctx, d.Segment); err != nil {
			return nil, err
		}
	}
	if m.Previous != "" {
		if err := x.Stage(ctx, m.Previous); err != nil && kb.CodeOf(err) != kb.NotFound {
			return nil, err
		}
	}
	w, err := x.pool.NewGeneration(ctx, m)
	return generationWriter{w, x}, err
}

func (w generationWriter) Write(ctx context.Context, manifest string) (kb.Totals, int64, error) {
	t, size, err := w.GenerationWriter.Write(ctx, manifest)
	if err == nil {
		err = w.x.Upload(ctx, manifest)
	}
	return t, size, err
}

// Upload puts a generation of the pool on the cluster: what of it is there already
// is not sent again, so that an upload that ended early goes on where it was. It stays
// for as long as what no head names does; see Share.
func (x *Indexes) Upload(ctx context.Context, manifest string) error {
	ctx = weaviate.Patient(ctx)
	needs, err := x.needsOf(ctx, manifest)
	if err != nil {
		return err
	}
	return x.holding(ctx, append(slices.Clone(needs), manifest), func(h *hold) error { return x.send(ctx, h, manifest, needs) })
}

// Share puts a generation of the pool on the cluster and makes h, which names it,
// the head of its store: see Publish.
func (x *Indexes) Share(ctx context.Context, h *Head, expect int64) error {
	ctx = weaviate.Patient(ctx)
	needs, err := x.needsOf(ctx, h.Head.Manifest)
	if err != nil {
		return err
	}
	return x.holding(ctx, append(slices.Clone(needs), h.Head.Manifest), func(d *hold) error {
		if err := x.send(ctx, d, h.Head.Manifest, needs); err != nil {
			return err
		}
		if err := d.check(ctx); err != nil {
			return err
		}
		return x.Publish(ctx, h, expect)
	})
}

// needsOf returns the files that a generation of the pool consists of besides its
// manifest: its layout, segments, and the manifest that it says the differences from.
func (x *Indexes) needsOf(ctx context.Context, manifest string) ([]string, error) {
	g, err := x.pool.OpenGeneration(x.pool.ManifestPath(manifest))
	if err != nil {
		return nil, err
	}
	defer g.Release()
	info, err := g.Info(ctx)
	if err != nil {
		return nil, err
	}
	needs := []string{g.Layout() + index.LayoutExt}
	for _, name := range info.Segments {
		needs = append(needs, name+index.Ext)
	}
	if base := g.Base(); base != "" {
		needs = append(needs, base)
	}
	return needs, nil
}

// send puts what a generation needs, and at last its manifest, on the cluster.
func (x *Indexes) send(ctx context.Context, h *hold, manifest string, needs []string) error {
	for i, name := range needs {
		kb.Report(ctx, kb.Progress{Phase: "share", Done: int64(i), Total: int64(len(needs))})
		var err error
		if segment, ok := segmentOf(name); ok {
			err = x.upload(ctx, h, segment, false)
		} else if ok, e := h.has(ctx, name); e != nil || !ok {
			if err = e; err == nil {
				err = x.sendAgain(ctx, h, name)
			}
		}
		if err != nil {
			return err
		}
	}
	return x.sendFile(ctx, h, manifest, needs)
}

// sendAgain puts a file on the cluster that a manifest needs. A manifest may be a
// head still: what it needs stays.
func (x *Indexes) sendAgain(ctx context.Context, h *hold, name string) error {
	var needs []string
	p, err := x.head(ctx, name)
	if err == nil && p != nil {
		if e := json.Unmarshal([]byte(p.Needs), &needs); e != nil {
			err = kb.Errorf(kb.Corrupt, "file %q of the shared stores does not say what it needs", name)
		}
	}
	if err != nil {
		return err
	}
	return x.sendFile(ctx, h, name, needs)
}

// sendFile puts a file of the pool on the cluster.
func (x *Indexes) sendFile(ctx context.Context, h *hold, name string, needs []string) error {
	raw, err := os.ReadFile(path(x.pool, name))
	if err != nil {
		return kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err).WithHint("look with: knowledge verify")
	}
	return x.put(ctx, h.epoch, name, raw, needs)
}
