package find

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

type evalIn struct {
	Tasks   string   `json:"tasks" help:"file of judged queries; docs/eval.md describes it"`
	Repos   string   `json:"repos" help:"folder in which each repository of the tasks lies under its name"`
	Without []string `json:"without,omitempty" help:"signals or rankers to leave out"`
	Mode    string   `json:"mode,omitempty" enum:"hybrid|vector|fts" help:"how to look (default hybrid)"`
	Ablate  bool     `json:"ablate,omitempty" help:"also measure without each signal"`
	Fit     bool     `json:"fit,omitempty" help:"also fit the weights of the ranking to the tasks, each repository's without its own"`
	Detail  string   `json:"detail,omitempty" enum:"minimal|contextual|full" help:"how much to show of each hit (default minimal)"`
	Limit   int      `json:"limit,omitempty" help:"at most this many hits a query (default 10)"`
	Budgets bool     `json:"budgets,omitempty" help:"also measure what the first tokens of a longer answer hold"`
	Worst   int      `json:"worst,omitempty" help:"list so many of the worst queries"`
}

func runEval(ctx context.Context, a *app.App, in evalIn) (EvalReport, error) {
	return Eval(ctx, a, EvalRequest{Tasks: in.Tasks, Repos: in.Repos, Mode: in.Mode, Detail: in.Detail, Limit: in.Limit,
		Without: in.Without, Ablate: in.Ablate, Fit: in.Fit, Budgets: in.Budgets, Worst: in.Worst})
}
