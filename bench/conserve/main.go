// Command conserve checks on large real trees that nothing of a text is lost
// or moved: every line lies in exactly one chunk, "read" gives every document
// back line by line, and the lines of hits stand where they say. Run it with
// ".ci/extra conservation". The trees are all of GOROOT/src, CPython's
// standard library as found on the machine, and three npm packages; what the
// machine lacks is skipped, and said.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// Version 5 of typescript is the last that ships its compiler as one file of
// 9 MB of JavaScript.
var (
	npmPackages = []string{"react", "lodash", "typescript"}
	npmSpecs    = []string{"react", "lodash", "typescript@5"}
)

// corpus is a tree and what the report calls it.
type corpus struct{ name, title, dir string }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conserve:", err)
		os.Exit(1)
	}
}

var errBroken = errors.New("something was not conserved, see the report")

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("conserve")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	began := time.Now()
	tree, err := lab.Checkout(root, filepath.Join(scratch, "tree"))
	if err != nil {
		return err
	}
	bin := filepath.Join(scratch, "knowledge")
	if err := tree.Build(bin); err != nil {
		return err
	}
	trees, missing := find(root, scratch)
	for _, d := range flag.Args() {
		more, err := below(d)
		if err != nil {
			return err
		}
		trees = append(trees, more...)
	}

	var r lab.Report
	r.Printf("# Conservation, %s\n\nCommit %s. %s. Written by `.ci/extra conservation`.\n\n", began.Format(time.DateOnly), tree.Commit, lab.Machine())
	for _, m := range missing {
		fmt.Println(m)
		r.Printf("- %s\n", m)
	}
	ok, err := properties(tree, trees, &r)
	if err != nil {
		return err
	}
	readOK, err := readBack(bin, scratch, trees, &r)
	if err != nil {
		return err
	}
	p, err := r.Write(*out, "conservation")
	if err != nil {
		return err
	}
	fmt.Println(p)
	if !ok || !readOK {
		return errBroken
	}
	return nil
}

// below returns every folder in d, each a checkout, as a tree.
func below(d string) ([]corpus, error) {
	d, err := filepath.Abs(d)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(d)
	if err != nil {
		return nil, err
	}
	var out []corpus
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, corpus{"d-" + e.Name(), e.Name(), filepath.Join(d, e.Name())})
		}
	}
	return out, nil
}

// find returns the trees that are here, and a sentence for each that is not.
func find(root, scratch string) (trees []corpus, missing []string) {
	skip := func(what string, why any) {
		missing = append(missing, fmt.Sprintf("skipped: %s: %v", what, why))
	}
	version, err1 := lab.Command(root, nil, "go", "env", "GOVERSION")
	goroot, err2 := lab.Command(root, nil, "go", "env", "GOROOT")
	if err := errors.Join(err1, err2); err != nil {
		skip("GOROOT/src", err)
	} else {
		trees = append(trees, corpus{"go", "GOROOT/src of " + strings.TrimSpace(version), filepath.Join(strings.TrimSpace(goroot), "src")})
	}
	const script = `import sysconfig, sys; print(sysconfig.get_paths()["stdlib"]); print(sys.version.split()[0])`
	if said, err := lab.Command(root, nil, "python3", "-c", script); err != nil {
		skip("CPython's standard library", "python3 does not run here")
	} else if dir, version, ok := strings.Cut(strings.TrimSpace(said), "\n"); ok {
		to := filepath.Join(scratch, "python")
		if err := copyTree(dir, to, "site-packages", "__pycache__"); err != nil {
			skip("CPython's standard library", err)
		} else {
			trees = append(trees, corpus{"python", "standard library of CPython " + version + ", without installed packages", to})
		}
	}
	npm := filepath.Join(scratch, "npm")
	if why := lab.Npm(npm, npmSpecs...); why != "" {
		skip("npm packages "+strings.Join(npmPackages, ", "), why)
		return trees, missing
	}
	for _, p := range npmPackages {
		trees = append(trees, corpus{p, "npm " + p + " " + lab.NpmVersion(npm, p), filepath.Join(npm, "node_modules", p)})
	}
	return trees, missing
}

// copyTree copies the regular files of a tree but for the directories named.
func copyTree(from, to string, without ...string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		for _, w := range without {
			if d.IsDir() && d.Name() == w {
				return fs.SkipDir
			}
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o644)
	})
}

var walkRE = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: (.+): (\d+) files, (\d+) bytes, (\d+) chunks, (\d+) symbols$`)

// properties runs the property tests of package chunk over the trees.
func properties(tree lab.Tree, trees []corpus, r *lab.Report) (bool, error) {
	var dirs []string
	title := map[string]string{}
	for _, t := range trees {
		title[filepath.Clean(t.dir)] = t.title
		dirs = append(dirs, t.dir)
	}
	env := append(os.Environ(), "KNOWLEDGE_CORPUS_DIRS="+strings.Join(dirs, string(filepath.ListSeparator)))
	out, err := lab.Command(tree.Dir, env, "go", "test", "-count=1", "-timeout=30m", "-v", "-run", "^TestSplitFolders$", "./internal/text/chunk")
	ok := err == nil
	r.Printf("## Every line in exactly one chunk\n\nThe property test of package chunk over every text file of at most 4 MiB: chunks in order, joined they are the text, true line and column numbers, sizes within bounds, no rune cut, symbols inside the document.\n\n")
	rows := [][]string{{"tree", "files", "text", "chunks", "symbols", "verdict"}}
	found := walkRE.FindAllStringSubmatch(out, -1)
	for _, m := range found {
		var n int64
		fmt.Sscan(m[3], &n)
		verdict := "holds"
		if !ok {
			verdict = "see below"
		}
		rows = append(rows, []string{title[filepath.Clean(m[1])], m[2], lab.MB(n), m[4], m[5], verdict})
	}
	r.Table(rows...)
	if !ok {
		r.Printf("The test failed:\n\n```\n%s\n```\n\n", clip(hide(out, trees), 4000))
		fmt.Fprintln(os.Stderr, clip(out, 4000))
	} else if len(found) < len(trees) {
		return false, fmt.Errorf("the test tells of %d trees, not %d: %s", len(found), len(trees), clip(out, 500))
	}
	return ok, nil
}

// hide takes the paths of this machine out of a text.
func hide(s string, trees []corpus) string {
	for _, t := range trees {
		s = strings.ReplaceAll(s, t.dir, t.name)
	}
	return s
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
