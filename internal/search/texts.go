package search

import (
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// textsOf returns documents as they are shown, those of each target at once and
// those of several side by side, in the order asked.
func textsOf(ctx context.Context, targets []Target, keys []docKey, bodies bool) ([]*kb.DocumentText, error) {
	paths := map[int][]string{}
	numbers := map[int][]int{}
	var asked []int
	for i, k := range keys {
		if paths[k.target] == nil {
			asked = append(asked, k.target)
		}
		paths[k.target], numbers[k.target] = append(paths[k.target], k.path), append(numbers[k.target], i)
	}
	out := make([]*kb.DocumentText, len(keys))
	failed, err := several(len(asked), func(i int) error {
		t := asked[i]
		texts, err := targets[t].Index.Texts(ctx, paths[t], bodies)
		for k := range texts {
			out[numbers[t][k]] = &texts[k]
		}
		return err
	})
	if err != nil {
		return nil, of(asked[failed], err)
	}
	return out, nil
}

// prepare reads the documents of which a packed reply needs more than the chunks
// that were found: those of all hits where no functions were looked for.
func (s *shower) prepare(ctx context.Context, ranked []rank.Scored) error {
	if !s.r.Packed || s.survey != nil && len(s.survey.sites) > 0 || s.beside != nil && len(s.beside.sites) > 0 {
		return nil
	}
	var keys []docKey
	seen := map[docKey]bool{}
	for i := range ranked {
		if k := (docKey{ranked[i].Store, ranked[i].Path}); !seen[k] && s.read(k) == nil {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	texts, err := textsOf(ctx, s.targets, keys, true)
	if err != nil {
		return err
	}
	if s.texts == nil {
		s.texts = make(map[docKey]*kb.DocumentText, len(keys))
	}
	for i, k := range keys {
		s.texts[k] = texts[i]
	}
	return nil
}

// passage returns the chunk of a hit from its document where that was read, nil
// elsewhere. As passages do, it lacks the lines and paths of symbols.
func (s *shower) passage(c *rank.Scored) *kb.Passage {
	d := s.read(docKey{c.Store, c.Path})
	if d == nil || c.Chunk >= len(d.Chunks) {
		return nil
	}
	p := &kb.Passage{Place: c.Place, Chunk: d.Chunks[c.Chunk], Language: d.Language}
	p.Text = d.Body[p.Chunk.From:p.Chunk.To]
	p.Chunk.Symbols = slices.Clone(p.Chunk.Symbols)
	for i := range p.Chunk.Symbols {
		p.Chunk.Symbols[i].Line, p.Chunk.Symbols[i].Path = 0, nil
	}
	return p
}

// read returns a document that was read already, nil without it.
func (s *shower) read(k docKey) *kb.DocumentText {
	for _, v := range []*survey{s.survey, s.beside} {
		if v == nil {
			continue
		}
		if d := v.docs[k]; d != nil {
			return d.DocumentText
		}
	}
	return s.texts[k]
}

// text returns a document of a target as it is shown.
func (s *shower) text(ctx context.Context, target int, path string) (*kb.DocumentText, error) {
	k := docKey{target, path}
	if d := s.read(k); d != nil {
		return d, nil
	}
	texts, err := textsOf(ctx, s.targets, []docKey{k}, true)
	if err != nil {
		return nil, err
	}
	if s.texts == nil {
		s.texts = map[docKey]*kb.DocumentText{}
	}
	s.texts[k] = texts[0]
	return texts[0], nil
}

// idOf returns the id of a chunk of a document.
func (s *shower) idOf(ctx context.Context, target int, path string, chunk int) (string, error) {
	ids, err := s.targets[target].Index.IDs(ctx, []kb.Place{{Path: path, Chunk: chunk}})
	if err != nil {
		return "", of(target, err)
	}
	return ids[0], nil
}
