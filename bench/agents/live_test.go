package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
)

func TestPlaced(t *testing.T) {
	gold := []task.Place{{Path: "mill/stone.go", From: 10, To: 20, Name: "Mill.Grind"},
		{Path: "mill/wheel.go", From: 3, To: 9, Name: "Brake"}}
	for answer, want := range map[string]int{
		"The stones: mill/stone.go:12-14 and ./mill/wheel.go:3": 2,
		"Grind in mill/stone.go does it":                        1,
		"stone.go, function Grind; Brake in wheel.go":           2,
		"mill/stone.go:30-40":                                   0,
		"Grind does it":                                         0, // which of the files?
		"":                                                      0,
		"mill/sandstone.go:12":                                  0,
	} {
		if got := placed(answer, gold); got != want {
			t.Errorf("%q names %d places, not %d", answer, got, want)
		}
	}
}

func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	if got := interval(rng, []float64{1, 1, 1}, []float64{2, 2, 2}, true); got != "0.50 [0.50, 0.50]" {
		t.Error(got)
	}
	if got := interval(rng, []float64{1, 1}, []float64{0, 0}, false); got != "+1.00 [+1.00, +1.00]" {
		t.Error(got)
	}
}

// TestLive runs a batch with an agent that is a shell script, grades it and
// compares it with itself.
func TestLive(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell: the agent of this test is a script")
	}
	work := t.TempDir()
	o, err := parse([]string{"-work", work, "-trees", work, "-testdata", filepath.Join(work, "sets")})
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(o.work, "sources", "012345678901-0", "mill")
	set := `{"name":"mill","repository":"a/mill","commit":"0123456789012345678901234567890123456789","tasks":[
		{"id":"where-01","kind":"where","question":"Where?","rubric":"r","least":1,
			"gold":[{"path":"stone.go","from":1,"to":2,"name":"Grind"}]},
		{"id":"how-01","kind":"how","question":"How?","rubric":"r","least":1,
			"gold":[{"path":"stone.go","from":1,"to":2,"name":"Grind"}]}]}`
	for name, text := range map[string]string{
		filepath.Join(root, "stone.go"): "package mill\nfunc Grind() {}\n", filepath.Join(root, ".git", "HEAD"): "x",
		filepath.Join(work, "sets", "mill.json"): set,
		// The look of this test answers whatever is asked and notes the call.
		filepath.Join(work, "look"): "#!/bin/sh\necho \"$@\" >>" + work + "/called\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o.live.look = filepath.Join(work, "look")
	o.live.command = `test "$(ls | wc -l)" = 0 && cat >/dev/null && ../bin/look next`
	o.rest = []string{filepath.Join(work, "sets", "mill.json")}
	for range 2 { // a second attempt has a folder of its own
		if err := o.run(); err != nil {
			t.Fatal(err)
		}
	}
	runs, _ := filepath.Glob(filepath.Join(o.work, "runs", "*"))
	if len(runs) != 2 {
		t.Fatal(runs)
	}
	called, _ := os.ReadFile(filepath.Join(work, "called"))
	if !strings.Contains(string(called), "-run "+runs[0]+" next") {
		t.Errorf("the agent called %q", called)
	}
	run, err := os.ReadFile(filepath.Join(runs[0], "run.json"))
	if err != nil || strings.Contains(string(run), "gold") || strings.Contains(string(run), "stone.go") {
		t.Errorf("what an agent can read has the answers: %s", run)
	}
	for _, x := range []trial.Answer{{Question: "where-01", Text: "stone.go:2"}, {Question: "how-01", Text: "somewhere"}} {
		if err := trial.Append(runs[0], "answers.jsonl", x); err != nil {
			t.Fatal(err)
		}
	}
	o.rest, o.live.grades, o.out = runs, filepath.Join(work, "grades.jsonl"), filepath.Join(work, "sheet.md")
	if err := o.sheet(); err != nil {
		t.Fatal(err)
	}
	sheet, _ := os.ReadFile(o.out)
	grades, _ := os.ReadFile(o.live.grades)
	if strings.Contains(string(sheet), "grep") || strings.Contains(string(sheet), "somewhere") ||
		strings.Count(string(grades), "\n") != 1 {
		t.Errorf("%s\n%s", sheet, grades)
	}
	if err := o.report(); err == nil {
		t.Error("an answer without a grade was counted")
	}
	if err := os.WriteFile(o.live.grades, []byte(strings.Replace(string(grades), "null", "true", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := o.report(); err != nil {
		t.Fatal(err)
	}
	// One right answer of four attempts: two questions, two runs.
	if report, _ := os.ReadFile(o.out); !strings.Contains(string(report), "| grep | 2 | 2 | 0.25 |") {
		t.Errorf("%s", report)
	}
}

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "knowledge"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+"/bin")
	t.Setenv("KNOWLEDGE_DATA_DIR", dir)
	ours := func(kv string) bool { return strings.HasPrefix(kv, "KNOWLEDGE") }
	if env := environment(trial.Grep); !slices.Contains(env, "PATH=/bin") || slices.ContainsFunc(env, ours) {
		t.Errorf("the control arm can reach the product: %v", env)
	}
	if env := environment(trial.CLI); slices.Contains(env, "PATH=/bin") {
		t.Error("the other arms keep their path")
	}
}

func TestPrompt(t *testing.T) {
	grep, mcp := promptFor("/x/look", ""), promptFor("/x/look", "Ask first.\nsearch: Finds.")
	if strings.Contains(grep, "search") || !strings.Contains(mcp, "/x/look search") || !strings.Contains(mcp, "    search: Finds.\n") || strings.Contains(mcp, "LOOK") {
		t.Error(grep, mcp)
	}
}
