package search

import (
	"context"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// pathsAtOnce is how many paths are embedded at once: those of many stores are
// thousands.
const pathsAtOnce = 256

// nearPaths sets how near the path of each candidate's document is to the
// query. Segments know no paths, so that the vectors of their chunks hold
// nothing of them; a static model embeds a hundred paths in a fraction of a
// millisecond.
func nearPaths(ctx context.Context, emb kb.Embedder, vector []float32, found []rank.Evidence) error {
	if vector == nil || !embed.Cheap(emb) {
		return nil
	}
	index := map[string]int{}
	var texts []string
	for i := range found {
		p := found[i].Path
		if _, ok := index[p]; !ok {
			index[p] = len(texts)
			texts = append(texts, strings.TrimSuffix(p, path.Ext(p)))
		}
	}
	cosines := make([]float64, len(texts))
	parts := (len(texts) + pathsAtOnce - 1) / pathsAtOnce
	_, err := several(parts, func(k int) error {
		from := k * pathsAtOnce
		vectors, err := emb.Embed(ctx, texts[from:min(from+pathsAtOnce, len(texts))])
		for i, v := range vectors {
			for j, x := range v {
				cosines[from+i] += float64(x) * float64(vector[j])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range found {
		found[i].PathCosine = cosines[index[found[i].Path]]
	}
	return nil
}
