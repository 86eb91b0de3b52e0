package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// asker asks the product in one folder.
type asker struct {
	program, dir string
	env          []string
}

// newAsker has a folder indexed to the end.
func newAsker(program, dir, data string) (*asker, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	a := &asker{program, dir, lab.Env(data)}
	if _, err := a.line("search", "--wait", "--yes", "--json", "--limit", "1", "first"); err != nil {
		return nil, err
	}
	for until := time.Now().Add(15 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		said, err := a.line("jobs", "--active-only", "--json")
		if err != nil || !strings.Contains(said, `"type"`) {
			return a, err
		}
	}
	return a, fmt.Errorf("a job in %s did not end in fifteen minutes", dir)
}

// line runs one command of the program with its output in a pipe.
func (a *asker) line(args ...string) (string, error) {
	return lab.Command(a.dir, a.env, a.program, args...)
}

// search returns what policy B asks with; options are flags of search.
func (a *asker) search(options []string) func(string) (string, string, error) {
	return func(query string) (string, string, error) {
		args := append(append([]string{"search"}, options...), "--", query)
		reply, err := a.line(args...)
		return "knowledge " + strings.Join(args, " "), reply, err
	}
}

// checkout returns the tree of a question: its folder, or its commit below work.
func checkout(q scripted.Question, work string) (string, error) {
	if q.Dir != "" {
		return q.Dir, nil
	}
	dir := filepath.Join(work, "history", q.Repo)
	mark := filepath.Join(work, "history", q.Repo+".commit")
	if b, err := os.ReadFile(mark); err == nil && string(b) == q.Commit {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := lab.Export(q.Git, q.Commit, dir, func(string) bool { return true }); err != nil {
		return "", err
	}
	if err := fakeGit(dir); err != nil {
		return "", err
	}
	return dir, os.WriteFile(mark, []byte(q.Commit), 0o644)
}

// fakeGit makes a folder a project.
func fakeGit(dir string) error {
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
}
