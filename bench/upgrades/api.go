package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/gocheck"
)

// apidiff is the program that ours is compared with: of the same version as the
// library, and reading packages with the go command.
const apidiff = "golang.org/x/exp/cmd/apidiff@v0.0.0-20260410095643-746e56fc9e2f"

// apis compares the difference of two versions of a module with what apidiff prints.
func apis(r *lab.Report, work string, rows [][]string) error {
	r.Printf("## Go: the difference of two versions\n\n")
	bin := filepath.Join(work, "bin")
	if out, err := install(bin); err != nil {
		r.Printf("skipped: apidiff cannot be built: %s\n\n", kept(out))
		return nil
	}
	table := [][]string{{"module", "from", "to", "apidiff: lines", "ours: lines", "the same"}}
	var notes []string
	equal, n := 0, 0
	varies := map[string]bool{}
	for i, row := range rows {
		runs, err := theirChanges(work, bin, row[0], row[1], row[2])
		if err != nil {
			notes = append(notes, fmt.Sprintf("skipped: %s: %v", row[0], err))
			fmt.Fprintln(os.Stderr, i+1, row[0], err)
			continue
		}
		ours, err := ourChanges(row[0], row[1], row[2])
		if err != nil {
			return err
		}
		n++
		theirs := runs[0]
		same := false
		for _, run := range runs {
			if !slices.Equal(run, runs[0]) {
				varies[row[0]] = true
			}
			if slices.Equal(ours, run) {
				same, theirs = true, run
			}
		}
		if same {
			equal++
		} else {
			a, b := setOf(ours), setOf(theirs)
			notes = append(notes, fmt.Sprintf("%s: only ours: %s; only apidiff: %s", row[0], strings.Join(differences(a, b), " ¦ "), strings.Join(differences(b, a), " ¦ ")))
		}
		fmt.Fprintln(os.Stderr, i+1, row[0], len(theirs), len(ours), same)
		table = append(table, []string{row[0], row[1], row[2], fmt.Sprint(len(theirs)), fmt.Sprint(len(ours)), map[bool]string{true: "yes", false: "no"}[same]})
	}
	r.Table(table...)
	r.Printf("Equal on %d of %d modules, line by line.\n\n", equal, n)
	if len(varies) > 0 {
		r.Printf("What apidiff prints is not the same in each of %d runs for %s; there ours has to be that of one of them.\n\n", apidiffRuns, strings.Join(lab.Keys(varies), ", "))
	}
	for _, l := range notes {
		r.Printf("- %s\n", l)
	}
	r.Printf("\n")
	return nil
}

func setOf(list []string) map[string]bool {
	out := map[string]bool{}
	for _, l := range list {
		out[l] = true
	}
	return out
}

func install(bin string) (string, error) {
	if _, err := os.Stat(filepath.Join(bin, "apidiff")); err == nil {
		return "", nil
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	return program(bin, 5*time.Minute, "env", "GOBIN="+bin, "GOFLAGS=", "go", "install", apidiff)
}

// apidiffRuns is how often apidiff is asked.
const apidiffRuns = 12

// theirChanges is what apidiff prints in each of several runs, in order.
func theirChanges(work, bin, path, from, to string) ([][]string, error) {
	for _, v := range []string{from, to} {
		export := filepath.Join(work, strings.ReplaceAll(path, "/", "+")+"@"+v+".export")
		if _, err := os.Stat(export); err == nil {
			continue
		}
		at, err := download(path + "@" + v)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(work, "api-"+strings.ReplaceAll(path, "/", "+")+"@"+v)
		if err := copied(at, dir); err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil { // from before there were modules
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+path+"\n"), 0o644); err != nil {
				return nil, err
			}
		}
		if out, err := program(dir, 8*time.Minute, filepath.Join(bin, "apidiff"), "-m", "-w", export, path); err != nil {
			return nil, fmt.Errorf("apidiff of %s: %s", v, kept(out))
		}
	}
	base := filepath.Join(work, strings.ReplaceAll(path, "/", "+")+"@")
	var runs [][]string
	for range apidiffRuns {
		out, err := program(work, time.Minute, filepath.Join(bin, "apidiff"), "-m", base+from+".export", base+to+".export")
		if err != nil {
			return nil, fmt.Errorf("apidiff: %s", kept(out))
		}
		var lines []string
		for l := range strings.Lines(out) {
			if change, ok := strings.CutPrefix(strings.TrimRight(l, "\n"), "- "); ok {
				lines = append(lines, change)
			}
		}
		slices.Sort(lines)
		runs = append(runs, lines)
	}
	return runs, nil
}

// ourChanges is the same by our loader, in order.
func ourChanges(path, from, to string) ([]string, error) {
	places, err := caches()
	if err != nil {
		return nil, err
	}
	s := &gocheck.Sources{Caches: places, Root: gocheck.Root(env, places)}
	defer s.Close()
	var apis []*gocheck.API
	var first *gocheck.World
	for _, v := range []string{from, to} {
		m := module.Version{Path: path, Version: v}
		files := s.Files(m)
		if files == nil {
			return nil, fmt.Errorf("%s is not in the module cache", m)
		}
		l, err := gocheck.NewList(s, s.GoMod(m))
		if err != nil {
			return nil, err
		}
		w := gocheck.NewWorld(context.Background(), s, l, files, m.Version, env, path)
		if first == nil {
			first = w
		}
		apis = append(apis, gocheck.NewAPI(w, path, true))
	}
	var lines []string
	for _, c := range gocheck.Report(apis[0], apis[1]).Changes {
		lines = append(lines, c.Message)
	}
	slices.Sort(lines)
	return lines, nil
}
