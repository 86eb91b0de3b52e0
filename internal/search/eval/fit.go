package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Folds is into how many parts repositories are divided for cross-validation:
// by their place in the order of names, modulo Folds.
const Folds = 9

// Fitted is the outcome of fitting the weights of the ranking.
type Fitted struct {
	// CrossNDCG and CrossMacro are over all tasks, each ranked with weights
	// that were fitted without its repository's fold.
	CrossNDCG  float64            `json:"cross_ndcg10"`
	CrossMacro float64            `json:"cross_macro_language"`
	ByFold     []float64          `json:"by_fold"`
	ByCategory map[string]float64 `json:"cross_by_category"`
	NDCG       float64            `json:"ndcg10"` // with the weights fitted on everything
	Macro      float64            `json:"macro_language"`
	Weights    map[string]float64 `json:"weights"` // fitted on everything
	Standing   float64            `json:"standing_ndcg10"`
}

func (f *Fitted) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "as it stands %.4f; fitted on all %.4f, macro %.4f; without the fold %.4f, macro %.4f\n", f.Standing, f.NDCG, f.Macro, f.CrossNDCG, f.CrossMacro)
	for _, k := range sorted(f.ByCategory) {
		fmt.Fprintf(&b, "  %s %.4f", k, f.ByCategory[k])
	}
	b.WriteByte('\n')
	for _, k := range sorted(f.Weights) {
		fmt.Fprintf(&b, "  %-14s %.3f\n", k, f.Weights[k])
	}
	return b.String()
}

// example is one task as the fit sees it.
type example struct {
	fold     int
	language string
	category string
	row      [][]float64 // candidates
	flat     []float64   // their values of the columns that count, times penalty
	penalty  []float64   // product of the demotions, by candidate
	doc      []int       // document, by candidate
	relevant [][]int     // of each relevant place: the documents that match it
	docs     int
}

// fitted are the parts whose weights Fit fits. The others are set by hand:
// definition, which only queries for names can tell, path, what an intent
// switches on, and the demotions.
var fitted = []string{"lexical", "vector", "mean", "pathname", "total", "stem", "rarestem", "names", "central", "shallow", "directory"}

// Fit fits the weights of the ranking to the tasks, starting from and drawn to
// equal ones. The loss of a task is the cross entropy of the relevant
// documents under a softmax over its documents' scores times temperature, a
// document's score being that of its best candidate; to it comes pull times
// the squared distance of the weights from equal ones. Hits of one document
// after the first are left out of account, and lines in labels as well.
func (b *Bench) Fit(ctx context.Context, set *Set, o Options) (Fitted, error) {
	ex, err := b.examples(ctx, set, o)
	if err != nil {
		return Fitted{}, err
	}
	return fit(ex, fitted, pull), nil
}

func (b *Bench) examples(ctx context.Context, set *Set, o Options) ([]example, error) {
	var repos []string
	for _, r := range set.Repos {
		repos = append(repos, r.Name)
	}
	slices.Sort(repos)
	signals := rank.Fitted().Signals
	var out []example
	for i := range set.Tasks {
		t := &set.Tasks[i]
		if len(t.Relevant) == 0 || o.Keep != nil && !o.Keep(t) {
			continue
		}
		r := set.repo(t.Repo)
		dir := filepath.Join(o.Repos, r.Name)
		if o.Dir != nil {
			dir = o.Dir(r)
		}
		at, err := b.open(ctx, r, dir)
		if err != nil {
			return nil, err
		}
		q, cands, err := search.Candidates(ctx, []search.Target{at.Target}, b.embedder, search.Request{Query: t.Query, Mode: cmp.Or(t.Mode, o.Mode)})
		if err != nil {
			return nil, err
		}
		kept, rows := rank.Evaluate(q, cands, rank.Options{Mode: cmp.Or(t.Mode, o.Mode), Without: o.Without})
		e := example{fold: slices.Index(repos, t.Repo) % Folds, language: r.language(), category: t.Category, row: rows, relevant: make([][]int, len(t.Relevant))}
		index := map[string]int{}
		for j := range kept {
			d, ok := index[kept[j].Path]
			if !ok {
				d = len(index)
				index[kept[j].Path] = d
				p := place{path: path.Join(r.Root, kept[j].Path)}
				for k := range t.Relevant {
					whole := Relevant{Path: t.Relevant[k].Path}
					if whole.matches(&p) {
						e.relevant[k] = append(e.relevant[k], d)
					}
				}
			}
			e.doc = append(e.doc, d)
			f := 1.0
			for k, x := range rows[j] {
				if c := signals[k].Factor; c > 0 && x > 0 {
					f *= math.Pow(c, x)
				}
			}
			e.penalty = append(e.penalty, f)
		}
		e.docs = len(index)
		out = append(out, e)
	}
	return out, nil
}

// scores returns the score of every document and its best candidate.
func (e *example) scores(w []float64) (score []float64, best []int) {
	score, best = make([]float64, e.docs), make([]int, e.docs)
	for d := range score {
		score[d] = math.Inf(-1)
	}
	n := len(w)
	for j := range e.doc {
		s := 0.0
		for k, x := range e.flat[j*n : j*n+n] {
			s += w[k] * x
		}
		if d := e.doc[j]; s > score[d] {
			score[d], best[d] = s, j
		}
	}
	return score, best
}

func (e *example) ndcg(w []float64) float64 {
	score, _ := e.scores(w)
	ranks := make([]int, len(e.relevant))
	for k, docs := range e.relevant {
		for _, d := range docs {
			r := 1
			for o := range score {
				if score[o] > score[d] || score[o] == score[d] && o < d {
					r++
				}
			}
			if ranks[k] == 0 || r < ranks[k] {
				ranks[k] = r
			}
		}
	}
	return ndcg(ranks)
}

const (
	even        = 0.2 // what every fitted weight starts from and is drawn to
	temperature = 8
	pull        = 0.3
	rounds      = 80
)

func fit(ex []example, parts []string, pull float64) Fitted {
	ex = slices.Clone(ex)
	signals := rank.Fitted().Signals
	start := make([]float64, len(signals))
	free := make([]bool, len(signals))
	for i := range signals {
		if !signals[i].Asked {
			start[i] = signals[i].Document
		}
		if free[i] = slices.Contains(parts, signals[i].Name); free[i] {
			start[i] = even
		}
	}
	// Only the columns that count are kept from here on.
	var columns []int
	for i := range signals {
		if free[i] || start[i] != 0 {
			columns = append(columns, i)
		}
	}
	for i := range ex {
		ex[i].flatten(columns)
	}
	pick := func(k int) string { return signals[columns[k]].Name }
	start, free = take(start, columns), take(free, columns)
	asis := make([]float64, len(columns))
	for k := range columns {
		asis[k] = signals[columns[k]].Document
	}
	f := Fitted{Weights: map[string]float64{}}
	cross := make([]float64, len(ex))
	standing := make([]float64, len(ex))
	for fold := range Folds {
		var train []example
		for i := range ex {
			if ex[i].fold != fold {
				train = append(train, ex[i])
			}
		}
		w := descend(train, start, free, pull)
		var mine []float64
		for i := range ex {
			if ex[i].fold == fold {
				cross[i] = ex[i].ndcg(w)
				mine = append(mine, cross[i])
			}
		}
		f.ByFold = append(f.ByFold, round(mean(mine), 4))
	}
	w := descend(ex, start, free, pull)
	all := make([]float64, len(ex))
	for i := range ex {
		all[i] = ex[i].ndcg(w)
		standing[i] = ex[i].ndcg(asis)
	}
	for k := range w {
		f.Weights[pick(k)] = round(w[k], 3)
	}
	f.CrossNDCG, f.CrossMacro = round(mean(cross), 4), macroOf(ex, cross)
	category := map[string][]float64{}
	for i := range ex {
		category[ex[i].category] = append(category[ex[i].category], cross[i])
	}
	f.ByCategory = map[string]float64{}
	means(f.ByCategory, category)
	f.NDCG, f.Macro = round(mean(all), 4), macroOf(ex, all)
	f.Standing = round(mean(standing), 4)
	return f
}

func macroOf(ex []example, x []float64) float64 {
	by := map[string][]float64{}
	for i := range ex {
		by[ex[i].language] = append(by[ex[i].language], x[i])
	}
	return macro(by)
}

// descend minimises the loss by gradient descent with Adam's steps.
func descend(ex []example, start []float64, free []bool, pull float64) []float64 {
	w := slices.Clone(start)
	m, v := make([]float64, len(w)), make([]float64, len(w))
	for t := 1; t <= rounds; t++ {
		g := make([]float64, len(w))
		for i := range ex {
			ex[i].gradient(w, g)
		}
		rate := 0.08 * (1 - float64(t-1)/rounds)
		for k := range w {
			if !free[k] {
				continue
			}
			d := g[k]/float64(len(ex)) + 2*pull*(w[k]-start[k])
			m[k] = 0.9*m[k] + 0.1*d
			v[k] = 0.99*v[k] + 0.01*d*d
			mh, vh := m[k]/(1-math.Pow(0.9, float64(t))), v[k]/(1-math.Pow(0.99, float64(t)))
			w[k] = max(0, w[k]-rate*mh/(math.Sqrt(vh)+1e-8))
		}
	}
	return w
}

// gradient adds the gradient of the example's loss to g.
func (e *example) gradient(w, g []float64) {
	wanted := map[int]float64{}
	n := 0.0
	for _, docs := range e.relevant {
		for _, d := range docs {
			wanted[d] = 1
		}
	}
	for range wanted {
		n++
	}
	if n == 0 {
		return // not among the candidates: no weights can help
	}
	score, best := e.scores(w)
	top := slices.Max(score)
	p := make([]float64, len(score))
	sum := 0.0
	for d, s := range score {
		p[d] = math.Exp(temperature * (s - top))
		sum += p[d]
	}
	for _, d := range slices.Sorted(maps.Keys(wanted)) {
		wanted[d] = 1 / n
	}
	for d := range p {
		c := temperature * (p[d]/sum - wanted[d])
		if math.Abs(c) < 1e-6 {
			continue
		}
		j := best[d]
		for k, x := range e.flat[j*len(w) : (j+1)*len(w)] {
			g[k] += c * x
		}
	}
}

func (e *example) flatten(columns []int) {
	e.flat = make([]float64, 0, len(e.row)*len(columns))
	for j, row := range e.row {
		for _, k := range columns {
			e.flat = append(e.flat, row[k]*e.penalty[j])
		}
	}
}

func take[T any](from []T, columns []int) []T {
	out := make([]T, len(columns))
	for i, k := range columns {
		out[i] = from[k]
	}
	return out
}
