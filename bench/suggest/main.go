// Command suggest compares what suggest names with the list in judged.json: it
// checks out the commits of the list, analyses them, and counts how many of
// the first ten rows name a dependency with the version in use and the right
// repository. It also measures the analysis of a made project of 5,000 files.
//
//	suggest [-repos DIR] [-aside] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo. What is not there is fetched, and skipped if that fails.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

type judged struct {
	Projects []struct {
		Project, Commit, Ecosystem string
		Aside                      bool
		Dependencies               []struct{ Name, Version, Repository, Tag string }
	}
}

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	list := flag.String("judged", "bench/suggest/judged.json", "the list")
	aside := flag.Bool("aside", false, "look at the projects that are kept aside, too")
	out := flag.String("out", "", "write the report there")
	flag.Parse()
	if err := run(*repos, *list, *aside, *out); err != nil {
		fmt.Fprintln(os.Stderr, "suggest:", err)
		os.Exit(1)
	}
}

// score counts the rows of one project.
type score struct {
	rows, right, tags, tagged int
	wrong                     []string
}

func run(repos, list string, aside bool, out string) error {
	raw, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var j judged
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "suggest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var b strings.Builder
	b.WriteString("| project | ecosystem | aside | source files | ms | rows | right | tags known | right |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n")
	var all score
	n := 0
	var wrong []string
	for _, p := range j.Projects {
		if p.Aside && !aside {
			continue
		}
		dir := filepath.Join(tmp, strings.ReplaceAll(p.Project, "/", "+"))
		if err := checkout(repos, p.Project, p.Commit, dir); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", p.Project, err)
			continue
		}
		start := time.Now()
		r, err := deps.Analyze(context.Background(), dir)
		took := time.Since(start)
		if err != nil {
			return err
		}
		var s score
		for _, row := range follow.SuggestRows(r.Dependencies, "https://github.com/"+p.Project, 10) {
			s.rows++
			ok := false
			for _, d := range p.Dependencies {
				if !strings.EqualFold(d.Name, row.Name) || strings.TrimPrefix(d.Version, "v") != strings.TrimPrefix(row.Version, "v") ||
					!strings.EqualFold(d.Repository, row.Repository) {
					continue
				}
				ok = true
				if d.Tag != "" && row.Tag != "" {
					s.tagged++
					if d.Tag == row.Tag {
						s.tags++
					} else {
						s.wrong = append(s.wrong, fmt.Sprintf("tag %s, not %s", row.Tag, d.Tag))
					}
				}
				break
			}
			if ok {
				s.right++
			} else {
				s.wrong = append(s.wrong, strings.TrimSpace(fmt.Sprintf("%s %s %s", row.Name, row.Version, row.Repository)))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", p.Project, p.Ecosystem, map[bool]string{true: "yes"}[p.Aside],
			r.Files, took.Milliseconds(), s.rows, s.right, s.tagged, s.tags)
		for _, w := range s.wrong {
			wrong = append(wrong, p.Project+": "+w)
		}
		all.rows, all.right, all.tagged, all.tags = all.rows+s.rows, all.right+s.right, all.tagged+s.tagged, all.tags+s.tags
		n++
	}
	fmt.Fprintf(&b, "\n%d projects, %d rows, precision %.3f; of %d tags that are judged %d are right.\n", n, all.rows, float64(all.right)/float64(max(all.rows, 1)), all.tagged, all.tags)
	if len(wrong) > 0 {
		b.WriteString("\nNot as judged:\n\n")
		for _, w := range wrong {
			b.WriteString("- " + w + "\n")
		}
	}
	times, err := large(tmp)
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nA made project of 5,000 source files (Go, TypeScript, Python, Rust and Java, 8 KB each, with manifests and lockfiles of 2,000 packages): %s ms, median %d ms.\n",
		strings.Join(times, ", "), median(times))
	fmt.Print(b.String())
	if out == "" {
		return nil
	}
	head := fmt.Sprintf("# What suggest names\n\n%s, %s/%s, %d processors. The list, bench/suggest/judged.json, was written from the manifests before any code of the analysis ran.\nA row is right when name, version in use and repository are as judged; a version is empty where the manifests hold only a range.\n\n    .ci/extra suggest -aside\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return os.WriteFile(out, []byte(head+b.String()), 0o644)
}

func checkout(repos, project, commit, dir string) error {
	all := func(string) bool { return true }
	if at, hash, err := lab.Repository(repos, project, commit); err == nil {
		return lab.Export(at, hash, dir, all)
	}
	at := dir + ".git"
	for _, args := range [][]string{{"init", "-q", "--bare", at}, {"-C", at, "fetch", "-q", "--depth=1", "https://github.com/" + project, commit}} {
		if text, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
			return fmt.Errorf("commit %.12s cannot be had: %s", commit, first)
		}
	}
	return lab.Export(at, commit, dir, all)
}

// large times the analysis of a made project, five times.
func large(tmp string) ([]string, error) {
	dir := filepath.Join(tmp, "large")
	write := func(name, text string) error {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o644)
	}
	var mod, pkg, lock, req, toml, clock strings.Builder
	mod.WriteString("module example.org/large\n\nrequire (\n")
	for i := range 2000 {
		fmt.Fprintf(&mod, "\tgithub.com/o%d/r%d v1.%d.0\n", i, i, i)
		fmt.Fprintf(&pkg, "%q:\"^1.%d.0\",", fmt.Sprintf("p%d", i), i)
		fmt.Fprintf(&lock, "%q:{\"version\":\"1.%d.0\",\"resolved\":\"https://registry.example.org/p%d.tgz\"},", fmt.Sprintf("node_modules/p%d", i), i, i)
		fmt.Fprintf(&req, "q%d==1.%d.0\n", i, i)
		fmt.Fprintf(&toml, "c%d = \"1.%d\"\n", i, i)
		fmt.Fprintf(&clock, "[[package]]\nname = \"c%d\"\nversion = \"1.%d.0\"\nsource = \"registry\"\n\n", i, i)
	}
	for name, text := range map[string]string{
		"go.mod": mod.String() + ")\n", "package.json": `{"dependencies":{` + strings.TrimSuffix(pkg.String(), ",") + "}}",
		"package-lock.json": `{"packages":{` + strings.TrimSuffix(lock.String(), ",") + "}}", "requirements.txt": req.String(),
		"Cargo.toml": "[package]\nname = \"large\"\n[dependencies]\n" + toml.String(), "Cargo.lock": clock.String(),
	} {
		if err := write(name, text); err != nil {
			return nil, err
		}
	}
	forms := []struct{ ext, head, body string }{
		{"go", "package a\n\nimport (\n\t\"fmt\"\n\t\"github.com/o%d/r%[1]d/sub\"\n)\n\n", "func f() { fmt.Println(\"some words of code\") }\n"},
		{"ts", "import { a } from \"p%d\";\nimport b from \"./b\";\n\n", "export const f = (x: number) => x + 1; // from there\n"},
		{"py", "import os\nfrom q%d import thing\n\n", "def f(x):\n    return x + 1 # import nothing\n"},
		{"rs", "use c%d::Thing;\nuse std::io;\n\n", "pub fn f(x: u32) -> u32 { std::cmp::max(x, 1) }\n"},
		{"java", "package a;\n\nimport org.example%d.Thing;\n\n", "class C { int f(int x) { return x + 1; } }\n"},
	}
	for i := range 5000 {
		f := forms[i%len(forms)]
		text := fmt.Sprintf(f.head, i%2000) + strings.Repeat(f.body, 8000/len(f.body))
		if err := write(fmt.Sprintf("src/d%d/f%d.%s", i/50, i, f.ext), text); err != nil {
			return nil, err
		}
	}
	var times []string
	for range 5 {
		start := time.Now()
		r, err := deps.Analyze(context.Background(), dir)
		if err != nil {
			return nil, err
		}
		if r.Files != 4000 && r.Files != 5000 { // Java names no dependency there
			return nil, fmt.Errorf("%d source files were read", r.Files)
		}
		times = append(times, fmt.Sprint(time.Since(start).Milliseconds()))
	}
	return times, nil
}

func median(times []string) int {
	var n []int
	for _, t := range times {
		var v int
		fmt.Sscan(t, &v)
		n = append(n, v)
	}
	slices.SortFunc(n, func(a, b int) int { return cmp.Compare(a, b) })
	return n[len(n)/2]
}
