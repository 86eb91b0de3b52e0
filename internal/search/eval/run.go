package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// Options say how the queries are asked.
type Options struct {
	Repos   string   // folder in which each repository lies under its name
	Mode    string   // as of search; a task's own goes first
	Detail  string   // as of search
	Limit   int      // as of search; 0 is 10
	Without []string // signals and rankers that are left out, see rank.Parts
	// Keep chooses among the tasks; nil keeps all.
	Keep func(*Task) bool
	// Dir tells where a repository lies; nil: below Repos.
	Dir func(*Repo) string
	// Budgets asks every query a second time, for 40 hits, to see what the
	// first tokens of a longer answer hold.
	Budgets bool
}

// Row is what became of one task.
type Row struct {
	Repo       string   `json:"repo"`
	Query      string   `json:"query"`
	Category   string   `json:"category,omitempty"`
	Language   string   `json:"language"`
	NDCG       float64  `json:"ndcg"`
	Ranks      []int    `json:"ranks"` // of each relevant place, 0 when it is not among the hits
	Relevant   []string `json:"relevant"`
	Top        []string `json:"top"` // the first hits
	Confidence string   `json:"confidence"`
	Score      float64  `json:"score"`   // of the first hit
	Visible    bool     `json:"visible"` // a labelled line is among those shown
	Labelled   bool     `json:"-"`       // has labelled lines
	Tokens     int      `json:"tokens"`
	Ms         float64  `json:"ms"`
	// AtTokens is the share of the relevant documents among the hits that fit
	// into the first Budgets tokens.
	AtTokens []float64 `json:"-"`
}

// Budgets are the tokens after which recall is looked at.
var Budgets = []int{500, 1000, 2000}

// Run indexes what the set asks about and asks it.
func (b *Bench) Run(ctx context.Context, set *Set, o Options) ([]Row, error) {
	var rows []Row
	for i := range set.Tasks {
		t := &set.Tasks[i]
		if o.Keep != nil && !o.Keep(t) {
			continue
		}
		r := set.repo(t.Repo)
		dir := filepath.Join(o.Repos, r.Name)
		if o.Dir != nil {
			dir = o.Dir(r)
		}
		kb.Report(ctx, kb.Progress{Phase: "eval", Done: int64(i), Total: int64(len(set.Tasks))})
		at, err := b.open(ctx, r, dir)
		if err != nil {
			return nil, err
		}
		row, err := b.ask(ctx, at, r, t, &o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (b *Bench) ask(ctx context.Context, at *target, r *Repo, t *Task, o *Options) (Row, error) {
	req := search.Request{Query: t.Query, Mode: cmp.Or(t.Mode, o.Mode), Intent: t.Intent, Detail: o.Detail, Limit: o.Limit, Without: o.Without}
	if !at.warm {
		// The first query of an index reads and checks what the others find in memory.
		if _, err := search.Run(ctx, []search.Target{at.Target}, b.embedder, req); err != nil {
			return Row{}, err
		}
		at.warm = true
	}
	began := time.Now()
	reply, err := search.Run(ctx, []search.Target{at.Target}, b.embedder, req)
	if err != nil {
		return Row{}, err
	}
	row := Row{
		Repo: t.Repo, Query: t.Query, Category: cmp.Or(t.Category, "other"), Language: r.language(),
		Confidence: reply.Confidence, Tokens: reply.Tokens, Ms: float64(time.Since(began).Microseconds()) / 1000,
		Ranks: make([]int, len(t.Relevant)), Relevant: []string{}, Top: []string{},
	}
	if len(reply.Hits) > 0 {
		row.Score = reply.Hits[0].Score
	}
	for i := range reply.Hits {
		p := placeOf(&reply.Hits[i], r.Root)
		if i < 5 {
			row.Top = append(row.Top, reply.Hits[i].At)
		}
		for j := range t.Relevant {
			if row.Ranks[j] == 0 && t.Relevant[j].matches(&p) {
				row.Ranks[j] = i + 1
			}
		}
		row.Visible = row.Visible || i < Depth && shows(&reply.Hits[i], p, t.Relevant)
	}
	for _, x := range t.Relevant {
		row.Relevant = append(row.Relevant, x.Path)
		row.Labelled = row.Labelled || x.Start > 0
	}
	row.NDCG = ndcg(row.Ranks)
	if o.Budgets && len(t.Relevant) > 0 {
		req.Limit, req.Detail = 40, "minimal"
		if reply, err = search.Run(ctx, []search.Target{at.Target}, b.embedder, req); err != nil {
			return Row{}, err
		}
		row.AtTokens = within(&reply, r.Root, t.Relevant)
	}
	return row, nil
}

// shows reports whether the lines that a hit shows are some of those labelled.
func shows(h *search.Hit, p place, relevant []Relevant) bool {
	if h.Code == "" {
		return false
	}
	p.start, p.end = h.Line, h.Line+strings.Count(h.Code, "\n")
	return slices.ContainsFunc(relevant, func(r Relevant) bool { return r.Start > 0 && r.Heading == "" && r.matches(&p) })
}

// within returns, for each of Budgets, the share of the relevant documents
// among the hits whose text ends within so many tokens of the reply.
func within(reply *search.Reply, root string, relevant []Relevant) []float64 {
	docs := map[string]bool{}
	for _, r := range relevant {
		docs[r.Path] = true
	}
	share := 1 / float64(len(docs))
	found := make([]float64, len(Budgets))
	used := 0
	for i := range reply.Hits {
		h := reply.Hits[i]
		h.Store = "" // said once for all hits
		used += hitTokens(h)
		p := placeOf(&h, root)
		for d := range docs {
			if !suffix(p.path, d) && !suffix(d, p.path) {
				continue
			}
			delete(docs, d)
			for j, b := range Budgets {
				if used <= b {
					found[j] += share
				}
			}
		}
	}
	return found
}

func hitTokens(h search.Hit) int {
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if enc.Encode(h) != nil {
		return 0
	}
	return tokens.Estimate(s.String())
}

// Parts returns the names that Options.Without takes.
func Parts() []string { return rank.Parts() }

func round(x float64, digits int) float64 {
	k := math.Pow(10, float64(digits))
	return math.Round(x*k) / k
}
