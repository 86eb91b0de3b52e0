package code

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// linkSource gives the documents of a generation to the linker.
type linkSource struct {
	index   kb.Index
	entries []graph.Entry
}

func newLinkSource(ctx context.Context, idx kb.Index) (*linkSource, error) {
	list, err := idx.Identities(ctx, nil)
	s := &linkSource{index: idx, entries: make([]graph.Entry, len(list))}
	for i, d := range list {
		s.entries[i] = graph.Entry{Path: d.Path, Hash: d.Hash, Language: d.Language, Size: d.Bytes}
	}
	return s, err
}

func (s *linkSource) Entries() []graph.Entry { return s.entries }

func (s *linkSource) Load(ctx context.Context, paths []string) ([]graph.Document, error) {
	list, err := s.index.Outlines(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := make([]graph.Document, len(list))
	for i, o := range list {
		out[i] = graph.Document{Path: o.Path, Hash: o.Hash, Language: o.Language, Symbols: o.Symbols, Facts: o.Facts, Body: func() (string, error) {
			d, err := s.index.Document(ctx, o.Path)
			return d.Body, err
		}}
	}
	return out, nil
}
