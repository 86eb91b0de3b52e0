package elsewhere

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// gather reads what the dependencies hold, unless it is known and nothing has
// changed.
func (h *holders) gather(ctx context.Context, c *app.Core, root string, targets []search.Target) error {
	own := slices.IndexFunc(targets, func(t search.Target) bool { return t.Own })
	of := root
	if own >= 0 {
		of += fmt.Sprint(" ", targets[own].Store.Head.Generation)
	}
	if h.have != nil && h.of == of+stamps(root, h.have.Manifests) {
		return nil
	}
	have, err := deps.Gather(ctx, root, c.Env)
	if err != nil {
		return err
	}
	h.of, h.have, h.docs, h.vecs = of+stamps(root, have.Manifests), have, map[string][]int{}, nil
	if own >= 0 {
		if err := h.read(ctx, targets[own].Index); err != nil {
			return err
		}
	}
	return nil
}

// stamps tells whether manifests are as they were.
func stamps(root string, manifests []string) string {
	var b strings.Builder
	for _, m := range manifests {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(m)))
		if err != nil {
			b.WriteString(" gone")
			continue
		}
		fmt.Fprintf(&b, " %d,%d", info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}

// read learns from the index of the project what its documents import, and
// which names they use of it.
func (h *holders) read(ctx context.Context, idx kb.Index) error {
	all, err := idx.Documents(ctx, "")
	if err != nil {
		return err
	}
	var paths []string
	for _, d := range all {
		if deps.IsSource(d) && len(paths) < mostOutlines {
			paths = append(paths, d)
		}
	}
	outlines, err := idx.Outlines(ctx, paths)
	if err != nil {
		return err
	}
	files := make([]int, len(h.have.List))
	used := make([]map[string]bool, len(h.have.List))
	for i := range outlines {
		o := &outlines[i]
		local := map[string]int{} // names that stand for a dependency here
		for _, imp := range o.Facts.Imports {
			for _, d := range h.have.Import(o.Path, imp.Path, imp.Name) {
				if !slices.Contains(h.docs[o.Path], d) {
					h.docs[o.Path] = append(h.docs[o.Path], d)
					files[d]++
				}
				if used[d] == nil {
					used[d] = map[string]bool{}
				}
				if len(used[d]) < mostNames && imp.Name != "*" && imp.Name != "default" {
					used[d][imp.Name] = true
				}
				if imp.Local != "" {
					local[imp.Local] = d
				}
			}
		}
		for _, r := range o.Facts.References {
			first, _, _ := strings.Cut(r.Qualifier, ".")
			if d, ok := local[cmp.Or(first, r.Name)]; ok && len(used[d]) < mostNames {
				used[d][r.Name] = true
			}
		}
	}
	for i := range used {
		names := make([]string, 0, len(used[i]))
		for n := range used[i] {
			names = append(names, n)
		}
		h.have.Uses(i, files[i], names)
	}
	return nil
}

// rank orders the dependencies by how well they fit.
func (h *holders) rank(ctx context.Context, c *app.Core, q app.Unanswered) ([]Proposal, error) {
	meaning, err := h.meaning(ctx, c.Embedder, q.Query)
	if err != nil {
		return nil, err
	}
	near := h.near(q.Near)
	words := deps.Asked(q.Words)
	out := make([]Proposal, 0, len(h.have.List))
	for i := range h.have.List {
		x := Proposal{Dependency: h.have.List[i].Dependency, Meaning: meaning[i], Near: near[i]}
		x.Share, x.Words = h.have.Share(i, words)
		x.Fit = 1 / (1 + math.Exp(-(fitBias + byShare*x.Share + byMeaning*x.Meaning + byNear*x.Near)))
		out = append(out, x)
	}
	kb.SortStableFunc(out, func(a, b Proposal) int { return cmp.Compare(b.Fit, a.Fit) })
	return out, nil
}

// meaning is by how many standard deviations a question is nearer to each
// dependency than to ordinary packages; 0 where texts are embedded elsewhere.
func (h *holders) meaning(ctx context.Context, emb kb.Embedder, query string) ([]float64, error) {
	out := make([]float64, len(h.have.List))
	if !embed.Cheap(emb) {
		return out, nil
	}
	if h.vecs == nil {
		texts := make([]string, len(h.have.List))
		for i := range texts {
			texts[i] = kb.Clip(h.have.List[i].About, 400)
		}
		var err error
		if h.vecs, err = emb.Embed(ctx, texts); err != nil {
			return nil, err
		}
	}
	if h.base == nil {
		var err error
		if h.base, err = emb.Embed(ctx, deps.Ordinary(everyTopic)); err != nil {
			return nil, err
		}
	}
	v, err := emb.Embed(ctx, []string{kb.Clip(query, 2000)})
	if err != nil {
		return nil, err
	}
	var sum, squares float64
	for _, b := range h.base {
		x := dot(v[0], b)
		sum, squares = sum+x, squares+x*x
	}
	n := float64(len(h.base))
	mean := sum / n
	spread := math.Sqrt(max(1e-6, squares/n-mean*mean))
	for i := range out {
		out[i] = max(0, (dot(v[0], h.vecs[i])-mean)/spread)
	}
	return out, nil
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// near is the share of the nearest hits whose documents import each dependency,
// less the share of all documents.
func (h *holders) near(hits []search.Hit) []float64 {
	out := make([]float64, len(h.have.List))
	hits = hits[:min(len(hits), mostNear)]
	for i := range hits {
		for _, d := range h.docs[hits[i].Where.Path] {
			out[d] += 1 / float64(len(hits))
		}
	}
	for i := range out {
		out[i] = max(0, out[i]-float64(h.have.List[i].Files)/float64(max(1, len(h.docs))))
	}
	return out
}
