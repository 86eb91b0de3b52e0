package source

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// repoFiles are what git makes of a repository at dir, bare or as its .git.
func repoFiles(dir string) map[string]string {
	return map[string]string{dir + "/HEAD": "ref: refs/heads/main\n", dir + "/config": "[core]\n", dir + "/objects/": "", dir + "/refs/": ""}
}

// linked adds what "git worktree add at" makes, with the path that its .git names.
func linked(files map[string]string, common, name, at, names string) {
	own := common + "/worktrees/" + name
	files[own+"/HEAD"], files[own+"/commondir"], files[own+"/gitdir"] = "x\n", "../..\n", at+"/.git\n"
	files[at+"/.git"] = "gitdir: " + names + "\n"
	files[at+"/copy.go"] = "package copy\n"
}

// Agents keep work trees of a repository inside its work tree
// (.claude/worktrees): each is the whole project once more, and none of it is
// a document of the project. Submodules and other repositories are.
func TestWorkTreesInsideTheWorkTree(t *testing.T) {
	files := repoFiles(".git")
	files["main.go"] = "package main\n"
	linked(files, ".git", "task", ".claude/worktrees/task", "ROOT/.git/worktrees/task")
	linked(files, ".git", "relative", "deep/er/relative", "../../.git/worktrees/relative")
	linked(files, ".git", "moved", "moved", "/where/it/was/.git/worktrees/moved") // as in a container
	files["unknown/.git"], files["unknown/u.go"] = "gitdir: /where/it/was/.git/worktrees/unknown\n", "package u\n"
	// A submodule, and a repository inside, which has a work tree of its own inside.
	files["sub/.git"], files["sub/s.go"] = "gitdir: ../.git/modules/sub\n", "package s\n"
	for name, text := range repoFiles(".git/modules/sub") {
		files[name] = text
	}
	for name, text := range repoFiles("nested/.git") {
		files[name] = text
	}
	files["nested/n.go"] = "package n\n"
	linked(files, "nested/.git", "w", "nested/w", "../.git/worktrees/w")
	linked(files, "nested/.git", "out", "of-nested", "../nested/.git/worktrees/out") // not inside its own
	dir := writeFiles(t, files)
	rooted(t, dir)

	s := open(t, folderSpec(dir))
	want := []string{"main.go", "nested/n.go", "of-nested/copy.go", "sub/s.go", "unknown/u.go"}
	if d := cmp.Diff(want, sources(t, s)); d != "" {
		t.Error(d)
	}
	if n := s.Skipped()[reasonWorkTree]; n != 4 {
		t.Errorf("%d work trees are counted", n)
	}
	tree, err := ListTree(t.Context(), folderSpec(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tree.Dirs() {
		if base := filepath.Base(d); base == "task" || base == "relative" || base == "moved" || base == "w" {
			t.Errorf("%s is watched", d)
		}
	}
	// It is a boundary below a part of the work tree too.
	if d := cmp.Diff([]string(nil), sources(t, open(t, folderSpec(filepath.Join(dir, ".claude"))))); d != "" {
		t.Error(d)
	}
	// From within a work tree, and by its name, it is what was asked for.
	if d := cmp.Diff([]string{"copy.go"}, sources(t, open(t, folderSpec(filepath.Join(dir, "moved"))))); d != "" {
		t.Error(d)
	}
	named := folderSpec(dir)
	named.Selection.Paths = []string{"moved"}
	if d := cmp.Diff([]string{"moved/copy.go"}, sources(t, open(t, named))); d != "" {
		t.Error(d)
	}
}

// The work tree around may be a linked one itself, of a bare repository.
func TestWorkTreesInsideALinkedWorkTree(t *testing.T) {
	files := repoFiles(".bare")
	files[".git"] = "gitdir: ./.bare\n"
	linked(files, ".bare", "main", "main", "../.bare/worktrees/main")
	linked(files, ".bare", "task", "main/.claude/worktrees/task", "ROOT/.bare/worktrees/task")
	dir := writeFiles(t, files)
	rooted(t, dir)
	if d := cmp.Diff([]string{"copy.go"}, sources(t, open(t, folderSpec(filepath.Join(dir, "main"))))); d != "" {
		t.Error(d)
	}
	// In the folder that holds them all nothing but work trees and a repository lies.
	s := open(t, folderSpec(dir))
	if d := cmp.Diff([]string(nil), sources(t, s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{reasonWorkTree: 1, reasonRepository: 1}, s.Skipped()); d != "" {
		t.Error(d)
	}
}

// rooted puts the path of dir for ROOT in the .git files below.
func rooted(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != ".git" {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(p, []byte(strings.ReplaceAll(string(b), "ROOT", dir)), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sources lists the Go files of a snapshot.
func sources(t *testing.T, s interface {
	Walk(ctx context.Context, fn func(kb.Entry) error) error
}) []string {
	t.Helper()
	var out []string
	err := s.Walk(t.Context(), func(e kb.Entry) error {
		if strings.HasSuffix(e.Path, ".go") {
			out = append(out, e.Path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A directory that says of itself that it is a cache is one, whatever it is
// called; Cargo's target does. So is what tools are known to call theirs.
func TestCachesAndLocksAreLeftOut(t *testing.T) {
	tag := "Signature: 8a477f597d28d172789f06886806bc55\n# made by a tool\n"
	files := map[string]string{
		"a.go": "package a\n", "target/CACHEDIR.TAG": tag, "target/doc/b.go": "package b\n",
		"docs/CACHEDIR.TAG": "about the format\n", "docs/c.go": "package c\n",
		"node_modules/.cache/x/d.go": "package d\n", "web/.next/cache/e.go": "package e\n",
		"Chart.lock": "x", "run/server.LOCK": "x", ".~lock.plan.odt#": "x", ".ai_evidence.json": "{}", ".eslintcache": "[]",
	}
	for _, name := range strings.Fields(".pytest_cache __pycache__ .mypy_cache .ruff_cache .tox .gradle .terraform .turbo .zig-cache .jekyll-cache") {
		files["sub/"+name+"/x.go"] = "package x\n"
	}
	s := open(t, folderSpec(writeFiles(t, files)))
	if d := cmp.Diff([]string{"a.go", "docs/CACHEDIR.TAG", "docs/c.go"}, listing(t, s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{reasonCache: 13, reasonVendored: 1, reasonLockfile: 3, reasonIgnored: 1}, s.Skipped()); d != "" {
		t.Error(d)
	}
	all := folderSpec(s.(*folder).dir)
	all.Selection.All = true // lock files are asked for, caches are not
	got := listing(t, open(t, all))
	if !slices.Contains(got, "Chart.lock") || slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, ".cache") }) {
		t.Errorf("got %q", got)
	}
}

// A data directory whose database is gone, or which is being made, is one
// still; a folder that only has such names is not.
func TestDataDirectoriesInPieces(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.md": "a\n",
		"lost/generations/abcdefghijklmnop-3-host.gen": "x", "lost/segments/": "", "lost/worker.log": "l\n",
		"new/.gitignore": "# made by knowledge, which keeps its data here\n*\n", "new/x.md": "x\n",
		"app/generations/z.md": "z\n", "app/segments/y.md": "y\n",
		"bare.git/HEAD": "x", "bare.git/config": "url = https://user:password@host\n", "bare.git/objects/": "", "bare.git/refs/": "",
		"kept/HEAD": "x\n", "kept/objects/o.md": "o\n",
	})
	s := open(t, folderSpec(dir))
	if d := cmp.Diff([]string{"a.md", "app/generations/z.md", "app/segments/y.md", "kept/HEAD", "kept/objects/o.md"}, listing(t, s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{reasonData: 2, reasonRepository: 1}, s.Skipped()); d != "" {
		t.Error(d)
	}
}

// The rules of a folder may be above it, and in the repository: a watch of the
// folder watches them too.
func TestTreeOfRulesFromElsewhere(t *testing.T) {
	files := repoFiles(".git")
	files[".git/info/exclude"], files["pkg/lib/a.go"], files["pkg/other/b.go"] = "", "package a\n", "package b\n"
	dir := writeFiles(t, files)
	tree, err := ListTree(t.Context(), folderSpec(filepath.Join(dir, "pkg", "lib")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range tree.Dirs() {
		rel, err := filepath.Rel(dir, d)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if d := cmp.Diff([]string{"pkg/lib", "pkg", ".", ".git/info"}, got); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]bool{".gitignore": true, "pkg/.gitignore": true, ".git/info/exclude": true, "pkg/lib/a.go": true, "pkg/other": false, "README.md": false} {
		if tree.Wants(filepath.Join(dir, filepath.FromSlash(name)), false) != want {
			t.Errorf("%s: wanted %v", name, !want)
		}
	}
}
