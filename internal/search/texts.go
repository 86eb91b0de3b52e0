package search

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// fetch reads the documents of hits, which text then returns.
func (s *shower) fetch(ctx context.Context, hits []Hit) error {
	var keys []docKey
	seen := map[docKey]bool{}
	for i := range hits {
		if k := (docKey{s.shown[i].Store, s.shown[i].Path}); !seen[k] && s.read(k) == nil {
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
