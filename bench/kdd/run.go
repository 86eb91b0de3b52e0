package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

type options struct {
	repo, specs, questions, out string
	aside, show                 bool
	made                        int
}

func run(o options) error {
	j, err := load(o.questions)
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("kdd")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	bin := filepath.Join(scratch, "knowledge")
	if err := lab.Build(".", bin, "./cmd/knowledge"); err != nil {
		return err
	}
	dir, skipped := checkout(o, j, scratch)
	if skipped != "" {
		fmt.Println("skipped:", skipped)
		return nil
	}
	var r lab.Report
	r.Printf("# Specifications, %s\n\n%s. Load averages %s at the start. Written by `.ci/extra kdd`.\n\n", time.Now().Format(time.DateOnly), lab.Machine(), lab.Load())
	c, err := lab.Dial(dir, lab.Env(filepath.Join(scratch, "data")), bin, lab.Handshake)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := settle(c); err != nil {
		return err
	}
	if err := questions(&r, c, dir, j, o); err != nil {
		return err
	}
	fmt.Print(r.String())
	return nil
}

// settle has the own folder indexed, and waits for that.
func settle(c *lab.Client) error {
	// The first question starts it, and may be refused for want of anything indexed.
	_, _ = c.Call("execute", map[string]any{"command": "kdd:stats"})
	for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		var active struct {
			Jobs []struct{} `json:"jobs"`
		}
		if err := c.Execute("jobs", map[string]any{"activeOnly": true}, &active); err != nil {
			return err
		}
		if len(active.Jobs) == 0 {
			return nil
		}
	}
	return fmt.Errorf("a job did not end in ten minutes")
}

func questions(r *lab.Report, c *lab.Client, dir string, j judged, o options) error {
	sums, _, err := ask(c, dir, j, o.aside)
	if err != nil {
		return err
	}
	rows := [][]string{{"questions", "asked", "MRR of the document", "MRR of the section", "first"}}
	for _, name := range lab.Keys(sums) {
		rows = append(rows, sums[name].row(name))
	}
	r.Table(rows...)
	for _, m := range sums["open"].missed {
		r.Printf("- %s\n", m)
	}
	if o.show && sums["aside"] != nil {
		for _, m := range sums["aside"].missed {
			r.Printf("- aside: %s\n", m)
		}
	}
	return nil
}

// checkout returns a folder with the files of the judged commit, or why there is none.
func checkout(o options, j judged, scratch string) (dir, skipped string) {
	from := j.Repository
	if o.repo != "" {
		from = o.repo
		if abs, err := filepath.Abs(from); err == nil {
			from = abs
		}
	}
	dir = filepath.Join(scratch, "kb-engine")
	if _, err := lab.Command(".", nil, "git", "clone", "-q", from, dir); err != nil {
		return "", fmt.Sprintf("%s cannot be cloned: %v", from, err)
	}
	if _, err := lab.Command(dir, nil, "git", "checkout", "-q", j.Commit); err != nil {
		return "", fmt.Sprintf("%s has no commit %s", from, j.Commit)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err.Error()
	}
	return real, ""
}
