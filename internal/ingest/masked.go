package ingest

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// OlderRules reports whether a generation was indexed before the present rules
// on secrets.
func OlderRules(head *kb.Head) bool { return head.Rules < secret.Version }

// Masked returns an index that masks secrets as it is read, where older rules
// may have left them in.
func Masked(idx kb.Index, head *kb.Head) kb.Index {
	if OlderRules(head) {
		return masked{idx}
	}
	return idx
}

type masked struct{ kb.Index }

// Document implements kb.Index.
func (m masked) Document(ctx context.Context, path string) (kb.DocumentText, error) {
	d, err := m.Index.Document(ctx, path)
	if err == nil {
		d.Body, _ = secret.Mask(path, d.Body)
	}
	return d, err
}

// Texts implements kb.Index.
func (m masked) Texts(ctx context.Context, paths []string, bodies bool) ([]kb.DocumentText, error) {
	list, err := m.Index.Texts(ctx, paths, bodies)
	for i := range list {
		list[i].Body, _ = secret.Mask(list[i].Path, list[i].Body)
	}
	return list, err
}

// Passages implements kb.Index. A chunk is masked as a part of its document:
// by itself it may not show what it holds.
func (m masked) Passages(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	list, err := m.Index.Passages(ctx, places)
	if err != nil {
		return nil, err
	}
	return m.mask(ctx, list)
}

// Excerpts implements kb.Index.
func (m masked) Excerpts(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	list, err := m.Index.Excerpts(ctx, places)
	if err != nil {
		return nil, err
	}
	return m.mask(ctx, list)
}

// mask masks what stands in passages.
func (m masked) mask(ctx context.Context, list []kb.Passage) ([]kb.Passage, error) {
	bodies := map[string]string{}
	for i := range list {
		p := &list[i]
		body, ok := bodies[p.Path]
		if !ok {
			d, err := m.Document(ctx, p.Path)
			if err != nil {
				return nil, err
			}
			body, bodies[p.Path] = d.Body, d.Body
		}
		if p.Chunk.To <= len(body) && p.Chunk.To-p.Chunk.From == len(p.Text) {
			p.Text = body[p.Chunk.From:p.Chunk.To]
		} else {
			p.Text, _ = secret.Mask(p.Path, p.Text)
		}
	}
	return list, nil
}
