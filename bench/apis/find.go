package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/apis"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// task is one line of a judged set.
type task struct {
	ID, Task, Lang string
	Order          bool
	Want           []struct{ Method, Path string }
	Args           map[string]json.RawMessage
}

// asked is one line of the queries of a model.
type asked struct{ ID, Query, Then string }

func lines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// mostTokens is what finding and calling an operation may cost an agent.
const mostTokens = 1500

// find imports a document and asks for the operation of each task, in the words of
// the task and in those of a model. An operation is found when the reply shows it
// and reply and calls together cost at most mostTokens.
func find(document, tasksFile, queriesFile, out string) error {
	dir, err := lab.Scratch("apis")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		return err
	}
	a, err := product.New(app.Config{Version: "bench", DataDir: filepath.Join(dir, "data"), Dir: dir, Env: func(n string) string {
		return map[string]string{"KNOWLEDGE_CONFIG": config}[n]
	}})
	if err != nil {
		return err
	}
	defer a.Close()
	ctx := context.Background()
	if document, err = filepath.Abs(document); err != nil {
		return err
	}
	if _, err := apis.ImportFrom(ctx, a, apis.ImportAPI{Source: document, Code: "github"}); err != nil {
		return err
	}
	tasks, err := lines[task](tasksFile)
	if err != nil {
		return err
	}
	queries, err := lines[asked](queriesFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var r lab.Report
	r.Printf("# Operations found by what they do\n\n%s, %s.\n\n    .ci/extra apis -find api.github.com.json\n\n", time.Now().Format(time.DateOnly), lab.Machine())
	var rows, missed [][]string
	for _, way := range []string{"the task's own words", "a model's question"} {
		c := counter{}
		for _, t := range tasks {
			words := []string{t.Task}
			if way != "the task's own words" {
				i := slices.IndexFunc(queries, func(q asked) bool { return q.ID == t.ID })
				if i < 0 {
					continue
				}
				words = []string{queries[i].Query}
				if queries[i].Then != "" {
					words = append(words, queries[i].Then)
				}
			}
			why, err := c.ask(ctx, a, t, words)
			if err != nil {
				return err
			}
			if why != "" {
				missed = append(missed, []string{way, t.ID, why, words[0]})
			}
		}
		rows = append(rows, []string{way, fmt.Sprint(c.all), fmt.Sprint(c.first), fmt.Sprint(c.found), fmt.Sprintf("%.0f %%", 100*float64(c.found)/float64(max(1, c.all))),
			fmt.Sprint(c.tokens / max(1, c.all)), fmt.Sprint(c.worst), lab.Ms(c.took / time.Duration(max(1, c.asks)))})
	}
	r.Table(slices.Insert(rows, 0, []string{"asked with", "tasks", "first", "shown within the bound", "share", "tokens, mean", "tokens, most", "time of a question"})...)
	if err := helps(ctx, a, &r); err != nil {
		return err
	}
	r.Printf("\nNot found:\n\n")
	r.Table(slices.Insert(missed, 0, []string{"asked with", "task", "rank", "question"})...)
	fmt.Print(r.String())
	p, err := r.Write(out, "apis-found")
	if err == nil {
		fmt.Println("written to", p)
	}
	return err
}

type counter struct {
	all, first, found, tokens, worst, asks int
	took                                   time.Duration
}

// ask asks for the operations of a task and counts what it cost. why is "" when all
// that is needed was shown within the bound.
func (c *counter) ask(ctx context.Context, a *app.App, t task, words []string) (why string, err error) {
	c.all++
	var shown []string
	cost := 0
	for _, q := range words {
		start := time.Now()
		reply, err := apis.List(ctx, a, apis.Which{Query: q})
		if err != nil {
			return "", err
		}
		c.took += time.Since(start)
		c.asks++
		text, err := json.Marshal(reply)
		if err != nil {
			return "", err
		}
		call, err := json.Marshal(map[string]string{"query": q})
		if err != nil {
			return "", err
		}
		cost += tokens.Estimate(string(text)) + tokens.Estimate(string(call)) + 10
		for _, f := range reply.Found {
			shown = append(shown, f.Name)
		}
	}
	args, err := json.Marshal(map[string]any{"name": "github_of_an_operation", "arguments": t.Args})
	if err != nil {
		return "", err
	}
	steps := 1
	if t.Order {
		steps = len(t.Want)
	}
	cost += steps * tokens.Estimate(string(args))
	c.tokens += cost
	c.worst = max(c.worst, cost)
	have, best := 0, 0
	for _, w := range t.Want {
		name, err := nameOf(ctx, a, w.Method, w.Path)
		if err != nil {
			return "", err
		}
		if i := slices.Index(shown, name); i >= 0 {
			have++
			if best == 0 || i+1 < best {
				best = i + 1
			}
		}
	}
	if best == 1 {
		c.first++
	}
	switch {
	case have < steps:
		return fmt.Sprintf("%d of %d shown", have, steps), nil
	case cost > mostTokens*len(words):
		return fmt.Sprintf("%d tokens", cost), nil
	}
	c.found++
	return "", nil
}

// nameOf returns the name of an operation's tool.
func nameOf(ctx context.Context, a *app.App, method, path string) (string, error) {
	name, err := apis.Named(ctx, a, method, path)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, strings.TrimSpace(path), err)
	}
	return name, nil
}

// helps asks for the help of every operation and reports what it costs.
func helps(ctx context.Context, a *app.App, r *lab.Report) error {
	ops, err := apis.Operations(ctx, a, "github")
	if err != nil {
		return err
	}
	var costs []int
	cut := 0
	for _, op := range ops {
		h, err := apis.Help(ctx, a, op.Name, false)
		if err != nil {
			return err
		}
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		costs = append(costs, tokens.Estimate(string(text)))
		if h.Note != "" {
			cut++
		}
	}
	slices.Sort(costs)
	r.Printf("\nThe help of an operation, of %d: median %d tokens, 99th percentile %d, most %d; %d are shortened.\n",
		len(costs), costs[len(costs)/2], costs[len(costs)*99/100], costs[len(costs)-1], cut)
	return nil
}
