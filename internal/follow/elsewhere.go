package follow

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

const (
	// mostOutlines bounds the documents whose imports are looked at, mostNear the
	// hits whose imports count, mostNames what is kept of a dependency's used names.
	mostOutlines = 5000
	mostNear     = 10
	mostNames    = 200
	// everyTopic is which of the table's packages a question is compared to.
	everyTopic = 25
	// leastFit is from which fit on a dependency is proposed, loneFit where only
	// one word of the question is about it, strongFit where the first hit is sure
	// (from sureFrom on), which takes sureWords words. Of several that are proposed where
	// nothing answers the others come within closeFit of the first.
	leastFit     = 0.5
	loneFit      = 0.62
	strongFit    = 0.82
	sureFrom     = 0.85
	sureWords    = 3
	closeFit     = 0.45
	mostProposed = 3
	// fewWords is how many telling words a query has at most that names what it
	// wants: what is found of that is what is meant.
	fewWords = 3
)

// fit is what speaks for a dependency:
//
//	σ(bias + byShare·share + byMeaning·meaning + byNear·near)
//
// share is deps.Share, meaning by how many standard deviations the question is
// nearer to the dependency than to ordinary packages, near the share of the
// nearest hits whose documents import it, less what all documents have.
const (
	fitBias   = -4.0
	byShare   = 12.0
	byMeaning = 0.8
	byNear    = 1.0
)

// Proposal is a dependency that may answer, with what speaks for it.
type Proposal struct {
	deps.Dependency
	Fit                  float64  // in [0,1]
	Share, Meaning, Near float64  // see fit
	Words                []string // of the question, that it is about
}

// holders are what the project's dependencies hold, kept until the project
// changes.
type holders struct {
	mu   sync.Mutex
	of   string // root, generation and manifests
	have *deps.Holders
	docs map[string][]int // document → the dependencies that it imports
	vecs [][]float32
	base [][]float32 // of ordinary packages
}

// elsewhere names the dependencies of the project that are not indexed and may
// answer what nothing in scope does, and how each is added.
func elsewhere(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]string, error) {
	p, err := a.Where()
	if err != nil || p.None || source.Dangerous(p.Root) != "" {
		return nil, err
	}
	list, manifests, err := Propose(ctx, a, c, q)
	if err != nil || manifests == 0 {
		return nil, err
	}
	if len(list) == 0 && q.Absent {
		return []string{fmt.Sprintf("none of the dependencies in %s seems to be about it either", kb.Count(manifests, "manifest"))}, nil
	}
	var out []string
	for i, x := range list {
		lead := "a dependency that is not indexed may answer: "
		if i > 0 {
			lead = "or "
		}
		out = append(out, lead+x.line())
	}
	return out, nil
}

// line names a dependency, why it is proposed, and the command that adds it.
func (x *Proposal) line() string {
	why := []string{x.Manifest}
	if x.Files > 0 {
		why = append(why, "imported by "+kb.Count(x.Files, "file"))
	}
	if len(x.Words) > 0 {
		why = append(why, "about "+strings.Join(x.Words[:min(len(x.Words), 4)], ", "))
	}
	name := strings.TrimSpace(x.ID() + " " + x.Version)
	return fmt.Sprintf("%s (%s); index it with: %s", visible.Name(kb.Clip(name, 120)), visible.Name(kb.Clip(strings.Join(why, "; "), 160)), x.add())
}

// add is the command that indexes a dependency: its code where it is known where
// that lies, else what its registry has of it.
func (x *Proposal) add() string {
	switch {
	case x.Repository != "":
		return fmt.Sprintf("suggest %s", app.Args{"only": []string{x.ID()}, "add": true})
	case x.Ecosystem == "npm" || x.Ecosystem == "go":
		src := x.ID()
		if x.Version != "" {
			src += "@" + x.Version
		}
		return fmt.Sprintf("store:create %s", app.Args{"source": src})
	}
	return fmt.Sprintf("suggest %s", app.Args{"only": []string{x.ID()}, "add": true, "registry": true})
}

// Propose returns the dependencies of the project that are likeliest to answer,
// without those that are indexed, and how many manifests were read.
func Propose(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]Proposal, int, error) {
	list, manifests, err := Weigh(ctx, a, c, q)
	if err != nil {
		return nil, 0, err
	}
	if !q.Absent {
		asks := len(slices.DeleteFunc(slices.Clone(q.Words), func(w string) bool { return w == "" }))
		if len(list) == 0 || asks <= fewWords || !list[0].despite(q.Sure) {
			return nil, manifests, nil
		}
		return list[:1], manifests, nil
	}
	for i, x := range list {
		if i == mostProposed || x.Fit < leastFit || x.Fit < list[0].Fit*closeFit {
			list = list[:i]
			break
		}
	}
	return list, manifests, nil
}

// despite reports whether a dependency is worth a line although something was
// found that is right with a probability. bench/absent has the figures.
func (x *Proposal) despite(sure float64) bool {
	switch {
	case x.Dev:
		return false
	case sure >= sureFrom:
		return len(x.Words) >= sureWords && x.Fit >= strongFit
	case len(x.Words) < 2:
		return x.Near > 0 && x.Fit >= loneFit
	}
	return x.Fit >= leastFit
}

// Weigh returns all dependencies of the project that are not indexed, the
// likeliest to answer first, and how many manifests were read.
func Weigh(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]Proposal, int, error) {
	p, err := a.Where()
	if err != nil {
		return nil, 0, err
	}
	h := app.State(c, func() *holders { return &holders{} })
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.gather(ctx, c, p.Root, q.Targets); err != nil {
		return nil, 0, err
	}
	list, err := h.rank(ctx, c, q)
	if err != nil {
		return nil, 0, err
	}
	indexed, err := indexedOf(ctx, a, c)
	if err != nil {
		return nil, 0, err
	}
	return slices.DeleteFunc(list, func(x Proposal) bool { return indexed(x.Dependency) }), len(h.have.Manifests), nil
}

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
		var info fs.FileInfo
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
	var out []Proposal
	for i := range h.have.List {
		x := Proposal{Dependency: h.have.List[i].Dependency, Meaning: meaning[i], Near: near[i]}
		x.Share, x.Words = h.have.Share(i, q.Words)
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

// indexedOf returns the test whether a store in scope has a dependency.
func indexedOf(ctx context.Context, a *app.App, c *app.Core) (func(deps.Dependency) bool, error) {
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, e := range entries {
		src := strings.ToLower(e.Spec.Source)
		have[strings.TrimSuffix(src, ".git")] = true
		if eco, rest, ok := strings.Cut(src, ":"); ok { // a package: npm:zod@3
			if i := strings.LastIndexByte(rest, '@'); i > 0 {
				rest = rest[:i]
			}
			have[eco+":"+rest] = true
		}
	}
	return func(d deps.Dependency) bool {
		return d.Repository != "" && have[strings.ToLower(strings.TrimSuffix(d.Repository, ".git"))] || have[strings.ToLower(d.ID())]
	}, nil
}
