package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is the outcome of a run. All measures lie in [0,1], higher is better.
type Report struct {
	NDCG       float64            `json:"ndcg10"`         // mean over the tasks
	Macro      float64            `json:"macro_language"` // mean of ByLanguage
	ByCategory map[string]float64 `json:"by_category"`
	ByLanguage map[string]float64 `json:"by_language"`
	Recall     float64            `json:"recall10"`
	MRR        float64            `json:"mrr"`
	P50        float64            `json:"query_p50_ms"` // everything included but the process
	P95        float64            `json:"query_p95_ms"`
	IndexMs    float64            `json:"index_ms"`         // median over the repositories
	Tokens     float64            `json:"tokens_per_query"` // of a reply, mean
	Tasks      int                `json:"tasks"`            // with something to find

	// Intervals hold 95 % of the means of samples of each language's tasks.
	Intervals map[string][2]float64 `json:"intervals,omitempty"`
	// ByRepo and RecallBy are NDCG@10 by repository and recall@10 by category.
	ByRepo   map[string]float64 `json:"by_repo,omitempty"`
	RecallBy map[string]float64 `json:"recall10_by_category,omitempty"`
	// RecallAt is the share of relevant documents in the first tokens of a
	// reply of 40 hits.
	RecallAt map[string]float64 `json:"recall_at_tokens,omitempty"`
	// Confident is the share of the tasks with something to find that come
	// back with high or medium confidence; Overconfident of those without.
	Confident     float64  `json:"confident"`
	Nothing       int      `json:"nothing_tasks,omitempty"` // tasks with nothing to find
	Overconfident *float64 `json:"overconfident,omitempty"`
	// Visible is the share of the tasks with labelled lines of which some are
	// among those shown.
	Labelled int      `json:"labelled_tasks,omitempty"`
	Visible  *float64 `json:"visible,omitempty"`

	Ablation []Ablated `json:"ablation,omitempty"`
	Fit      *Fitted   `json:"fit,omitempty"`
	Worst    []Row     `json:"worst,omitempty"`
}

// Ablated is what leaving one part out does.
type Ablated struct {
	Without string  `json:"without"`
	NDCG    float64 `json:"ndcg10"`
	Macro   float64 `json:"macro_language"`
}

// Summarize reports rows. worst is how many of the worst rows it lists.
func (b *Bench) Summarize(rows []Row, worst int) Report {
	r := Report{ByCategory: map[string]float64{}, ByLanguage: map[string]float64{}, Intervals: map[string][2]float64{},
		ByRepo: map[string]float64{}, RecallBy: map[string]float64{}}
	var all, recalls, mrr, ms, toks, confident, over, visible []float64
	category, language, repo, recallBy := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	budgets := make([][]float64, len(Budgets))
	var found []Row
	for i := range rows {
		row := &rows[i]
		ms = append(ms, row.Ms)
		toks = append(toks, float64(row.Tokens))
		sure := 0.0
		if row.Confidence == "high" || row.Confidence == "medium" {
			sure = 1
		}
		if len(row.Ranks) == 0 {
			over = append(over, sure)
			continue
		}
		found = append(found, *row)
		confident = append(confident, sure)
		all = append(all, row.NDCG)
		recalls = append(recalls, recall(row.Ranks))
		mrr = append(mrr, reciprocal(row.Ranks))
		category[row.Category] = append(category[row.Category], row.NDCG)
		recallBy[row.Category] = append(recallBy[row.Category], recall(row.Ranks))
		language[row.Language] = append(language[row.Language], row.NDCG)
		repo[row.Repo] = append(repo[row.Repo], row.NDCG)
		for j, v := range row.AtTokens {
			budgets[j] = append(budgets[j], v)
		}
		if row.Labelled {
			v := 0.0
			if row.Visible {
				v = 1
			}
			visible = append(visible, v)
		}
	}
	r.NDCG, r.Recall, r.MRR, r.Tasks = round(mean(all), 4), round(mean(recalls), 4), round(mean(mrr), 4), len(all)
	r.P50, r.P95, r.Tokens = round(quantile(ms, 0.5), 3), round(quantile(ms, 0.95), 3), round(mean(toks), 1)
	means(r.ByCategory, category)
	means(r.ByLanguage, language)
	means(r.ByRepo, repo)
	means(r.RecallBy, recallBy)
	r.Macro = macro(language)
	for _, l := range sorted(language) {
		iv := interval(language[l])
		r.Intervals[l] = [2]float64{round(iv[0], 3), round(iv[1], 3)}
	}
	for j, v := range budgets {
		if len(v) > 0 {
			if r.RecallAt == nil {
				r.RecallAt = map[string]float64{}
			}
			r.RecallAt[fmt.Sprint(Budgets[j])] = round(mean(v), 4)
		}
	}
	r.Confident = round(mean(confident), 4)
	if r.Nothing = len(over); r.Nothing > 0 {
		v := round(mean(over), 4)
		r.Overconfident = &v
	}
	if r.Labelled = len(visible); r.Labelled > 0 {
		v := round(mean(visible), 4)
		r.Visible = &v
	}
	var index []float64
	for _, t := range b.targets {
		index = append(index, t.indexMs)
	}
	r.IndexMs = round(quantile(index, 0.5), 1)
	if worst > 0 {
		slices.SortStableFunc(found, func(a, b Row) int { return compare(a.NDCG, b.NDCG) })
		r.Worst = found[:min(worst, len(found))]
	}
	return r
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func macro(by map[string][]float64) float64 {
	var m []float64
	for _, k := range sorted(by) {
		m = append(m, mean(by[k]))
	}
	return round(mean(m), 4)
}

func means(to map[string]float64, from map[string][]float64) {
	for k, v := range from {
		to[k] = round(mean(v), 4)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Ablate runs the set once more without each part.
func (b *Bench) Ablate(ctx context.Context, set *Set, o Options) ([]Ablated, error) {
	var out []Ablated
	o.Budgets = false
	for _, p := range Parts() {
		if slices.Contains(o.Without, p) {
			continue
		}
		once := o
		once.Without = append(slices.Clone(o.Without), p)
		rows, err := b.Run(ctx, set, once)
		if err != nil {
			return nil, err
		}
		r := b.Summarize(rows, 0)
		out = append(out, Ablated{p, r.NDCG, r.Macro})
	}
	return out, nil
}

// Text is the report as a person reads it.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "NDCG@10 %.3f, macro over languages %.3f, recall@10 %.3f, MRR %.3f (%d tasks)\n", r.NDCG, r.Macro, r.Recall, r.MRR, r.Tasks)
	fmt.Fprintf(&b, "query p50 %.2f ms, p95 %.2f ms; index %.0f ms (median repository); %.0f tokens a reply\n", r.P50, r.P95, r.IndexMs, r.Tokens)
	for _, k := range sorted(r.ByCategory) {
		fmt.Fprintf(&b, "  %-16s %.3f  recall@10 %.3f\n", k, r.ByCategory[k], r.RecallBy[k])
	}
	for _, k := range sorted(r.ByLanguage) {
		fmt.Fprintf(&b, "  %-16s %.3f  95%% %.3f to %.3f\n", k, r.ByLanguage[k], r.Intervals[k][0], r.Intervals[k][1])
	}
	if len(r.RecallAt) > 0 {
		b.WriteString("documents found in the first tokens of 40 hits:")
		for _, n := range Budgets {
			fmt.Fprintf(&b, " %d: %.3f", n, r.RecallAt[fmt.Sprint(n)])
		}
		b.WriteByte('\n')
	}
	if r.Tasks > 0 {
		fmt.Fprintf(&b, "high or medium confidence: %.3f of what can be answered", r.Confident)
	}
	if r.Overconfident != nil {
		fmt.Fprintf(&b, ", %.3f of %d that cannot", *r.Overconfident, r.Nothing)
	}
	b.WriteByte('\n')
	if r.Visible != nil {
		fmt.Fprintf(&b, "labelled lines shown: %.3f of %d\n", *r.Visible, r.Labelled)
	}
	if r.Fit != nil {
		b.WriteString(r.Fit.text())
	}
	for _, a := range r.Ablation {
		fmt.Fprintf(&b, "  without %-14s %.4f (%+.4f)  macro %.4f (%+.4f)\n", a.Without, a.NDCG, a.NDCG-r.NDCG, a.Macro, a.Macro-r.Macro)
	}
	for _, w := range r.Worst {
		fmt.Fprintf(&b, "%.2f %s [%s] %q\n", w.NDCG, w.Repo, w.Category, w.Query)
		for i, p := range w.Relevant {
			fmt.Fprintf(&b, "     wanted %s, rank %d\n", p, w.Ranks[i])
		}
		for _, p := range w.Top {
			fmt.Fprintf(&b, "     got    %s\n", p)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
