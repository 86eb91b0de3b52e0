package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// trees are the checkouts below the work folder, which stays between runs:
//
//	trees/NAME         the root of a repository that is indexed
//	whole/NAME         all of it, for questions to its documentation
//	history/NAME       the parent of one commit after another
//	data/…             the data directory of each kind
type trees struct {
	repos, work string
	table       map[string]repository
	history     map[string]map[string]string // of each history/NAME: path to object
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

func (t *trees) git(name string) (string, error) {
	r, ok := t.table[name]
	if !ok {
		return "", fmt.Errorf("no repository %s in the table", name)
	}
	dir, _, err := lab.Repository(t.repos, r.GitHub, r.Revision)
	return dir, err
}

// tree exports a repository at its revision, once.
func (t *trees) tree(name string, whole bool) (string, error) {
	r := t.table[name]
	dir := filepath.Join(t.work, "trees", name)
	if whole {
		dir = filepath.Join(t.work, "whole", name)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err == nil {
		return dir, nil
	}
	repo, err := t.git(name)
	if err != nil {
		return "", err
	}
	err = lab.Export(repo, r.Revision, dir, func(p string) bool {
		return whole || r.Root == "" || strings.HasPrefix(p, r.Root+"/")
	})
	if err != nil {
		return "", err
	}
	return dir, fakeGit(dir)
}

// at makes history/NAME the tree of a commit; what stays the same is left alone.
func (t *trees) at(name, commit string) (string, error) {
	repo, err := t.git(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(t.work, "history", name)
	had := t.history[name]
	if had == nil {
		// Nothing is known of what lies there.
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
		if err := fakeGit(dir); err != nil {
			return "", err
		}
	}
	list, err := exec.Command("git", "-C", repo, "ls-tree", "-r", "-z", commit).Output()
	if err != nil {
		return "", err
	}
	now, changed := map[string]string{}, map[string]bool{}
	for line := range strings.SplitSeq(string(list), "\x00") {
		info, p, ok := strings.Cut(line, "\t")
		f := strings.Fields(info)
		if !ok || len(f) != 3 || f[1] != "blob" || f[0] == "120000" {
			continue
		}
		now[p] = f[2]
		if had[p] != f[2] {
			changed[p] = true
		}
	}
	for p := range had {
		if now[p] == "" {
			_ = os.Remove(filepath.Join(dir, filepath.FromSlash(p)))
			_ = os.Remove(filepath.Join(dir, filepath.FromSlash(path.Dir(p)))) // when it is empty
		}
	}
	if err := lab.Export(repo, commit, dir, func(p string) bool { return changed[p] }); err != nil {
		return "", err
	}
	t.history[name] = now
	return dir, nil
}
