package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// A benchmark is a set of judged queries with the texts of its repositories
// in memory, cut as an index cuts them.
type benchmark struct {
	repos []benchRepo
	tasks []task
}

type benchRepo struct {
	name, language string
	files          []benchFile
}

type benchFile struct {
	path  string
	texts []string
}

type task struct {
	Repo, Query, Category string
	Relevant              []string
	repo                  int
}

// readBenchmark reads the task file and the checked-out repositories that it
// names; those that are not there are left out with their tasks.
func readBenchmark(file, dir string) (*benchmark, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var set struct {
		Repos []struct{ Name, Language, Root string }
		Tasks []task
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b := &benchmark{}
	numbers := map[string]int{}
	for _, r := range set.Repos {
		root := filepath.Join(dir, r.Name, filepath.FromSlash(r.Root))
		if _, err := os.Stat(root); err != nil {
			continue
		}
		numbers[r.Name] = len(b.repos)
		b.repos = append(b.repos, benchRepo{name: r.Name, language: r.Language, files: readFiles(root, r.Root)})
	}
	for _, t := range set.Tasks {
		if n, ok := numbers[t.Repo]; ok {
			t.repo = n
			b.tasks = append(b.tasks, t)
		}
	}
	if len(b.tasks) == 0 {
		return nil, fmt.Errorf("none of the repositories of %s is in %s", file, dir)
	}
	return b, nil
}

func readFiles(root, prefix string) []benchFile {
	var out []benchFile
	filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if n := d.Name(); n == ".git" || n == "node_modules" || n == "vendor" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !d.Type().IsRegular() || info.Size() > 1<<20 {
			return nil
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(root, p)
		rel = path.Join(prefix, filepath.ToSlash(rel))
		t, err := chunk.Decode(rel, raw)
		if err != nil {
			return nil
		}
		f := benchFile{path: rel}
		for _, c := range chunk.Split(t) {
			f.texts = append(f.texts, embed.Text(t.Body, &c))
		}
		out = append(out, f)
		return nil
	})
	return out
}

// folds is the number of parts that the repositories are dealt into: a choice
// between two ways of training must win in more than one of them.
const folds = 3

// figures are NDCG@10 of vectors alone, one hit per file.
type figures struct {
	mean, macro float64
	category    map[string]float64
	language    map[string]float64
	folds       [folds]float64 // mean over the repositories of number i modulo folds
}

// rankings are the ways in which files are ranked by vectors, with v the
// vector of a chunk, m the file's mean and f the file's vector:
//
//	m = unit(sum over the chunks of sqrt(bytes) * v)
//	f = unit(m + the vector of the path)
var rankings = []struct {
	name  string
	score func(best, mean, file float64) float64
}{
	{"best chunk", func(best, _, _ float64) float64 { return best }},
	{"½ best chunk + ½ mean of the file", func(best, mean, _ float64) float64 { return (best + mean) / 2 }},
	{"½ best chunk + ½ file with its path", func(best, _, file float64) float64 { return (best + file) / 2 }},
}

// vectors are those of one repository.
type vectors struct {
	chunks, means, files [][]float32
}

func unit(v []float32) []float32 {
	if n := math.Sqrt(float64(dot(v, v))); n > 0 {
		for j := range v {
			v[j] /= float32(n)
		}
	}
	return v
}

func embedRepo(ctx context.Context, e kb.Embedder, r *benchRepo) (vectors, error) {
	var out vectors
	for _, f := range r.files {
		v, err := e.Embed(ctx, append(slices.Clone(f.texts), embed.PathText(f.path)))
		if err != nil {
			return out, err
		}
		p := v[len(f.texts)]
		mean := make([]float32, e.Dims())
		for i, t := range f.texts {
			addScaled(mean, v[i], float32(math.Sqrt(float64(len(t)))))
		}
		file := slices.Clone(unit(mean))
		addScaled(file, p, 1)
		out.chunks = append(out.chunks, v[:len(f.texts)]...)
		out.means = append(out.means, mean)
		out.files = append(out.files, unit(file))
	}
	return out, nil
}

// score embeds everything with e and ranks the files of each task's
// repository, in each of the rankings.
func (b *benchmark) score(ctx context.Context, e kb.Embedder) ([]figures, error) {
	vecs := make([]vectors, len(b.repos))
	errs := make([]error, len(b.repos))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(b.repos); i = int(next.Add(1)) - 1 {
				vecs[i], errs[i] = embedRepo(ctx, e, &b.repos[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	got := make([][]float64, len(rankings))
	for _, t := range b.tasks {
		q, err := e.Embed(ctx, []string{t.Query})
		if err != nil {
			return nil, err
		}
		files, v := b.repos[t.repo].files, &vecs[t.repo]
		best, mean, file := make([]float64, len(files)), make([]float64, len(files)), make([]float64, len(files))
		at := 0
		for i, f := range files {
			best[i] = -1
			for range f.texts {
				best[i] = max(best[i], float64(dot(q[0], v.chunks[at])))
				at++
			}
			mean[i], file[i] = float64(dot(q[0], v.means[i])), float64(dot(q[0], v.files[i]))
		}
		for k := range rankings {
			scores, order := make([]float64, len(files)), make([]int, len(files))
			for i := range files {
				scores[i], order[i] = rankings[k].score(best[i], mean[i], file[i]), i
			}
			slices.SortFunc(order, func(a, b int) int {
				return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(files[a].path, files[b].path))
			})
			var paths []string
			for _, i := range order[:min(10, len(order))] {
				paths = append(paths, files[i].path)
			}
			got[k] = append(got[k], ndcg(paths, t.Relevant))
		}
	}
	out := make([]figures, len(rankings))
	for k := range rankings {
		out[k] = b.figures(got[k])
	}
	return out, nil
}

func (b *benchmark) figures(scores []float64) figures {
	type mean struct{ sum, n float64 }
	add := func(m map[string]mean, k string, x float64) { v := m[k]; m[k] = mean{v.sum + x, v.n + 1} }
	all, language, category := mean{}, map[string]mean{}, map[string]mean{}
	repo := make([]mean, len(b.repos))
	for i, t := range b.tasks {
		all = mean{all.sum + scores[i], all.n + 1}
		add(language, b.repos[t.repo].language, scores[i])
		add(category, t.Category, scores[i])
		repo[t.repo] = mean{repo[t.repo].sum + scores[i], repo[t.repo].n + 1}
	}
	f := figures{mean: all.sum / all.n, category: map[string]float64{}, language: map[string]float64{}}
	for k, m := range language {
		f.language[k] = m.sum / m.n
		f.macro += m.sum / m.n / float64(len(language))
	}
	for k, m := range category {
		f.category[k] = m.sum / m.n
	}
	var sizes [folds]float64
	for i, m := range repo {
		if m.n > 0 {
			f.folds[i%folds] += m.sum / m.n
			sizes[i%folds]++
		}
	}
	for i := range f.folds {
		f.folds[i] /= max(1, sizes[i])
	}
	return f
}

func (f figures) String() string {
	return fmt.Sprintf("mean %.4f macro %.4f folds %.3f architecture %.3f semantic %.3f symbol %.3f", f.mean, f.macro, f.folds,
		f.category["architecture"], f.category["semantic"], f.category["symbol"])
}

// ndcg is the binary NDCG@10 of a list of paths. A path matches a relevant one
// when one is a suffix of the other at a "/".
func ndcg(paths, relevant []string) float64 {
	var gain, ideal float64
	for i := range relevant {
		if i < 10 {
			ideal += 1 / math.Log2(float64(i+2))
		}
		for rank, p := range paths {
			if suffix(p, relevant[i]) {
				gain += 1 / math.Log2(float64(rank+2))
				break
			}
		}
	}
	return gain / ideal
}

func suffix(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}
