package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
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

// stores has the stores of a set indexed, in the project of the folder, where
// they are not yet.
func (a *asker) stores(s *task.Set) error {
	dirs, err := folders(s)
	if err != nil || len(dirs) == 0 {
		return err
	}
	have, err := a.line("stores", "--json")
	if err != nil {
		return err
	}
	for _, source := range s.Stores {
		name := storeName(source)
		if strings.Contains(have, `"`+name+`"`) {
			continue
		}
		if said, err := a.line("store:create", dirs[source], "--type", "file", "--name", name); err != nil {
			return fmt.Errorf("%s: %w\n%s", source, err, said)
		}
	}
	return nil
}

// storeName is what a store is called: the last name of its module that is no
// number of a version.
func storeName(source string) string {
	module, _, _ := strings.Cut(strings.TrimPrefix(source, task.Module), "@")
	name := path.Base(module)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(module))
	}
	return name
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
