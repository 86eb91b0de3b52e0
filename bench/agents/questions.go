package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
)

// lineSets are the sets of bench/asked whose answers are lines; of plain they are files.
var lineSets = []string{"names", "messages", "traces", "how", "issues"}

// questions returns the questions of the sets: those of bench/asked as its
// program prints them, and those of this folder.
func (o *options) questions() ([]scripted.Question, error) {
	var out []scripted.Question
	if slices.ContainsFunc(o.sets, func(s string) bool { return s != "tasks" }) && o.repos != "" {
		var sets []string
		for _, s := range o.sets {
			if s != "tasks" {
				sets = append(sets, s)
			}
		}
		args := []string{"-print", "-json", "-repos", o.repos, "-work", o.trees, "-set", join(sets)}
		if o.each > 0 {
			args = append(args, "-each", fmt.Sprint(o.each))
		}
		cmd := exec.Command(o.asked, args...)
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.asked, err)
		}
		for line := range bytes.Lines(said) {
			if bytes.HasPrefix(line, []byte("skipped:")) {
				os.Stdout.Write(line) // a repository that is not there
			}
		}
		if out, err = scripted.ReadQuestions(bytes.NewReader(said)); err != nil {
			return nil, err
		}
	}
	if slices.Contains(o.sets, "tasks") {
		qs, err := o.ownQuestions()
		if err != nil {
			return nil, err
		}
		out = append(out, qs...)
	}
	// Of a repository one tree after another; the questions of a tree together.
	slices.SortStableFunc(out, func(a, b scripted.Question) int { return order(a, b) })
	return out, nil
}

func order(a, b scripted.Question) int {
	for _, d := range []int{compare(a.Dir, b.Dir), compare(a.Repo, b.Repo), compare(a.Commit, b.Commit)} {
		if d != 0 {
			return d
		}
	}
	return 0
}

// ownQuestions are the tasks of this folder, about trees without documents.
func (o *options) ownQuestions() ([]scripted.Question, error) {
	files, err := filepath.Glob(filepath.Join(o.testdata, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []scripted.Question
	for _, f := range files {
		s, dir, err := o.prepare(f)
		if err != nil {
			fmt.Printf("skipped: %s: %v\n", f, err)
			continue
		}
		tasks := s.Tasks
		if o.each > 0 {
			tasks = tasks[:min(o.each, len(tasks))]
		}
		if len(s.Stores) > 0 {
			continue // a policy that greps has nothing to find
		}
		for _, t := range tasks {
			out = append(out, scripted.Question{ID: t.ID, Set: "tasks", Repo: s.Name, Dir: dir, Text: t.Question, Gold: t.Gold})
		}
	}
	return out, nil
}

// eachTree calls f for the questions of one tree after another.
func (o *options) eachTree(qs []scripted.Question,
	f func(dir string, t *window.Tree, qs []scripted.Question) error) error {
	for len(qs) > 0 {
		n := 1
		for n < len(qs) && order(qs[n], qs[0]) == 0 {
			n++
		}
		dir, err := checkout(qs[0], o.work)
		if err != nil {
			return err
		}
		t, err := window.ReadTree(dir)
		if err != nil {
			return err
		}
		if err := f(dir, t, qs[:n]); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		qs = qs[n:]
	}
	return nil
}
