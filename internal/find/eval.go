package find

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/eval"
)

// EvalRequest says what to measure. The zero value of every field but Tasks
// and Repos is its default.
type EvalRequest struct {
	Tasks   string // file of judged queries
	Repos   string // folder in which each repository lies under its name
	Mode    string // as of search.Request
	Detail  string
	Limit   int
	Without []string // signals and rankers to leave out
	Ablate  bool     // also without each of them
	Budgets bool     // also recall by tokens
	Fit     bool     // also fit the weights, and cross-validate them
	Worst   int      // list so many of the worst queries
}

// EvalReport is the reply of eval.
type EvalReport = eval.Report

// Eval measures search on judged queries. It works in a data directory of its
// own: below the one that --data-dir names, which keeps the indexes for the
// next time, else in a temporary one.
func Eval(ctx context.Context, a *app.App, r EvalRequest) (report EvalReport, err error) {
	for _, w := range r.Without {
		if !slices.Contains(eval.Parts(), w) {
			return EvalReport{}, kb.Errorf(kb.Invalid, "there is no part %q to leave out", w).WithHint("choose among %s", strings.Join(eval.Parts(), ", "))
		}
	}
	check := search.Request{Query: "x", Mode: r.Mode, Detail: r.Detail, Limit: r.Limit}
	if err := check.Complete(); err != nil {
		return EvalReport{}, err
	}
	set, err := eval.Load(r.Tasks)
	if err != nil {
		return EvalReport{}, err
	}
	file, err := config.Load(a.Config.Env)
	if err != nil {
		return EvalReport{}, err
	}
	engine := cmp.Or(a.Config.Engine, file.Engine)
	if err := app.CheckEngine(engine); err != nil {
		return EvalReport{}, err
	}
	emb, err := a.EmbedderOf(file)
	if err != nil {
		return EvalReport{}, err
	}
	dir := ""
	if a.Config.DataDir != "" {
		if dir, err = a.DataDirOf(file); err != nil {
			return EvalReport{}, err
		}
		dir = filepath.Join(dir, "eval")
	}
	b, err := eval.NewBench(ctx, dir, emb, engine)
	if err != nil {
		return EvalReport{}, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	o := eval.Options{Repos: r.Repos, Mode: r.Mode, Detail: r.Detail, Limit: r.Limit, Without: r.Without, Budgets: r.Budgets}
	rows, err := b.Run(ctx, &set, o)
	if err != nil {
		return EvalReport{}, err
	}
	report = b.Summarize(rows, r.Worst)
	if r.Ablate {
		if report.Ablation, err = b.Ablate(ctx, &set, o); err != nil {
			return EvalReport{}, err
		}
	}
	if r.Fit {
		f, err := b.Fit(ctx, &set, o)
		if err != nil {
			return EvalReport{}, err
		}
		report.Fit = &f
	}
	return report, nil
}
